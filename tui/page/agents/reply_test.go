package agents_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/reply"
)

// outbox plays what sends prompts. Its fields are set and read in the update loop.
type outbox struct {
	fake.Drafts
	sent []string
	back string
	err  error
}

func (o *outbox) options(mode string) reply.Options {
	return reply.Options{
		Send: func(_, agent, id, text string) error {
			if o.sent = append(o.sent, agent+" "+id+": "+text); o.err == nil {
				o.SetNextDraft(agent, id, "")
			}
			return o.err
		},
		TakeBack: func(_, _, _ string) string { return o.back },
		Mode:     func() string { return mode },
		Drafts:   o,
	}
}

// replying shows the sessions of the frames with the cursor on one that works, each of which may be
// sent a prompt.
func replying(t *testing.T, size frame.Size, mode string, door snapshot.Door, test func(s *frame.Screen, o *outbox, at *snapshot.Session, again func())) {
	t.Helper()
	o := &outbox{Drafts: fake.Drafts{}}
	show(t, size, colorprofile.TrueColor, tui.Options{}, agents.Options{Reply: reply.New(o.options(mode))}, func(s *frame.Screen, all *fake.Sessions) {
		all.All = fake.FrontSessions(time.Now()).All
		for i := range all.All {
			all.All[i].Door = door
		}
		again := func() { all.Send(); s.Wait(2 * time.Second) }
		again()
		s.Keys("down", "down", "down")
		at := slices.IndexFunc(all.All, func(s snapshot.Session) bool { return s.ID == "claude-api" })
		test(s, o, &all.All[at], again)
	})
}

var open = snapshot.Door{Open: true}

func TestThePromptIsTypedBelowTheConversation(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 60, H: 40}, {W: 40, H: 12}} {
		replying(t, size, "on", open, func(s *frame.Screen, o *outbox, _ *snapshot.Session, _ func()) {
			s.Keys("m")
			s.Type("Then mend the till, and say which of the two clocks it reads: the one of the machine, or ours.")
			s.Golden(fmt.Sprintf("reply-%dx%d", size.W, size.H))
			s.Keys("enter")
			if want := "claude claude-api: Then mend the till, and say which of the two clocks it reads: the one of the machine, or ours."; !slices.Equal(o.sent, []string{want}) {
				t.Errorf("sent %q", o.sent)
			}
		})
	}
}

func TestTheFirstPromptIsExplained(t *testing.T) {
	replying(t, frame.Size{W: 80, H: 24}, "ask", open, func(s *frame.Screen, o *outbox, _ *snapshot.Session, _ func()) {
		s.Keys("m")
		s.Golden("reply-first-80x24")
		s.Keys("n", "m", "y")
		s.Type("One")
		s.Keys("enter", "m")
		s.Type("Two")
		s.Keys("enter")
		if !slices.Equal(o.sent, []string{"claude claude-api: One", "claude claude-api: Two"}) {
			t.Errorf("sent %q", o.sent)
		}
	})
}

func TestADraftIsKeptUntilItIsSent(t *testing.T) {
	replying(t, frame.Size{W: 80, H: 24}, "on", open, func(s *frame.Screen, o *outbox, _ *snapshot.Session, _ func()) {
		s.Keys("m")
		s.Type("First line")
		s.Keys("ctrl+j")
		s.Send(tea.PasteMsg{Content: "second\nthird"})
		s.Keys("esc")
		s.Has("Draft, not sent; m to go on", "First line")
		o.err = errors.New("this session has ended")
		s.Keys("m", "enter")
		s.Wait(time.Second)
		s.Has("this session has ended", "Draft, not sent")
		o.err = nil
		s.Keys("m")
		s.Type("!")
		s.Keys("enter")
		want := "claude claude-api: First line\nsecond\nthird"
		if !slices.Equal(o.sent, []string{want, want + "!"}) {
			t.Errorf("sent %q", o.sent)
		}
		s.Lacks("Draft")
	})
}

func TestATextThatMayDoMoreIsAskedAboutFirst(t *testing.T) {
	for _, tt := range []struct {
		door  snapshot.Door
		text  string
		asks  string
		wants int
	}{
		{snapshot.Door{Open: true, Commands: true}, "/compact", "may run this as a command", 0},
		{snapshot.Door{Open: true, Commands: true}, "!ls", "may run this as a command", 0},
		{snapshot.Door{Open: true, Warning: "restarts this background session"}, "go on", "claude restarts this background session", 0},
		{snapshot.Door{Open: true, Commands: true}, "go on /", "", 1},
		{open, "/compact", "", 1},
	} {
		t.Run(tt.text, func(t *testing.T) {
			replying(t, frame.Size{W: 80, H: 24}, "on", tt.door, func(s *frame.Screen, o *outbox, _ *snapshot.Session, _ func()) {
				s.Keys("m")
				s.Type(tt.text)
				s.Keys("enter")
				if len(o.sent) != tt.wants {
					t.Errorf("sent at once: %q", o.sent)
				}
				if tt.asks != "" {
					s.Has(tt.asks)
					s.Keys("y")
				}
				if len(o.sent) != 1 {
					t.Errorf("sent: %q", o.sent)
				}
			})
		})
	}
}

func TestWhatBecomesOfAPromptIsShown(t *testing.T) {
	replying(t, frame.Size{W: 80, H: 24}, "on", open, func(s *frame.Screen, o *outbox, at *snapshot.Session, again func()) {
		for _, tt := range []struct {
			next snapshot.Next
			has  []string
		}{
			{snapshot.Next{State: snapshot.NextSending}, []string{"Sent; read after the present step"}},
			{snapshot.Next{State: snapshot.NextKept}, []string{"Next prompt, sent when it is idle; u undo", "next: Then the till"}},
			{snapshot.Next{State: snapshot.NextUntaken}, []string{"not taken yet; see its terminal: J", "next: Then the till"}},
			{snapshot.Next{State: snapshot.NextUntaken, Note: "not sent: refused"}, []string{"not sent: refused; see its terminal: J"}},
		} {
			at.Next, at.Next.Text = tt.next, "Then the till"
			again()
			s.Has(append(tt.has, "Then the till")...)
		}
		o.back = "Then the till"
		s.Keys("u")
		at.Next = snapshot.Next{}
		again()
		s.Has("Draft, not sent; m to go on", "Then the till")
	})
}

func TestWhereNothingCanBeSentTheKeySaysWhy(t *testing.T) {
	for _, tt := range []struct {
		mode string
		door snapshot.Door
		says string
	}{
		{"on", snapshot.Door{}, "claude takes messages in its own terminal: J"},
		{"off", open, "prompts from here are turned off: sessions.reply"},
	} {
		replying(t, frame.Size{W: 80, H: 24}, tt.mode, tt.door, func(s *frame.Screen, _ *outbox, _ *snapshot.Session, _ func()) {
			s.Keys("m")
			s.Has(tt.says)
		})
	}
}
