package tui_test

import (
	"image/color"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// TestScreens holds what stands above and around the pages.
func TestScreens(t *testing.T) {
	tests := []struct {
		name string
		size frame.Size
		keys []string
	}{
		{"help-110x34", frame.Size{W: 110, H: 34}, []string{"?"}},
		{"help-40x12", frame.Size{W: 40, H: 12}, []string{"?"}},
		{"palette-80x24", frame.Size{W: 80, H: 24}, []string{"ctrl+p", "c", "o", "p", "y"}},
		{"palette-none-80x24", frame.Size{W: 80, H: 24}, []string{"ctrl+p", "x", "y", "z"}},
		{"quit-80x24", frame.Size{W: 80, H: 24}, []string{"q"}},
		{"quit-40x12", frame.Size{W: 40, H: 12}, []string{"q"}},
		{"message-80x24", frame.Size{W: 80, H: 24}, []string{"w", "C", "f", "home", "c", "ctrl+t"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			frame.Run(t, tt.size, colorprofile.TrueColor, func() tea.Model {
				d := fake.NewDeck(time.Now())
				return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
					inbox.New(queue(), inbox.Options{CallsPage: "calls"}), calls.New(calls.Options{Bodies: d}),
				}})
			}, func(s *frame.Screen) {
				s.Quick(tt.keys...)
				s.Golden(tt.name)
			})
		})
	}
}

func TestTheTerminalSaysWhetherItIsLight(t *testing.T) {
	p := &page{id: "one", title: "One"}
	themes := func() (n int, dark bool) {
		for _, m := range p.got {
			if th, ok := m.(tui.ThemeMsg); ok {
				n, dark = n+1, th.Theme.Dark
			}
		}
		return n, dark
	}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}, Background: "auto"}, func(s *frame.Screen) {
		s.Send(tea.BackgroundColorMsg{Color: color.White})
		s.Do(func() {
			if n, dark := themes(); n == 0 || dark {
				t.Errorf("after a light answer: %d themes, dark %v", n, dark)
			}
			p.got = nil
		})
		s.Send(tea.BackgroundColorMsg{Color: color.White})
		s.Do(func() {
			if n, _ := themes(); n != 0 {
				t.Error("the same answer made another theme")
			}
		})
	})
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}, Background: "dark"}, func(s *frame.Screen) {
		p.got = nil
		s.Send(tea.BackgroundColorMsg{Color: color.White})
		s.Do(func() {
			if n, _ := themes(); n != 0 {
				t.Error("the terminal overruled what was set")
			}
		})
	})
}

func TestAnOpenOverlayKeepsKeysFromThePage(t *testing.T) {
	p := &page{id: "one", title: "One"}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("?")
		s.Do(func() { p.got = nil })
		s.Type("xyz")
		s.Keys("enter")
		s.Send(tea.PasteMsg{Content: "text"})
		s.Click(3, 10)
		s.Do(func() {
			for _, m := range p.got {
				switch m.(type) {
				case tea.KeyPressMsg, tea.PasteMsg, tui.ClickMsg:
					t.Errorf("the page got %T", m)
				}
			}
		})
		s.Keys("esc", "x")
		s.Do(func() {
			if n := p.count(func(m tea.Msg) bool { _, ok := m.(tea.KeyPressMsg); return ok }); n != 1 {
				t.Errorf("the page got %d keys after the overlay closed, want 1", n)
			}
		})
	})
}

// queue is one of questions that gets none.
func queue() *ask.Queue {
	q := ask.New(ask.Options{})
	_ = q.Close() // it keeps nothing
	return q
}
