package deck_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	deckpage "github.com/mcpdeck/mcpdeck/tui/page/deck"
)

// asks is the Ask page as far as the deck knows it.
type asks struct {
	stub
	opened  int
	lasting bool
	session string // shown on the Agents page, which is this one, too
}

func (a *asks) Update(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case tui.ShowQuestionMsg:
		a.opened, a.lasting = m.ID, m.Lasting
	case tui.ShowSessionMsg:
		a.session = m.Agent + " " + m.ID
	}
	return nil
}

// deckScreen is a deck with prompts that wait.
type deckScreen struct {
	*frame.Screen
	q     *ask.Queue
	deck  *fake.Deck
	asks  *asks
	calls []*ask.Call

	jumped atomic.Int32
}

func waiting(t *testing.T, size frame.Size, o tui.Options, test func(l *deckScreen), requests ...ask.Request) {
	t.Helper()
	l := &deckScreen{asks: &asks{}}
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		l.deck = d
		d.Change(func(s *snapshot.Snapshot) { s.Agents[1].Waiting = false })
		l.q = ask.New(ask.Options{Hold: -1})
		for _, r := range requests {
			c, err := l.q.Open(r)
			if err != nil {
				t.Fatal(err)
			}
			l.calls = append(l.calls, c)
		}
		o.Deck, o.Background, o.Keys = d, "dark", map[string][]string{"deck.sort.agent": {"Z"}, "deck.sort.today": {"T"}, "deck.sort.context": {"X"}, "deck.sort.need": {"N"}}
		o.Pages = []tui.Page{deckpage.New(deckpage.Options{Host: d, AskPage: "ask", AgentsPage: "ask", Questions: l.q, Watch: o.Watch, Jump: l.jump}), l.asks}
		return tui.New(o)
	}, func(s *frame.Screen) {
		l.Screen = s
		test(l)
		_ = l.q.Close()
	})
}

func (l *deckScreen) jump(r ask.Request) (string, error) {
	l.jumped.Add(1)
	return "went to the terminal of " + r.Prompt.Agent, nil
}

func (l *deckScreen) ended() (n int) {
	for _, c := range l.calls {
		select {
		case <-c.Done():
			n++
		default:
		}
	}
	return n
}

func command(agent, id, cmd string) ask.Request {
	return fake.Permission(agent, "/home/ann/src/api", ask.Prompt{ID: id, Tool: "Bash", Command: cmd})
}

func TestAPermissionIsGivenWhereAllOfItIsOnScreen(t *testing.T) {
	for key, want := range map[string]string{"y": "Allow once", "n": "Deny"} {
		waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
			l.Has("2 wait for you", "allow?   Bash  make all", "y allow once")
			l.Keys(key)
			l.Wait(100 * time.Millisecond)
			r, err := l.calls[0].Reply()
			if l.ended() != 1 || err != nil || r.Results[0].SelectedOptions[0] != want {
				t.Errorf("%s gave %+v, %v", key, r, err)
			}
			l.Has("◐ claude", "sent")
			l.calls[0].Delivered(ask.Delivered)
			l.Wait(100 * time.Millisecond)
			l.Has(map[string]string{"y": "✓ claude", "n": "✗ claude"}[key], map[string]string{"y": "allowed", "n": "denied"}[key])
			l.Quick(key, key) // nothing slides under the key
			l.Wait(8 * time.Second)
			l.Lacks("make all")
			if n := l.ended(); n != 1 {
				t.Errorf("%d were answered", n)
			}
			l.Keys(key)
			if n := l.ended(); n != 2 {
				t.Errorf("%d were answered", n)
			}
		}, command("claude", "1", "make all"), command("codex", "2", "make install"))
	}
}

func TestKeysDoNothingUntilAPermissionOnTheDeckCanHaveBeenRead(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.calls[0].Settled("answered in its terminal: allowed")
		c, err := l.q.Open(command("codex", "2", "make install"))
		if err != nil {
			t.Fatal(err)
		}
		l.calls = append(l.calls, c)
		l.Wait(5200 * time.Millisecond) // the row of the first has just gone
		l.Has("make install")
		l.Lacks("make all")
		l.Keys("y")
		l.Has("this has just come")
		if n := l.ended(); n != 1 {
			t.Errorf("%d have ended", n)
		}
		l.Wait(6 * time.Second)
		l.Keys("y")
		if n := l.ended(); n != 2 {
			t.Errorf("%d have ended", n)
		}
	}, command("claude", "1", "make all"))
}

func TestWhatIsNotOnScreenInFullIsOpened(t *testing.T) {
	edit, doubt := fake.Prompts()[1], command("claude", "1", "make")
	doubt.Prompt.Unconfirmed = true
	for name, r := range map[string]ask.Request{
		"cut": command("claude", "1", "make "+strings.Repeat("all ", 40)), "lines": command("claude", "1", "make\nrm -rf /"), "an edit": edit, "unconfirmed": doubt,
		"a question": fake.Prompts()[5], "in its terminal": fake.Prompts()[6],
	} {
		waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
			l.Wait(2 * time.Second)
			l.Lacks("y allow once")
			l.Keys("y", "n")
			if l.ended() != 0 {
				t.Errorf("%s was answered", name)
			}
			l.Keys("enter")
			l.Wait(time.Second)
			if l.asks.opened != 1 {
				t.Errorf("%s was not opened", name)
			}
		}, r)
	}
}

