package tui_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// failing is a deck with two failed calls, in sixteen colours. red is how many marks of
// failed calls are red below the header, that of the row under the cursor left out.
func failing(t *testing.T, test func(s *frame.Screen, d *fake.Deck, red func() int)) {
	t.Helper()
	const w = 80
	var d *fake.Deck
	frame.Run(t, frame.Size{W: w, H: 34}, colorprofile.ANSI, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.Change(func(n *snapshot.Snapshot) { n.Errors = 2 })
		return tui.New(tui.Options{Deck: d, Start: calls.ID, Background: "dark", Pages: []tui.Page{
			inbox.New(queue(), inbox.Options{CallsPage: "calls"}), calls.New(calls.Options{Bodies: d}),
		}})
	}, func(s *frame.Screen) {
		test(s, d, func() (n int) {
			for _, c := range s.Cells()[2*w:] {
				if c.Content == "✗" && (c.Foreground == 9 || c.Foreground == 1) {
					n++
				}
			}
			return n
		})
	})
}

func wantRed(t *testing.T, s *frame.Screen, red func() int, n int, badge string) {
	t.Helper()
	if got := red(); got != n {
		t.Errorf("%d marks are red, want %d:\n%s", got, n, s.Text())
	}
	head, _, _ := strings.Cut(s.Text(), "\n")
	if got := strings.Contains(head, "✗"); got != (badge != "") || !strings.Contains(head, badge) {
		t.Errorf("the header is %q, want the count %q", head, badge)
	}
}

func TestAFailedCallIsRedUntilItsRowHadTheFocusForASecond(t *testing.T) {
	failing(t, func(s *frame.Screen, d *fake.Deck, red func() int) {
		wantRed(t, s, red, 2, "✗2")
		s.Keys("C", "up", "up", "up", "up", "up") // over the last but four, which has failed
		wantRed(t, s, red, 2, "✗2")
		s.Keys("down")
		s.Wait(2 * time.Second)
		s.Keys("down")
		wantRed(t, s, red, 1, "✗1")
		d.Add(snapshot.Call{ID: 5, Agent: "a1", AgentName: "claude", Server: "logicstamp", Tool: "logicstamp_compare", Status: snapshot.Refused, Started: time.Now(), Result: "told again"})
		s.Wait(time.Second)
		wantRed(t, s, red, 1, "✗1")
	})
}

func TestAnOpenedCallIsSeen(t *testing.T) {
	failing(t, func(s *frame.Screen, _ *fake.Deck, red func() int) {
		s.Keys("C", "up", "up", "up", "up", "enter")
		s.Has("unknown tool: logicstamp_compare")
		s.Keys("esc")
		wantRed(t, s, red, 1, "✗1")
	})
}

func TestOneKeyMarksAllFailedCallsAsSeen(t *testing.T) {
	for _, page := range []string{"C"} {
		failing(t, func(s *frame.Screen, d *fake.Deck, red func() int) {
			s.Keys(page, "home")
			wantRed(t, s, red, 2, "✗2")
			s.Keys("!")
			s.Has("━ Notices ━", "unknown tool: logicstamp_compare")
			s.Keys("esc")
			wantRed(t, s, red, 0, "")
			d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.ToolError, Result: "no"})
			s.Wait(500 * time.Millisecond)
			wantRed(t, s, red, 1, "✗1")
		})
	}
}

// What happens while the user looks at another window has not been seen.
func TestNothingIsSeenInAWindowWithoutTheFocus(t *testing.T) {
	failing(t, func(s *frame.Screen, _ *fake.Deck, red func() int) {
		s.Send(tea.BlurMsg{})
		s.Keys("C", "up", "up", "up", "up")
		s.Wait(3 * time.Second)
		s.Has("✗2")
		s.Send(tea.FocusMsg{})
		s.Wait(2 * time.Second)
		wantRed(t, s, red, 1, "✗1")
	})
}

func TestWhatTheUserRanInAShellNeverCounts(t *testing.T) {
	failing(t, func(s *frame.Screen, d *fake.Deck, red func() int) {
		d.Add(snapshot.Call{AgentName: "mcpdeck", Tool: "echo", Status: snapshot.ToolError, ByUser: true})
		s.Wait(time.Second)
		wantRed(t, s, red, 2, "✗2")
	})
}
