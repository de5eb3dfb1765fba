package tui_test

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func TestMachinesThatAreAwayStandOnThePagesUntilTheyAreBack(t *testing.T) {
	at := time.Date(2026, 11, 29, 15, 0, 0, 0, time.UTC)
	build1 := snapshot.Away{Machine: "build1", Since: at, Why: "ssh: connect to host build1.internal.example.org port 22: Connection refused"}
	build2 := snapshot.Away{Machine: "build2", Since: at.Add(time.Hour), Why: "the link has ended"}
	for _, size := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}, {W: 40, H: 12}} {
		all := &fake.Sessions{}
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			pages := []tui.Page{inbox.New(ask.New(ask.Options{}), inbox.Options{}), agents.New(agents.Options{})}
			return tui.New(tui.Options{Background: "dark", Still: true, Feeds: []tui.Feed{tui.SessionsFeed(all)}, Pages: pages})
		}, func(s *frame.Screen) {
			for _, page := range []string{"I", "A"} {
				s.Keys(page)
				for n, lost := range [][]snapshot.Away{nil, {build1}, {build1, build2}} {
					all.Lost = lost
					all.Send()
					s.Wait(3 * time.Second)
					if n > 0 {
						s.Golden(fmt.Sprintf("away%d-%s-%dx%d", n, page, size.W, size.H))
					} else {
						s.Lacks("away")
					}
				}
			}
		})
	}
}
