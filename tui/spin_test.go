package tui_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestMarksTurnTogetherWhileSomethingRuns(t *testing.T) {
	runs, seen := true, map[string]int{}
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		if !runs {
			return []string{"done"}
		}
		one, other := f.Spin(), f.Spin()
		if one != other {
			t.Errorf("two marks of a frame are %s and %s", one, other)
		}
		seen[one]++
		return []string{one}
	}}
	frame.Run(t, frame.Size{W: 60, H: 20}, colorprofile.TrueColor, func() tea.Model {
		return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark"})
	}, func(s *frame.Screen) {
		before := 0
		s.Do(func() { before = p.renders })
		s.Wait(4 * time.Second)
		s.Do(func() {
			if n := p.renders - before; n < 18 || n > 22 {
				t.Errorf("%d frames in 4 s, want about 20", n)
			}
			if len(seen) != 10 {
				t.Errorf("the marks were %v, want ten", seen)
			}
			runs = false
		})
		s.Keys("x")
		s.Do(func() { before = p.renders })
		s.Wait(time.Hour)
		s.Do(func() {
			if p.renders != before {
				t.Errorf("%d frames in an hour in which nothing ran", p.renders-before)
			}
		})
	})
}

func TestMarksStandStillWhenAskedTo(t *testing.T) {
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string { return []string{f.Spin() + " running", f.Sub(4, 1).Spin()} }}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}, Still: true}, func(s *frame.Screen) {
		s.Has("● running")
		before := 0
		s.Do(func() { before = p.renders })
		s.Wait(time.Hour)
		s.Do(func() {
			if p.renders != before {
				t.Errorf("%d frames in an hour", p.renders-before)
			}
		})
	})
}

func TestTheMarkOfASessionAtWorkTurns(t *testing.T) {
	seen := map[string]bool{}
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		mark, _, _ := tui.SessionMark(f, &snapshot.Session{State: snapshot.Working})
		seen[mark] = true
		idle, _, _ := tui.SessionMark(f, &snapshot.Session{State: snapshot.Idle})
		return []string{mark, idle}
	}}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Wait(2 * time.Second)
		if len(seen) != 10 {
			t.Errorf("the marks were %v, want ten", seen)
		}
	})
}
