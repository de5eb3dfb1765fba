package card_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/card"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// cards are servers that do as they are told.
type cards struct {
	mu      sync.Mutex
	did     []string
	details snapshot.Details
	terms   snapshot.Terms // of notion; it is agreed to where there are none
	fails   error
}

func (c *cards) note(format string, args ...any) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.did = append(c.did, fmt.Sprintf(format, args...))
	return "", c.fails
}

func (c *cards) TurnOff(name string) (string, error) { return c.note("off %s", name) }
func (c *cards) Restart(name string) error           { _, err := c.note("restart %s", name); return err }

func (c *cards) TurnOn(name string, lazy bool, seen string) (string, error) {
	c.mu.Lock()
	t := c.terms
	c.mu.Unlock()
	switch {
	case name != "notion" || seen == t.Digest:
	case seen == "":
		return "", snapshot.ErrNotAgreed
	default:
		return "", fmt.Errorf("notion: its settings changed: %w", snapshot.ErrNotAgreed)
	}
	return c.note("on %s %t %s", name, lazy, seen)
}

func (c *cards) Details(name string) (snapshot.Details, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch name {
	case "github":
		return c.details, true
	case "notion": // it was never on
		return snapshot.Details{Terms: c.terms}, true
	}
	return snapshot.Details{Tools: []snapshot.Tool{{Name: name + "_x", Original: name + "_x", Context: 400, Bytes: 700, Verdict: snapshot.Allow}}, Offered: true}, true
}

func (c *cards) Accept(name string, seen []snapshot.Held) (string, error) {
	var names []string
	for _, h := range seen {
		names = append(names, h.Tool+"@"+h.Digest)
	}
	return c.note("accept %s %s", name, strings.Join(names, " "))
}

func (c *cards) Allow(name string, tools []string, allow bool) error {
	_, err := c.note("allow %s %s %t", name, strings.Join(tools, " "), allow)
	return err
}

func (c *cards) Offer(name string, kind snapshot.Kind, offer bool) error {
	_, err := c.note("offer %s %s %t", name, kind, offer)
	return err
}

// github are the details of a server with something of everything.
func github() snapshot.Details {
	ms := time.Millisecond
	tool := func(name, about string, context int, v snapshot.Verdict, f snapshot.Figures) snapshot.Tool {
		return snapshot.Tool{
			Name: "github_" + name, Original: name, Description: about, Context: context, Bytes: context * 3 / 2, Verdict: v, Figures: f,
			Input: []byte(`{"type":"object","properties":{"owner":{"type":"string"},"repo":{"type":"string"},"body":{"type":"string"}},"required":["owner","repo"]}`),
		}
	}
	d := snapshot.Details{
		Runs: "npx -y @modelcontextprotocol/server-github@2025.4.8", PID: 4711, Since: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-3 * time.Minute),
		Server: "github-mcp-server 0.6.2", Protocol: "2024-11-05", Offered: true, Holding: "0.6.1 → 0.6.2: 1 changed, 1 new", Instructions: "Be kind.",
		Tools: []snapshot.Tool{
			tool("create_issue", "Create a new issue in a GitHub repository\nwith labels", 912, snapshot.Allow, snapshot.Figures{Calls: 12, P50: 310 * ms, P95: 1200 * ms}),
			tool("create_repository", "Create a repository", 700, snapshot.Denied, snapshot.Figures{}),
			tool("get.file", "Get a file", 400, snapshot.Hidden, snapshot.Figures{}),
			tool("push_files", "Push several files", 1244, snapshot.Allow, snapshot.Figures{Calls: 3, Failed: 1, P50: 880 * ms, P95: 2000 * ms}),
			tool("search_code", "Search code", 800, snapshot.OnHold, snapshot.Figures{}),
			tool("search_users", "Search users", 300, snapshot.OnHold, snapshot.Figures{}),
		},
		Held: []snapshot.Held{
			{Tool: "search_code", Was: 600, Now: 812, Digest: "d1", Diff: []snapshot.DiffLine{{Mark: '-', Text: "old words"}, {Mark: '+', Text: "new words"}}},
			{Tool: "search_users", New: true, Now: 310, Digest: "d2", Diff: []snapshot.DiffLine{{Mark: '+', Text: "all new"}}},
		},
		Resources: []snapshot.Item{{Key: "repo://{owner}/{repo}", Name: "Repository", Description: "A repository's files", Bytes: 120}},
		Prompts:   []snapshot.Item{{Key: "review", Name: "review", Description: "Review a pull request", Args: []string{"number*", "tone"}, Bytes: 90}},
		Notes:     []string{"entry 7: skipped: it has no name"},
		Log:       []snapshot.LogLine{{Time: time.Date(2000, 1, 1, 8, 30, 0, 0, time.UTC), From: "link", Text: "ready: 6 tools"}, {Time: time.Date(2000, 1, 1, 8, 31, 0, 0, time.UTC), From: "stderr", Text: "token \x1b[31mexpires"}},
	}
	d.Tools[2].Why = "github_get_file is already another tool of GitHub"
	return d
}

