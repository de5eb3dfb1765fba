package calls_test

import (
	"strings"
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

// listed are the tools in the list, from the top, without the prefixes of servers.
func listed(s *frame.Screen) string {
	var out []string
	list, _, _ := strings.Cut(s.Text(), "─ Call ─")
	for l := range strings.SplitSeq(list, "\n") {
		for _, tool := range []string{"read_project", "batch_get", "memory", "render", "compare", "ask", "design", "haunt", "screenshot", "echo", "old_"} {
			if strings.Contains(l, tool) {
				out = append(out, tool)
			}
		}
	}
	return strings.Join(out, " ")
}

// sortKeys are keys of a user for the ways to sort.
func sortKeys() map[string][]string {
	return map[string][]string{"calls.sort.start": {"S"}, "calls.sort.duration": {"D"}, "calls.sort.tool": {"T"}, "calls.sort.agent": {"A"}, "calls.failed": {"e"}}
}

func TestCallsAreSortedByTheHeadOfAColumn(t *testing.T) {
	const asTheyBegan = "read_project batch_get memory render compare ask design haunt screenshot"
	for _, tt := range []struct{ name, keys, head, note, want string }{
		{"as they began", "", "↑Start", "following", asTheyBegan},
		{"duration", "D", "↓Duration", "✗2  by duration  1 of 9", "ask screenshot design render haunt batch_get read_project memory compare"},
		{"tool", "T", "Tool↑", "by tool  1 of 9", "ask haunt compare memory design batch_get screenshot render read_project"},
		{"agent", "A", "Agent↑", "by agent  1 of 9", "screenshot haunt design compare batch_get read_project ask memory render"},
		{"the shortest first", "DD", "↑Duration", "by duration  1 of 9", "compare memory read_project batch_get haunt render design screenshot ask"},
		{"the longest first again", "DDD", "↓Duration", "by duration  1 of 9", "ask screenshot design render haunt batch_get read_project memory compare"},
		{"the other way around", "TT", "Tool↓", "by tool  1 of 9", "read_project render screenshot batch_get design memory compare haunt ask"},
		{"the newest first", "S", "↓Start", "by start  1 of 9", "screenshot haunt design ask compare render memory batch_get read_project"},
		{"follow", "Sf", "↑Start", "following", asTheyBegan},
		{"only failed", "De", "↓Duration", "only failed", "memory compare"},
		{"back to the start", "DS", "↑Start", "following", asTheyBegan},
		{"back to the start after a look", "DjjS", "↑Start", "7 of 9", asTheyBegan},
		{"back to the newest", "Djjf", "↑Start", "following", asTheyBegan},
		{"at the end of another order", "DGS", "↑Start", "5 of 9", asTheyBegan},
	} {
		t.Run(tt.name, func(t *testing.T) {
			show(t, frame.Size{W: 80, H: 44}, func(s *frame.Screen, _ *fake.Deck) {
				s.Keys(strings.Split(tt.keys, "")...)
				s.Has(tt.head, tt.note)
				if got := listed(s); got != tt.want {
					t.Errorf("listed %s\nwant   %s", got, tt.want)
				}
			})
		})
	}
}

// Who clicks on a head, or on the arrow beside it, gets what its key does.
func TestAClickOnAHeadSorts(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 110, H: 34}, {W: 160, H: 34}} {
		show(t, size, func(s *frame.Screen, _ *fake.Deck) {
			for _, tt := range []struct{ on, head string }{
				{"Agent", "Agent↑"},
				{"Agent", "Agent↓"},
				{"Tool", "Tool↑"},
				{"↑ ", "Tool↓"},
				{"uration", "↓Duration"},
				{"↓Duration", "↑Duration"},
				{"Start", "↑Start"},
				{"↑Start", "↓Start"},
				{"What", "↓Start"},
			} {
				s.ClickOn(tt.on)
				s.Has(tt.head)
			}
		})
	}
}

func TestANarrowListSaysWhichWayItIsSorted(t *testing.T) {
	show(t, frame.Size{W: 40, H: 12}, func(s *frame.Screen, _ *fake.Deck) {
		s.Keys("D")
		s.Has("by ↓duration")
		s.Keys("D")
		s.Has("by ↑duration")
	})
}

// Nothing but the list has the keys that sort, so it has the focus after a click.
func TestAClickOnAHeadLeavesTheFilter(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, _ *fake.Deck) {
		s.Keys("/")
		s.Type("claude")
		s.ClickOn("Tool")
		s.Has("Tool↑")
		s.Keys("T")
		s.Has("Tool↓", "/ claude\n")
	})
}

func TestSortedCallsOfAFilter(t *testing.T) {
	show(t, frame.Size{W: 80, H: 44}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("D", "/")
		s.Type("claude")
		if got, want := listed(s), "screenshot design haunt batch_get read_project compare"; got != want {
			t.Errorf("listed %s, want %s", got, want)
		}
		s.Keys("enter")
		for _, agent := range []string{"claude", "codex"} {
			d.Add(snapshot.Call{AgentName: agent, Tool: "echo", Status: snapshot.OK, Duration: 200 * time.Millisecond})
		}
		s.Wait(time.Second)
		if got, want := listed(s), "screenshot design echo haunt batch_get read_project compare"; got != want {
			t.Errorf("listed %s, want %s", got, want)
		}
	})
}

// The call under the cursor stays there while others come.
func TestTheCursorStaysOnItsCallInAnyOrder(t *testing.T) {
	show(t, frame.Size{W: 80, H: 24}, func(s *frame.Screen, d *fake.Deck) {
		s.Keys("T", "down", "down")
		s.Has("▌✗ claude     logicstamp_compare")
		for range 5 {
			d.Add(snapshot.Call{AgentName: "codex", Tool: "echo", Status: snapshot.OK})
		}
		s.Wait(time.Second)
		s.Has("▌✗ claude     logicstamp_compare", "by tool  8 of 14")
	})
}

// Sorted by anything else, calls of earlier runs and of this one are mixed.
func TestEarlierRunsAreSortedAmongTheOthers(t *testing.T) {
	showPast(t, frame.Size{W: 110, H: 34}, false, func(s *frame.Screen, _ *fake.Deck, p *past) {
		p.tell(s)
		s.Keys("T")
		s.Lacks("deck opened")
		if got, want := listed(s), "ask haunt compare memory old_ old_ old_ old_ design batch_get"; !strings.HasPrefix(got, want) {
			t.Errorf("listed %s, want %s", got, want)
		}
		s.Keys("down", "down", "down", "down", "enter")
		s.Has("entry: 71")
		s.Keys("esc", "S")
		s.Has("deck opened")
	})
}

func TestTheOrderIsKeptBetweenRuns(t *testing.T) {
	frame.Run(t, frame.Size{W: 80, H: 24}, colorprofile.TrueColor, func() tea.Model {
		before := calls.New(calls.Options{})
		for _, a := range before.Actions() {
			if a.ID == "calls.sort.tool" {
				a.Run()
				a.Run()
			}
		}
		p := calls.New(calls.Options{})
		p.LoadState(`{"Sort":"unknown"}`)
		p.LoadState(before.SaveState())
		return tui.New(tui.Options{Deck: fake.NewDeck(time.Now()), Background: "dark", Pages: []tui.Page{p}})
	}, func(s *frame.Screen) { s.Has("by tool  1 of 9", "Tool↓") })
}
