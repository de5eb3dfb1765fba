package agents_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
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
	"github.com/mcpdeck/mcpdeck/tui/page/agents"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func show(t *testing.T, size frame.Size, colors colorprofile.Profile, o tui.Options, page agents.Options, test func(s *frame.Screen, all *fake.Sessions)) {
	t.Helper()
	var all *fake.Sessions
	frame.Run(t, size, colors, func() tea.Model {
		d := fake.NewDeck(time.Now())
		all = fake.NewSessions(time.Now())
		page.CallsPage = calls.ID
		o.Deck, o.Background = d, "dark"
		if o.Keys == nil {
			o.Keys = map[string][]string{"agents.sort.tokens": {"T"}, "agents.sort.context": {"F"}, "agents.sort.project": {"R"}, "agents.sort.cost": {"$"}, "agents.sort.need": {"M"}}
		}
		o.Feeds = []tui.Feed{tui.SessionsFeed(all)}
		o.Pages = []tui.Page{agents.New(page), calls.New(calls.Options{Bodies: d})}
		return tui.New(o)
	}, func(s *frame.Screen) { test(s, all) })
}

// full is the page with a badge above nine.
type full struct{ *agents.Page }

func (full) Badge() int { return 12 }

// front shows the sessions of the frames, with what was answered and called.
func front(t *testing.T, size frame.Size, badges bool, test func(s *frame.Screen)) {
	t.Helper()
	var q *ask.Queue
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		q = ask.New(ask.Options{})
		if err := fake.AnswerFront(q, 4*time.Minute); err != nil {
			t.Fatal(err)
		}
		d := fake.NewDeck(time.Now())
		fake.FrontCalls(d, time.Now())
		page := agents.New(agents.Options{AskPage: "ask", CallsPage: calls.ID, Questions: q, Answered: inbox.Answered, Jump: func(snapshot.Session) (string, error) { return "", nil }})
		pages := []tui.Page{page, calls.New(calls.Options{Bodies: d})}
		if badges {
			pages = fake.Tabs(full{page}, 12)
		}
		return tui.New(tui.Options{Deck: d, Background: "dark", Start: page.ID(), Feeds: []tui.Feed{tui.SessionsFeed(fake.FrontSessions(time.Now()))}, Pages: pages})
	}, func(s *frame.Screen) {
		s.Wait(time.Second)
		s.Quick("down", "down", "down")
		test(s)
		_ = q.Close()
	})
}

func TestTheFrontAtEverySize(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 160, H: 40}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 60, H: 40}, {W: 40, H: 12}} {
		front(t, size, false, func(s *frame.Screen) { s.Golden(fmt.Sprintf("%dx%d", size.W, size.H)) })
	}
	for _, size := range frame.Sizes()[:3] {
		front(t, size, true, func(s *frame.Screen) { s.Golden(fmt.Sprintf("badges-%dx%d", size.W, size.H)) })
	}
}

// TestNoPaneOfALargeScreenIsMostlyBlank is W-22: with three agents at work, no pane is more than
// a third blank, whichever of them is selected.
func TestNoPaneOfALargeScreenIsMostlyBlank(t *testing.T) {
	front(t, frame.Size{W: 200, H: 60}, false, func(s *frame.Screen) {
		for range 3 {
			frame.Filled(t, s.Text())
			s.Quick("down")
		}
	})
}

