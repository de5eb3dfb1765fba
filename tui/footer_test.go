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
		s.Keys("ctrl+g")
		s.Lacks("Turn the mouse on")
	})
}
