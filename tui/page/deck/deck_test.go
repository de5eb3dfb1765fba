package deck_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	deckpage "github.com/mcpdeck/mcpdeck/tui/page/deck"
)

// lamp is a widget as Pencil's.
type lamp struct{ line string }

func (l *lamp) Note(_ *tui.Frame, w int) string {
	if sign, _, _ := strings.Cut(l.line, ":"); len(l.line) > w {
		return sign
	}
	return l.line
}
func (l *lamp) Server() string         { return "pencil" }
func (l *lamp) Update(tea.Msg) tea.Cmd { return nil }
func (l *lamp) Actions() []tui.Action {
	return []tui.Action{{ID: "lamp.toggle", Title: "Pencil on or off", Hint: "pencil", Keys: []string{"p"}, Run: func() tea.Cmd {
		l.line = "Pencil: menu.pen"
		return nil
	}}}
}

func show(t *testing.T, size frame.Size, colors colorprofile.Profile, o tui.Options, test func(s *frame.Screen, d *fake.Deck)) {
	t.Helper()
	var d *fake.Deck
	frame.Run(t, size, colors, func() tea.Model {
		d = fake.NewDeck(time.Now())
		o.Deck, o.Background = d, "dark"
		o.Pages = []tui.Page{deckpage.New(deckpage.Options{Host: d, Widgets: []deckpage.Widget{&lamp{}}})}
		return tui.New(o)
	}, func(s *frame.Screen) { test(s, d) })
}

func TestScreens(t *testing.T) {
	empty := func(s *snapshot.Snapshot) { s.Agents, s.Calls, s.Total = nil, nil, 0 }
	warned := func(s *snapshot.Snapshot) {
		s.Warnings = []snapshot.Warning{{ID: 1, Time: s.Started, From: "host", Text: "port 7337 is taken; HTTP is off\x1b[2J. Set http.port to another one"}}
	}
	foreign := func(s *snapshot.Snapshot) {
		s.Agents = slices.Clone(s.Agents)
		s.Agents[0].Client, s.Agents[0].InFlight = "日本語エージェント\x1b[2J", []string{"evil\u202egnp.exe"}
		s.Agents[1].Client, s.Agents[1].Root = "👩‍💻 dev", "/home/ana/src/größe"
		s.Calls = slices.Clone(s.Calls)
		s.Calls[0].AgentName, s.Calls[0].Args = "日本語エージェント", `{"path":"日本語/ファイル.md","mood":"👍🏽🎉"}`
		s.Calls[1].Tool, s.Calls[1].Args = "ツール", "a\tb\nc"
	}
	tests := []struct {
		name   string
		size   frame.Size
		colors colorprofile.Profile
		theme  theme.Options
		change func(*snapshot.Snapshot)
		keys   []string
	}{
		{"110x34", frame.Size{W: 110, H: 34}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"80x24", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"80x24-nocolor", frame.Size{W: 80, H: 24}, colorprofile.ASCII, theme.Options{}, nil, []string{"tab"}},
		{"80x24-ascii", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{ASCII: true}, nil, nil},
		{"80x24-empty", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, empty, nil},
		{"80x24-foreign", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, foreign, nil},
		{"80x24-warning", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, warned, []string{"w"}},
		{"40x12-agents", frame.Size{W: 40, H: 12}, colorprofile.TrueColor, theme.Options{}, nil, nil},
		{"40x12-calls", frame.Size{W: 40, H: 12}, colorprofile.TrueColor, theme.Options{}, nil, []string{"tab"}},
		{"40x12-servers", frame.Size{W: 40, H: 12}, colorprofile.TrueColor, theme.Options{}, nil, []string{"shift+tab"}},
		{"110x34-agent", frame.Size{W: 110, H: 34}, colorprofile.TrueColor, theme.Options{}, nil, []string{"down", "enter"}},
		{"80x24-pencil", frame.Size{W: 80, H: 24}, colorprofile.TrueColor, theme.Options{}, nil, []string{"p"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			show(t, tt.size, tt.colors, tui.Options{Theme: tt.theme}, func(s *frame.Screen, d *fake.Deck) {
				if tt.change != nil {
					d.Change(tt.change)
					s.Wait(time.Second)
				}
				s.Quick(tt.keys...)
				s.Golden(tt.name)
				if tt.colors == colorprofile.ASCII && strings.Contains(s.Raw(), "38;2;") {
					t.Error("a colour was written")
				}
				if tt.theme.ASCII {
					for _, r := range s.Text() {
						if r > 0x7e {
							t.Errorf("%q is not ASCII", r)
						}
					}
				}
			})
		})
	}
}

