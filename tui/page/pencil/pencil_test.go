package pencil_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	godeck "github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	page "github.com/mcpdeck/mcpdeck/tui/page/pencil"
	serverspage "github.com/mcpdeck/mcpdeck/tui/page/servers"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// mode is a Pencil mode that does as it is told.
type mode struct {
	mu     sync.Mutex
	status pencil.Status
	hint   chan struct{}
	did    []string
	fails  error
}

func newMode(s pencil.Status) *mode { return &mode{status: s, hint: make(chan struct{}, 1)} }

func (m *mode) Status() pencil.Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.status
}

func (m *mode) Subscribe() (<-chan struct{}, func()) { return m.hint, func() {} }

func (m *mode) set(edit func(*pencil.Status)) {
	m.mu.Lock()
	edit(&m.status)
	m.mu.Unlock()
	select {
	case m.hint <- struct{}{}:
	default:
	}
}

func (m *mode) note(s string) {
	m.mu.Lock()
	m.did = append(m.did, s)
	m.mu.Unlock()
}

func (m *mode) Find() (pencil.Found, []upstream.Candidate, error) {
	return pencil.Found{}, []upstream.Candidate{{Path: "~/apps/Pen", Source: "installed app", Reason: "not there"}}, m.fails
}
func (m *mode) Toggle()    { m.note("toggle") }
func (m *mode) Reconnect() { m.note("reconnect") }

func (m *mode) Dismiss() {
	m.note("dismiss")
	m.set(func(s *pencil.Status) { s.Broken = false })
}

// servers are those of the deck, of which one is Pencil's.
type servers struct {
	serverspage.Servers
	*mode
}

func (s servers) TurnOn(string, bool, string) (string, error)  { s.note("on"); return "", nil }
func (s servers) TurnOff(string) (string, error)               { s.note("off"); return "", nil }
func (s servers) Restart(string) error                         { s.note("restart"); return nil }
func (s servers) Accept(string, []godeck.Held) (string, error) { s.note("accept"); return "", nil }
func (s servers) Allow(string, []string, bool) error           { s.note("allow"); return nil }
func (s servers) Origins() map[string]serverspage.Origin       { return nil }
func (s servers) Offer(string, godeck.Kind, bool) error        { return nil }

func (s servers) Elsewhere(string) (serverspage.Elsewhere, error) {
	return serverspage.Elsewhere{}, nil
}

func (s servers) Details(name string) (godeck.Details, bool) {
	if name != "pencil" {
		return godeck.Details{}, true
	}
	return s.Status().Details(), true
}

func (m *mode) SavePicture(path string) error {
	m.note("save " + path)
	return m.fails
}

// at is when tests begin in virtual time.
func at() time.Time { return time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) }

func on() pencil.Status {
	s := pencil.Status{App: pencil.AppReachable, File: "menu.pen", Status: upstream.Status{
		Mode: upstream.On, Link: upstream.LinkReady, For: "desktop",
		PID: 4321, Since: at().Add(-3 * time.Minute), Program: "~/apps/Pen/mcp-server-linux-x64", Source: "installed app",
		Listed: true, Context: 12_713, OK: 3, Failed: 1, Instructions: "Look first.",
	}}
	for i, name := range []string{"batch_design", "batch_get", "get_screenshot", "snapshot_layout"} {
		s.Tools = append(s.Tools, catalogue.Tool{
			Name: "pencil_" + name, Original: name, Raw: []byte(`{"name":"` + name + `"}`), Description: "What " + name + " does.\nAnd more.",
			Input: []byte(`{"type":"object","properties":{"filePath":{"type":"string"}}}`), ReadOnly: i > 0, Bytes: 500 * (i + 1),
		})
	}
	s.Listing = s.Tools
	for i := range 9 {
		s.Log = append(s.Log, child.Line{Time: at().Add(time.Duration(i) * time.Second), From: "link", Text: fmt.Sprintf("line %d", i)})
	}
	return s
}

