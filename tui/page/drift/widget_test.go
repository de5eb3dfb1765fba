package drift_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/deck"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
)

func TestTheDeckTellsOfDrift(t *testing.T) {
	var d *fake.Drift
	frame.Run(t, frame.Size{W: 100, H: 30}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDrift(time.Now())
		page := drift.New(drift.Options{Source: d, Project: "/home/ann/shop"})
		return tui.New(tui.Options{Deck: fake.NewDeck(time.Now()), Background: "dark", Pages: []tui.Page{
			deck.New(deck.Options{Host: fake.NewDeck(time.Now()), Widgets: []deck.Widget{drift.NewWidget(page)}}), page,
		}})
	}, func(s *frame.Screen) {
		s.Lacks("Drift shop")
		d.Add(fake.DriftResult(time.Now()))
		s.Wait(time.Second)
		s.Has("Drift shop ✖ 1 breaking")
		s.Keys("d")
		s.Has("Changes", "useClock")
		s.Resize(40, 12)
		s.Keys("esc")
		s.Has("Drift shop")
	})
}