func TestMarksThatHaveNoRoomKeepAPermissionFromBeingGiven(t *testing.T) {
	r := command("claude", "1", "make")
	r.Prompt.Marks = []string{"names a path outside the project"}
	waiting(t, frame.Size{W: 80, H: 24}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Keys("y")
		if l.ended() != 0 {
			t.Error("it was given")
		}
	}, r)
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Has("names a path outside the project")
		l.Keys("y")
		if l.ended() != 1 {
			t.Error("it was not given")
		}
	}, r)
}

// A row that has its answer stays for a moment, but offers nothing more to do.
func TestAnAnsweredRowWaitsForNothing(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("1 waits for you")
		l.Keys("y")
		l.Has("◐ claude", "nothing waits")
		l.Lacks("wait for you", "enter whole command", "a answer", "a always…")
	}, command("claude", "1", "make all"))
}

func TestAnAgentThatWaitsIsNotWaitedFor(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.deck.Change(func(s *snapshot.Snapshot) { s.Agents = nil })
		l.Wait(time.Second)
		l.Has("1 waits for you", "Every agent is listed above.")
		l.Keys("y")
		l.Has("◐ claude")
		l.Lacks("Waiting for the first agent")
	}, command("claude", "1", "make all"))
}

func TestSeveralQuestionsOfOneRequestAreCounted(t *testing.T) {
	r := fake.Prompts()[5]
	second := r.Questions[0]
	second.ID = "second"
	r.Questions = append(slices.Clone(r.Questions), second)
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("Which database shall the service use?", "1 of 2")
	}, r)
}

func TestWhatLastsIsOpenedWhereItsEffectIsShown(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Has("a always…", "enter whole command")
		l.Keys("a")
		if l.asks.opened != 1 || !l.asks.lasting || l.ended() != 0 {
			t.Errorf("opened %d, at what lasts: %v, answered %d", l.asks.opened, l.asks.lasting, l.ended())
		}
		l.Keys("I", "down")
		l.Lacks("a always…")
		l.Has("a answer")
		l.Keys("a")
		if l.asks.opened != 2 || l.asks.lasting {
			t.Errorf("a question was opened as %d, at what lasts: %v", l.asks.opened, l.asks.lasting)
		}
	}, command("claude", "1", "make"), fake.Prompts()[5])
}

func TestASessionIsShownOnTheAgentsPage(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Send(tui.SessionsMsg{Sessions: fake.NewSessions(time.Now()).All})
		for _, want := range []string{"claude 3f6c1a52-77aa-4b1e-9d8e-0a4d5b6c7d8e", "codex 019a9b1c-1111-7000-8000-000000000001"} {
			l.Keys("enter") // the first is connected to the deck, the second is not
			if l.asks.session != want {
				t.Errorf("shown is %q, want %q", l.asks.session, want)
			}
			l.Keys("I", "down")
		}
	})
}

func TestADeckThatOnlyWatchesGivesNothing(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{Watch: true}, func(l *deckScreen) {
		l.Wait(2 * time.Second)
		l.Keys("y", "n")
		l.Has("make", "deck only watches")
		if l.ended() != 0 {
			t.Error("it was given")
		}
	}, command("claude", "1", "make"))
}

func TestMoreOfOneAgentIsCounted(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("make one", "+2")
		l.Lacks("make two")
		l.Wait(time.Second)
		l.calls[0].Settled("answered in its terminal: allowed")
		l.Wait(time.Second)
		l.Has("make one", "answered in its terminal: allowed")
		l.Wait(5 * time.Second)
		l.Has("make two", "+1")
		l.Lacks("make one")
	}, command("claude", "1", "make one"), command("claude", "2", "make two"), command("claude", "3", "make three"))
}

// TestWhatIsSaidOfARowIsWhatWasSeen of answers that are not taken, and of agents that end.
func TestWhatIsSaidOfARowIsWhatWasSeen(t *testing.T) {
	for name, tt := range map[string]struct {
		do         func(l *deckScreen)
		mark, want string
	}{
		"not taken":           {func(l *deckScreen) { l.Keys("y"); l.Wait(2100 * time.Millisecond) }, "◐", "not taken yet: answer in its terminal (J)"},
		"its agent ended":     {func(l *deckScreen) { l.calls[0].Leave("its agent has ended") }, "◐", "gone"},
		"its hook was killed": {func(l *deckScreen) { l.calls[0].Gone("") }, "◐", "gone"},
		"in its terminal":     {func(l *deckScreen) { l.calls[0].Settled("answered in its terminal: denied") }, "→", "answered in its terminal: denied"},
	} {
		t.Run(name, func(t *testing.T) {
			waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
				l.Wait(time.Second)
				tt.do(l)
				l.Wait(300 * time.Millisecond)
				l.Has(tt.mark+" claude", tt.want)
				l.Lacks("done", "✓ claude")
			}, command("claude", "1", "make all"))
		})
	}
}

