package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/calls"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// TestEveryPageIsWhole says what a newcomer's page lacks.
func TestEveryPageIsWhole(t *testing.T) {
	h := built(t, true)
	built := h.Screen(false).Pages
	titles := map[string]bool{}
	for i, id := range app.PageIDs() {
		p := built[i]
		if p.ID() != id || slices.Index(app.PageIDs(), id) != i {
			t.Errorf("row %q makes the page %q: want the same, and one row for it", id, p.ID())
		}
		if p.Title() == "" || titles[p.Title()] {
			t.Errorf("page %s: title %q: want one of its own", id, p.Title())
		}
		titles[p.Title()] = true
		for _, a := range p.Actions() {
			if a.Title == "" || !strings.Contains(a.ID, ".") {
				t.Errorf("page %s: action %q with title %q: want a title, and an ID of two parts", id, a.ID, a.Title)
			}
		}
	}
}

// In the legend of a page, each sign means one thing, with every set of signs.
func TestASignMeansOneThing(t *testing.T) {
	h := built(t, true)
	for _, ascii := range []bool{false, true} {
		th := theme.New(theme.Options{ASCII: ascii})
		for _, p := range h.Screen(false).Pages {
			l, ok := p.(interface {
				Legend(th *theme.Theme) []tui.Sign
			})
			if !ok {
				continue
			}
			means := map[string]string{}
			for _, s := range l.Legend(th) {
				mark := ansi.Strip(s.Mark)
				if means[mark] != "" || mark == "" || s.Means == "" {
					t.Errorf("page %s, ASCII %v: %s means %q and %q", p.ID(), ascii, mark, means[mark], s.Means)
				}
				means[mark] = s.Means
			}
		}
	}
}

// Both pages that list calls know of questions whose call has ended.
func TestCallsKnowOfTheQuestionsThatWait(t *testing.T) {
	h := built(t, true)
	c, err := h.Queue.Open(ask.Request{
		Questions: []ask.Question{{ID: "q", Question: "Which database?", Kind: ask.Text, AllowOther: true, Required: true}},
		From:      ask.From{Client: "codex"}, Peer: ask.Peer{Key: "one"}, ResumeKey: "k",
	})
	if err != nil {
		t.Fatal(err)
	}
	c.HandOver()
	call := snapshot.Call{ID: 1, Agent: "one", AgentName: "codex", Server: "ask", Tool: "ask", Status: snapshot.OK, Args: `{"question":"Which database?"}`, Started: time.Now()}
	th := theme.New(theme.Options{})
	for _, p := range h.Screen(false).Pages {
		if p.ID() != inbox.ID && p.ID() != calls.ID {
			continue
		}
		p.Update(tui.DeckMsg{Snapshot: &snapshot.Snapshot{Calls: []snapshot.Call{call}}, Calls: []snapshot.Call{call}})
		rows := p.Render(&tui.Frame{W: 160, H: 40, Theme: th, Now: time.Now()})
		if text := ansi.Strip(strings.Join(rows, "\n")); !strings.Contains(text, th.Glyph.Wait) {
			t.Errorf("page %s: the call does not wait:\n%s", p.ID(), text)
		}
	}
}
