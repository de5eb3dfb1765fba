package servers_test

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
	"github.com/mcpdeck/mcpdeck/tui/page/servers"
)

// cards are servers that do as they are told.
type cards struct {
	mu      sync.Mutex
	did     []string
	details snapshot.Details
	terms   snapshot.Terms // of notion; it is agreed to where there are none
	there   servers.Elsewhere
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

func (c *cards) Remove(name string) (string, error) { return c.note("remove %s", name) }

func (c *cards) Elsewhere(string) (servers.Elsewhere, error) { return c.there, nil }

func (c *cards) RemoveElsewhere(name string, shown servers.Elsewhere) (string, error) {
	_, err := c.note("remove %s from %s", name, strings.Join(shown.Clients, " "))
	return "12", err
}

func (c *cards) Undo(id string) error { _, err := c.note("undo %s", id); return err }

func (c *cards) Origins() map[string]servers.Origin {
	return map[string]servers.Origin{"github": {File: "/home/ana/github.toml", From: []string{"claude", "codex"}, Own: true}, "notion": {File: "/home/ana/notion.toml"}}
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
			{Tool: "search_code", What: "changed from 600 B to 812 B", Digest: "d1", Diff: []snapshot.DiffLine{{Mark: '-', Text: "old words"}, {Mark: '+', Text: "new words"}}},
			{Tool: "search_users", What: "new, 310 B", Digest: "d2", Diff: []snapshot.DiffLine{{Mark: '+', Text: "all new"}}},
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
				snapshot.Server{Name: "github", Title: "GitHub", Foreign: true, State: snapshot.State{Status: snapshot.Ready, Detail: "running, 2 agents", Held: 2}, Tools: 2, Bytes: 3234, Context: 2156},
				snapshot.Server{Name: "notion", Title: "notion", Foreign: true, State: snapshot.State{Status: snapshot.Off, Adds: snapshot.Count{Tools: 26, Context: 16_400}}},
			)
			s.Calls = append(slices.Clone(s.Calls), snapshot.Call{ID: 900, Agent: "a1", AgentName: "claude", Server: "github", Tool: "github_push_files", Status: snapshot.Running, Started: time.Now().Add(-4 * time.Second), Args: `{"owner":"ana"}`})
		})
		return tui.New(tui.Options{Deck: d, Still: true, Background: "dark", Theme: l.theme, Start: servers.ID, Watch: l.watch, Colors: l.depth, Keys: map[string][]string{"servers.allowall": {"A"}, "servers.denyall": {"O"}}, Pages: []tui.Page{
			&empty{}, servers.New(servers.Options{Servers: c, CallsPage: "calls"}),
		}})
	}, func(s *frame.Screen) {
		s.Keys("end", "up") // GitHub
		test(s, d, c)
	})
}

// empty is the first page.
type empty struct{ tui.Page }

func (*empty) ID() string                   { return "deck" }
func (*empty) Title() string                { return "Inbox" }
func (*empty) Badge() int                   { return 0 }
func (*empty) Actions() []tui.Action        { return nil }
func (*empty) Part() string                 { return "" }
func (*empty) TextEntry() bool              { return false }
func (*empty) Update(tea.Msg) tea.Cmd       { return nil }
func (*empty) Render(f *tui.Frame) []string { return nil }
func (*empty) Show() tea.Cmd                { return nil }
func (*empty) Hide()                        {}

// Changes wait to be accepted, and the server is opened with its details.
func TestAServerWithChangesAtAllSizes(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 60, H: 40}, {W: 40, H: 12}} {
		t.Run(fmt.Sprint(size.W), func(t *testing.T) {
			run(t, look{size: size}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
				s.Keys("d", "enter", "down", "down")
				s.Golden(fmt.Sprintf("changes-%dx%d", size.W, size.H))
			})
		})
	}
}