func TestScreens(t *testing.T) {
	front := func(all *fake.Sessions) { all.All = fake.FrontSessions(time.Now()).All }
	empty := func(all *fake.Sessions) { all.All = nil }
	api := []string{"down", "down", "down"}
	tests := []struct {
		name   string
		w, h   int
		colors colorprofile.Profile
		theme  theme.Options
		change func(*fake.Sessions)
		keys   []string
	}{
		{"200x60-open", 200, 60, colorprofile.TrueColor, theme.Options{}, front, append(slices.Clone(api), "enter")},
		{"110x34-open", 110, 34, colorprofile.TrueColor, theme.Options{}, front, append(slices.Clone(api), "enter", "d")},
		{"40x12-open", 40, 12, colorprofile.TrueColor, theme.Options{}, front, append(slices.Clone(api), "enter")},
		{"110x34-states", 110, 34, colorprofile.TrueColor, theme.Options{}, nil, []string{"v"}},
		{"80x24-empty", 80, 24, colorprofile.TrueColor, theme.Options{}, empty, nil},
		{"80x24-ascii", 80, 24, colorprofile.ASCII, theme.Options{ASCII: true}, nil, []string{"down", "down"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			show(t, frame.Size{W: tt.w, H: tt.h}, tt.colors, tui.Options{Theme: tt.theme}, agents.Options{AskPage: "ask", Jump: func(snapshot.Session) (string, error) { return "", nil }}, func(s *frame.Screen, all *fake.Sessions) {
				if tt.change != nil {
					tt.change(all)
					all.Send()
					s.Wait(time.Second)
				}
				s.Quick(tt.keys...)
				s.Golden(tt.name)
				if !tt.theme.ASCII {
					return
				}
				for _, r := range s.Text() {
					if r > 0x7e && !strings.ContainsRune("日本語の見出し", r) {
						t.Errorf("%q is not ASCII", r)
					}
				}
			})
		})
	}
}

// projects are the names of the projects, in the order of the rows.
func projects(text string) string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		if words := strings.Fields(strings.TrimPrefix(l, "▌")); len(words) > 3 && strings.Contains("◆✓○?⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏@", words[0]) && len(out) < 8 {
			name, _, _ := strings.Cut(words[2], "#")
			out = append(out, name)
		}
	}
	return strings.Join(out, " ")
}

func TestSortingByAColumn(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		for _, tt := range []struct{ key, want, title string }{
			{"T", "shop api payments docs menu shop menu shop", ", by tokens "},
			{"F", "shop api docs payments menu menu shop shop", ", by context "},
			{"R", "api docs menu menu payments shop shop shop", ", by project "},
			{"R", "shop shop shop payments menu menu docs api", ", by project "},
			{"T", "shop api payments docs menu shop menu shop", ", by tokens "},
			{"T", "shop menu shop menu docs payments api shop", ", by tokens "},
			{"M", "shop payments api docs menu menu shop shop", "Agents 8 "},
			{"M", "shop payments api docs menu menu shop shop", "Agents 8 "},
			{"s", "shop api shop docs menu menu shop payments", ", by agent "},
		} {
			s.Keys(tt.key)
			s.Has(tt.title)
			if got := projects(s.Text()); tt.key != "s" && got != tt.want {
				t.Errorf("%s: %s, want %s", tt.key, got, tt.want)
			}
		}
	})
}

// reads notes which sessions were read.
type reads struct{ ids []string }

func (r *reads) MarkRead(_, id string) { r.ids = append(r.ids, id) }

func TestASessionThatIsDoneIsReadWhenItIsSeen(t *testing.T) {
	jump := func(snapshot.Session) (string, error) { return "", nil }
	for _, tt := range []struct {
		name string
		do   func(s *frame.Screen)
		want bool
	}{
		{"passed", func(s *frame.Screen) { s.Quick("down", "down", "down") }, false},
		{"selected for a second", func(s *frame.Screen) { s.Quick("down", "down"); s.Wait(1100 * time.Millisecond) }, true},
		{"selected without the focus", func(s *frame.Screen) {
			s.Send(tea.BlurMsg{})
			s.Quick("down", "down")
			s.Wait(5 * time.Second)
		}, false},
		{"when the focus is back", func(s *frame.Screen) {
			s.Send(tea.BlurMsg{})
			s.Quick("down", "down")
			s.Wait(5 * time.Second)
			s.Send(tea.FocusMsg{})
			s.Wait(1100 * time.Millisecond)
		}, true},
		{"covered", func(s *frame.Screen) { s.Quick("down", "down", "?"); s.Wait(5 * time.Second) }, false},
		{"opened", func(s *frame.Screen) { s.Quick("down", "down", "enter", "esc", "up") }, true},
		{"opened by a click", func(s *frame.Screen) { s.ClickOn("Cut release"); s.ClickOn("Cut release"); s.Quick("esc", "up") }, true},
		{"its terminal shown", func(s *frame.Screen) { s.Quick("down", "down", "J", "up") }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &reads{}
			show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{Jump: jump, Sessions: r}, func(s *frame.Screen, all *fake.Sessions) {
				all.All = fake.FrontSessions(time.Now()).All
				all.All[2].PID = 7
				all.Send()
				s.Wait(time.Second)
				tt.do(s)
				s.Do(func() {})
				if got := strings.Join(r.ids, " "); got != map[bool]string{true: "claude-rel"}[tt.want] {
					t.Errorf("read: %q", got)
				}
			})
		})
	}
}

