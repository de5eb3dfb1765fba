package drift_test

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/drift"
)

// front runs the page after an edit of claude's.
func front(t *testing.T, l frame.Look, test func(s *frame.Screen)) {
	t.Helper()
	among(t, l, func(p *drift.Page) []tui.Page { return []tui.Page{p} }, test)
}

// among runs it among pages.
func among(t *testing.T, l frame.Look, pages func(*drift.Page) []tui.Page, test func(s *frame.Screen)) {
	t.Helper()
	frame.Run(t, l.Size, l.Colors, func() tea.Model {
		d := fake.NewDrift(time.Now(), fake.FrontDrift(time.Now()))
		return tui.New(tui.Options{
			Theme: l.Theme, Background: l.Background, Feeds: []tui.Feed{tui.SessionsFeed(fake.FrontSessions(time.Now()))}, Start: drift.ID,
			Pages: pages(drift.New(drift.Options{Source: d, Project: "/home/ana/src/shop", Editor: process.Command{Program: "vi"}})),
		})
	}, test)
}

// full is the page with a badge above nine.
type full struct{ *drift.Page }

func (full) Badge() int { return 12 }

func TestAnEditBelowFullBadges(t *testing.T) {
	for _, size := range frame.Sizes()[:3] {
		among(t, frame.Look{Size: size, Colors: colorprofile.TrueColor, Background: "dark"}, func(p *drift.Page) []tui.Page { return fake.Tabs(full{p}, 12) }, func(s *frame.Screen) {
			s.Golden(fmt.Sprintf("badges-%dx%d", size.W, size.H))
		})
	}
}

func TestAnEditAtEverySize(t *testing.T) { frame.Every(t, "front", front) }
