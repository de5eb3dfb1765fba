package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// waiter is a page on which n things wait.
type waiter struct {
	page
	n int
}

func (w *waiter) Waits() (int, tea.ProgramStatusKind) { return w.n, tea.ProgramStatusKindPermission }

// since is what was written after a mark.
func since(s *frame.Screen, mark *int) string {
	raw := s.Raw()
	out := raw[*mark:]
	*mark = len(raw)
	return out
}

func TestTheTerminalLearnsWhatGoesOn(t *testing.T) {
	const (
		idle    = "\x1b]7501;state=idle:id=mcpdeck:app=mcpdeck\a"
		working = "\x1b]7501;state=working:id=mcpdeck:app=mcpdeck\a"
		blocked = "\x1b]7501;state=blocked:id=mcpdeck:kind=permission:app=mcpdeck:"
		turns   = "\x1b]9;4;3\a"
		warns   = "\x1b]9;4;4;100\a"
		none    = "\x1b]9;4;0\a"
	)
	for env, bars := range map[string]bool{
		"TERM=xterm": false, "TERM_PROGRAM=WezTerm": true, "TERM_PROGRAM=WezTerm TMUX=/tmp/x": false, "WT_SESSION=1": true,
		"TERM_PROGRAM=iTerm.app": false, "TERM_PROGRAM=iTerm.app TERM_FEATURES=T2P": true, "VTE_VERSION=7800": false, "VTE_VERSION=8001": true,
	} {
		w := &waiter{page: page{id: "one", title: "One"}}
		var hint chan struct{}
		var agent snapshot.Agent
		frame.Run(t, frame.Size{W: 60, H: 20}, colorprofile.TrueColor, func() tea.Model {
			hint = make(chan struct{}, 1)
			return tui.New(tui.Options{Pages: []tui.Page{w}, Environ: strings.Fields(env), Background: "dark", Feeds: []tui.Feed{{
				Hint: hint, Load: func() tea.Msg { return tui.DeckMsg{Snapshot: &snapshot.Snapshot{Agents: []snapshot.Agent{agent}}} },
			}}})
		}, func(s *frame.Screen) {
			mark := 0
			check := func(waits int, a snapshot.Agent, status, bar string) {
				t.Helper()
				s.Do(func() { w.n, agent = waits, a })
				hint <- struct{}{}
				s.Text()
				got := since(s, &mark)
				if !strings.Contains(got, status) {
					t.Errorf("the terminal was not told %q: %q", status, got)
				}
				if strings.Contains(got, bar) != bars {
					t.Errorf("with %s: %q is %v in %q", env, bar, !bars, got)
				}
			}
			check(0, snapshot.Agent{InFlight: []string{"render"}}, working, turns)
			check(1, snapshot.Agent{InFlight: []string{"ask"}, Waiting: true}, blocked, warns)
			check(0, snapshot.Agent{}, idle, none)
		})
	}
}
