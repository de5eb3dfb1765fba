package tui_test

import (
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

func TestAConnectionIsDescribedByWhatIsKnownOfIt(t *testing.T) {
	now := time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)
	deck := &snapshot.Snapshot{Servers: []snapshot.Server{{Name: "a", Context: 1000}, {Name: "b", Context: 3_000_000}}}
	plain := func() *snapshot.Agent { return &snapshot.Agent{Since: now.Add(-5 * time.Minute)} }
	for name, tt := range map[string]struct {
		change func(a *snapshot.Agent)
		want   map[string]string
	}{
		"nothing special": {func(*snapshot.Agent) {}, map[string]string{
			"new tools": "", "no project": "", "servers": "all", "on demand": "", "connected": "5 m ago", "calls": "0", "tools cost": "3.0 MB ≈ 750k tokens",
		}},
		"by the socket": {func(a *snapshot.Agent) { a.Transport, a.Since = "unix", now }, map[string]string{"through": "mcpdeck mcp, the socket", "connected": "now"}},
		"over HTTP":     {func(a *snapshot.Agent) { a.Transport, a.Protocol = "http", "2025-11-25" }, map[string]string{"through": "HTTP", "protocol": "2025-11-25"}},
		"another way":   {func(a *snapshot.Agent) { a.Transport = "stdio" }, map[string]string{"through": "stdio"}},
		"one server":    {func(a *snapshot.Agent) { a.View = []string{"a"} }, map[string]string{"servers": "a", "tools cost": "1.0 kB ≈ 250 tokens"}},
		"lazy servers":  {func(a *snapshot.Agent) { a.Got = snapshot.Got{Lazy: snapshot.Finds, Context: 400} }, map[string]string{"tools cost": "400 B ≈ 100 tokens", "on demand": "it finds their tools with find_tools"}},
		"a client that searches": {func(a *snapshot.Agent) { a.Got.Lazy = snapshot.Searches }, map[string]string{
			"on demand": "listed as a whole: its client searches them by itself", "tools cost": "3.0 MB ≈ 750k tokens",
		}},
		"an old list": {func(a *snapshot.Agent) { a.Stale = true }, map[string]string{
			"new tools": "it does not refresh its list of tools; turn Pencil on before it starts, or connect it with mcpdeck mcp --gateway",
		}},
		"an old list and a gateway": {func(a *snapshot.Agent) { a.Stale, a.Gateway = true, true }, map[string]string{
			"new tools": "it does not refresh its list of tools; it uses new ones through the gateway tool",
		}},
		"no project": {func(a *snapshot.Agent) { a.Refused = &roots.RefusedError{Dir: "/", Why: "too wide"} }, map[string]string{
			"no project": "/ cannot be a project: too wide; start the agent in a project's folder",
		}},
		"failures": {func(a *snapshot.Agent) { a.Calls, a.Errors = 12, 3 }, map[string]string{"calls": "12, 3 failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := plain()
			tt.change(a)
			facts := tui.ConnectionFacts(&tui.Frame{Now: now}, deck, a)
			got := map[string]string{}
			for i := 0; i+1 < len(facts); i += 2 {
				got[facts[i]] = facts[i+1]
			}
			for name, want := range tt.want {
				if got[name] != want {
					t.Errorf("%s: %q, want %q", name, got[name], want)
				}
			}
		})
	}
}

func TestWhatACallAsksIsReadFromItsCutArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{"questions":[{"question":"Which one?"}]}`:                  "Which one?",
		`{"questions":[{"question": "A \"b\" or c?"},{"question":"x`: `A "b" or c? (+1)`,
		`{"questions":[{"question":"Should the very lo…`:             "Should the very lo",
		`{"questions":[{"question":"It ends in an escape \`:          `It ends in an escape \`,
		`{"questions":[{"question":7}]}`:                             "",
		`{"title":"no question"}`:                                    "",
		`{"questions":[{"question":"two\nlines"},{"question":"b"}]}`: "two lines (+1)",
	} {
		if got := tui.Question(&snapshot.Call{Server: "ask", Args: args}); got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
	if got := tui.Question(&snapshot.Call{Server: "other", Args: `{"question":"Which one?"}`}); got != "" {
		t.Errorf("another server asks %q", got)
	}
}
