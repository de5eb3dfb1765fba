//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/cmd/internal/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// TestFourTerminalsOfRealAgentsAreFourRows is W-96: one of the terminals has moved its session to the
// background, and every list has four rows, each called by the user's last prompt.
func TestFourTerminalsOfRealAgentsAreFourRows(t *testing.T) {
	realtest.On(t)
	for name, codex := range map[string]int{"Claude Code": 0, "Codex and Claude Code": 2} {
		t.Run(name, func(t *testing.T) { fourRows(t, codex) })
	}
}

// fourRows opens four terminals, some of Codex and the others of Claude Code.
func fourRows(t *testing.T, codex int) {
	t.Helper()
	d := newDriver(t)
	claudeHome(d)
	defer unhooked(d)()
	t.Cleanup(func() { // the background is a process of its own
		for pid := range d.runs() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // or it has ended meanwhile
		}
	})
	knowsCodex(d, mockmodel.New(t, ""), d.project)
	deck := d.window()
	deck.wide()
	deck.shows(d, "Inbox")
	var want []string
	for i := range 4 {
		c := &coder{d: d}
		if i < codex {
			c.window = openCodex(d, d.project)
			c.tall(24, c.tty)
		} else {
			c = startClaude(d, mockmodel.New(t, ""), "default")
		}
		c.shows(d, "? for shortcuts")
		for _, task := range []string{"begin", fmt.Sprint("task", i+1)} {
			if i >= codex {
				c.says(task)
			} else {
				c.press(task)
				c.shows(d, "› "+task)
				c.again("\r", func() bool { return strings.Contains(c.screen(), "Ask Codex") })
			}
			d.until("the end of a turn", func() bool { return strings.Contains(c.screen(), "END") && strings.Contains(c.screen(), task) })
		}
		want = append(want, fmt.Sprint("task", i+1))
		if i == 3 {
			c.press("/background")
			c.shows(d, "/background")
			c.press("\r")
		}
	}
	listed := func() (names []string) {
		out, _ := d.command("sessions", "--json").Output()
		var all sessions.List
		_ = json.Unmarshal(out, &all) // it is asked again
		for _, s := range all.Sessions {
			names = append(names, s.Title)
		}
		slices.Sort(names)
		return names
	}
	t.Cleanup(func() {
		if t.Failed() {
			out, _ := d.command("sessions", "--json").Output()
			t.Logf("listed %s\nthe deck:\n%s", out, deck.screen())
		}
	})
	d.until("four rows in the list", func() bool { return slices.Equal(listed(), want) })
	deck.key("A")
	d.until("four rows on the page", steady(func() bool {
		s := deck.screen()
		return strings.Contains(s, "Agents 4 ") && !slices.ContainsFunc(want, func(name string) bool { return !strings.Contains(s, name) })
	}))
}
