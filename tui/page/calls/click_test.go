package calls_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
)

func TestNoClickCancelsOrRepeats(t *testing.T) {
	size := frame.Size{W: 80, H: 24}
	for shown, before := range map[string][]string{"Calls": nil, "running": {"end", "enter"}, "Commands": {":"}, "again?": {"home", "down", "down", "down", "r"}, "Copy": {"c"}} {
		var did []string
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			d := fake.NewDeck(time.Now())
			return tui.New(tui.Options{Deck: d, Still: true, Background: "dark", Pages: []tui.Page{calls.New(calls.Options{
				Bodies: d, Commands: commands,
				Cancel: func(uint64) bool { did = append(did, "cancel"); return true },
				Repeat: func(tool string, _ snapshot.CallBody) error { did = append(did, "repeat "+tool); return nil },
			})}})
		}, func(s *frame.Screen) {
			s.Wait(3 * time.Second)
			s.Keys(before...)
			s.Has(shown)
			s.Keys("esc", "esc")
			s.ClickAll(size, before...)
			s.Wait(5 * time.Second)
			if len(did) > 0 {
				t.Errorf("%s: clicks did %q", shown, did)
			}
		})
	}
}