func TestRestartAsksAndSaysHowItWent(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("shift+tab", "r")
		s.Has("Restart Pencil?", "1 running call will fail")
		s.Keys("n", "r", "y")
		s.Has("restart pencil: the program does not answer")
		s.Keys("down", "r", "y")
		s.Has("Ask was restarted")
		if len(d.Restarted) != 2 {
			t.Errorf("restarted %v", d.Restarted)
		}
	})
}

func TestWatchingDoesNotRestart(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{Watch: true}, func(s *frame.Screen, _ *fake.Deck) {
		s.Keys("shift+tab", "r")
		s.Lacks("Restart Pencil?")
		s.Has("the deck only watches", "watching")
	})
}

func TestFromAnAgentToItsCallsAndItsQuestion(t *testing.T) {
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, CallsPage: "calls", AskPage: "ask"}), stub{}, calls.New(calls.Options{Bodies: d}),
		}})
	}, func(s *frame.Screen) {
		s.Keys("a")
		s.Has("this is Ask")
		s.Keys("I", "down", "c")
		s.Has("/ codex", "2 of 9 calls")
		s.Keys("I", "shift+tab", "c")
		s.Has("/ pencil", "3 of 9 calls")
		d.Change(func(n *snapshot.Snapshot) {
			n.Agents = slices.Clone(n.Agents)
			n.Agents[1].Waiting = false
		})
		s.Wait(time.Second)
		s.Keys("I", "a")
		s.Has("no agent is waiting for an answer")
	})
}

// stub is a page that only says its name.
type stub struct{}

func (stub) ID() string                 { return "ask" }
func (stub) Title() string              { return "Ask" }
func (stub) Badge() int                 { return 0 }
func (stub) Actions() []tui.Action      { return nil }
func (stub) Part() string               { return "" }
func (stub) TextEntry() bool            { return false }
func (stub) Update(tea.Msg) tea.Cmd     { return nil }
func (stub) Show() tea.Cmd              { return nil }
func (stub) Hide()                      {}
func (stub) Render(*tui.Frame) []string { return []string{"this is Ask"} }

func TestTheCursorStaysOnItsCall(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("tab", "up", "up")
		s.Has("paused")
		for range 40 {
			d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.OK})
		}
		s.Wait(time.Second)
		s.Has("pencil_batch_design")
		s.Keys("end")
		s.Lacks("paused", "pencil_batch_design")
	})
}

func TestAClickOpensWhatTheRowIsAbout(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, _ *fake.Deck) {
		s.Click(10, 31) // the line about the servers, which opens
		s.Has("r restart", "LogicStamp  8 tools")
		s.Click(60, 3)
		s.Click(60, 3)
		s.Has("claims to be")
	})
}

func TestAnAgentWithoutAProjectSaysWhy(t *testing.T) {
	show(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, d *fake.Deck) {
		d.Change(func(n *snapshot.Snapshot) {
			for i := range n.Agents {
				n.Agents[i].Root, n.Agents[i].Refused = "", &roots.RefusedError{Dir: "/home/ann/.ssh", Why: "it contains secrets"}
			}
		})
		s.Wait(time.Second)
		s.Click(60, 3)
		s.Click(60, 3)
		s.Has("claims to be", "no project", "/home/ann/.ssh cannot be a", "it contains secrets")
	})
}

// On a wide screen the servers take what is to be said of them, and an agent that
// asks shows its question.
func TestAWideScreenIsUsed(t *testing.T) {
	show(t, frame.Size{W: 200, H: 60}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, _ *fake.Deck) {
		s.Has("degraded: run `mcpdeck doctor --fix` to install it; the stamp command was not found", "asks you  Which database?", "5 cards on · 39 tools ≈ 9.3k tokens an agent")
		s.Golden("200x60")
	})
}

