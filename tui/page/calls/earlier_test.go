package calls_test

import (
	"context"
	"encoding/json"
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
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
)

// past is the calls of earlier runs, which are there from when they are told of.
type past struct {
	hint  chan struct{}
	calls []snapshot.Call
}

func (p *past) Hint() <-chan struct{} { return p.hint }

func (p *past) Calls() []snapshot.Call { return p.calls }

func (p *past) Body(_ context.Context, id uint64) (snapshot.CallBody, bool) {
	return snapshot.CallBody{
		Args:   json.RawMessage(fmt.Sprintf(`{"entry":%d}`, id)),
		Result: json.RawMessage(`{"content":[{"type":"text","text":"from the journal"}]}`),
	}, true
}

// tell brings four calls of yesterday, with the IDs 71 to 74, the last of them
// lost, and in another order than they began.
func (p *past) tell(s *frame.Screen) {
	yesterday := time.Now().Add(-20 * time.Hour)
	for i := range 4 {
		c := snapshot.Call{
			ID: uint64(71 + i), AgentName: "codex", Server: "clippy", Tool: fmt.Sprintf("old_%d", i), Status: snapshot.OK,
			Started: yesterday.Add(time.Duration(i) * time.Minute), Duration: 9 * time.Millisecond, Args: "entry=1", Images: 1,
		}
		if i == 3 {
			c.Status, c.Duration, c.Result = snapshot.Lost, 0, "mcpdeck closed before this call finished"
		}
		p.calls = slices.Insert(p.calls, 0, c)
	}
	p.hint <- struct{}{}
	s.Wait(time.Second)
}

func showPast(t *testing.T, size frame.Size, empty bool, test func(s *frame.Screen, d *fake.Deck, p *past)) {
	t.Helper()
	var d *fake.Deck
	var p *past
	frame.Run(t, size, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		if empty {
			d.Forget()
		}
		p = &past{hint: make(chan struct{}, 1)}
		page := calls.New(calls.Options{Bodies: d, Earlier: p, Pictures: pictures{[]uint64{71}}})
		return tui.New(tui.Options{Deck: d, Background: "dark", Keys: sortKeys(), Pages: []tui.Page{page}})
	}, func(s *frame.Screen) { test(s, d, p) })
}

func TestEarlierRunsStandAboveThisOne(t *testing.T) {
	tests := []struct {
		name  string
		size  frame.Size
		empty bool
		keys  []string
	}{
		{"110x34-earlier", frame.Size{W: 110, H: 34}, false, []string{"home"}},
		{"110x34-lost", frame.Size{W: 110, H: 34}, false, []string{"home", "down", "down", "down"}},
		{"80x24-earlier", frame.Size{W: 80, H: 24}, false, nil},
		{"80x24-earlier-only", frame.Size{W: 80, H: 24}, true, nil},
		{"40x12-earlier", frame.Size{W: 40, H: 12}, false, []string{"home", "down", "down"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			showPast(t, tt.size, tt.empty, func(s *frame.Screen, _ *fake.Deck, p *past) {
				p.tell(s)
				s.Keys(tt.keys...)
				s.Golden(tt.name)
			})
		})
	}
}

func TestTheCursorAndEarlierRuns(t *testing.T) {
	showPast(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, d *fake.Deck, p *past) {
		s.Keys("home")
		s.Has("1 of 9")
		p.tell(s)
		s.Has("5 of 13", "README.md") // the same call as before
		p.hint <- struct{}{}          // a hint of what a look has found already
		s.Wait(time.Second)
		s.Has("5 of 13", "README.md")
		s.Keys("up")
		s.Has("4 of 13", "old_3", "entry: 74")
		s.Keys("down")
		s.Has("5 of 13", "README.md")
		s.Click(10, 7) // the line between
		s.Has("4 of 13")
		s.Keys("end", "home", "enter", "l", "l", "l", "l")
		s.Has("5 of 13", "README.md")
		s.Keys("h")
		s.Has("old_3", "none: mcpdeck closed before this call finished")
		s.Keys("h")
		s.Has("old_2", "from the journal")
		s.Keys("esc", "home")
		s.Has("entry: 71")
		s.Lacks("Picture ─")
	})
}

func TestEarlierRunsAndFilters(t *testing.T) {
	showPast(t, frame.Size{W: 110, H: 34}, true, func(s *frame.Screen, d *fake.Deck, p *past) {
		s.Has("Calls appear here")
		p.tell(s)
		s.Has("old_3", "deck opened", "Calls 4", "following")
		s.Keys("/")
		s.Type("echo")
		s.Has("No matching calls")
		d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.OK})
		s.Wait(time.Second)
		s.Has("Calls 1 of 5")
		s.Lacks("deck opened")
		s.Keys("esc")
		s.Has("deck opened", "old_0", "following")
	})
}
