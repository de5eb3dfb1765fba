package tui_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// page is a page that notes what it gets.
type page struct {
	id, title  string
	badge      int
	text       bool
	part       string
	actions    []tui.Action
	got        []tea.Msg
	shown      int
	renders    int
	render     func(f *tui.Frame) []string
	beforeQuit tui.Overlay
}

func (p *page) ID() string               { return p.id }
func (p *page) Title() string            { return p.title }
func (p *page) Badge() int               { return p.badge }
func (p *page) Actions() []tui.Action    { return p.actions }
func (p *page) Part() string             { return p.part }
func (p *page) TextEntry() bool          { return p.text }
func (p *page) Update(m tea.Msg) tea.Cmd { p.got = append(p.got, m); return nil }
func (p *page) Show() tea.Cmd            { p.shown++; return nil }
func (p *page) Hide()                    { p.shown-- }
func (p *page) BeforeQuit() tui.Overlay  { return p.beforeQuit }
func (p *page) Render(f *tui.Frame) []string {
	p.renders++
	if p.render != nil {
		return p.render(f)
	}
	return []string{"this is " + p.title}
}

func (p *page) count(match func(tea.Msg) bool) int {
	n := 0
	for _, m := range p.got {
		if match(m) {
			n++
		}
	}
	return n
}

func (p *page) last(match func(tea.Msg) bool) tea.Msg {
	for i := len(p.got) - 1; i >= 0; i-- {
		if match(p.got[i]) {
			return p.got[i]
		}
	}
	return nil
}

func run(t *testing.T, size frame.Size, o tui.Options, test func(s *frame.Screen)) {
	t.Helper()
	if o.Background == "" {
		o.Background = "dark"
	}
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model { return tui.New(o) }, test)
}

func twoPages() (*page, *page) {
	return &page{id: "one", title: "One"}, &page{id: "two", title: "Two", badge: 3}
}

func TestLettersDoNotActInATextField(t *testing.T) {
	acted := 0
	p := &page{id: "one", title: "One", text: true, actions: []tui.Action{
		{ID: "one.x", Title: "X", Keys: []string{"x"}, Run: func() tea.Cmd { acted++; return nil }},
		{ID: "one.send", Title: "Send", Keys: []string{"ctrl+s", "s"}, InText: true, Run: func() tea.Cmd { acted += 10; return nil }},
	}}
	two := &page{id: "two", title: "Two"}
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{p, two}}, func(s *frame.Screen) {
		s.Keys("x", "T", "q", "?", "space", "s")
		if acted != 0 {
			t.Errorf("letters acted: %d", acted)
		}
		if n := p.count(func(m tea.Msg) bool { _, ok := m.(tea.KeyPressMsg); return ok }); n != 6 {
			t.Errorf("the field got %d keys, want 6", n)
		}
		s.Keys("ctrl+s")
		if acted != 10 {
			t.Errorf("ctrl+s acted %d, want 10", acted)
		}
		s.Keys("ctrl+p")
		s.Has("Commands")
	})
}

func TestDisabledActionsSayWhy(t *testing.T) {
	p := &page{id: "one", title: "One", actions: []tui.Action{
		{ID: "one.x", Title: "Send it", Keys: []string{"x"}, Enabled: func() string { return "nothing is chosen" }, Run: func() tea.Cmd { t.Error("ran"); return nil }},
		{ID: "one.y", Title: "Delete it", Keys: []string{"y"}, Acts: true, Run: func() tea.Cmd { t.Error("ran"); return nil }},
	}}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p}, Watch: true}, func(s *frame.Screen) {
		s.Keys("x")
		s.Has("Send it: nothing is chosen")
		s.Keys("y")
		s.Has("Delete it: the deck only watches")
		s.Keys("?")
		s.Has("(nothing is chosen)", "(the deck only watches")
	})
}

