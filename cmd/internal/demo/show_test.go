package demo

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// TestTheWordsOfAScene has what is said fit a screen of 80 columns, beside the badge, and
// name the keys that the demo presses itself.
func TestTheWordsOfAScene(t *testing.T) {
	const room = 80 - len("  demo 1/7  ") - 1
	all := []string{goesOn}
	for _, sc := range script() {
		all = append(all, sc.begins, sc.say, sc.try, sc.there, sc.ends)
		if sc.page == "" {
			continue
		}
		if sc.there == "" {
			t.Errorf("%q: nothing is said on its page", sc.say)
		}
		rest := sc.try
		for _, key := range sc.keys {
			before, after, found := strings.Cut(rest, key)
			if !found {
				t.Errorf("%q does not name %s in its turn", sc.try, key)
				continue
			}
			_, rest = before, after
		}
	}
	for _, text := range all {
		if n := widget.Width(text); n > room {
			t.Errorf("%d cells, there is room for %d: %s", n, room, text)
		}
	}
}

func TestOnThePageOfASceneItSaysWhatCanBeDoneThere(t *testing.T) {
	s := New(Options{})
	tries := func(page string) string {
		s.Shown(page)
		s.onPage(t.Context(), "demo 1/1", scene{say: "It rains.", try: "Press 5.", page: "servers", there: "Press space."})
		msg, ok := s.Feed().Load().(tui.GuideMsg)
		if !ok || msg.Say != "It rains." {
			t.Errorf("it says %+v", msg)
		}
		return msg.Try
	}
	for _, step := range []struct{ page, want string }{{"deck", "Press 5."}, {"servers", "Press space."}, {"deck", "Press 5."}} {
		if got := tries(step.page); got != step.want {
			t.Errorf("on page %s it says %q, want %q", step.page, got, step.want)
		}
	}
}

func TestTheEndOfTheDemoSleepsUntilItIsToBePlayedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{})
		s.Next() // a scene was skipped
		began, again := time.Now(), make(chan bool)
		go func() { again <- s.repeated(t.Context()) }()
		synctest.Wait()
		time.Sleep(time.Hour) // virtual
		s.Next()
		if !<-again || time.Since(began) != time.Hour || s.skipped() {
			t.Errorf("it began again after %v, and the key counts twice: %v", time.Since(began), s.skipped())
		}
	})
}
