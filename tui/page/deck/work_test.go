package deck_test

import (
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// order is the order of the rows that begin with an agent's name and its folder.
func order(text string, folders ...string) string {
	var out []string
	for l := range strings.SplitSeq(text, "\n") {
		for _, f := range folders {
			if strings.Contains(l, "  "+f+"  ") {
				out = append(out, f)
			}
		}
	}
	return strings.Join(out, " ")
}

func TestAgentsAreSortedByTheHeadOfAColumn(t *testing.T) {
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Send(tui.SessionsMsg{Sessions: fake.NewSessions(time.Now()).All[:4]})
		l.Has("2 of 4 at work", " calls ", " today ", " context ")
		for _, tt := range []struct{ key, want string }{
			{"T", "shop api payments docs"}, {"X", "shop api docs payments"}, {"Z", "shop api payments docs"}, {"Z", "docs payments api shop"}, {"N", "shop payments api docs"}, {"N", "shop payments api docs"},
		} {
			l.Keys(tt.key)
			if got := order(l.Text(), "shop", "payments", "api", "docs"); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.key, got, tt.want)
			}
		}
		for _, tt := range []struct{ on, head, want string }{
			{"today", " ↓today ", "shop api payments docs"},
			{"today", " ↑today ", "docs payments api shop"},
			{"context", "↓context ", "shop api docs payments"},
			{"↓context", "↑context ", "payments docs api shop"},
			{" calls ", "↑context ", "payments docs api shop"},
		} {
			l.ClickOn(tt.on)
			l.Has(tt.head)
			if got := order(l.Text(), "shop", "payments", "api", "docs"); got != tt.want {
				t.Errorf("a click on %s: %s, want %s", tt.on, got, tt.want)
			}
		}
	})
}

func TestAtEightyColumnsStateAndSubjectStay(t *testing.T) {
	waiting(t, frame.Size{W: 80, H: 24}, tui.Options{}, func(l *deckScreen) {
		l.Send(tui.SessionsMsg{Sessions: fake.NewSessions(time.Now()).All})
		l.Has("answer?  How should the payments service authenticate its", "Bash  go test ./internal/...")
		l.Lacks("61%", "$0.85", " api ")
	})
}

func TestASessionAtWorkShowsHowOftenItCallsSomething(t *testing.T) {
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		s := snapshot.Session{Agent: "gemini", ID: "g", State: snapshot.Working, Folder: "/src/docs", LastTool: "read", LastSubject: "0"}
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
		l.Lacks("▁")
		for i := range 4 { // in one step of time, and one more call in the next
			s.LastSubject = string(rune('a' + i))
			l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
		}
		l.Has("▁▁▁█")
		l.Wait(31 * time.Second)
		l.Has("▁▁█▁")
		s.LastSubject = "z"
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{s}})
		l.Has("▁▁█▃")
		l.Wait(2 * time.Minute)
		l.Lacks("▁")
	})
}

func TestACallThatTellsHowFarItIsHasABar(t *testing.T) {
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Send(tui.SessionsMsg{Sessions: []snapshot.Session{{Agent: "claude", ID: "c", State: snapshot.Working, Folder: "/src/docs", LastTool: "pencil_get_screenshot", Connection: "a1"}}})
		l.Do(func() {
			l.deck.Add(snapshot.Call{ID: 9, Agent: "a1", AgentName: "claude", Tool: "pencil_get_screenshot", Status: snapshot.Running, Started: time.Now(), Done: 3, Total: 5})
		})
		l.Wait(time.Second)
		if n := strings.Count(l.Text(), "━━━━──── 3 of 5"); n != 2 { // of the session, and of the call
			t.Errorf("%d bars:\n%s", n, l.Text())
		}
	})
}

func TestTheRuleOfTheCallsHasTheirVerdict(t *testing.T) {
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.deck.Change(func(s *snapshot.Snapshot) { s.Total, s.Errors = 412, 1 })
		l.Wait(time.Second)
		l.Has("412 · 1 failed · p50 41 ms · p95 380 ms")
	})
}

func TestAnAnsweredRowIsStruckThroughForAWhile(t *testing.T) {
	waiting(t, frame.Size{W: 118, H: 34}, tui.Options{}, func(l *deckScreen) {
		l.Wait(time.Second)
		l.Keys("y")
		l.calls[0].Delivered(ask.Delivered)
		l.Wait(100 * time.Millisecond)
		l.Has("make all")
		struck := ""
		for _, c := range l.Cells() {
			if c.Struck {
				struck += c.Content
			}
		}
		if !strings.Contains(struck, "make all") {
			t.Errorf("struck through is %q", struck)
		}
		l.Wait(5 * time.Second)
		l.Lacks("make all")
	}, command("claude", "1", "make all"))
}