type look struct {
	size  frame.Size
	depth colorprofile.Profile
	theme theme.Options
	watch bool
}

func run(t *testing.T, l look, test func(s *frame.Screen, d *fake.Deck, c *cards)) {
	t.Helper()
	var d *fake.Deck
	c := &cards{details: github()}
	if l.depth == 0 {
		l.depth = colorprofile.TrueColor
	}
	frame.Run(t, l.size, l.depth, func() tea.Model {
		d = fake.NewDeck(time.Now())
		d.Change(func(s *snapshot.Snapshot) {
			s.Servers = append(slices.Clone(s.Servers),
				snapshot.Server{Name: "github", Title: "GitHub", Foreign: true, State: snapshot.State{Status: snapshot.Ready, Detail: "running, 2 agents", Held: 2}, Tools: 2, Bytes: 3234, Context: 2156, Calls: 15},
				snapshot.Server{Name: "notion", Title: "notion", Foreign: true, State: snapshot.State{Status: snapshot.Off, Adds: snapshot.Count{Tools: 26, Context: 16_400}}},
			)
			s.Calls = append(slices.Clone(s.Calls), snapshot.Call{ID: 900, Agent: "a1", AgentName: "claude", Server: "github", Tool: "github_push_files", Status: snapshot.Running, Started: time.Now().Add(-4 * time.Second), Args: `{"owner":"ana"}`})
		})
		return tui.New(tui.Options{Deck: d, Background: "dark", Theme: l.theme, Start: card.ID, Watch: l.watch, Colors: l.depth, Pages: []tui.Page{
			&empty{}, card.New(card.Options{Cards: c, CallsPage: "calls"}),
		}})
	}, func(s *frame.Screen) {
		s.Keys("end", "up") // GitHub
		test(s, d, c)
	})
}

// empty is the first page.
type empty struct{ tui.Page }

func (*empty) ID() string                   { return "deck" }
func (*empty) Title() string                { return "Deck" }
func (*empty) Badge() int                   { return 0 }
func (*empty) Actions() []tui.Action        { return nil }
func (*empty) Part() string                 { return "" }
func (*empty) TextEntry() bool              { return false }
func (*empty) Update(tea.Msg) tea.Cmd       { return nil }
func (*empty) Render(f *tui.Frame) []string { return nil }
func (*empty) Show() tea.Cmd                { return nil }
func (*empty) Hide()                        {}

