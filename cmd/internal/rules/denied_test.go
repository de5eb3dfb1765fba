package rules

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
)

func TestWhatWasDeniedIsListed(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", "")
	if out, err := run(t, "denied"); err != nil || !strings.Contains(out, "No agent was denied anything") {
		t.Errorf("%v\n%s", err, out)
	}
	p, err := config.Where((&cli.Globals{}).Flags)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		t.Fatal(err)
	}
	q := ask.New(ask.Options{HistoryFile: p.History})
	r := ask.Request{
		From:   ask.From{Client: "claude", Cwd: "/src/shop"},
		Prompt: &ask.Prompt{Kind: ask.Permission, Agent: "claude", Session: "s", Tool: "Bash", Command: "curl x \x1b[31m"},
	}
	q.Refused(r, ask.Refusal{Reason: "reaches an unknown host"})
	q.Refused(r, ask.Refusal{Reason: "reaches an unknown host"})
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "denied")
	if err != nil || !strings.Contains(out, "by auto mode") || !strings.Contains(out, "reaches an unknown host") || !strings.Contains(out, "2 times") || strings.Contains(out, "\x1b") {
		t.Errorf("%v\n%s", err, out)
	}
	out, err = run(t, "denied", "--json")
	var all []ask.Denied
	if err != nil || json.Unmarshal([]byte(out), &all) != nil || len(all) != 1 || all[0].Times != 2 || all[0].Project != "/src/shop" {
		t.Errorf("%v\n%s", err, out)
	}
}
