package tui_test

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// lines is a text of n lines, in a reader.
func lines(n int) *tui.Reader {
	return &tui.Reader{Name: "text", Title: "Text", Rows: func(f *tui.Frame, _ int) []string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = f.Theme.Text.Render(fmt.Sprintf("line %d ", i+1)) + f.Theme.Accent.Render("Ünder 世界")
		}
		return rows
	}}
}

// reading opens a reader on a page of its own.
func reading(t *testing.T, size frame.Size, r *tui.Reader, test func(s *frame.Screen)) {
	t.Helper()
	p := &page{id: "one", title: "One", actions: []tui.Action{{ID: "one.read", Title: "Read", Keys: []string{"r"}, Run: func() tea.Cmd { return tui.Open(r) }}}}
	run(t, size, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("r")
		test(s)
	})
}

func TestSearchInAText(t *testing.T) {
	reading(t, frame.Size{W: 60, H: 24}, lines(200), func(s *frame.Screen) {
		s.Keys("/")
		s.Type("line 15")
		s.Has("/ line 15", "line 15 ", "1 of 11", "enter next")
		s.Keys("enter", "enter")
		s.Has("line 150 ", "2 of 11", "enter next")
		s.Lacks("line 1 ")
		s.Keys("shift+enter", "shift+enter")
		s.Has("line 159 ", "11 of 11")
		s.Golden("search-60x24")
		s.Keys("/")
		s.Keys("ctrl+u")
		s.Type("ünder 世")
		s.Has("of 200")
		s.Keys("ctrl+u")
		s.Type("nowhere")
		s.Has("not found")
		s.Keys("esc")
		s.Lacks("nowhere")
		s.Has("line 159 ")
		s.Keys("esc")
		s.Lacks("line 159 ")
	})
}

func TestASearchFindsWhatComesLater(t *testing.T) {
	n := 10
	r := &tui.Reader{Name: "text", Title: "Text", Rows: func(*tui.Frame, int) []string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = fmt.Sprintf("line %d", i+1)
		}
		return rows
	}}
	reading(t, frame.Size{W: 60, H: 24}, r, func(s *frame.Screen) {
		s.Keys("/")
		s.Type("line 15")
		s.Has("not found")
		s.Do(func() { n = 100 })
		s.Send(tea.FocusMsg{}) // any news
		s.Has("1 of 1")
		s.Do(func() { n = 12 })
		s.Send(tea.FocusMsg{})
		s.Has("not found")
	})
}