func TestThePageAtAllSizes(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 40, H: 12}} {
		t.Run(fmt.Sprint(size.W), func(t *testing.T) {
			run(t, look{size: size}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
				s.Golden(fmt.Sprintf("list-%d", size.W))
				s.Quick("enter", "down", "down")
				s.Golden(fmt.Sprintf("tools-%d", size.W))
				s.Quick("esc", "down")
				s.Golden(fmt.Sprintf("off-%d", size.W))
			})
		})
	}
	run(t, look{size: frame.Size{W: 80, H: 24}, depth: colorprofile.NoTTY, theme: theme.Options{ASCII: true, Depth: theme.NoColor}}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
		s.Keys("enter")
		s.Golden("ascii-80")
	})
}

func TestWhatTheKeysDo(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		did  []string
		has  string
	}{
		{"space in the list turns the server off", []string{"space"}, []string{"off github"}, ""},
		{"s makes one that is on lazy", []string{"s"}, []string{"on github true "}, ""},
		{"s turns one on that is off", []string{"down", "s"}, []string{"on notion false "}, ""},
		{"s acts on the card, too", []string{"enter", "s"}, []string{"on github true "}, ""},
		{"space on a tool turns it off", []string{"enter", "down", "down", "space"}, []string{"allow github create_issue false"}, ""},
		{"space on one that is off allows it", []string{"enter", "down", "down", "down", "space"}, []string{"allow github create_repository true"}, ""},
		{"space on one that is held says how it is offered", []string{"enter", "space"}, nil, "until you accept it (a)"},
		{"space on one that cannot be offered says why", []string{"enter", "end", "up", "up", "space"}, nil, "cannot be"},
		{"enter shows what changed", []string{"enter", "enter"}, nil, "+ new words"},
		{"enter shows what is new", []string{"enter", "down", "enter"}, nil, "This tool is new"},
		{"enter shows a definition", []string{"enter", "down", "down", "enter"}, nil, "github_create_issue"},
		{"space folds what is in it", []string{"enter", "down", "down", "enter", "space"}, nil, "▌ {… 3 keys}"},
		{"the first frame says so", []string{"enter", "down", "down", "enter"}, nil, "space fold"},
		{"enter shows why something was left out", []string{"enter", "end", "enter"}, nil, "it has no name"},
		{"a accepts one", []string{"enter", "a"}, []string{"accept github search_code@d1"}, ""},
		{"a accepts what is read", []string{"enter", "down", "enter", "a"}, []string{"accept github search_users@d2"}, ""},
		{"a in the list asks before it accepts all", []string{"a"}, nil, "Accept 2 definitions?"},
		{"a in the list accepts all", []string{"a", "y"}, []string{"accept github search_code@d1 search_users@d2"}, ""},
		{"ctrl+a accepts all from a tool", []string{"enter", "ctrl+a", "y"}, []string{"accept github search_code@d1 search_users@d2"}, ""},
		{"not accepted", []string{"a", "n"}, nil, ""},
		{"the filter, then all that it shows", []string{"enter", "/", "f", "i", "l", "e", "enter", "O"}, []string{"allow github push_files false"}, "1 tool turned off"},
		{"all allowed", []string{"enter", "/", "c", "r", "e", "a", "t", "e", "enter", "A"}, []string{"allow github create_issue create_repository true"}, "2 tools allowed"},
		{"all without a filter", []string{"enter", "O"}, nil, "filter the"},
		{"restart", []string{"r", "y"}, []string{"restart github"}, "GitHub was restarted"},
		{"restart says what fails", []string{"r"}, nil, "1 running call will fail"},
		{"restart of one that is off", []string{"down", "r"}, nil, "notion is off"},
		{"instructions", []string{"i"}, nil, "Be kind."},
		{"a resource", []string{"enter", "tab", "enter"}, nil, "A repository's files"},
		{"a prompt", []string{"enter", "tab", "tab", "enter"}, nil, "arguments: number*, tone"},
		{"calls in flight", []string{"enter", "tab", "tab", "tab"}, nil, "github_push_files"},
		{"the log", []string{"shift+tab"}, nil, "token expires"},
		{"a text in the log", []string{"shift+tab", "/", "e", "x", "p", "enter"}, nil, "1 of 1"},
		{"esc leads back", []string{"enter", "esc", "space"}, []string{"off github"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
				s.Keys(tt.keys...)
				s.Has(tt.has)
				if !slices.Equal(c.did, tt.did) {
					t.Errorf("did %q, want %q", c.did, tt.did)
				}
			})
		})
	}
}

