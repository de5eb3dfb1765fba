package servers_test

import (
	"fmt"
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

// imported is a deck after twelve servers were imported, all off.
type imported struct{ *cards }

func (imported) Origins() map[string]servers.Origin {
	out := map[string]servers.Origin{}
	for _, s := range fresh() {
		if o := (servers.Origin{File: s.name + ".toml", From: s.from, Own: true, Needs: s.needs}); s.from != nil {
			out[s.name] = o
		}
	}
	return out
}

func (imported) Details(name string) (snapshot.Details, bool) {
	d := snapshot.Details{Runs: "npx -y @modelcontextprotocol/server-" + name + "@2025.4.8"}
	if name != "github" {
		return d, true
	}
	for i, tool := range []string{"create_issue", "create_pull_request", "get_file_contents", "search_code"} {
		d.Tools = append(d.Tools, snapshot.Tool{
			Original: tool, Context: []int{840, 1040, 560, 480}[i], Verdict: snapshot.Allow,
			Description: []string{"Create a new issue in a GitHub repository", "Create a new pull request", "Get the contents of a file or directory", "Search for code across GitHub repositories"}[i],
		})
	}
	for i := range 22 {
		d.Tools = append(d.Tools, snapshot.Tool{Original: fmt.Sprintf("tool_%02d", i+5), Context: 600, Verdict: snapshot.Allow})
	}
	return d, true
}

type server struct {
	name          string
	tools, tokens int
	from, needs   []string
}

func fresh() []server {
	one := func(name string, tools, tokens int, from ...string) server {
		return server{name: name, tools: tools, tokens: tokens, from: from}
	}
	needs := func(name, variable string, from ...string) server {
		return server{name: name, from: from, needs: []string{variable}}
	}
	return []server{
		one("ask", 2, 740), one("pixelsrc", 11, 2400), one("logicstamp", 8, 1700), one("clippy", 4, 800), one("pencil", 0, 0),
		one("brave-search", 8, 2100, "cursor"), one("context7", 2, 1600, "claude"), one("filesystem", 14, 2000, "claude", "opencode"),
		one("firecrawl", 9, 6200, "cursor"), one("github", 26, 4100, "claude", "codex"), one("memory", 9, 1900, "claude"),
		one("notion", 22, 15_000, "cursor"), one("playwright", 21, 3600, "claude"), needs("sentry", "SENTRY_ACCESS_TOKEN", "claude"),
		one("sequential-thinking", 1, 1100, "claude"), one("sqlite", 6, 800, "codex"), needs("tavily", "TAVILY_API_KEY", "cursor"),
	}
}

// absent is Pencil, which is not installed.
type absent struct{}

func (absent) Head(*tui.Frame, int) []string                 { return nil }
func (absent) Picture(_ *tui.Frame, _, _, _, _ int) []string { return nil }
func (absent) Actions(func() bool) []tui.Action              { return nil }
func (absent) Update(tea.Msg) tea.Cmd                        { return nil }
func (absent) AnyKey() tea.Cmd                               { return nil }
func (absent) Look() tea.Cmd                                 { return nil }
func (absent) Absent() bool                                  { return true }

// full is the page with a badge above nine.
type full struct{ *servers.Page }

func (full) Badge() int { return 12 }

func deck(t *testing.T, size frame.Size, o theme.Options, test func(s *frame.Screen)) {
	t.Helper()
	among(t, size, o, func(p *servers.Page) []tui.Page { return []tui.Page{&empty{}, p} }, test)
}

// among runs the page among others.
func among(t *testing.T, size frame.Size, o theme.Options, pages func(*servers.Page) []tui.Page, test func(s *frame.Screen)) {
	t.Helper()
	titles := map[string]string{"ask": "Ask", "pixelsrc": "Pixelsrc", "logicstamp": "LogicStamp", "clippy": "Clippy", "pencil": "Pencil"}
	depth := colorprofile.TrueColor
	if o.Depth == theme.NoColor {
		depth = colorprofile.NoTTY
	}
	frame.Run(t, size, depth, func() tea.Model {
		d := fake.NewDeck(time.Now())
		d.Forget()
		d.Change(func(s *snapshot.Snapshot) {
			s.Servers = nil
			for _, one := range fresh() {
				n := snapshot.Count{Tools: one.tools, Context: 4 * one.tokens}
				row := snapshot.Server{Name: one.name, Title: one.name, Foreign: one.from != nil, State: snapshot.State{Status: snapshot.Off, Adds: n}}
				if own := titles[one.name]; own != "" {
					row.Title = own
				}
				if one.name == "ask" {
					row.State, row.Tools, row.Context = snapshot.State{Status: snapshot.Ready}, n.Tools, n.Context
				}
				s.Servers = append(s.Servers, row)
			}
		})
		page := servers.New(servers.Options{Servers: imported{&cards{}}, Parts: map[string]servers.Part{"pencil": absent{}}})
		return tui.New(tui.Options{Deck: d, Background: "dark", Theme: o, Start: servers.ID, Colors: depth, Pages: pages(page)})
	}, func(s *frame.Screen) {
		s.Quick("down", "down", "down", "down", "down") // github
		s.Wait(time.Second)
		test(s)
	})
}

func TestServersAfterAnImport(t *testing.T) {
	for _, size := range []frame.Size{{W: 200, H: 60}, {W: 110, H: 34}, {W: 80, H: 24}, {W: 60, H: 40}, {W: 40, H: 12}} {
		t.Run(fmt.Sprint(size.W), func(t *testing.T) {
			deck(t, size, theme.Options{}, func(s *frame.Screen) {
				s.Golden(fmt.Sprintf("servers-%dx%d", size.W, size.H))
				s.Quick("enter")
				s.Golden(fmt.Sprintf("open-%dx%d", size.W, size.H))
			})
		})
	}
	for _, size := range frame.Sizes()[:3] {
		among(t, size, theme.Options{}, func(p *servers.Page) []tui.Page { return fake.Tabs(full{p}, 12) }, func(s *frame.Screen) {
			s.Golden(fmt.Sprintf("badges-%dx%d", size.W, size.H))
		})
	}
	deck(t, frame.Size{W: 80, H: 24}, theme.Options{ASCII: true, Depth: theme.NoColor}, func(s *frame.Screen) { s.Golden("servers-ascii-80x24") })
}

func TestAProgramThatNobodyAskedForIsNoProblem(t *testing.T) {
	stamp := snapshot.Server{Name: "stamp", Title: "Stamp", Tools: 8, State: snapshot.State{Status: snapshot.Degraded, Lacks: "stamp not installed", Reason: "run `mcpdeck doctor --fix`"}}
	for _, wanted := range []bool{false, true} {
		stamp.Wanted = wanted
		frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
			d := fake.NewDeck(time.Now())
			d.Change(func(s *snapshot.Snapshot) { s.Servers = []snapshot.Server{stamp} })
			return tui.New(tui.Options{Deck: d, Background: "dark", Start: servers.ID, Pages: []tui.Page{&empty{}, servers.New(servers.Options{Servers: imported{&cards{}}})}})
		}, func(s *frame.Screen) {
			if s.Has("stamp not installed", "run `mcpdeck doctor --fix`"); wanted {
				s.Has("[Servers !1]", "! Stamp", "problem: stamp not")
				return
			}
			s.Has("○ Stamp", "stamp not installed: run `mcpdeck doctor --fix`", "0 of 1 on")
			s.Lacks("!1", "problem")
		})
	}
}

func TestServersAreListedWhereAllAreOff(t *testing.T) {
	for name, tt := range map[string]struct {
		all  []snapshot.Server
		want []string
	}{
		"none": {nil, []string{"No servers yet."}},
		"off":  {[]snapshot.Server{{Name: "ask", Title: "Ask", State: snapshot.State{Status: snapshot.Off}}}, []string{"○ Ask", "off", "0 of 1 on"}},
	} {
		t.Run(name, func(t *testing.T) {
			frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
				d := fake.NewDeck(time.Now())
				d.Change(func(s *snapshot.Snapshot) { s.Servers = tt.all })
				return tui.New(tui.Options{Deck: d, Background: "dark", Start: servers.ID, Pages: []tui.Page{&empty{}, servers.New(servers.Options{Servers: imported{&cards{}}})}})
			}, func(s *frame.Screen) { s.Has(tt.want...) })
		})
	}
}
