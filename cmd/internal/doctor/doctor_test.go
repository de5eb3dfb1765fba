package doctor

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

func reported(t *testing.T, findings []finding, asJSON bool) (string, exit.Code) {
	t.Helper()
	var out strings.Builder
	c := &cobra.Command{}
	c.SetOut(&out)
	code, _ := exit.Of(report(c, findings, asJSON))
	return out.String(), code
}

func TestTheReportEndsWithWhatMendsEach(t *testing.T) {
	out, code := reported(t, []finding{
		{"ok", "version", "1", ""},
		{"bad", "token", "it is damaged", "mcpdeck token rotate"},
		{"note", "deck", "not running", "mcpdeck"},
		{"note", "prompts", "no deck takes prompts", "mcpdeck"},
		{"bad", "keys", "refused", ""},
	}, false)
	want := "\n2 things broken; what to do, and for what:\n  mcpdeck token rotate  token\n  mcpdeck               deck, prompts\n"
	if code != exit.Failed || !strings.HasSuffix(out, want) || !strings.HasPrefix(out, "ok    version  1\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code = reported(t, []finding{{"note", "deck", "not running", "mcpdeck"}}, false); code != 0 || !strings.Contains(out, "\nNothing is broken; what to do, and for what:\n  mcpdeck  deck\n") {
		t.Errorf("exit %d, %s", code, out)
	}
	if out, code = reported(t, []finding{{"ok", "deck", "running", ""}}, false); code != 0 || !strings.HasSuffix(out, "\nNothing is broken\n") {
		t.Errorf("exit %d, %s", code, out)
	}
}

func TestTheReportAsJSONHasTheSameChecks(t *testing.T) {
	out, code := reported(t, []finding{{"note", "deck", "not running", "mcpdeck"}, {"bad", "keys", "refused", ""}}, true)
	var v struct{ Checks []check }
	if err := json.Unmarshal([]byte(out), &v); err != nil || code != exit.Failed || len(v.Checks) != 2 {
		t.Fatalf("%v, exit %d, %s", err, code, out)
	}
	if a, b := v.Checks[0], v.Checks[1]; !a.OK || a.Level != "note" || a.Name != "deck" || a.Detail != "not running" || a.Fix != "mcpdeck" || b.OK || b.Level != "bad" {
		t.Errorf("got %+v", v.Checks)
	}
}
