package tui_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

func TestPagesAreSwitchedByLettersAndClicks(t *testing.T) {
	one, two := twoPages()
	run(t, frame.Size{W: 60, H: 20}, tui.Options{Pages: []tui.Page{one, two}}, func(s *frame.Screen) {
		s.Has("this is One")
		s.Keys("T")
		s.Has("this is Two")
		if one.shown != 0 || two.shown != 1 {
			t.Errorf("shown: one %d, two %d", one.shown, two.shown)
		}
		s.Click(2, 0)
		s.Has("this is One")
		s.Keys("alt+t", "esc")
		s.Has("this is One")
	})
}

func TestPagesHaveAWordBeforeTheEnd(t *testing.T) {
	p := &page{id: "one", title: "One", beforeQuit: &tui.Confirm{Name: "waiting", Title: "2 questions wait", Choices: []tui.Choice{{Key: "k", Text: "Keep them", Run: tui.Quit}}}}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{p}}, func(s *frame.Screen) {
		s.Keys("q")
		s.Has("2 questions wait")
		if s.Ended() {
			t.Fatal("ended without the word")
		}
		s.Keys("k")
		s.Wait(time.Second)
		if !s.Ended() {
			t.Error("the choice did not end the program")
		}
	})
}

func TestAPageThatPanicsSaysSo(t *testing.T) {
	bad := &page{id: "bad", title: "Bad", render: func(*tui.Frame) []string { panic("no ink") }}
	good := &page{id: "good", title: "Good"}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{bad, good}}, func(s *frame.Screen) {
		s.Has("this page could not be drawn")
		s.Keys("G")
		s.Has("this is Good")
	})
}

func TestPanicsEndNothing(t *testing.T) {
	boom := func() tea.Cmd { panic("no ink") }
	bad := &page{id: "bad", title: "Bad", actions: []tui.Action{
		{ID: "bad.run", Title: "Boom", Keys: []string{"x"}, Run: boom},
		{ID: "bad.other", Title: "Other", Keys: []string{"g"}, Run: func() tea.Cmd { return tui.Toast(tui.Good, "the other went on") }},
		{ID: "bad.cmd", Title: "Boom", Keys: []string{"y"}, Run: func() tea.Cmd { return func() tea.Msg { return boom() } }},
		{ID: "bad.batch", Title: "Boom", Keys: []string{"z"}, Run: func() tea.Cmd {
			return tea.Batch(func() tea.Msg { return boom() }, func() tea.Msg { return boom() })
		}},
		{ID: "bad.over", Title: "Boom", Keys: []string{"o"}, Run: func() tea.Cmd {
			return tui.Open(&tui.Reader{Name: "r", Title: "R", Rows: func(*tui.Frame, int) []string { panic("no ink") }})
		}},
	}}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{bad}}, func(s *frame.Screen) {
		for _, key := range []string{"x", "y", "z", "o"} {
			s.Keys(key)
			s.Has("internal error; see the log")
			s.Wait(time.Minute)
		}
		s.Keys("esc")
		s.Lacks("internal error")
		s.Keys("z")
		s.Wait(6 * time.Second) // the error stays for longer
		s.Keys("g")
		s.Has("the other went on", "this is Bad")
	})
}

func TestWhatWasSaidOnAPageStaysThere(t *testing.T) {
	say := func(key string, kind tui.ToastKind, text string) tui.Action {
		return tui.Action{ID: "one." + key, Title: text, Keys: []string{key}, Run: func() tea.Cmd { return tui.Toast(kind, text) }}
	}
	one := &page{id: "one", title: "One", actions: []tui.Action{
		say("i", tui.Info, "just so you know"), say("w", tui.Warn, "mind this"),
		{ID: "one.both", Title: "Both", Keys: []string{"b"}, Run: func() tea.Cmd { return tea.Batch(tui.Toast(tui.Info, "news"), tui.Go("two")) }},
	}}
	two := &page{id: "two", title: "Two"}
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{one, two}}, func(s *frame.Screen) {
		s.Keys("i", "w")
		s.Has("mind this")
		s.Wait(3 * time.Second)
		s.Wait(time.Second)
		s.Keys("T")
		s.Lacks("just so you know")
		s.Has("mind this")
		s.Keys("O", "b") // said while going: it is for the page that comes
		s.Has("news", "this is Two")
	})
}

type memory map[string]string

func (m memory) Get(k string) string   { return m[k] }
func (m memory) Put(k, v string) error { m[k] = v; return nil }

func TestTheLastPageIsKept(t *testing.T) {
	one, two := twoPages()
	store := memory{}
	o := tui.Options{Pages: []tui.Page{one, two}, Store: store}
	run(t, frame.Size{W: 80, H: 20}, o, func(s *frame.Screen) { s.Keys("T") })
	run(t, frame.Size{W: 80, H: 20}, o, func(s *frame.Screen) { s.Has("this is Two") })
}

func TestPagesThatMovedAreNamedOnce(t *testing.T) {
	one, two := twoPages()
	store := memory{}
	open := func(test func(s *frame.Screen), pages ...tui.Page) {
		t.Helper()
		run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: pages, Store: store}, func(s *frame.Screen) {
			s.Wait(time.Second)
			test(s)
		})
	}
	const moved = "keys have changed: ? for keys"
	open(func(s *frame.Screen) { s.Lacks("keys have changed") }, one, two)
	open(func(s *frame.Screen) { s.Has(moved) }, two, one)
	open(func(s *frame.Screen) { s.Lacks("keys have changed") }, two, one)
	delete(store, "tabs") // as an older version leaves it
	store["page"] = "one"
	open(func(s *frame.Screen) { s.Has(moved) }, two, one)
}

func TestAPageComesUnaskedOnlyWhereNothingIsTyped(t *testing.T) {
	one, two := twoPages()
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{one, two}}, func(s *frame.Screen) {
		unasked := func() { s.Send(tui.GoUnasked("two")()) }
		s.Keys("?")
		unasked()
		s.Keys("esc")
		s.Has("this is One") // an overlay was open
		s.Do(func() { one.text = true })
		unasked()
		s.Has("this is One") // a text field has the focus
		s.Do(func() { one.text = false })
		unasked()
		s.Has("this is Two")
	})
}

func TestTheHistoryOpensFromEveryPage(t *testing.T) {
	one, two := twoPages()
	q := questions.New(questions.Options{})
	run(t, frame.Size{W: 80, H: 20}, tui.Options{Pages: []tui.Page{one, two, inbox.New(q, inbox.Options{})}}, func(s *frame.Screen) {
		for _, page := range []string{"O", "T", "I"} {
			s.Keys(page, "H")
			s.Has("History", "[Inbox]")
			s.Keys("H")
			s.Lacks("History")
		}
		_ = q.Close()
	})
}