func TestWhatTheKeysDo(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		did  []string
		has  string
	}{
		{"space in the list turns the server off", []string{"space"}, []string{"off github"}, ""},
		{"1 turns the server off", []string{"1"}, []string{"off github"}, ""},
		{"3 has agents search for the tools of one that is on", []string{"3"}, []string{"on github true "}, ""},
		{"2 turns one on that is off", []string{"down", "2"}, []string{"on notion false "}, ""},
		{"what a server is already changes nothing", []string{"2"}, nil, "GitHub is on"},
		{"a digit chooses in the reading pane, too", []string{"enter", "3"}, []string{"on github true "}, ""},
		{"u undoes a switch", []string{"3", "u"}, []string{"on github true ", "on github false "}, "undone: GitHub on demand"},
		{"u undoes once", []string{"space", "u", "u"}, []string{"off github", "on github false "}, "nothing to undo"},
		{"space on a tool turns it off", []string{"enter", "down", "down", "space"}, []string{"allow github create_issue false"}, "create_issue turned off"},
		{"u allows it again", []string{"enter", "down", "down", "space", "u"}, []string{"allow github create_issue false", "allow github create_issue true"}, ""},
		{"space on one that is off allows it", []string{"enter", "down", "down", "down", "space"}, []string{"allow github create_repository true"}, ""},
		{"space on a change says how it is offered", []string{"enter", "space"}, nil, "until you accept the change (y)"},
		{"space on one that cannot be offered says why", []string{"enter", "down", "down", "down", "down", "space"}, nil, "cannot be"},
		{"what changed is there at once", nil, nil, "+ new words"},
		{"what is new, too", nil, nil, "search_users  new, 310 B"},
		{"enter shows a definition", []string{"enter", "down", "down", "enter"}, nil, "github_create_issue"},
		{"space folds what is in it", []string{"enter", "down", "down", "enter", "space"}, nil, "▌ {… 3 keys}"},
		{"enter shows why something was left out", []string{"enter", "end", "enter"}, nil, "it has no name"},
		{"y accepts what was shown", []string{"y"}, []string{"accept github search_code@d1 search_users@d2"}, ""},
		{"y on one accepts that", []string{"enter", "down", "y"}, []string{"accept github search_users@d2"}, ""},
		{"n keeps it hidden", []string{"n"}, nil, "2 changes of github stay hidden"},
		{"the filter, then all that it shows", []string{"enter", "/", "f", "i", "l", "e", "enter", "O"}, []string{"allow github push_files false"}, "push_files turned off"},
		{"all allowed", []string{"enter", "/", "c", "r", "e", "a", "t", "e", "enter", "A"}, []string{"allow github create_issue create_repository true"}, "2 tools allowed"},
		{"all without a filter", []string{"enter", "O"}, nil, "filter the"},
		{"restart", []string{"r", "y"}, []string{"restart github"}, "GitHub was restarted"},
		{"restart says what fails", []string{"r"}, nil, "1 running call will fail"},
		{"restart of one that is off", []string{"down", "r"}, nil, "notion is off"},
		{"remove", []string{"x", "y"}, []string{"remove github"}, ""},
		{"remove asks", []string{"x", "n"}, nil, ""},
		{"a part of mcpdeck stays", []string{"home", "down", "x"}, nil, "part of mcpdeck"},
		{"instructions", []string{"d", "enter", "down", "down", "enter"}, nil, "Be kind."},
		{"a resource", []string{"d", "enter", "down", "down", "down", "down", "enter"}, nil, "A repository's files"},
		{"a prompt", []string{"d", "enter", "down", "down", "down", "down", "down", "down", "enter"}, nil, "arguments: number*, tone"},
		{"the log", []string{"v"}, nil, "token expires"},
		{"a text in the log", []string{"v", "enter", "/", "e", "x", "p", "enter"}, nil, "1 of 1"},
		{"the text again", []string{"v", "v"}, nil, "(•) 2 On"},
		{"the servers with a word", []string{"/", "n", "o", "t", "i", "enter", "space"}, []string{"on notion false "}, ""},
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

func TestTurningAServerOnOffersToRemoveItElsewhere(t *testing.T) {
	on, gone := "on notion false ", "remove notion from claude codex"
	for _, tt := range []struct {
		name string
		keys []string
		did  []string
		has  string
	}{
		{"it is offered", []string{"down", "2"}, []string{on}, "Remove notion from claude and codex?"},
		{"with what goes", []string{"down", "2"}, []string{on}, "-     \"notion\": {"},
		{"nothing without y", []string{"down", "2", "enter", "esc"}, []string{on}, ""},
		{"y removes it", []string{"down", "2", "y"}, []string{on, gone}, "removed notion from claude and codex · u undo"},
		{"u puts it back", []string{"down", "2", "y", "u"}, []string{on, gone, "undo 12"}, "undone: removed notion from claude and codex"},
		{"what is undone is not offered", []string{"down", "2", "esc", "u"}, []string{on, "off notion"}, "undone: notion on"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, look{size: frame.Size{W: 80, H: 24}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
				c.there = servers.Elsewhere{Clients: []string{"claude", "codex"}, Rows: []string{"~/.claude.json", `  {"mcpServers": {`, `-     "notion": {"command": "notion"},`, "~/.codex/config.toml", "- [mcp_servers.notion]"}}
				for _, key := range tt.keys {
					s.Keys(key)
					s.Wait(time.Second)
				}
				s.Has(tt.has)
				if tt.name == "it is offered" {
					s.Golden("offer-80x24")
				}
				if !slices.Equal(c.did, tt.did) {
					t.Errorf("did %q, want %q", c.did, tt.did)
				}
			})
		})
	}
}

