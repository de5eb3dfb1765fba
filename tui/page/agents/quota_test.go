package agents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
)

// used is what some accounts have used: one ends before it resets, one was told long ago.
func used(now time.Time) []snapshot.Quota {
	return []snapshot.Quota{
		{Agent: "claude", Window: 5 * time.Hour, Used: 62, Resets: now.Add(3 * time.Hour), At: now.Add(-time.Minute)},
		{Agent: "claude", Window: 7 * 24 * time.Hour, Used: 12, Resets: now.Add(5 * 24 * time.Hour), At: now.Add(-time.Minute)},
		{Agent: "codex", Window: 5 * time.Hour, Used: 30, Resets: now.Add(time.Hour), At: now.Add(-20 * time.Minute)},
	}
}

func TestWhatAccountsHaveUsedStandsAboveTheFooter(t *testing.T) {
	for _, size := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}, {W: 40, H: 12}} {
		show(t, size, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
			all.Used = used(time.Now())
			all.Send()
			s.Wait(2 * time.Second)
			s.Keys("d")
			s.Golden(fmt.Sprintf("quota-%dx%d", size.W, size.H))
			all.Used = nil
			all.Send()
			s.Wait(2 * time.Second)
			if text := s.Text(); strings.Contains(text, "% ") && strings.Contains(text, "resets") {
				t.Errorf("of nothing that is known it says\n%s", text)
			}
		})
	}
}
