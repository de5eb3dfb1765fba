//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
)

// TestTheDeckShowsWhatTheAccountsOfRunningAgentsHaveUsed has a daemon of Codex and a status
// line of Claude Code say it, both of which are played.
func TestTheDeckShowsWhatTheAccountsOfRunningAgentsHaveUsed(t *testing.T) {
	d := newDriver(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	codex, err := standin.NewCodex(filepath.Join(d.home, ".codex"))
	must(err)
	resets := time.Now().Add(time.Hour)
	window := func(used int) map[string]any {
		return map[string]any{"primary": map[string]any{"usedPercent": used, "windowDurationMins": 300, "resetsAt": resets.Unix()}}
	}
	codex.Limits(window(62))
	must(codex.Start())
	t.Cleanup(codex.Stop)
	claude, err := agenttest.NewClaude(agenttest.ClaudeOptions{
		ID: "s1", Folder: d.project, Home: d.home, Dir: filepath.Join(d.home, "hooks"), Hook: []string{smallHook(t), "claude", "--statusline", "printf mine"},
	})
	must(err)
	t.Cleanup(claude.Close)
	must(claude.Status("busy", ""))
	w := d.window()
	w.wide()
	clock := resets.Local().Format("15:04")
	w.shows(d, "codex 5 h 62% · resets "+clock)
	printed, err := claude.Hook(fmt.Sprintf(`{"session_id":"s1","rate_limits":{"five_hour":{"used_percentage":8.5,"resets_at":%d}}}`, resets.Unix()))
	must(err)
	if got := <-printed; got != "mine" {
		t.Errorf("the user's status line is %q", got)
	}
	w.shows(d, "claude 5 h 8% · resets "+clock)
	codex.Push("account/rateLimits/updated", map[string]any{"rateLimits": window(91)})
	w.shows(d, "codex: 5 h 91%, resets "+clock)
}
