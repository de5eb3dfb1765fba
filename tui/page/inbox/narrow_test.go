package inbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// longOptions asks for one of n options, each of which takes several rows of a narrow window.
func longOptions(n int) string {
	options := make([]string, n)
	for i := range options {
		options[i] = fmt.Sprintf(`"option%d %sends%d"`, i+1, strings.Repeat("and more ", 8), i+1)
	}
	return `[{"question":"Which of these?","options":[` + strings.Join(options, ",") + `]}]`
}

// TestNoOptionIsChosenThatIsNotOnTheScreen is of every key that answers, with the cursor in the list: whatever was
// sent had been on the screen.
func TestNoOptionIsChosenThatIsNotOnTheScreen(t *testing.T) {
	many := strings.Replace(longOptions(3), `"options"`, `"multiSelect":true,"options"`, 1)
	parts := longOptions(3)
	parts = strings.TrimSuffix(parts, "]") + "," + strings.TrimPrefix(parts, "[")
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 40, H: 20}, {W: 60, H: 40}, {W: 80, H: 24}} {
		for asked, raw := range map[string]string{"one": longOptions(3), "many": many, "parts": parts, "nine": longOptions(9)} {
			for _, key := range []string{"1", "3", "space", "ctrl+s"} {
				t.Run(fmt.Sprintf("%s %dx%d %s", asked, size.W, size.H, key), func(t *testing.T) {
					setup{size: size}.run(t, func(d *driver) {
						d.ask(raw)
						d.Wait(5 * time.Second)
						before := flat(d.Text())
						d.Keys(key)
						d.Wait(time.Second)
						for _, it := range d.q.Pending().Items {
							for _, a := range it.Draft.Answers {
								for _, n := range a.Chosen {
									if !strings.Contains(before, fmt.Sprintf("ends%d", n+1)) {
										t.Errorf("option %d was chosen of\n%s", n+1, before)
									}
								}
							}
						}
					})
				})
			}
		}
	}
}

func TestADigitFirstShowsOptionsThatAreNotOnTheScreen(t *testing.T) {
	setup{size: frame.Size{W: 40, H: 12}}.run(t, func(d *driver) {
		c := d.ask(longOptions(3))
		d.Wait(5 * time.Second)
		d.Has("1-4 open")
		d.Lacks("option1")
		d.Keys("1")
		d.Wait(5 * time.Second)
		d.Has("option1", "1-4 choose")
		if n := answers([]*questions.Call{c}); n != 0 {
			t.Fatalf("it was answered:\n%s", d.Text())
		}
		d.Keys("1")
		d.Has("u undo")
	})
}

func TestAQuestionThatFitsBelowTheListIsThereInASmallWindow(t *testing.T) {
	setup{size: frame.Size{W: 40, H: 12}}.run(t, func(d *driver) {
		d.ask(abc)
		d.Wait(5 * time.Second)
		d.Has("Needs you 1", "1 A", "2 B", "choose")
		d.Keys("2")
		d.Has("u undo")
		d.Wait(20 * time.Second)
		d.prompt(fake.FrontAllow())
		d.Wait(5 * time.Second)
		d.Has("Needs you 1", "1 Allow once", "y allow once")
		d.Keys("y")
		d.Wait(time.Second)
		d.Lacks("Needs you 1")
	})
}

// note is one of as many characters as are kept.
func note() string {
	return "mine is " + strings.Repeat("word ", (questions.MostNote-16)/5) + "whole."
}

// vm is another deck.
const vm = "vm (SHA256:22)"

// hand has a deck hand over what waits; "" is this one.
func hand(t *testing.T, d *driver, by string, h *questions.Handed) {
	t.Helper()
	questions.SetDecks(d.q, []string{vm})
	d.Wait(time.Second)
	if err := (questions.Afar{Queue: d.q, Deck: by}).Hand(1, h); err != nil {
		t.Fatal(err)
	}
	d.Wait(5 * time.Second)
}

func TestTheNoteOfAHandoverIsShownWholeWhereThereIsRoom(t *testing.T) {
	for _, size := range []frame.Size{{W: 40, H: 20}, {W: 60, H: 40}, {W: 80, H: 24}, {W: 110, H: 34}, {W: 200, H: 60}} {
		t.Run(fmt.Sprintf("%dx%d", size.W, size.H), func(t *testing.T) {
			setup{size: size}.run(t, func(d *driver) {
				d.ask(abc)
				hand(t, d, vm, &questions.Handed{Note: note()})
				d.Has("mine is", "whole.", "1 A", "3 C", "choose")
			})
		})
	}
	setup{size: frame.Size{W: 40, H: 12}}.run(t, func(d *driver) { // it opens, and the options stay
		d.ask(abc)
		hand(t, d, vm, &questions.Handed{Note: note()})
		d.Keys("enter")
		d.Wait(time.Second)
		d.Has("handed to you by", "1 A", "3 C")
	})
}

func TestTheNoteOfAHandoverStandsBesideWhatElseIsToBeSaid(t *testing.T) {
	setup{size: frame.Size{W: 80, H: 24}}.run(t, func(d *driver) {
		r := fake.FrontAllow()
		r.Prompt.Door = questions.Held
		d.prompt(r)
		hand(t, d, vm, &questions.Handed{Note: note()})
		d.Has("kept from its terminal", "handed to you by the deck vm", "whole.")
	})
}

func TestNoLongerNoteIsTypedThanIsKept(t *testing.T) {
	setup{ask: []string{abc}}.run(t, func(d *driver) {
		questions.SetDecks(d.q, []string{vm})
		d.Wait(time.Second)
		d.press("t", "'"+note()+strings.Repeat("more", 30), "enter")
		if got := d.q.Pending().Items[0].Handed; got == nil || len(got.Note) != questions.MostNote || strings.Contains(got.Note, "…") {
			t.Errorf("handed with %+v", got)
		}
	})
}

func TestANarrowRowNamesTheProjectBeforeAllElse(t *testing.T) {
	for _, size := range []frame.Size{{W: 40, H: 12}, {W: 40, H: 20}} {
		setup{size: size}.run(t, func(d *driver) {
			r := fake.FrontAllow()
			r.Peer.Host = "build1"
			d.prompt(r)
			hand(t, d, "", &questions.Handed{To: vm})
			d.Has("build1:shop", "handed over")
			d.Keys("enter")
			d.Has("allow? · build1:shop")
		})
	}
}
