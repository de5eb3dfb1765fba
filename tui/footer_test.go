package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestAllKeysInTheFooter(t *testing.T) {
	frame.Run(t, frame.Size{W: 80, H: 30}, colorprofile.TrueColor, func() tea.Model {
		return tui.New(tui.Options{Pages: []tui.Page{&page{id: "one", title: "One"}, &page{id: "two", title: "Two"}}, Background: "dark"})
	}, func(s *frame.Screen) {
		rows := func() []string { return strings.Split(s.Text(), "\n") }
		s.Lacks("Light or dark", "Turn the mouse on")
		s.Keys("ctrl+g")
		s.Has("ctrl+t Turn the mouse on", "ctrl+g All keys in the footer")
		if got := strings.Join(rows()[30-7:], "\n"); !strings.Contains(got, "? ") || !strings.Contains(got, "quit") {
			t.Errorf("the last rows lack help and quit:\n%s", got)
		}
		s.Keys("?")
		s.Has("enter   do it")
		s.Keys("esc")
		s.Resize(80, 20)
		s.Lacks("Turn the mouse on")
		s.Resize(80, 30)
		s.Has("Turn the mouse on")
		s.Keys("ctrl+g", "ctrl+g")
		s.Lacks("all keys need")
		s.Resize(40, 30)
		s.Has("ctrl+p commands", "ctrl+t Turn")
		s.Resize(200, 60)
		s.Has("ctrl+t Turn the mouse on", "quit")
		s.Resize(40, 12)
		s.Keys("ctrl+g", "ctrl+g")
		s.Has("window of 24")
		s.Resize(80, 30)
		s.Keys("ctrl+g")
		s.Lacks("Turn the mouse on")
	})
}

// A page with more keys than fit loses its own last ones: those that lead to all others stay.
func TestTheKeysOfAllPagesStayInTheFooter(t *testing.T) {
	p := &page{id: "one", title: "One"}
	for _, key := range strings.Fields("a b c d e f h i k m n o r u v w x z") {
		p.actions = append(p.actions, tui.Action{ID: "one." + key, Title: "Do what the key " + key + " does: it is explained here", Keys: []string{key}})
	}
	p.actions = append(p.actions, tui.Action{ID: "one.open", Title: "Open", Hint: "open", Keys: []string{"enter"}})
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("ctrl+g")
		s.Has("enter  open", "?      help", "ctrl+p commands", "ctrl+g All keys in the footer", "q quit", "Do what the key a does")
		s.Lacks("explained", "…", "the key z")
	})
}