func TestADeckThatOnlyWatchesChangesNothing(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}, watch: true}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		s.Keys("space", "s", "a", "y", "r", "y", "enter", "a", "down", "down", "space", "enter", "esc")
		if len(c.did) > 0 {
			t.Errorf("did %q", c.did)
		}
	})
}

func TestToolsAreSorted(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
		s.Keys("enter")
		for _, want := range []string{"create_issue create_repository push_files", "push_files create_issue create_repository", "create_issue push_files create_repository", "push_files create_issue create_repository"} {
			var got []string
			for _, line := range strings.Split(s.Text(), "\n") {
				for _, name := range strings.Fields(want) {
					if strings.Contains(line, " "+name+" ") && (strings.Contains(line, " allow ") || strings.Contains(line, " off ")) {
						got = append(got, name)
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("sorted as %q, want %s", got, want)
			}
			s.Keys("o")
		}
	})
}

func TestAClickOnAHeadSorts(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}} {
		run(t, look{size: size}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
			s.Keys("enter")
			for _, tt := range []struct{ on, arrow, first string }{
				{"tokens", "↓", "push_files"},
				{"tokens", "↑", "create_repos"},
				{"name", "", "create_issue"},
				{"name", "", "create_issue"},
			} {
				for y, line := range strings.Split(s.Text(), "\n") {
					if at := strings.LastIndex(line, tt.on); at >= 0 && strings.Contains(line, "agents  ") {
						s.Click(widget.Width(line[:at]), y)
					}
				}
				s.Has(tt.arrow)
				text := s.Text()
				for _, name := range []string{"create_issue", "create_repos", "push_files"} {
					if strings.Index(text, name) < strings.Index(text, tt.first) {
						t.Errorf("after a click on %s, %s is above %s", tt.on, name, tt.first)
					}
				}
			}
		})
	}
}

func TestFailuresAreSaid(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		c.fails = errors.New("the disk is full")
		s.Keys("enter", "down", "down", "space")
		s.Has("the disk is full")
	})
}

// The details are those of the server under the cursor, as it is now.
func TestTheCardFollowsItsServer(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, d *fake.Deck, c *cards) {
		s.Has("GitHub  on", "create_issue")
		s.Keys("home")
		s.Has("pencil_x")
		s.Lacks("create_issue")
		s.Keys("end", "up")
		c.mu.Lock()
		c.details.Tools = c.details.Tools[:1]
		c.mu.Unlock()
		d.Change(func(n *snapshot.Snapshot) {
			n.Servers = slices.Clone(n.Servers)
			n.Servers[5].State = snapshot.State{Status: snapshot.Off, Reason: "the port is taken"}
			n.Servers = n.Servers[1:] // the cursor stays on its server
		})
		s.Wait(time.Second)
		s.Has("GitHub  off", "the port is taken", "while on")
		s.Lacks("push_files")
	})
}

// What to do about a server is said whole on a screen of the usual height, and ends in a
// sign that there is more on a small one.
func TestTheCardSaysWholeWhatToDo(t *testing.T) {
	const why = "run `mcpdeck doctor --fix` or `npm install -g logicstamp-context` (Node 20 or newer) to install it, or set logicstamp.command; listing, reading and searching work without it"
	state := func(s *frame.Screen, d *fake.Deck) {
		d.Change(func(n *snapshot.Snapshot) {
			n.Servers = slices.Clone(n.Servers)
			n.Servers[5].State = snapshot.State{Status: snapshot.Degraded, Reason: why}
		})
		s.Wait(time.Second)
	}
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, d *fake.Deck, _ *cards) {
		state(s, d)
		s.Has("searching work without")
	})
	run(t, look{size: frame.Size{W: 80, H: 16}}, func(s *frame.Screen, d *fake.Deck, _ *cards) {
		state(s, d)
		s.Has("run `mcpdeck doctor --fix`", "(Node 20…")
	})
}