func TestASessionThatComesUnderTheCursorIsReadAfterTheNextKey(t *testing.T) {
	r := &reads{}
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{Sessions: r}, func(s *frame.Screen, all *fake.Sessions) {
		s.Do(func() {
			all.All = []snapshot.Session{{Agent: "claude", ID: "one", State: snapshot.Idle, Unread: true, Folder: "/src/shop"}}
			all.Send()
		})
		s.Wait(5 * time.Second)
		s.Has("Agents ✓1", "▌✓ claude shop")
		if len(r.ids) > 0 {
			t.Errorf("read before a key: %q", r.ids)
		}
		s.Keys("d")
		s.Wait(1100 * time.Millisecond)
		if got := strings.Join(r.ids, " "); got != "one" {
			t.Errorf("read: %q", got)
		}
	})
}

func TestThePageOpensOnTheNewestThatIsDone(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Keys("C")
		s.Do(func() {
			all.All = fake.FrontSessions(time.Now()).All
			all.All[6].Unread = true // two hours ago
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("Agents ✓2")
		s.Keys("A")
		s.Has("▌✓ claude   rel ", "─ claude · rel · done ")
	})
}

func TestTheCursorIsOnTheFirstUntilItIsMoved(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		arrives := func(id string) {
			s.Do(func() {
				all.All = slices.Insert(slices.Clone(all.All), 0, snapshot.Session{Agent: "codex", ID: id, State: snapshot.WaitsForAnswer, Folder: "/src/" + id})
				all.Send()
			})
			s.Wait(time.Second)
		}
		arrives("first")
		s.Has("▌◆ codex    first")
		s.Keys("down")
		arrives("second")
		s.Has("▌◆ claude   shop")
		s.Wait(3 * time.Minute)
		arrives("third")
		s.Has("▌◆ codex    third")
	})
}

func TestAWheelAndPagesScrollWhatIsRead(t *testing.T) {
	show(t, frame.Size{W: 60, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Do(func() {
			all.All[0].Record = &snapshot.Record{Prompt: strings.Repeat("line\n", 40) + "the end"}
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("You asked")
		s.Lacks("the end")
		s.Keys("pgdown", "pgdown", "pgdown", "pgdown")
		s.Has("the end", "▌◆ claude")
	})
}

func TestTheCursorStaysOnItsSession(t *testing.T) {
	show(t, frame.Size{W: 130, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Keys("down", "down")
		s.Has("claude · api")
		s.Do(func() {
			all.All = slices.Insert(slices.Clone(all.All), 0, snapshot.Session{Agent: "codex", ID: "new", State: snapshot.WaitsForAnswer, Folder: "/src/till"})
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("claude · api", "needs you 3")
		s.Keys("v")
		s.Has("claude · api")
		s.Keys("up", "up", "up", "up", "up", "up", "up", "up", "up", "up")
		s.Has("codex · till") // not the head of its group
	})
}

func TestASessionIsShownOnRequest(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("claude · shop")
		s.Keys("v")
		s.Send(tui.ShowSessionMsg{Agent: "gemini", ID: "8b7a1c22"})
		s.Has("gemini · docs", "esc back")
		s.Send(tui.ShowSessionMsg{Agent: "gemini", ID: "none"})
		s.Has("gemini · docs")
	})
}

func TestShowingTheTerminalOfASession(t *testing.T) {
	var jumped []string
	jump := func(s snapshot.Session) (string, error) {
		jumped = append(jumped, s.ID)
		if s.Place.TmuxPane == "" {
			return "", errors.New("it is not in tmux")
		}
		return "tmux shows " + s.Place.Tmux, nil
	}
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{Jump: jump}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("J terminal")
		s.Keys("J")
		s.Has("tmux shows work:1.0")
		s.Keys("down", "J")
		s.Wait(time.Second)
		s.Has("it is not in tmux")
		if !strings.Contains(s.Raw(), "\x1b]52;") {
			t.Error("the terminal's device was not copied")
		}
		s.Keys("end", "J")
		s.Has("this session has no")
		if len(jumped) != 2 {
			t.Errorf("jumped to %q", jumped)
		}
	})
}