// past is the calls of earlier runs.
type past struct{ calls []snapshot.Call }

func (p past) Hint() <-chan struct{}  { return nil }
func (p past) Calls() []snapshot.Call { return p.calls }
func (p past) Body(context.Context, uint64) (snapshot.CallBody, bool) {
	return snapshot.CallBody{}, true
}

// After a restart the Deck lists the calls that the page of calls lists, and opens
// them there.
func TestTheCallsOfEarlierRunsAreOnTheDeck(t *testing.T) {
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.Forget()
		old := past{[]snapshot.Call{
			{ID: 72, AgentName: "codex", Tool: "second", Status: snapshot.OK, Started: time.Now().Add(-time.Hour)},
			{ID: 71, AgentName: "codex", Tool: "first", Status: snapshot.OK, Started: time.Now().Add(-2 * time.Hour)},
		}}
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, CallsPage: "calls"}), calls.New(calls.Options{Bodies: d, Earlier: old}),
		}})
	}, func(s *frame.Screen) {
		s.Has("first", "second", "before this deck opened")
		if text := s.Text(); strings.Index(text, "first") > strings.Index(text, "second") {
			t.Error("they do not stand as they began")
		}
		s.Keys("tab", "up", "enter")
		s.Has("Call", "1 of 2", "first")
		s.Keys("I")
		d.Add(snapshot.Call{AgentName: "claude", Tool: "third", Status: snapshot.OK})
		s.Wait(time.Second)
		s.Has("second", "third", "end continues  1\n")
		s.Keys("end", "enter")
		s.Has("3 of 3", "third")
	})
}

// clients is a machine with three clients.
type clients struct{ written []string }

func (c *clients) Clients() []deckpage.Client {
	return []deckpage.Client{{Name: "claude", Path: "/home/ana/.claude.json", SetUp: slices.Contains(c.written, "claude")}, {Name: "codex"}, {Name: "zed", SetUp: true}}
}

func (c *clients) Snippet() string { return "{\n  \"mcpServers\": {\"mcpdeck\": {}}\n}" }

func (c *clients) Plan(client string) (deckpage.Change, error) {
	return deckpage.Change{Path: "/home/ana/." + client + ".json", Lines: []string{"+ \"mcpdeck\": {"}, Then: "Approve it there.", Apply: func() error {
		c.written = append(c.written, client)
		return nil
	}}, nil
}

// One key on the first screen of a fresh deck leads to the change that connects
// the first agent; nothing is written before it is confirmed.
func TestAFreshDeckLeadsToTheFirstAgent(t *testing.T) {
	var d *fake.Deck
	c := &clients{}
	run := func(watch bool, test func(s *frame.Screen)) {
		frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
			d = fake.NewDeck(time.Now())
			d.Change(func(s *snapshot.Snapshot) { s.Agents, s.Calls, s.Total = nil, nil, 0 })
			return tui.New(tui.Options{Deck: d, Background: "dark", Watch: watch, Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d, Setup: c, Watch: watch})}})
		}, test)
	}
	run(false, func(s *frame.Screen) {
		s.Has("Waiting for the first agent.", "1  start zed in your project", "2  enter or s sets up claude, or codex", "/home/ana/.claude.json, shown before it is written", `{ "mcpServers": {"mcpdeck": {}} }`)
		s.Golden("80x24-fresh")
		s.Keys("c")
		s.Has("copied the configuration")
		s.Keys("enter")
		s.Has("Set up claude?", "/home/ana/.claude.json", `+ "mcpdeck": {`, "Set up codex instead")
		s.Keys("n")
		if len(c.written) != 0 {
			t.Fatalf("written without a word: %v", c.written)
		}
		s.Keys("enter", "y")
		s.Has("written; start claude. Approve it there.", "mcpdeck undo", "1  start claude or zed in your project", "2  enter or s sets up codex")
		s.Keys("enter", "y")
		if !slices.Equal(c.written, []string{"claude", "codex"}) {
			t.Errorf("written: %v", c.written)
		}
		d.Change(func(s *snapshot.Snapshot) { s.Agents = fake.NewDeck(time.Now()).Snapshot().Agents })
		s.Wait(time.Second)
		s.Lacks("enter set up")
		s.Keys("enter")
		s.Has("esc back")
		s.Keys("esc", "s")
		s.Has("Set up codex?")
	})
	c.written = nil
	run(true, func(s *frame.Screen) {
		s.Has("mcpdeck setup")
		s.Keys("enter", "y")
		if len(c.written) != 0 {
			t.Errorf("a deck that only watches wrote %v", c.written)
		}
	})
}

