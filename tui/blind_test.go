package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// deed is a page whose Enter does something that the page must show first.
func deed(ran *int) *page {
	return &page{id: "one", title: "One", part: "list", actions: []tui.Action{
		{ID: "one.deed", Title: "Do the deed", Keys: []string{"enter"}, Part: "list", Acts: true, Sight: true, Run: func() tea.Cmd { *ran++; return nil }},
		{ID: "one.see", Title: "Look at it", Keys: []string{"v"}, Part: "list", Run: func() tea.Cmd { *ran++; return nil }},
	}}
}

func TestKeysDoNothingOnAScreenThatShowsNothing(t *testing.T) {
	ran := 0
	p := deed(&ran)
	run(t, frame.Size{W: 40, H: 12}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		for _, size := range []frame.Size{{W: 39, H: 12}, {W: 40, H: 11}, {W: 1, H: 1}} {
			s.Resize(size.W, size.H)
			got := len(p.got)
			s.Keys("enter", "v", "x", "2", "?", "ctrl+p")
			s.Send(tea.PasteMsg{Content: "pasted"}, tea.MouseClickMsg{X: 0, Y: 0, Button: tea.MouseLeft}, tea.MouseWheelMsg{Button: tea.MouseWheelDown})
			s.Wait(0)
			if ran != 0 || len(p.got) != got {
				t.Errorf("at %dx%d: %d actions, the page got %v", size.W, size.H, ran, p.got[got:])
			}
		}
		s.Resize(80, 24)
		s.Has("this is One")
		s.Lacks("Keys on this page", "Commands")
		s.Keys("enter")
		if ran != 1 {
			t.Errorf("the page in sight: %d actions", ran)
		}
	})
}

func TestATooSmallScreenCanBeLeft(t *testing.T) {
	p := &page{id: "one", title: "One", beforeQuit: &tui.Confirm{Name: "quit", Title: "Really?", Choices: []tui.Choice{{Key: "d", Text: "Decline"}}}}
	run(t, frame.Size{W: 39, H: 12}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Has("ctrl+c quits")
		s.Keys("ctrl+c")
		s.Has("ctrl+c again quits")
		s.Keys("d", "enter", "esc")
		if s.Ended() {
			t.Fatal("a key that the screen does not name ended the program")
		}
		s.Keys("ctrl+c")
		if !s.Ended() {
			t.Error("it goes on")
		}
	})
}

func TestAPageThatCouldNotBeDrawnTakesNoKeys(t *testing.T) {
	ran := 0
	p := deed(&ran)
	p.render = func(*tui.Frame) []string { panic("no ink") }
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p, &page{id: "two", title: "Two"}}}, func(s *frame.Screen) {
		s.Has("this page could not be drawn")
		s.Keys("enter", "v")
		if ran != 0 {
			t.Errorf("%d actions on a page that shows nothing", ran)
		}
		s.Keys("T")
		s.Has("this is Two")
	})
}

func TestAnOverlayDoesNotActOnWhatItCovers(t *testing.T) {
	for name, open := range map[string]string{"help": "?", "palette": "ctrl+p"} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			p := deed(&ran)
			run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
				s.Keys(open)
				s.Type("deed")
				s.Quick("enter", "enter") // the second meant the overlay, too
				if ran != 0 {
					t.Fatal("it was done under the overlay")
				}
				s.Has("this is One", "just arrived")
				s.Wait(time.Second)
				s.Keys("enter")
				if ran != 1 {
					t.Errorf("in sight it ran %d times", ran)
				}
				s.Keys(open)
				s.Type("look")
				s.Keys("enter")
				if ran != 2 {
					t.Error("what only looks does not run from here")
				}
			})
		})
	}
}

const sentence = "this is said once"

// says is a page like deed whose key w says a sentence.
func says(ran *int) *page {
	p := deed(ran)
	p.actions = append(p.actions, tui.Action{ID: "one.say", Title: "Say", Keys: []string{"w"}, Part: "list", Run: func() tea.Cmd {
		return tui.Toast(tui.Warn, sentence)
	}})
	return p
}

func TestAMessageCoversNothing(t *testing.T) {
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 80, H: 24}} {
		ran := 0
		run(t, size, tui.Options{Pages: []tui.Page{says(&ran)}}, func(s *frame.Screen) {
			before := strings.Split(s.Text(), "\n")
			s.Keys("w")
			s.Has(sentence)
			for y, row := range strings.Split(s.Text(), "\n") {
				if y < size.H-2 && row != before[y] {
					t.Errorf("row %d was %q, is %q", y, before[y], row)
				}
			}
			s.Keys("enter")
			if ran != 1 {
				t.Errorf("beside the message it ran %d times", ran)
			}
		})
	}
}

func TestASmallScreenHasItsFooterBackSoon(t *testing.T) {
	ran := 0
	run(t, frame.Size{W: 40, H: 12}, tui.Options{Pages: []tui.Page{says(&ran)}}, func(s *frame.Screen) {
		s.Quick("w")
		s.Lacks("?")
		s.Wait(3 * time.Second)
		s.Has("?")
		s.Lacks(sentence)
	})
}

// What was said to a key of the page is not laid over what the next key opens.
func TestAToastThatWasSeenLeavesAnOverlayAlone(t *testing.T) {
	p := &page{id: "one", title: "One", actions: []tui.Action{
		{ID: "one.say", Title: "Say", Keys: []string{"w"}, Run: func() tea.Cmd { return tui.Toast(tui.Info, sentence) }},
		{ID: "one.warn", Title: "Warn", Keys: []string{"v"}, Run: func() tea.Cmd { return tui.Toast(tui.Warn, "this went wrong") }},
	}}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("v", "w")
		s.Has(sentence)
		s.Wait(time.Second)
		s.Keys("?")
		s.Has("Keys on this page", "this went wrong")
		s.Lacks(sentence)
	})
}

func TestAClickTakesAToastAway(t *testing.T) {
	ran := 0
	p := says(&ran)
	run(t, frame.Size{W: 40, H: 12}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("w")
		s.Wait(time.Second)
		for y, l := range strings.Split(s.Text(), "\n") {
			if strings.Contains(l, sentence) {
				s.Click(30, y)
			}
		}
		s.Lacks(sentence)
		if n := p.count(func(m tea.Msg) bool { _, ok := m.(tui.ClickMsg); return ok }); n != 0 {
			t.Error("the page under it was clicked")
		}
	})
}
