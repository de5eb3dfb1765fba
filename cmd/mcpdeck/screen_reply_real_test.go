//go:build linux

package main

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestAPromptTypedOnTheScreenReachesRealAgents has two real agents beside a deck, where the user
// types the next prompt of each.
func TestAPromptTypedOnTheScreenReachesRealAgents(t *testing.T) {
	realtest.On(t)
	d := newDriver(t)
	for _, dir := range []string{"web", "api"} {
		d.makes(filepath.Join(d.home, dir, "a.txt"), "one\n")
	}
	done := mockmodel.Step{Says: "done"}
	of := map[string]*mockmodel.Server{"opencode": mockmodel.New(t, "", done, done), "codex": mockmodel.New(t, "", done, done)}
	d.makes(filepath.Join(d.home, ".config/opencode/plugin/mcpdeck.js"), string(agents.Of("opencode").Plugin.File("", "")))
	openCodeHome(d, "opencode", of["opencode"], "allow")
	knowsCodex(d, of["codex"], filepath.Join(d.home, "api"))
	deck := d.window("--page", "agents")
	d.terminal(d.agentCommand(filepath.Join(d.home, "web"), "opencode", []string{"OPENCODE_DISABLE_MODELS_FETCH=1"}, "--prompt", "go"))
	d.terminal(d.agentCommand(filepath.Join(d.home, "api"), "codex", []string{"MOCK_KEY=x"}, "-a", "on-request", "-s", "read-only", "go"))
	deck.tall(34, io.Discard)
	d.until("both are at rest", steady(func() bool {
		s := deck.screen()
		return strings.Contains(s, "Agents 2 ") && !strings.Contains(s, "working") && of["opencode"].Last() != "" && of["codex"].Last() != ""
	}))
	has := func(text string) func() bool { return func() bool { return strings.Contains(deck.screen(), text) } }
	for i, agent := range []string{"opencode", "codex"} {
		text := "from here to " + agent
		deck.press("/" + strings.Repeat("\x7f", 20) + "agent:" + agent + "\r") // the list is sorted by need
		deck.shows(d, "─ "+agent+" · ")
		deck.press("m")
		if i == 0 {
			const asked = "Send prompts from here?"
			deck.shows(d, asked)
			deck.keyed("y", func() bool { return !has(asked)() })
		}
		deck.shows(d, "To "+agent)
		deck.keyed("\x7f", has("your next prompt")) // without what was pressed once more
		deck.press(text)
		deck.shows(d, text)
		deck.keyed("\r", func() bool { return !has("To " + agent)() })
		d.until(agent+" reads it", func() bool { return strings.Contains(of[agent].Last(), text) })
	}
	for agent, model := range of {
		if n := strings.Count(model.Last(), "from here"); n != 1 {
			t.Errorf("%s reads %d of them", agent, n)
		}
	}
}
