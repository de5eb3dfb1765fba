//go:build linux

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestNoRuleAllowsWhatTheRealOpenCodeAsksWhileItPlans has a book that allows what is asked to the agent that works, and
// has the agent that plans ask it.
func TestNoRuleAllowsWhatTheRealOpenCodeAsksWhileItPlans(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	const all = onlyReads + `[[rule]]
id = "t1"
verdict = "allow"
agent = ["opencode"]
command = { words = ["touch"], may = ["write-in"] }
`
	of := ruledAgents(t)
	a := of[slices.IndexFunc(of, func(a ruledAgent) bool { return a.name == "opencode" })]
	a.starts = func(d *driver, model *mockmodel.Server) *window {
		d.makes(filepath.Join(d.home, ".config/opencode/plugin/mcpdeck.js"), string(agents.Of("opencode").Plugin.File("", "")))
		openCodeHome(d, "opencode", model, "allow")
		w := d.terminal(d.agentCommand(d.project, "opencode", []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}, "--agent", "plan"))
		w.tall(40, w.tty)
		w.begins(d, model, "Ask anything")
		return w
	}
	commands := []string{"touch c.txt", "xxd -l 3 a.txt"}
	d, _ := a.works(t, all, true, commands)
	by := ruledBy(d, commands)
	for _, command := range commands {
		r, is := by[command]
		if !is || r.Rule != nil || r.Request.Prompt.Mode != "plan" || !strings.Contains(strings.Join(r.Request.Prompt.Notes, "\n"), "not to do anything yet") {
			t.Errorf("%s: asked %v, by rule %v, of %q: %q", command, is, r.Rule, r.Request.Prompt.Mode, r.Request.Prompt.Notes)
		}
	}
}
