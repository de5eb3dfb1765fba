package inbox_test

import (
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func TestASessionThatIsDoneIsReadWhenItIsSeen(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(s *frame.Screen)
		want string
	}{
		{"passed", func(s *frame.Screen) { s.Quick("down", "down") }, ""},
		{"selected for a second", func(s *frame.Screen) { s.Quick("down"); s.Wait(1100 * time.Millisecond) }, "first"},
		{"selected without the focus", func(s *frame.Screen) {
			s.Send(tea.BlurMsg{})
			s.Quick("down")
			s.Wait(5 * time.Second)
		}, ""},
		{"when the focus is back", func(s *frame.Screen) {
			s.Send(tea.BlurMsg{})
			s.Quick("down")
			s.Wait(5 * time.Second)
			s.Send(tea.FocusMsg{})
			s.Wait(1100 * time.Millisecond)
		}, "first"},
		{"covered", func(s *frame.Screen) { s.Quick("down", "?"); s.Wait(5 * time.Second) }, ""},
		{"below the history", func(s *frame.Screen) { s.Quick("down", "H"); s.Wait(5 * time.Second) }, ""},
		{"opened", func(s *frame.Screen) { s.Quick("down", "enter", "esc", "up") }, "first"},
		{"its terminal shown", func(s *frame.Screen) { s.Quick("down", "J", "up") }, "first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doneTwice(t, func(s *frame.Screen, _ *fake.Sessions, read *[]string) {
				tt.do(s)
				s.Do(func() {})
				if got := strings.Join(*read, " "); got != tt.want {
					t.Errorf("read: %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestASessionThatWasReadKeepsItsRowWhileItIsSelected(t *testing.T) {
	doneTwice(t, func(s *frame.Screen, _ *fake.Sessions, read *[]string) {
		s.Quick("down")
		s.Wait(30 * time.Second)
		s.Has("Done 2")
		s.Quick("down")
		s.Wait(500 * time.Millisecond)
		s.Has("Done 1")
		s.Do(func() {})
		if got := strings.Join(*read, " "); got != "first" {
			t.Errorf("read: %q", got)
		}
	})
}

func TestASessionThatComesUnderTheCursorByItselfIsNotRead(t *testing.T) {
	doneTwice(t, func(s *frame.Screen, all *fake.Sessions, read *[]string) {
		s.Do(func() {
			all.All = all.All[1:]
			all.Send()
		})
		s.Wait(5 * time.Second)
		s.Has("▌✓ claude   done     Cut the release", " ✓ claude   done     Mend the till")
		s.Quick("up")
		s.Wait(1100 * time.Millisecond)
		if got := strings.Join(*read, " "); got != "first" {
			t.Errorf("read: %q", got)
		}
	})
}

// doneTwice shows a session that waits elsewhere, and below it two that are done.
func doneTwice(t *testing.T, test func(s *frame.Screen, all *fake.Sessions, read *[]string)) {
	t.Helper()
	var (
		q    *questions.Queue
		all  = &fake.Sessions{}
		read []string
	)
	frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
		q = questions.New(questions.Options{})
		now := time.Now()
		all.All = []snapshot.Session{
			{Agent: "codex", ID: "waits", State: snapshot.WaitsForAnswer, WaitingFor: "Which?", Since: now, PID: 6},
			{Agent: "claude", ID: "first", Title: "Cut the release", State: snapshot.Idle, Unread: true, Since: now, PID: 7},
			{Agent: "claude", ID: "second", Title: "Mend the till", State: snapshot.Idle, Unread: true, Since: now.Add(-time.Minute), PID: 8},
		}
		p := page.New(q, page.Options{
			JumpTo: func(snapshot.Session) (string, error) { return "", nil },
			Read: func(_, id string) {
				read = append(read, id)
				for i := range all.All {
					all.All[i].Unread = all.All[i].Unread && all.All[i].ID != id
				}
				all.Send()
			},
		})
		return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark", Feeds: []tui.Feed{tui.SessionsFeed(all)}})
	}, func(s *frame.Screen) {
		s.Wait(time.Second)
		test(s, all, &read)
		_ = q.Close()
	})
}