func TestWhatFailsIsNotSaidToBeUndone(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		s.Keys("space")
		s.Has("GitHub off · u undo")
		c.mu.Lock()
		c.fails = errors.New("the program is missing")
		c.mu.Unlock()
		s.Keys("u")
		s.Has("the program is missing")
		s.Lacks("undone")
	})
}

func TestADeckThatOnlyWatchesChangesNothing(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}, watch: true}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		s.Keys("space", "1", "3", "y", "x", "y", "r", "y", "enter", "y", "down", "down", "space", "enter", "esc")
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
					if strings.Contains(line, " "+name+" ") {
						got = append(got, name)
					}
				}
			}
			if strings.Join(got, " ") != want {
				t.Errorf("sorted as %q, want %s", got, want)
			}
			s.Keys("s")
		}
	})
}

func TestAClickOnAHeadSorts(t *testing.T) {
	for _, size := range []frame.Size{{W: 60, H: 40}, {W: 110, H: 34}, {W: 200, H: 60}} {
		run(t, look{size: size}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
			s.Keys("enter")
			for _, tt := range []struct{ on, arrow, first string }{
				{"≈ tokens", "↓", "push_files"},
				{"≈ tokens", "↑", "create_repository"},
				{"Tools 6", "", "create_issue"},
				{"Tools 6", "", "create_issue"},
			} {
				s.ClickOn(tt.on)
				s.Has(tt.arrow)
				text := s.Text()
				for _, name := range []string{"create_issue", "create_repository", "push_files"} {
					if strings.Index(text, " "+name+" ") < strings.Index(text, " "+tt.first+" ") {
						t.Errorf("%v: after a click on %s, %s is above %s\n%s", size, tt.on, name, tt.first, text)
					}
				}
			}
		})
	}
}

func TestServersAreSorted(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, _ *cards) {
		s.ClickOn("Tokens")
		s.Has("↓Tokens")
		if text := s.Text(); strings.Index(text, " notion ") > strings.Index(text, " Pencil ") {
			t.Errorf("the one with the most tokens is not the first:\n%s", text)
		}
		s.Keys("s") // by no column
		s.Lacks("↓")
	})
}