func TestFromASessionToItsCallsAndItsQuestion(t *testing.T) {
	answer := tui.Options{Keys: map[string][]string{"agents.answer": {"a"}}}
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, answer, agents.Options{AskPage: calls.ID}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("C calls", "answer it in the Inbox: I")
		s.Keys("C")
		s.Has("/ claude")
		s.Keys("A", "a")
		s.Has("[Calls ✗2]")
		s.Keys("A", "down", "down", "a")
		s.Has("nothing in this session needs you")
		s.Keys("m")
		s.Has("claude takes messages in its own terminal: J")
	})
}

// queue holds what can be answered here.
type queue struct{ ask.Snapshot }

func (q *queue) Pending() *ask.Snapshot { return &q.Snapshot }

func TestOnlyWhatIsAskedHereCanBeAnsweredHere(t *testing.T) {
	q := &queue{}
	q.Items = []ask.Item{{Request: ask.Request{Prompt: &ask.Prompt{Agent: "codex", Session: "019a9b1c-1111-7000-8000-000000000001"}}}}
	answer := tui.Options{Keys: map[string][]string{"agents.answer": {"a"}}}
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, answer, agents.Options{AskPage: calls.ID, Questions: q}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("answer it in its terminal: J")
		s.Keys("a")
		s.Has("it waits in its own")
		s.Keys("down")
		s.Has("answer it in the Inbox: I")
		s.Keys("a")
		s.Has("[Calls ✗2]")
	})
}

func TestWhatIsCopiedOfASession(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Do(func() { all.All = fake.FrontSessions(time.Now()).All; all.Send() })
		s.Wait(time.Second)
		s.Keys("c")
		s.Has("What the agent said", "What you asked", "The session's ID")
		s.Wait(time.Second)
		s.Keys("2")
		s.Has("copied what you asked")
	})
}

func TestAWaitingQuestionIsShownWithoutMarks(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Do(func() {
			for i := range all.All {
				all.All[i].State, all.All[i].WaitingFor = snapshot.WaitsForAnswer, "Is **this** the `one`?"
			}
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("Is this the one?")
		s.Lacks("**")
	})
}

// TestThreeKeysSayWhatTheThirdAgentWasAskedAndSaid is W-92 for the page.
func TestThreeKeysSayWhatTheThirdAgentWasAskedAndSaid(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Keys("C") // away from the page
		s.Do(func() {
			all.All = nil
			for _, n := range []string{"first", "second", "third"} {
				all.All = append(all.All, snapshot.Session{
					Agent: "claude", ID: n, State: snapshot.Working, Folder: "/src/" + n,
					Record: &snapshot.Record{Prompt: "Mend the " + n + " till", Said: "The " + n + " till is mended."},
				})
			}
			all.Send()
		})
		s.Wait(time.Second)
		s.Lacks("You asked")
		s.Keys("A", "j", "j")
		s.Has("You asked", "Mend the third till", "claude said", "The third till is mended.")
	})
}