func TestTheTerminalOfWhatWasNotTakenIsAKeyAway(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Keys("y")
		l.Wait(2100 * time.Millisecond)
		l.Has("not taken yet: answer in its terminal (J)")
		l.Keys("J")
		l.Has("went to the terminal of claude")
		if n := l.jumped.Load(); n != 1 {
			t.Errorf("it was shown %d times", n)
		}
	}, command("claude", "1", "make all"))
}

func TestWhatIsSnoozedDoesNotWait(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("2 wait for you", "make one")
		for _, heading := range []string{"1 waits for you", "nothing waits, 2 snoozed"} {
			if err := l.q.Snooze(l.q.Pending().Items[0].ID, time.Hour); err != nil {
				t.Fatal(err)
			}
			l.Wait(time.Second)
			l.Has(heading)
			l.Lacks("sent", "gone", "make one")
		}
		l.Lacks("make two")
	}, command("claude", "1", "make one"), command("codex", "2", "make two"))
}

func TestAnAgentThatWaitsIsNotAmongThoseAtWork(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("1 waits for you")
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{
			{Agent: "claude", ID: "claude-1", State: snapshot.WaitsForPermission, Folder: "/home/ann/src/api"},
			{Agent: "gemini", ID: "g", State: snapshot.Working, Folder: "/home/ann/src/docs", LastTool: "read_file", LastSubject: "a.md", Cost: snapshot.Cost{USD: 0.09, Today: 0.07, Known: true}, Context: snapshot.Context{Used: 12, Window: 100}},
			{Agent: "codex", ID: "old", State: snapshot.Ended, Title: "gone by"},
		}})
		text, _, _ := strings.Cut(l.Text(), "─ Calls ")
		if n := strings.Count(text, " claude "); n != 1 {
			t.Errorf("claude has %d rows:\n%s", n, text)
		}
		l.Has("1 at work", "read_file  a.md", "$0.07", "12%")
		l.Lacks("gone by", "opencode          menu")
	}, command("claude", "1", "make"))
}

func TestProgramsThatAreNotSetUpLeaveTheWayToTheFirstAgent(t *testing.T) {
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.Change(func(s *snapshot.Snapshot) { s.Agents = nil })
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d, AgentsPage: "agents", Setup: &clients{}})}})
	}, func(s *frame.Screen) {
		s.Send(tui.SessionsMsg{Sessions: []snapshot.Session{{Agent: "opencode", ID: "process 1", State: snapshot.StateUnknown, Note: "not set up"}}})
		s.Has("Waiting for the first agent.", "sets up claude")
		s.Keys("enter")
		s.Has("Set up claude?")
	})
}

func TestWhatWaitsInATerminalOfItsOwnIsCounted(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{
			{Agent: "claude", ID: "1", State: snapshot.WaitsForPermission}, {Agent: "codex", ID: "2", State: snapshot.Working},
		}})
		l.Has("nothing waits here, 1 in its own terminal")
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{{Agent: "claude", ID: "1", State: snapshot.Working}}})
		l.Has("nothing waits")
		l.Lacks("in its own terminal")
	})
}

func TestNothingWaitsIsOneLine(t *testing.T) {
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("nothing waits")
		l.Lacks("wait for you")
	})
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Keys("y")
		l.Wait(8 * time.Second)
		l.Has("nothing waits · last answer")
		l.Keys("enter") // the focus is where there are rows
		l.Has("claims to be")
	}, command("claude", "1", "make"))
}

func TestMarkdownIsDrawnInAQuestionAndNotInAPermission(t *testing.T) {
	asked := ask.Request{
		From:      ask.From{Client: "codex"},
		Questions: []ask.Question{{ID: "q", Question: "Keep `go.mod` and **all** of *.go?", Kind: ask.Text, AllowOther: true, Required: true}},
	}
	waiting(t, frame.Size{W: 110, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Has("Keep go.mod and all of *.go?", "rm `*.o` **all** *x*")
	}, asked, command("claude", "1", "rm `*.o` **all** *x*"))
}

func TestWaitListFrames(t *testing.T) {
	tests := []struct {
		name  string
		size  frame.Size
		theme theme.Options
	}{
		{"waiting-40x12", frame.Size{W: 40, H: 12}, theme.Options{}},
		{"waiting-80x24", frame.Size{W: 80, H: 24}, theme.Options{}},
		{"waiting-80x24-ascii", frame.Size{W: 80, H: 24}, theme.Options{ASCII: true}},
		{"waiting-120x36", frame.Size{W: 120, H: 36}, theme.Options{}},
		{"waiting-200x60", frame.Size{W: 200, H: 60}, theme.Options{}},
	}
	for _, tt := range tests {
		waiting(t, tt.size, tui.Options{Theme: tt.theme}, func(l *deckScreen) {
			l.Send(tui.SessionsMsg{Sessions: fake.NewSessions(time.Now()).All})
			l.Golden(tt.name)
		}, fake.Prompts()...)
	}
}