func TestHelpFiltersAndRuns(t *testing.T) {
	ran := ""
	do := func(what string) func() tea.Cmd { return func() tea.Cmd { ran = what; return nil } }
	p := &page{id: "one", title: "One", part: "list", actions: []tui.Action{
		{ID: "one.open", Title: "Open the thing", Keys: []string{"enter"}, Part: "list", Run: do("open")},
		{ID: "one.other", Title: "Elsewhere", Keys: []string{"e"}, Part: "detail", Run: do("other")},
		{ID: "one.keep", Title: "Keep the text", Keys: []string{"enter"}, Part: "field", InText: true, Run: do("keep")},
		{ID: "one.copy", Title: "Copy the thing", Keys: []string{"y"}, Run: do("copy")},
	}}
	two := &page{id: "two", title: "Two", actions: []tui.Action{{ID: "two.far", Title: "Faraway deed", Run: do("far")}}}
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p, two}}, func(s *frame.Screen) {
		s.Keys("e")
		if ran != "" {
			t.Errorf("an action of another part ran: %s", ran)
		}
		s.Keys("?")
		s.Has("Open the thing", "Copy the thing")
		s.Lacks("Elsewhere", "Faraway")
		s.Type("copy")
		s.Lacks("Open the thing")
		s.Keys("enter")
		if ran != "copy" {
			t.Errorf("ran %q, want copy", ran)
		}
		s.Keys("ctrl+p")
		s.Has("Elsewhere")
		s.Lacks("Keep the text")
		s.Type("faraway")
		s.Keys("enter")
		if ran != "far" || two.shown != 1 {
			t.Errorf("ran %q with page two shown %d times", ran, two.shown)
		}
	})
}

func TestUserKeys(t *testing.T) {
	ran := 0
	p := &page{id: "one", title: "One", actions: []tui.Action{
		{ID: "one.copy", Title: "Copy", Hint: "copy", Keys: []string{"y"}, Run: func() tea.Cmd { ran++; return nil }},
	}}
	o := tui.Options{Pages: []tui.Page{p}, Keys: map[string][]string{"one.copy": {"c"}, "one.fly": {"f"}}}
	run(t, frame.Size{W: 80, H: 24}, o, func(s *frame.Screen) {
		s.Has("c copy", `unknown action "one.fly"`)
		s.Keys("y", "c")
		if ran != 1 {
			t.Errorf("ran %d times, want once", ran)
		}
	})
	bound := func(id string) string {
		for _, b := range tui.Bounds(o) {
			if b.ID == id {
				return fmt.Sprint(b.Place, b.Keys)
			}
		}
		return ""
	}
	for id, want := range map[string]string{"one.copy": "One[c]", "menu.run": "In a menu[enter]", "quit": "Everywhere[q ctrl+c]", "one.fly": ""} {
		if got := bound(id); got != want {
			t.Errorf("%s is bound as %q, want %q", id, got, want)
		}
	}
}

func TestSettingsChangeWhileTheScreenIsUp(t *testing.T) {
	ran := 0
	p := &page{id: "one", title: "One", actions: []tui.Action{
		{ID: "one.copy", Title: "Copy", Hint: "copy", Keys: []string{"y"}, Run: func() tea.Cmd { ran++; return nil }},
	}}
	var settings chan tui.Settings
	frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
		settings = make(chan tui.Settings)
		return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark", Settings: settings})
	}, func(s *frame.Screen) {
		s.Has("y copy")
		for _, key := range []string{"c", "d"} {
			settings <- tui.Settings{Background: "light", Keys: map[string][]string{"one.copy": {key}}}
			s.Wait(time.Second)
			s.Has(key + " copy")
			s.Keys("y", key)
		}
		if ran != 2 {
			t.Errorf("ran %d times, want 2", ran)
		}
		s.Do(func() {
			if last, ok := p.last(func(m tea.Msg) bool { _, ok := m.(tui.ThemeMsg); return ok }).(tui.ThemeMsg); !ok || last.Theme.Dark {
				t.Error("the theme is not light")
			}
		})
	})
}

