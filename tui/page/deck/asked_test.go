package deck_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	deckpage "github.com/mcpdeck/mcpdeck/tui/page/deck"
)

func line(text, part string) string {
	for l := range strings.SplitSeq(text, "\n") {
		if strings.Contains(l, part) {
			return l
		}
	}
	return ""
}

// A client with a limit gets a first answer before it, "not answered yet": for
// the user the question waits on.
func TestAQuestionThatWasHandedOverStillWaits(t *testing.T) {
	var d *fake.Deck
	q := ask.New(ask.Options{Hold: -1})
	call, err := q.Open(ask.Request{
		Questions: []ask.Question{{ID: "q", Question: "Which database?", Kind: ask.Text, AllowOther: true, Required: true}},
		From:      ask.From{Client: "codex-mcp-client"}, Peer: ask.Peer{Key: "a2"}, ResumeKey: "k",
	})
	if err != nil {
		t.Fatal(err)
	}
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, AskPage: "ask", CallsPage: calls.ID, Questions: q}),
			calls.New(calls.Options{Bodies: d, Questions: q}),
		}})
	}, func(s *frame.Screen) {
		call.HandOver()
		d.Change(func(s *snapshot.Snapshot) {
			s.Agents = slices.Clone(s.Agents)
			s.Agents[1].Waiting, s.Agents[1].InFlight = false, nil
		})
		for _, c := range d.Snapshot().Calls {
			if c.Tool == "ask" {
				c.Status, c.Waiting, c.Duration, c.Result = snapshot.OK, false, 50*time.Second, "The user has not answered yet"
				d.Add(c)
			}
		}
		s.Wait(time.Second)
		text := s.Text()
		if l := line(text, "codex     shop"); !strings.Contains(l, "answer?  Which database?") {
			t.Errorf("the agent does not ask: %q\n%s", l, text)
		}
		if l := line(text, "   Which database?"); !strings.Contains(l, "◆") || strings.Contains(l, "✓") {
			t.Errorf("the call does not wait: %q\n%s", l, text)
		}
		s.Has("a answer")
		s.Keys("2")
		s.Wait(time.Second)
		if l := line(s.Text(), "Which database?"); !strings.Contains(l, "◆") || strings.Contains(l, "✓") {
			t.Errorf("on the page of calls it does not wait: %q", l)
		}
		it := q.Pending().Items[0]
		if err := q.Answer(it.ID, []ask.Result{{ID: "q", SelectedOptions: []string{}, CustomInput: "sqlite"}}); err != nil {
			t.Fatal(err)
		}
		d.Change(func(*snapshot.Snapshot) {})
		for _, page := range []string{"1", "2"} {
			s.Keys(page)
			s.Wait(time.Second)
			if l := line(s.Text(), "Which database?"); strings.Contains(l, "◆") {
				t.Errorf("answered, the call still waits on page %s: %q", page, l)
			}
		}
		s.Lacks("answer?")
	})
}

func TestAnAgentShowsItsLastCallAfterARestartOfTheDeck(t *testing.T) {
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		d.Forget()
		d.Change(func(s *snapshot.Snapshot) {
			a := snapshot.Agent{Caller: snapshot.Caller{Agent: "b1", Client: "codex", Root: "/src/shop"}}
			s.Agents = []snapshot.Agent{a, {Caller: snapshot.Caller{Agent: "b2", Client: "zed", Root: "/src/menu"}}}
		})
		old := past{[]snapshot.Call{
			{ID: 72, AgentName: "codex", Tool: "second", Status: snapshot.OK, Started: time.Now().Add(-time.Hour)},
			{ID: 71, AgentName: "codex", Tool: "first", Status: snapshot.OK, Started: time.Now().Add(-2 * time.Hour)},
		}}
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, CallsPage: "calls"}), calls.New(calls.Options{Bodies: d, Earlier: old}),
		}})
	}, func(s *frame.Screen) {
		text := s.Text()
		if l := line(text, "codex   "); !strings.Contains(l, "second") || !strings.Contains(l, "1 h") {
			t.Errorf("the agent's row is %q", l)
		}
		if l := line(text, "zed   "); !strings.Contains(l, "no calls yet") {
			t.Errorf("the row of one that never called is %q", l)
		}
	})
}

func TestTwoAgentsOfOneClientShowNoCallThatMayBeTheOthers(t *testing.T) {
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d := fake.NewDeck(time.Now())
		d.Forget()
		d.Change(func(s *snapshot.Snapshot) {
			s.Agents = []snapshot.Agent{
				{Caller: snapshot.Caller{Agent: "b1", Client: "codex", Root: "/src/shop"}},
				{Caller: snapshot.Caller{Agent: "b2", Client: "codex", Root: "/src/menu"}},
			}
		})
		old := past{[]snapshot.Call{{ID: 71, AgentName: "codex", Tool: "first", Status: snapshot.OK, Started: time.Now().Add(-time.Hour)}}}
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{
			deckpage.New(deckpage.Options{Host: d, CallsPage: "calls"}), calls.New(calls.Options{Bodies: d, Earlier: old}),
		}})
	}, func(s *frame.Screen) {
		for _, root := range []string{"shop", "menu"} {
			if l := line(s.Text(), "  "+root+" "); strings.Contains(l, "first") || !strings.Contains(l, "codex") {
				t.Errorf("the row of the agent in %s is %q", root, l)
			}
		}
	})
}

func TestAFailureIsReadBeforeTheColumnOfToolsIsWide(t *testing.T) {
	var d *fake.Deck
	frame.Run(t, frame.Size{W: 110, H: 34}, colorprofile.TrueColor, func() tea.Model {
		d = fake.NewDeck(time.Now())
		return tui.New(tui.Options{Deck: d, Background: "dark", Pages: []tui.Page{deckpage.New(deckpage.Options{Host: d})}})
	}, func(s *frame.Screen) {
		d.Add(snapshot.Call{AgentName: "pi", Tool: "pixelsrc_render", Status: snapshot.ToolError, Result: "Failed to read file 'art/none.pxl': there is no such file"})
		s.Wait(time.Second)
		s.Has("Failed to read file 'art/none.pxl'")
	})
}
