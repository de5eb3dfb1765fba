package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func TestMarksTurnTogetherAndDrawNoPage(t *testing.T) {
	runs := true
	p := &page{id: "one", title: "One", render: func(*tui.Frame) []string {
		if !runs {
			return []string{"done"}
		}
		return []string{tui.Spin, tui.Spin}
	}}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		seen, before := map[string]bool{}, 0
		s.Do(func() { before = p.renders })
		for range 40 {
			rows := strings.Split(s.Text(), "\n") // a tenth of a second later
			if rows[1] != rows[2] || rows[1] == "" {
				t.Fatalf("two marks of a frame are %q and %q", rows[1], rows[2])
			}
			seen[rows[1]] = true
		}
		if len(seen) != 10 {
			t.Errorf("the marks were %v, want ten", seen)
		}
		s.Do(func() {
			if p.renders != before {
				t.Errorf("the page was drawn %d times for its marks", p.renders-before)
			}
			runs = false
		})
		s.Keys("x")
		written := len(s.Raw())
		s.Do(func() { before = p.renders })
		s.Wait(time.Hour)
		s.Do(func() {
			if p.renders != before || len(s.Raw()) != written {
				t.Errorf("%d frames and %d bytes in an hour in which nothing ran", p.renders-before, len(s.Raw())-written)
			}
		})
	})
}

func TestAgesAdvanceWhileMarksTurn(t *testing.T) {
	var since time.Time
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		if since.IsZero() {
			since = f.Now
		}
		return []string{tui.Spin + " " + f.Ago(since)}
	}}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		before := 0
		s.Do(func() { before = p.renders })
		s.Wait(20 * time.Second)
		s.Has(" 21 s")
		s.Do(func() {
			if n := p.renders - before; n != 20 {
				t.Errorf("the page was drawn %d times in 20 s", n)
			}
		})
	})
}

func TestAFrameWhoseMarksTurnedIsTheOneThatWouldBeDrawn(t *testing.T) {
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		return []string{
			f.Theme.Info.Render(tui.Spin) + " 👩‍💻 works", tui.Spin + tui.Spin, "another program's mark: ⠋",
			widget.Fit(strings.Repeat(tui.Spin, 99), f.W),
		}
	}}
	over := &page{id: "over", render: func(*tui.Frame) []string { return []string{"over " + tui.Spin} }}
	var m *tui.Model
	frame.Run(t, frame.Size{W: 60, H: 20, CodePoints: true}, colorprofile.TrueColor, func() tea.Model {
		m = tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark"})
		return m
	}, func(s *frame.Screen) {
		for i := range 24 {
			if i == 12 {
				s.Send(tui.Open(over)())
			}
			s.Wait(220 * time.Millisecond)
			s.Do(func() {
				before := p.renders
				turned := m.View().Content
				if p.renders != before {
					t.Fatal("the page was drawn")
				}
				m.Update(tea.KeyPressMsg{})
				if drawn := m.View().Content; turned != drawn {
					t.Errorf("turned:\n%s\ndrawn:\n%s", turned, drawn)
				}
				if !strings.Contains(turned, "mark: ⠋") || strings.Contains(turned, tui.Spin) {
					t.Errorf("the frame is:\n%s", turned)
				}
			})
		}
		s.Has("mark: ⠋", "over ")
	})
}

func TestMarksStandStillWhenAskedTo(t *testing.T) {
	p := &page{id: "one", title: "One", render: func(*tui.Frame) []string { return []string{tui.Spin + " running"} }}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}, Still: true}, func(s *frame.Screen) {
		s.Has("● running")
		before, written := 0, len(s.Raw())
		s.Do(func() { before = p.renders })
		s.Wait(time.Hour)
		s.Do(func() {
			if p.renders != before || len(s.Raw()) != written {
				t.Errorf("%d frames and %d bytes in an hour", p.renders-before, len(s.Raw())-written)
			}
		})
	})
}

func TestTheMarkOfASessionAtWorkTurns(t *testing.T) {
	f := &tui.Frame{Theme: theme.New(theme.Options{Dark: true})}
	if mark, _, _ := tui.SessionMark(f, &snapshot.Session{State: snapshot.Working}); mark != tui.Spin {
		t.Errorf("at work it is %q", mark)
	}
	if mark, _, _ := tui.SessionMark(f, &snapshot.Session{State: snapshot.Idle}); mark == tui.Spin {
		t.Error("it turns while idle")
	}
}