// TestHowLongAKeyRestsIsASetting of the screen, which can change while it is up.
func TestHowLongAKeyRestsIsASetting(t *testing.T) {
	for _, rest := range []time.Duration{0, 500 * time.Millisecond, 10 * time.Second} {
		ran := 0
		p := &page{id: "one", title: "One", actions: []tui.Action{{ID: "one.act", Title: "Act", Keys: []string{"y"}, Run: func() tea.Cmd { ran++; return nil }}}}
		var settings chan tui.Settings
		twice := func(s *frame.Screen, after time.Duration) int {
			ran = 0
			s.Quick("up") // another key
			y := tea.Key(frame.Key("y"))
			s.Now(tea.KeyPressMsg(y))
			s.Wait(after)
			s.Now(tea.KeyPressMsg(y))
			return ran
		}
		used := cmp.Or(rest, tui.KeyRest)
		frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
			settings = make(chan tui.Settings)
			return tui.New(tui.Options{Pages: []tui.Page{p}, Background: "dark", Settings: settings, KeyRest: rest})
		}, func(s *frame.Screen) {
			s.Send(tea.KeyboardEnhancementsMsg{}) // which does not tell when a key is let go
			if short, long := twice(s, used*4/5), twice(s, used*6/5); short != 1 || long != 2 {
				t.Errorf("%v: %d and %d effects, want 1 and 2", rest, short, long)
			}
			settings <- tui.Settings{Background: "dark", KeyRest: 2 * used}
			s.Wait(time.Second)
			if n := twice(s, used*6/5); n != 1 {
				t.Errorf("%v, made twice as long: %d effects", rest, n)
			}
		})
	}
}

func TestQuitAsksWhileAgentsAreConnected(t *testing.T) {
	p := &page{id: "one", title: "One"}
	frame.Run(t, frame.Size{W: 80, H: 20}, colorprofile.TrueColor, func() tea.Model {
		return tui.New(tui.Options{Pages: []tui.Page{p}, Deck: fake.NewDeck(time.Now()), Background: "dark"})
	}, func(s *frame.Screen) {
		s.Keys("q")
		s.Has("Quit mcpdeck?", "3 agents are connected")
		s.Keys("n")
		s.Lacks("Quit mcpdeck?")
		s.Keys("ctrl+c", "ctrl+c")
		if !s.Ended() {
			t.Error("ctrl+c twice does not end the program")
		}
	})
}

func TestEventsAreBatched(t *testing.T) {
	p := &page{id: "one", title: "One"}
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 80, H: 20}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		return tui.New(tui.Options{Pages: []tui.Page{p}, Deck: d, Background: "dark"})
	}, func(s *frame.Screen) {
		s.Do(func() { p.got, p.renders = nil, 0 })
		for range 1000 { // a second of a thousand events
			d.Add(snapshot.Call{Agent: "a1", Tool: "echo", Status: snapshot.OK})
			testwait.Pass(time.Millisecond)
		}
		s.Wait(time.Second)
		batches, calls := 0, 0
		for _, m := range p.got {
			if b, ok := m.(tui.DeckMsg); ok {
				batches++
				calls += len(b.Calls)
			}
		}
		if batches > 31 || calls != 1000 {
			t.Errorf("%d batches with %d calls, want at most 31 with 1000", batches, calls)
		}
		if p.renders > 32 {
			t.Errorf("%d renders for %d batches", p.renders, batches)
		}
		s.Do(func() { p.renders = 0 })
		s.Wait(time.Hour)
		if p.renders != 0 {
			t.Errorf("an idle hour rendered %d times", p.renders)
		}
	})
}

func TestRedrawAfter(t *testing.T) {
	p := &page{id: "one", title: "One", render: func(f *tui.Frame) []string {
		f.RedrawAfter(time.Minute)
		return nil
	}}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Do(func() { p.renders = 0 })
		s.Wait(10*time.Minute + time.Second)
		if p.renders != 10 {
			t.Errorf("%d renders in ten minutes, want 10", p.renders)
		}
	})
}

func TestSmallTerminals(t *testing.T) {
	one, two := twoPages()
	run(t, frame.Size{W: 40, H: 12}, tui.Options{Pages: []tui.Page{one, two}}, func(s *frame.Screen) {
		s.Has("this is One")
		s.Resize(39, 12)
		s.Has("mcpdeck needs 40×12", "Two: 3 waiting")
		s.Resize(1, 1)
		s.Resize(200, 60)
		s.Has("this is One")
	})
}

