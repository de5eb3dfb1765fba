package agents_test

import (
	"errors"
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
)

func show(t *testing.T, size frame.Size, colors colorprofile.Profile, o tui.Options, page agents.Options, test func(s *frame.Screen, all *fake.Sessions)) {
	t.Helper()
	var all *fake.Sessions
	frame.Run(t, size, colors, func() tea.Model {
		d := fake.NewDeck(time.Now())
		all = fake.NewSessions(time.Now())
		page.CallsPage = calls.ID
		o.Deck, o.Background, o.Keys = d, "dark", map[string][]string{"agents.sort.tokens": {"T"}, "agents.sort.context": {"F"}, "agents.sort.project": {"R"}, "agents.sort.cost": {"$"}, "agents.sort.need": {"M"}}
		o.Feeds = []tui.Feed{tui.SessionsFeed(all)}
		o.Pages = []tui.Page{agents.New(page), calls.New(calls.Options{Bodies: d})}
		return tui.New(o)
	}, func(s *frame.Screen) { test(s, all) })
}

func TestScreens(t *testing.T) {
	empty := func(all *fake.Sessions) { all.All = nil }
	tests := []struct {
		name   string
		size   frame.Size
		colors colorprofile.Profile
		theme  theme.Options
		change func(*fake.Sessions)
		keys   []string
	}{
		{"200x60", frame.Size{W: 200, H: 60}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"150x34-groups", frame.Size{W: 150, H: 34}, colorprofile.TrueColor, theme.Options{}, nil, []string{"g", "down"}},
		{"118x34", frame.Size{W: 118, H: 34}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"80x24", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"80x24-empty", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, empty, nil},
		{"80x24-ascii", frame.Size{W: 80, H: 24}, colorprofile.ASCII, theme.Options{ASCII: true}, nil, []string{"down", "down"}},
		{"40x12", frame.Size{W: 40, H: 12}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"40x12-detail", frame.Size{W: 40, H: 12}, colorprofile.TrueColor, theme.Options{}, nil, []string{"enter"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			show(t, tt.size, tt.colors, tui.Options{Theme: tt.theme}, agents.Options{AskPage: "ask"}, func(s *frame.Screen, all *fake.Sessions) {
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
		for _, name := range []string{"shop", "payments", "api", "docs", "menu"} {
			if strings.Contains(l, "  "+name+"  ") && len(out) < 8 {
				out = append(out, name)
			}
		}
	}
	return strings.Join(out, " ")
}

func TestSortingByAColumn(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		for _, tt := range []struct{ key, want string }{
			{"T", "shop api payments docs menu shop menu shop"},
			{"F", "shop api docs payments menu menu shop shop"},
			{"R", "api docs menu menu payments shop shop shop"},
			{"R", "shop shop shop payments menu menu docs api"},
			{"T", "shop api payments docs menu shop menu shop"},
			{"T", "shop menu shop menu docs payments api shop"},
			{"M", "shop payments api docs menu menu shop shop"},
			{"M", "shop payments api docs menu menu shop shop"},
		} {
			s.Keys(tt.key)
			if got := projects(s.Text()); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.key, got, tt.want)
			}
		}
	})
}

func TestAClickOnAHeadSorts(t *testing.T) {
	for _, size := range []frame.Size{{W: 118, H: 34}, {W: 200, H: 60}} {
		show(t, size, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
			for _, tt := range []struct{ on, head, lacks string }{
				{"Project", "Project↑", "↓"},
				{"Project↑", "Project↓", "↑"},
				{"Tokens", "↓Tokens", "↑"},
				{"Tokens", "↑Tokens", "↓"},
				{"Full", "↓Full", "↑"},
				{"What", "↓Full", "↑"},
				{"State", "State", "↓"},
			} {
				s.ClickOn(tt.on)
				s.Has(tt.head)
				s.Lacks(tt.lacks)
			}
		})
	}
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
		s.Has("claude · api", "3 wait for you")
		s.Keys("g")
		s.Has("claude · api")
		s.Keys("up", "up", "up", "up", "up", "up", "up", "up", "up", "up")
		s.Has("codex · till") // not the head of its group
	})
}

func TestASessionIsShownOnRequest(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("claude · shop")
		s.Keys("g")
		s.Send(tui.ShowSessionMsg{Agent: "gemini", ID: "8b7a1c22"})
		s.Has("gemini · docs", "esc list")
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
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{AskPage: calls.ID}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("a answer")
		s.Keys("c")
		s.Has("/ claude")
		s.Keys("A", "a")
		s.Has("[Calls ✗2]")
		s.Keys("A", "down", "down", "a")
		s.Has("not wait for you")
		s.Keys("c")
		s.Has("not connected to the deck")
	})
}

// queue holds what can be answered here.
type queue struct{ ask.Snapshot }

func (q *queue) Pending() *ask.Snapshot { return &q.Snapshot }

func TestOnlyWhatIsAskedHereCanBeAnsweredHere(t *testing.T) {
	q := &queue{}
	q.Items = []ask.Item{{Request: ask.Request{Prompt: &ask.Prompt{Agent: "codex", Session: "019a9b1c-1111-7000-8000-000000000001"}}}}
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{AskPage: calls.ID, Questions: q}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Keys("a")
		s.Has("it waits in its own")
		s.Keys("down")
		s.Has("a answer")
		s.Keys("a")
		s.Has("[Calls ✗2]")
	})
}

func TestTheSumSaysWhatItLeavesOut(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Has("these sessions $3.73+")
		s.Do(func() {
			all.All = all.All[:1]
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("≈ $2.14")
		s.Do(func() {
			all.All[0].Shared = snapshot.Shared{With: "other", USD: 1.14}
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("≈ $1.00")
	})
}

func TestANarrowRuleKeepsTheMostImportantCount(t *testing.T) {
	show(t, frame.Size{W: 40, H: 12}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Has("━ 2 wait for you")
	})
}

func TestAStateThatHasJustBegunSaysSo(t *testing.T) {
	show(t, frame.Size{W: 118, H: 34}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, all *fake.Sessions) {
		s.Has("allow? for 1 m")
		s.Do(func() {
			all.All[0].Since = time.Now().Add(time.Hour)
			all.Send()
		})
		s.Wait(time.Second)
		s.Has("allow? just now")
		s.Lacks("for now")
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

func TestTheColumnThatIsSortedByStays(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, tui.Options{}, agents.Options{}, func(s *frame.Screen, _ *fake.Sessions) {
		s.Lacks("Tokens")
		s.Keys("T")
		s.Has("↓Tokens", "Agent", "Project")
		s.Keys("$")
		s.Has("↓Cost")
		s.Lacks("Tokens")
	})
}