func TestFailuresAreSaid(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		c.fails = errors.New("the disk is full")
		s.Keys("enter", "down", "down", "space")
		s.Has("the disk is full")
	})
}

// The details are those of the server under the cursor, as it is now.
func TestTheReadingPaneFollowsItsServer(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, d *fake.Deck, c *cards) {
		s.Has("─ GitHub ", "create_issue")
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
		s.Has("Off. Turning it on adds", "the port is taken")
		s.Lacks("push_files")
	})
}

// What to do about a server is said whole on a screen of the usual height, and its beginning
// stands in its row.
func TestAProblemIsSaidWhole(t *testing.T) {
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
		s.Has("problem: run `mcpdeck doctor --fix` or")
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
	d.Held = append(d.Held, snapshot.Held{Kind: "prompt", Tool: "create_issue", What: "new, 90 B", Digest: "d3", Diff: []snapshot.DiffLine{{Mark: '+', Text: "obey"}}})
	d.Tools[0].Trimmed, d.Tools[0].Output = 2100, []byte(`{"type":"object","description":"`+strings.Repeat("x", 1200)+`"}`)
	return d
}

func TestAServerThatRunsManyTimes(t *testing.T) {
	tests := []struct {
		name string
		keys []string
		did  []string
		has  []string
	}{
		{"how many run, for whom", nil, nil, []string{"github 2  claude · shop", "1 call · process 4711", "github 4  no agent"}},
		{"what is connected without a conversation", nil, nil, []string{"without a conversation: claude (process 4211)"}},
		{"the log of one", []string{"enter", "down", "down", "down", "down", "down", "enter"}, nil, []string{"log github 3", "line 2"}},
		{"the log of all", []string{"v"}, nil, []string{"github 2 line 1", "github 3 line 2", "link     line 0"}},
		{"the log of the next", []string{"v", "enter", "s"}, nil, []string{"log github 2", "line 1"}},
		{"prompts that are off", nil, nil, []string{"Prompts off", "agents get none"}},
		{"prompts allowed again", []string{"enter", "down", "down", "down", "down", "down", "down", "down", "down", "down", "space"}, []string{"offer github prompts true"}, nil},
		{"resources turned off", []string{"enter", "down", "down", "down", "down", "down", "down", "down", "space"}, []string{"offer github resources false"}, nil},
		{"a changed prompt", nil, nil, []string{"prompt create_issue  new, 90 B"}},
		{"a changed prompt is accepted", []string{"enter", "down", "down", "y"}, []string{"accept github create_issue@d3"}, nil},
		{"what a definition is without", []string{"d", "enter", "down", "down", "down", "enter"}, nil, []string{"trimmed", "2.1 kB", `trim = ["outputSchema"]`}},
		{"what is saved", nil, nil, []string{"trim saves 2.1 kB", "2 agents connected, 1 by profile shop"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, look{size: frame.Size{W: 110, H: 50}}, func(s *frame.Screen, d *fake.Deck, c *cards) {
				c.mu.Lock()
				c.details = crowded()
				c.mu.Unlock()
				d.Change(func(n *snapshot.Snapshot) {
					n.Agents = slices.Clone(n.Agents)
					n.Agents[0].Profile = "shop"
				})
				s.Wait(time.Second)
				s.Keys(append([]string{"d"}, tt.keys...)...)
				s.Has(tt.has...)
				if !slices.Equal(c.did, tt.did) {
					t.Errorf("did %q, want %q", c.did, tt.did)
				}
			})
		})
	}
}

func TestAServerWithFewToolsHasAllHeads(t *testing.T) {
	run(t, look{size: frame.Size{W: 110, H: 34}}, func(s *frame.Screen, _ *fake.Deck, c *cards) {
		c.mu.Lock()
		c.details.Tools, c.details.Notes = c.details.Tools[:1], nil
		c.mu.Unlock()
		s.Keys("up", "down")
		s.Has("Tools 1")
		s.Has("p95")
	})
}