func TestAnAskShowsItsQuestion(t *testing.T) {
	tests := []struct{ name, args, want string }{
		{"one", `{"questions":[{"question":"Which database?","options":["a"]}]}`, "Which database?"},
		{"several", `{"questions":[{"question":"A?"},{"question":"B?"},{"question":"C?"}]}`, "A? (+2)"},
		{"escapes", `{"questions":[{"header":"x","question": "Say \"hi\"\u001b[2J\nnow?"}]}`, `Say "hi" now?`},
		{"cut within", `{"questions":[{"question":"Should the long…`, "Should the long"},
		{"cut in an escape", `{"questions":[{"question":"Should \u00…`, `Should \u00`},
		{"other", `{"questions":[]}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tui.Question(&snapshot.Call{Server: "ask", Args: tt.args}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	if got := tui.Question(&snapshot.Call{Server: "pencil", Args: tests[0].args}); got != "" {
		t.Errorf("another server's call asks %q", got)
	}
}

func TestAnsweringIsTheFirstHintWhileAnAgentAsks(t *testing.T) {
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 40, H: 12}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d, AskPage: "ask"})}})
	}, func(s *frame.Screen) {
		rows := strings.Split(strings.TrimRight(s.Text(), "\n"), "\n")
		if foot := strings.TrimSpace(rows[len(rows)-1]); !strings.HasPrefix(foot, "a answer  enter") {
			t.Errorf("the footer starts with %q", foot)
		}
		d.Change(func(s *snapshot.Snapshot) {
			for i := range s.Agents {
				s.Agents[i].Waiting = false
			}
			for i := range s.Calls {
				s.Calls[i].Waiting = false
			}
		})
		s.Wait(time.Second)
		s.Lacks("a answer")
	})
}

// A server that works without an optional program is no alarm; what to do about it is on
// its card.
func TestAMissingOptionalProgramIsSaidShortAndWithoutAlarm(t *testing.T) {
	for _, size := range []frame.Size{{W: 118, H: 34}, {W: 110, H: 34}, {W: 80, H: 24}} {
		show(t, size, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, d *fake.Deck) {
			d.Change(func(n *snapshot.Snapshot) {
				n.Servers = slices.Clone(n.Servers)
				n.Servers[2].State = snapshot.State{Status: snapshot.Off}
				n.Servers[3].State.Lacks = "stamp not found"
			})
			s.Wait(time.Second)
			s.Has("Pixelsrc off", "LogicStamp: stamp not found")
			s.Lacks("! LogicStamp", "degraded", "doctor")
		})
	}
}

// What is only to be known, such as a port that is taken, does not stand above the page.
func TestAWarningThatIsSaidOnceIsAToast(t *testing.T) {
	show(t, frame.Size{W: 100, H: 24}, colorprofile.TrueColor, tui.Options{}, func(s *frame.Screen, d *fake.Deck) {
		said := func() int { return strings.Count(s.Text(), "port 7337 is taken") }
		d.Change(func(s *snapshot.Snapshot) {
			s.Warnings = []snapshot.Warning{{ID: 1, Time: s.Started, From: "http", Text: "HTTP is off: port 7337 is taken", Once: true}}
		})
		s.Wait(time.Second)
		if said() != 1 {
			t.Errorf("it is said %d times:\n%s", said(), s.Text())
		}
		s.Wait(time.Minute)
		if said() != 0 {
			t.Errorf("it stays:\n%s", s.Text())
		}
		d.Change(func(s *snapshot.Snapshot) { s.Total++ })
		s.Wait(time.Second)
		if said() != 0 {
			t.Errorf("it is said again:\n%s", s.Text())
		}
		s.Keys("w")
		if said() != 1 {
			t.Errorf("the list of warnings does not have it:\n%s", s.Text())
		}
	})
}