// crowded are the details of a server of which several programs run.
func crowded() snapshot.Details {
	d := github()
	at := func(m int) time.Time {
		return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Add(-time.Duration(m) * time.Minute)
	}
	d.Children = []snapshot.Child{
		{Name: "github 2", PID: 4711, Since: at(3), Root: "/home/ana/shop", Agents: []string{"a1"}, Running: 1},
		{Name: "github 3", PID: 4712, Since: at(1), Root: "/home/ana/docs", Agents: []string{"a2", "a1"}},
		{Name: "github 4", Since: at(1)},
	}
	for i, name := range []string{"", "github 2", "github 3"} {
		from := "link"
		if i == 2 {
			from = name
		}
		d.Log = append(d.Log, snapshot.LogLine{Time: at(-i), Child: name, From: from, Text: fmt.Sprintf("line %d", i)})
	}
	d.Prompts, d.Without = nil, []snapshot.Kind{snapshot.Prompts}
	d.Held = append(d.Held, snapshot.Held{Kind: "prompt", Tool: "create_issue", New: true, Now: 90, Digest: "d3", Diff: []snapshot.DiffLine{{Mark: '+', Text: "obey"}}})
	d.Tools[0].Trimmed, d.Tools[0].Output = 2100, []byte(`{"type":"object","description":"`+strings.Repeat("x", 1200)+`"}`)
	return d
}

func TestTheCardOfAServerThatRunsManyTimes(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		did  []string
		has  []string
	}{
		{"how many run, for whom", []string{"shift+tab", "shift+tab", "shift+tab"}, nil, []string{"Running 3", "github 2  claude · shop", "1 call · process 4711", "github 4  no agent"}},
		{"the log of one", []string{"shift+tab", "shift+tab", "shift+tab", "down", "enter"}, nil, []string{"Log github 3", "line 2"}},
		{"the log of all", []string{"shift+tab"}, nil, []string{"github 2 line 1", "github 3 line 2", "link     line 0"}},
		{"the log of the next", []string{"shift+tab", "o"}, nil, []string{"Log github 2", "line 1"}},
		{"prompts that are off", []string{"enter", "tab", "tab"}, nil, []string{"Prompts off", "agents get no prompts"}},
		{"prompts allowed again", []string{"enter", "tab", "tab", "space"}, []string{"offer github prompts true"}, nil},
		{"resources turned off", []string{"enter", "tab", "space"}, []string{"offer github resources false"}, nil},
		{"a held prompt", []string{"enter", "home", "enter"}, nil, []string{"New: prompt create_issue", "Agents follow what a prompt says."}},
		{"a held prompt is accepted", []string{"enter", "home", "a"}, []string{"accept github create_issue@d3"}, nil},
		{"what a definition is without", []string{"enter", "down", "down", "enter"}, nil, []string{"trimmed", "2.1 KB", `trim = ["outputSchema"]`}},
		{"what is saved", nil, nil, []string{"trim saves 2.1 KB", "2 agents connected, 1 by profile shop"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, d *fake.Deck, c *cards) {
				c.mu.Lock()
				c.details = crowded()
				c.mu.Unlock()
				d.Change(func(n *snapshot.Snapshot) {
					n.Agents = slices.Clone(n.Agents)
					n.Agents[0].Profile = "shop"
				})
				s.Wait(time.Second)
				s.Keys(tt.keys...)
				s.Has(tt.has...)
				if !slices.Equal(c.did, tt.did) {
					t.Errorf("did %q, want %q", c.did, tt.did)
				}
			})
		})
	}
}
