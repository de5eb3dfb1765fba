package drift_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestNoClickCompares(t *testing.T) {
	size := frame.Size{W: 80, H: 24}
	show(t, size, false, one(fake.FrontDrift), func(s *frame.Screen, d *fake.Drift) {
		s.Wait(3 * time.Second)
		before := slices.Clone(d.Asked)
		s.ClickAll(size)
		s.Wait(5 * time.Second)
		if !slices.Equal(d.Asked, before) {
			t.Errorf("clicks asked for %q, before them it was %q", d.Asked, before)
		}
	})
}

func TestAMessageForTheAgentGoesToItsTerminal(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, false, one(fake.FrontDrift), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("m message")
		s.Keys("m")
		s.Has("claude takes messages in its own terminal: A, then J")
	})
}

func TestAClickBelowTheDetailSelectsThatChange(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, false, one(fake.FrontDrift), func(s *frame.Screen, _ *fake.Drift) {
		s.Has("─ Price ───")
		y := slices.IndexFunc(strings.Split(s.Text(), "\n"), func(row string) bool { return strings.Contains(row, "─ Price ─") })
		s.Click(60, y)
		s.Has("▌! Price")
	})
}
