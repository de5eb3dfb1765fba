package agents_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
)

// TestOfTwentyTurnsThoseThatNobodyLookedAtAreUnread has twenty sessions end a turn, and the user look
// at eight of them in the five ways there are.
func TestOfTwentyTurnsThoseThatNobodyLookedAtAreUnread(t *testing.T) {
	roster := &sessions.Roster{}
	report := func(i int, state snapshot.SessionState) {
		s := snapshot.Session{
			Agent: "claude", ID: fmt.Sprint("s", i), PID: 7, State: state, Since: time.Now().Add(time.Duration(i-30) * time.Minute), Folder: fmt.Sprint("/src/p", i),
			Place: snapshot.Place{TmuxPane: fmt.Sprint("%", i)}, Record: &snapshot.Record{Prompt: fmt.Sprint("task ", i), Said: "Done."},
		}
		roster.Report(s)
	}
	stop, active := func() {}, "" // the pane before the user's eyes
	unread := func() (n int) {
		for _, s := range roster.Sessions() {
			if s.Unread {
				n++
			}
		}
		return n
	}
	frame.Run(t, frame.Size{W: 80, H: 40}, colorprofile.TrueColor, func() tea.Model {
		ctx, cancel := context.WithCancel(context.Background())
		over := make(chan struct{})
		stop = func() { cancel(); <-over }
		go func() {
			defer close(over)
			roster.Run(ctx, sessions.Options{Shown: func(_ context.Context, s snapshot.Session) bool { return s.Place.TmuxPane == active }})
		}()
		for i := range 20 {
			report(i, snapshot.Working)
			report(i, snapshot.Idle)
		}
		page := agents.New(agents.Options{Sessions: roster, Jump: func(snapshot.Session) (string, error) { return "", nil }})
		return tui.New(tui.Options{Deck: fake.NewDeck(time.Now()), Background: "dark", Start: page.ID(), Feeds: []tui.Feed{tui.SessionsFeed(roster)}, Pages: []tui.Page{page}})
	}, func(s *frame.Screen) {
		defer func() { stop() }()
		left := 20
		looked := func(how string, n int) {
			t.Helper()
			s.Wait(500 * time.Millisecond)
			if left -= n; unread() != left {
				t.Errorf("after %s, %d are unread, want %d", how, unread(), left)
			}
			s.Has(fmt.Sprintf("done %d", left))
		}
		looked("nothing", 0)
		s.Quick("down", "down", "down", "down", "up", "up", "g")
		looked("passing them", 0)
		for range 2 {
			s.Quick("g", "down", "down")
			s.Wait(1100 * time.Millisecond)
			looked("one was selected for a second", 1)
			s.Quick("g", "down", "enter", "esc")
			looked("one was opened", 1)
			s.Quick("g", "down", "J")
			looked("one's terminal was shown", 1)
		}
		report(3, snapshot.Working)
		s.Wait(time.Second)
		looked("the user sent another prompt", 1)
		s.Do(func() { active = "%4" })
		s.Wait(12 * time.Second)
		looked("one's pane was active", 1)
		if got := unread(); got != 12 {
			t.Errorf("%d are unread", got)
		}
	})
}
