package inbox_test

import (
	"fmt"
	"slices"
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
	"github.com/mcpdeck/mcpdeck/tui/reply"
)

func TestASessionThatIsDoneTakesItsNextPrompt(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 60, H: 40}, {W: 40, H: 12}} {
		var sent []string
		all := &fake.Sessions{All: fake.FrontSessions(time.Now()).All}
		q := questions.New(questions.Options{})
		frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
			all.All = slices.DeleteFunc(fake.FrontSessions(time.Now()).All, func(s snapshot.Session) bool { return s.State.Waits() })
			for i := range all.All {
				all.All[i].Door = snapshot.Door{Open: true}
			}
			line := reply.New(reply.Options{
				Send:     func(_, agent, id, text string) error { sent = append(sent, agent+" "+id+": "+text); return nil },
				TakeBack: func(_, _, _ string) string { return "Then mend the till." },
				Mode:     func() string { return "on" },
				Drafts:   questions.NextDrafts{Queue: q},
			})
			return tui.New(tui.Options{Pages: []tui.Page{page.New(q, page.Options{Reply: line})}, Background: "dark", Feeds: []tui.Feed{tui.SessionsFeed(all)}})
		}, func(s *frame.Screen) {
			s.Wait(time.Second)
			s.Keys("m")
			s.Type("Then mend the till.")
			s.Golden(fmt.Sprintf("reply-%dx%d", size.W, size.H))
			s.Keys("enter")
			if !slices.Equal(sent, []string{"claude claude-rel: Then mend the till."}) {
				t.Errorf("sent %q", sent)
			}
			all.All[0].Next = snapshot.Next{State: snapshot.NextKept, Text: "Then mend the till."}
			all.Send()
			s.Wait(2 * time.Second)
			s.Has("next: Then")
			s.Keys("u")
			all.All[0].Next = snapshot.Next{}
			all.Send()
			s.Wait(2 * time.Second)
			s.Keys("m")
			s.Has("Then mend the till.")
			s.Keys("esc")
			_ = q.Close()
		})
	}
}
