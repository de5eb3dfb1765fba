//go:build unix

package setup

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// says types a text in a terminal, once it shows something, until something comes of it.
func (t *terminal) says(shows, text string, counts func() bool) {
	t.b.t.Helper()
	t.b.until(shows, func() bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		return strings.Contains(t.out.String(), shows)
	})
	var at time.Time
	t.b.until("what comes of "+text, func() bool {
		if time.Since(at) > 5*time.Second {
			at = time.Now()
			if _, err := io.WriteString(t.tty, text); err != nil {
				t.b.t.Fatal(err)
			}
			time.Sleep(200 * time.Millisecond) // what comes at once is pasted
			_, _ = io.WriteString(t.tty, "\r") // the text could be written
		}
		return counts()
	})
}

// TestRealKimi shows what Kimi Code asks until its terminal has answered.
func TestRealKimi(t *testing.T) {
	realtest.Agent(t, "kimi") // or the test is skipped
	b := newInbox(t, "kimi")
	path := filepath.Join(b.home, ".kimi-code", "config.toml")
	hooks, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	question := map[string]any{"questions": []any{map[string]any{"question": "Which db?", "header": "DB", "options": []any{map[string]any{"label": "SQLite", "description": "small"}, map[string]any{"label": "Postgres", "description": "big"}}}}}
	at := func(name string) string { return filepath.Join(b.home, "project", name) }
	model := mockmodel.New(
		t, "deck",
		step("Bash", map[string]any{"command": "echo 1 > 1.txt"}),
		step("Bash", map[string]any{"command": "echo 2 > 2.txt"}),
		step("Write", map[string]any{"path": at("c.txt"), "content": "new\n"}),
		step("Edit", map[string]any{"path": at("b.txt"), "old_string": "one", "new_string": "1\n2"}),
		step("AskUserQuestion", question),
		step("Agent", map[string]any{"description": "look", "prompt": "look around", "subagent_type": "coder"}),
		step("Bash", map[string]any{"command": "echo 3"}), // of the sub-agent
		mockmodel.Step{Says: "seen"},
		mockmodel.Step{Says: "END"},
		step("Bash", map[string]any{"command": "sleep 600"}),
	)
	b.write(".kimi-code/config.toml", fmt.Sprintf("default_model = \"deck\"\n[providers.mock]\ntype = \"openai\"\nbase_url = %q\napi_key = \"x\"\n[models.deck]\nprovider = \"mock\"\nmodel = \"mock\"\nmax_context_size = 100000\n\n%s", model.URL+"/v1", hooks))
	term := b.terminal([]string{"KIMI_DISABLE_TELEMETRY=1"})
	one := func(state snapshot.SessionState) func() bool {
		return func() bool {
			all := b.roster.Sessions()
			return len(all) == 1 && all[0].State == state
		}
	}
	term.says("Trust this folder?", "", func() bool {
		term.mu.Lock()
		defer term.mu.Unlock()
		return strings.Contains(term.out.String(), "Welcome to Kimi Code")
	})
	term.says("Welcome to Kimi Code", "go", func() bool { return model.Seen()[0].Called })
	run := b.next("the command", command("echo 1 > 1.txt"))
	if !run.Request.InTerminal() || b.q.Send(run.ID) == nil || !term.runs(run.Request.Peer.PID) {
		t.Errorf("it could be answered in the deck, or is not Kimi Code's: %+v", run.Request)
	}
	b.until("its session to wait", one(snapshot.WaitsForPermission))
	term.press("1", run)
	b.until("what was done", func() bool { _, err := os.Stat(at("1.txt")); return err == nil })
	term.press("3", b.next("the second command", command("echo 2 > 2.txt")))
	term.press("1", b.next("the file", func(r ask.Request) bool { return strings.Contains(r.Prompt.Diff, "+new") }))
	term.press("1", b.next("the edit", func(r ask.Request) bool {
		return strings.Contains(r.Prompt.Diff, "-one\n+1\n+2\n") && r.Prompt.Path == at("b.txt")
	}))
	asked := b.next("the question", func(r ask.Request) bool { return r.Prompt.Kind == ask.OwnQuestion })
	if q := asked.Request.Questions[0]; q.Question != "Which db?" || len(q.Options) != 2 || !asked.Request.InTerminal() {
		t.Errorf("the question is %+v", q)
	}
	b.until("its session to wait", one(snapshot.WaitsForAnswer))
	term.press("1", asked)
	sub := b.next("the sub-agent's command", command("echo 3"))
	if sub.Request.Prompt.Subagent == "" {
		t.Error("it does not say that a sub-agent asks")
	}
	term.press("1", sub)
	b.until("the end of the turn", one(snapshot.Idle))
	said := b.q.Pending().History
	for i, how := range []string{": allowed", ": denied", ": allowed", ": allowed", "", ": allowed"} {
		if got := said[i].Words(""); got != "answered in its terminal"+how {
			t.Errorf("prompt %d: %s", i, got)
		}
	}
	if s := model.Seen(); !strings.Contains(s[1].Result, "rejected") || !strings.Contains(s[4].Result, "SQLite") {
		t.Errorf("the model saw %+v", s)
	}
	program := usage.Program{Folder: clients.Folders{Home: b.home}.Program("kimi"), Format: agents.Of("kimi").Usage}
	count := usage.New(usage.Options{Programs: map[string]usage.Program{"kimi": program}})
	var f usage.Found
	b.until("what was said", func() bool {
		f, _ = count.Look(&b.roster.Sessions()[0])
		return f.Record != nil && f.Record.Said == "END"
	})
	if r := f.Record; r.Prompt != "go" || f.Usage.In == 0 || f.Model != "mock" || f.Mode != "manual" || r.Changed.Added != 3 || r.Changed.Removed != 1 || len(r.Changed.Files) != 2 || !r.Changed.Partial || f.Subagents != 0 {
		t.Errorf("its record is %+v of %+v", r, f)
	}

	term.says("END", "more", func() bool { return model.Seen()[9].Called })
	term.press("1", b.next("the long command", command("sleep 600")))
	b.until("its turn", one(snapshot.Working))
	b.close() // another deck finds it by its files
	b.open()
	b.until("its turn in another deck", one(snapshot.Working))
	_, _ = io.WriteString(term.tty, "\x1b")
	b.until("the end of a turn that was stopped", one(snapshot.Idle))
	_ = term.cmd.Process.Kill()
	_ = term.cmd.Wait() // it was killed
	b.until("the end of the session", one(snapshot.Ended))
	if now, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(now), string(hooks)) {
		t.Errorf("its settings are now %s, %v", now, err)
	}
}