func run(t *testing.T, size frame.Size, s pencil.Status, test func(s *frame.Screen, m *mode)) {
	t.Helper()
	var m *mode
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		m = newMode(s)
		return tui.New(tui.Options{
			Deck: fake.NewDeck(time.Now()), Background: "dark", Start: serverspage.ID, Widgets: []tui.Widget{page.NewWidget(m)}, Feeds: []tui.Feed{page.Feed(m)}, Keys: map[string][]string{"pencil.save": {"f5"}},
			Pages: []tui.Page{
				inbox.New(queue(), inbox.Options{}),
				serverspage.New(serverspage.Options{Servers: servers{mode: m}, Parts: map[string]serverspage.Part{"pencil": page.New(page.Options{Mode: m, Page: serverspage.ID, Folder: "/home/ana"})}}),
			},
		})
	}, func(s *frame.Screen) { test(s, m) })
}

func TestPageAtAllSizes(t *testing.T) {
	held := on()
	held.Held = []catalogue.Held{
		{Tool: "export_nodes", Was: 400, Now: 612, Diff: []godeck.DiffLine{{Mark: '-', Text: "old"}, {Mark: '+', Text: "new"}}},
		{Tool: "send_files", New: true, Now: 310, Diff: []godeck.DiffLine{{Mark: '+', Text: "new"}}},
	}
	off := pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.NoLink}}
	failed := pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.LinkFailed, Broken: true, Error: "Pencil not found (31 places searched). Install it from pen.dev or set pencil.command.", ErrorAt: at()}}
	for name, s := range map[string]pencil.Status{"on": on(), "held": held, "off": off, "failed": failed} {
		for _, size := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}, {W: 40, H: 12}} {
			golden := fmt.Sprintf("%s-%d", name, size.W)
			t.Run(golden, func(t *testing.T) {
				run(t, size, s, func(s *frame.Screen, _ *mode) { s.Golden(golden) })
			})
		}
	}
}

// The note about the mode in every condition, with and without colour and
// Unicode.
func TestWidgetSaysHowThingsStand(t *testing.T) {
	states := []struct {
		name string
		s    pencil.Status
	}{
		{"off", pencil.Status{Status: upstream.Status{Mode: upstream.Off}}},
		{"turning on", pencil.Status{Status: upstream.Status{Mode: upstream.TurningOn, Link: upstream.Connecting}}},
		{"on", on()},
		{"app absent", pencil.Status{Status: upstream.Status{Mode: upstream.On, Link: upstream.LinkReady, Listed: true, Context: 9000}, App: pencil.AppAbsent}},
		{"app silent", pencil.Status{Status: upstream.Status{Mode: upstream.On, Link: upstream.LinkReady, Listed: true, Context: 9000}, App: pencil.AppSilent}},
		{"no file", pencil.Status{Status: upstream.Status{Mode: upstream.On, Link: upstream.LinkReady, Listed: true, Context: 9000}, App: pencil.AppNoFile}},
		{"lost", pencil.Status{Status: upstream.Status{Mode: upstream.On, Link: upstream.Lost, Listed: true, Context: 9000}}},
		{"failed", pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.LinkFailed, Broken: true, Error: "Pencil failed: it ended"}}},
		{"failed and seen", pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.LinkFailed, Error: "Pencil failed: it ended"}}},
	}
	themes := []struct {
		name string
		o    theme.Options
	}{
		{"colour", theme.Options{Dark: true}},
		{"no colour", theme.Options{Depth: theme.NoColor}},
		{"ascii", theme.Options{ASCII: true, Depth: theme.NoColor}},
	}
	var b strings.Builder
	for _, th := range themes {
		for _, w := range []int{80, 40} {
			fmt.Fprintf(&b, "%s, %d columns\n", th.name, w)
			for _, st := range states {
				line := page.NewWidget(newMode(st.s))
				line.Update(page.StatusMsg{Status: st.s})
				got := line.Status(&tui.Frame{W: w, H: 1, Theme: theme.New(th.o)})
				if widget.Width(got) > w {
					t.Errorf("%s, %s: %d cells, at most %d", th.name, st.name, widget.Width(got), w)
				}
				fmt.Fprintf(&b, "  %-16s|%s|\n", st.name, strings.ReplaceAll(got, "\x1b", "^"))
			}
		}
	}
	frame.Compare(t, "widget", b.String())
}

