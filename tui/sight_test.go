package tui_test

import (
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// asking is a page that asks about something, and whose Enter decides it.
func asking(asked *tui.Asked, ran *int) *page {
	p := deed(ran)
	p.render = func(f *tui.Frame) []string {
		f.Asks(*asked)
		return []string{"this is One"}
	}
	return p
}

func TestADecisionWaitsUntilWhatIsShownHasStoodForAWhile(t *testing.T) {
	for name, change := range map[string]func(s *frame.Screen, asked *tui.Asked){
		"another size":      func(s *frame.Screen, _ *tui.Asked) { s.Send(tea.WindowSizeMsg{Width: 100, Height: 30}) },
		"another text":      func(s *frame.Screen, asked *tui.Asked) { s.Do(func() { asked.Digest++ }) },
		"something else":    func(s *frame.Screen, asked *tui.Asked) { s.Do(func() { asked.ID = "ask 2/0" }) },
		"something over it": func(s *frame.Screen, _ *tui.Asked) { s.Quick("?", "esc") },
		"nothing, then again": func(s *frame.Screen, asked *tui.Asked) {
			was := *asked
			s.Do(func() { *asked = tui.Asked{} })
			s.Quick("right")
			s.Do(func() { *asked = was })
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran, asked := 0, tui.Asked{ID: "ask 1/0", Digest: 1, Quiet: tui.ReadPrompt}
			run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{asking(&asked, &ran)}}, func(s *frame.Screen) {
				s.Wait(2 * time.Second)
				change(s, &asked)
				s.Quick("left") // has it drawn
				s.Wait(tui.ReadPrompt / 2)
				s.Quick("enter")
				if ran != 0 {
					t.Error("decided before there was time to read it")
				}
				s.Wait(4 * time.Second)
				s.Quick("enter")
				if ran != 1 {
					t.Errorf("decided %d times after there was time to read it", ran)
				}
			})
		})
	}
}

func TestAKeyThatIsHeldFromBeforeDecidesNothing(t *testing.T) {
	ran, asked := 0, tui.Asked{ID: "ask 1/0", Digest: 1, Quiet: tui.ReadPrompt}
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{asking(&asked, &ran)}}, func(s *frame.Screen) {
		s.EventTypes(true)
		s.Wait(2 * time.Second)
		k := tea.Key(frame.Key("enter"))
		k.IsRepeat = true // its press went to another window
		s.Now(tea.KeyPressMsg(k))
		if ran != 0 {
			t.Error("decided by a key that was never pressed here")
		}
		k.IsRepeat = false
		s.Now(tea.KeyReleaseMsg(k))
		s.Wait(time.Second)
		s.Now(tea.KeyPressMsg(k))
		if ran != 1 {
			t.Errorf("decided %d times by a key that was pressed", ran)
		}
	})
}

func TestTextCountsWhereItWasMeantFor(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s *frame.Screen, asked *tui.Asked)
		counts bool
	}{
		"something else came":        {func(s *frame.Screen, asked *tui.Asked) { s.Do(func() { asked.ID = "ask 2/0" }) }, false},
		"the terminal changed width": {func(s *frame.Screen, _ *tui.Asked) { s.Send(tea.WindowSizeMsg{Width: 100, Height: 30}) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			ran, asked := 0, tui.Asked{ID: "ask 1/0", Digest: 1, Quiet: tui.ReadPrompt}
			p := asking(&asked, &ran)
			p.text = true
			run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
				s.Wait(2 * time.Second)
				c.change(s, &asked)
				s.Send(tui.DeckMsg{}) // has it drawn
				s.Wait(100 * time.Millisecond)
				p.got = nil
				s.Now(tea.KeyPressMsg(frame.Key("z")))
				s.Now(tea.PasteMsg{Content: "pasted"})
				typed := slices.ContainsFunc(p.got, func(m tea.Msg) bool { _, is := m.(tea.KeyPressMsg); return is })
				pasted := slices.ContainsFunc(p.got, func(m tea.Msg) bool { _, is := m.(tea.PasteMsg); return is })
				if typed != c.counts || pasted != c.counts {
					t.Errorf("typed %v, pasted %v, want %v", typed, pasted, c.counts)
				}
			})
		})
	}
}