func TestCopyWritesOSC52(t *testing.T) {
	p := &page{id: "one", title: "One", actions: []tui.Action{
		{ID: "one.copy", Title: "Copy", Keys: []string{"y"}, Run: func() tea.Cmd { return tui.Copy("hello", "the text") }},
	}}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("y")
		s.Has("copied the text")
		if !strings.Contains(s.Raw(), "\x1b]52;c;aGVsbG8=") {
			t.Error("no OSC 52 was written")
		}
		s.Wait(5 * time.Second)
		s.Lacks("copied the text")
	})
}

func TestOneKeyForAllLists(t *testing.T) {
	var one, two widget.List
	one.SetLen(5)
	two.SetLen(5)
	p := &page{id: "one", title: "One", part: "a", actions: append(tui.ListActions("one.a", "a", &one), tui.ListActions("one.b", "b", &two)...)}
	o := tui.Options{Pages: []tui.Page{p}, Keys: map[string][]string{"list.down": {"n"}, "one.b.down": {"m"}}}
	run(t, frame.Size{W: 80, H: 24}, o, func(s *frame.Screen) {
		s.Lacks("unknown action")
		s.Keys("j", "n")
		s.Do(func() { p.part = "b" })
		s.Keys("n", "m", "m")
		if one.Cursor != 1 || two.Cursor != 2 {
			t.Errorf("cursors at %d and %d, want 1 and 2", one.Cursor, two.Cursor)
		}
	})
}

func TestAPromptHandsOnWhatWasTyped(t *testing.T) {
	taken := []string{}
	prompt := func() tui.Overlay {
		return &tui.Prompt{Name: "one.rename", Title: "Rename", Hint: "rename", Label: "The new name:", Take: func(text string) tea.Cmd {
			taken = append(taken, text)
			return tui.Toast(tui.Info, "renamed to "+text)
		}}
	}
	p := &page{id: "one", title: "One", actions: []tui.Action{{ID: "one.r", Title: "Rename it", Keys: []string{"r"}, Run: func() tea.Cmd { return tui.Open(prompt()) }}}}
	run(t, frame.Size{W: 80, H: 24}, tui.Options{Pages: []tui.Page{p, &page{id: "two", title: "Two"}}}, func(s *frame.Screen) {
		s.Keys("r")
		s.Has("Rename", "The new name:")
		s.Type("q2")
		s.Send(tea.PasteMsg{Content: "-mine"})
		s.Has("q2-mine", "this is One")
		s.Keys("enter")
		s.Has("renamed to q2-mine")
		s.Lacks("The new name:")
		s.Keys("r")
		s.Type("other")
		s.Keys("esc", "r", "enter")
		s.Lacks("The new name:")
	})
	if len(taken) != 1 || taken[0] != "q2-mine" {
		t.Errorf("got %q, want what was typed before enter alone", taken)
	}
}

func TestARunningCallWaitsForAsLongAsItsQuestion(t *testing.T) {
	call := snapshot.Call{Server: "ask", Tool: "ask", Agent: "a1", Status: snapshot.OK, Args: `{"questions":[{"question":"Which login?"},{"question":"Which cache?"}]}`}
	left := []questions.Item{{Absent: questions.HandedOver, Request: questions.Request{
		Peer: questions.Peer{Key: "a1"}, Questions: []questions.Question{{Question: "Which login?"}},
	}}}
	if asked := tui.Question(&call); !strings.HasPrefix(asked, "Which login?") {
		t.Fatalf("the call's row shows %q", asked)
	}
	if got := tui.Standing(&call, left); got.Status != snapshot.Running || !got.Waiting {
		t.Errorf("got %v, want a call that waits", got.Status)
	}
	for name, change := range map[string]func(*snapshot.Call){
		"another agent's":  func(c *snapshot.Call) { c.Agent = "a2" },
		"another question": func(c *snapshot.Call) { c.Args = `{"questions":[{"question":"Which cache?"}]}` },
		"a failed call":    func(c *snapshot.Call) { c.Status = snapshot.ToolError },
		"another server's": func(c *snapshot.Call) { c.Server = "clippy" },
	} {
		other := call
		change(&other)
		if got := tui.Standing(&other, left); got != &other {
			t.Errorf("%s: got %v, want the call as it is", name, got.Status)
		}
	}
}
