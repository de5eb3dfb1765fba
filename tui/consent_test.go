package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// sure opens, with g, an overlay that asks to give what is in the text.
func sure(text *string, given *int) *page {
	return &page{id: "one", title: "One", actions: []tui.Action{{ID: "one.give", Title: "Give", Keys: []string{"g"}, Run: func() tea.Cmd {
		return tui.Open(&tui.Sure{
			Name: "give", Title: "Give it?", Give: "give", ItemID: "item 1",
			Rows: func(_ *theme.Theme, w int) (rows []string) { // broken between letters, as a long command is
				for line := range strings.Lines(*text) {
					for line = strings.TrimSuffix(line, "\n"); len(line) > w; line = line[w:] {
						rows = append(rows, line[:w])
					}
					rows = append(rows, line)
				}
				return rows
			},
			Run: func() tea.Cmd { *given++; return nil },
		})
	}}}}
}

func paragraphs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "paragraph %d %s\n", i, strings.Repeat("x", 150))
	}
	return b.String()
}

func TestWhatIsShownWholeIsGivenOnceThereWasTimeToReadIt(t *testing.T) {
	text, given := "allow git push\nfor this session", 0
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{sure(&text, &given)}}, func(s *frame.Screen) {
		s.Keys("g")
		s.Quick("y")
		if given != 0 {
			t.Error("given before there was time to read it")
		}
		s.Has("Give it?", "allow git push", "y give", "esc back")
		s.Lacks("not shown yet")
		s.Keys("esc")
		s.Lacks("Give it?")
		if given != 0 {
			t.Error("given by going back")
		}
		s.Keys("g", "y")
		s.Lacks("Give it?")
		if given != 1 {
			t.Errorf("given %d times", given)
		}
	})
}

func TestALongTextIsGivenOnlyAfterItsEnd(t *testing.T) {
	text, given := paragraphs(20), 0
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{sure(&text, &given)}}, func(s *frame.Screen) {
		s.Keys("g")
		s.Has("paragraph 0", "rows not shown yet: pgdn")
		s.Lacks("paragraph 10")
		s.Wait(time.Second)
		for range 10 {
			s.Quick("pgdown") // faster than anybody reads
		}
		s.Quick("home")
		s.Wait(time.Second)
		s.Keys("y")
		if given != 0 {
			t.Error("given before its end was shown")
		}
		s.Has("Give it?", "paragraph 5 ") // y leads to what was not shown
		for range 10 {
			s.Keys("pgdown")
		}
		s.Has("paragraph 19", "rows shown")
		s.Lacks("not shown yet")
		s.Keys("y")
		if given != 1 {
			t.Errorf("given %d times after all of it was shown", given)
		}
	})
}

func TestTheMouseLeadsThroughALongText(t *testing.T) {
	text, given := paragraphs(8), 0
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{sure(&text, &given)}}, func(s *frame.Screen) {
		s.Keys("g")
		s.Has("not shown yet")
		s.Wait(time.Second)
		for range 20 {
			s.Send(tea.MouseWheelMsg{X: 40, Y: 12, Button: tea.MouseWheelDown})
			s.Wait(300 * time.Millisecond)
		}
		s.Has("paragraph 7", "rows shown")
		s.Keys("y")
		if given != 1 {
			t.Errorf("given %d times", given)
		}
	})
}

// Rows break elsewhere at another width.
func TestWhatWasShownOfATextCountsAtAnotherWidth(t *testing.T) {
	text, given := paragraphs(12), 0
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{sure(&text, &given)}}, func(s *frame.Screen) {
		s.Keys("g")
		for range 6 {
			s.Keys("pgdown")
		}
		s.Has("rows shown")
		s.Resize(60, 20)
		s.Has("rows shown")
		s.Do(func() { text = strings.Replace(text, "paragraph 0", "paragraph 99", 1) }) // which is out of sight
		s.Resize(80, 24)
		s.Has("not shown yet")
		s.Keys("y")
		if given != 0 {
			t.Error("what was read is not what would be given")
		}
	})
}

func TestNothingOfWhatIsAgreedToIsCut(t *testing.T) {
	wide := &page{id: "one", title: "One", actions: []tui.Action{{ID: "one.give", Title: "Give", Keys: []string{"g"}, Run: func() tea.Cmd {
		return tui.Open(&tui.Sure{
			Name: "give", Title: "Give it?", Give: "give", ItemID: "item 1",
			Rows: func(*theme.Theme, int) []string {
				return []string{"allow " + strings.Repeat("long ", 20) + "words to their conclusion"}
			},
			Run: func() tea.Cmd { return nil },
		})
	}}}}
	run(t, frame.Size{W: 40, H: 12}, tui.Options{Pages: []tui.Page{wide}}, func(s *frame.Screen) {
		s.Keys("g")
		s.Has("conclusion")
		s.Lacks("…")
	})
}