func TestKeysActOnPencil(t *testing.T) {
	held := on()
	held.Held = []catalogue.Held{{Tool: "export_nodes", Diff: []godeck.DiffLine{{Mark: '+', Text: "new words"}}}}
	held.Picture = upstream.Picture{ImageFact: upstream.ImageFact{Type: "image/png", Width: 10, Height: 10, Bytes: 100}, Tool: "get_screenshot", Time: at()}
	tests := []struct {
		name string
		keys []string
		did  string
		has  string
	}{
		{"toggle", []string{"p"}, "toggle", ""},
		{"save", []string{"f5", "enter"}, "save /home/ana/pencil-000000.png", "saved"},
		{"save, no", []string{"f5", "esc"}, "", ""},
		{"toggle on the deck page", []string{"I", "p"}, "toggle", "✏ Pencil 4 ─"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, frame.Size{W: 110, H: 34}, held, func(s *frame.Screen, m *mode) {
				s.Keys(tt.keys...)
				s.Has(tt.has)
				if got := strings.Join(m.did, ";"); got != tt.did {
					t.Errorf("did %q, want %q", got, tt.did)
				}
			})
		})
	}
}

func TestTheKeySaysWherePencilWasLookedFor(t *testing.T) {
	off := pencil.Status{Status: upstream.Status{Mode: upstream.Off}}
	run(t, frame.Size{W: 80, H: 24}, off, func(s *frame.Screen, m *mode) {
		m.fails = errors.New("Pencil not found (1 place searched). Install it from pen.dev or set pencil.command.")
		s.Keys("I", "p")
		s.Has("Pencil is not installed", "Install it from pen.dev", "~/apps/Pen", "not there")
		if len(m.did) > 0 {
			t.Errorf("did %q", m.did)
		}
	})
}

// A long message leaves the sign its place.
func TestTheSignStandsBesideALongMessage(t *testing.T) {
	failed := pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.LinkFailed, Broken: true, Error: "Pencil failed: it ended", ErrorAt: at()}}
	run(t, frame.Size{W: 80, H: 24}, failed, func(s *frame.Screen, _ *mode) {
		s.Send(tui.Toast(tui.Warn, "pencil: "+strings.Repeat("it ended ", 20))())
		s.Has("! pencil: it ended", "… ── ✏ Pencil ✗ ─")
	})
}

func TestScreenFollowsTheMode(t *testing.T) {
	run(t, frame.Size{W: 110, H: 34}, pencil.Status{Status: upstream.Status{Mode: upstream.Off}}, func(s *frame.Screen, m *mode) {
		s.Has("Pencil mode is off")
		s.Keys("I")
		s.Lacks("✏")
		m.set(func(st *pencil.Status) { *st = on() })
		s.Wait(time.Second)
		s.Has("✏ Pencil 4 ─", "Pencil mode is on: 4 tools offered")
		m.set(func(st *pencil.Status) { st.Link = upstream.Lost })
		s.Wait(time.Second)
		s.Has("✏ Pencil ⚠ reconnecting")
	})
}

// The sign of a failure stays until a key is pressed, whichever and wherever.
// (That it goes by itself is the mode's part.)
func TestAnyKeyTakesTheSignOfAFailureAway(t *testing.T) {
	failed := pencil.Status{Status: upstream.Status{Mode: upstream.Off, Link: upstream.LinkFailed, Broken: true, Error: "Pencil failed: it ended", ErrorAt: at()}}
	tests := []struct{ name, first, key string }{
		{"a key of the page", "I", "tab"},
		{"one that means nothing there", "I", "f9"},
		{"one that opens a dialog", "I", "?"},
		{"one that switches on", "I", "p"},
		{"a page's own", "I", "S"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			run(t, frame.Size{W: 110, H: 34}, pencil.Status{Status: upstream.Status{Mode: upstream.On, Link: upstream.Lost, Listed: true}}, func(s *frame.Screen, m *mode) {
				s.Keys(tt.first)
				m.set(func(st *pencil.Status) { *st = failed })
				s.Wait(5 * time.Second)
				s.Has("✏ Pencil ✗")
				s.Keys(tt.key)
				s.Wait(time.Second)
				s.Lacks("✏ Pencil ✗")
				if len(m.did) == 0 || m.did[0] != "dismiss" && m.did[len(m.did)-1] != "dismiss" {
					t.Errorf("did %q", m.did)
				}
				m.did = nil
				s.Keys("tab", "tab")
				if len(m.did) > 0 {
					t.Errorf("keys later still did %q", m.did)
				}
			})
		})
	}
}

// queue is one of questions that gets none.
func queue() *ask.Queue {
	q := ask.New(ask.Options{})
	_ = q.Close() // it keeps nothing
	return q
}
