package inbox_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// held is how a key is held: at a rate, after a delay, by a terminal that tells repeats or not.
type held struct {
	types bool
	delay time.Duration
	hz    float64
}

// holds are the i-th ways to hold a key. A terminal that tells repeats is tried once, since what
// is told to be one decides nothing at any rate. Of one that does not, what counts is how long
// the key says nothing: the longest delay, the longest interval, and one of either by chance; the
// quickest rate, which costs the most, has its turn at every fifth.
func holds(r *rand.Rand, i int) []held {
	delay := func() time.Duration { return time.Duration(150+r.IntN(2250)) * time.Millisecond }
	quick := 2 + 18*r.Float64()
	if i%5 == 0 {
		quick = 60
	}
	return []held{{true, delay(), 2 + 18*r.Float64()}, {false, 2400 * time.Millisecond, 2}, {false, delay(), 2 + 8*r.Float64()}, {false, 150 * time.Millisecond, quick}}
}

func answers(calls []*questions.Call) (n int) {
	for _, c := range calls {
		select {
		case <-c.Done():
			n++
		default:
		}
	}
	return n
}

// chosenIn counts the questions of a request that have an answer in its draft.
func chosenIn(d *driver) (n int) {
	for _, it := range d.q.Pending().Items {
		for _, a := range it.Draft.Answers {
			if len(a.Chosen) > 0 {
				n++
			}
		}
	}
	return n
}

// snoozedIn counts the requests that were put off.
func snoozedIn(d *driver) (n int) {
	for _, it := range d.q.Pending().Items {
		if it.State == questions.Snoozed {
			n++
		}
	}
	return n
}

// Whatever its rate and delay, with and without event types.
func TestAHeldKeyHasOneEffect(t *testing.T) {
	six := func(d *driver) (calls []*questions.Call) {
		for i := range 6 {
			calls = append(calls, d.prompt(bash(fmt.Sprint(i), fmt.Sprintf("make %d", i))))
		}
		return calls
	}
	asks := func(d *driver) (calls []*questions.Call) {
		for i := range 6 {
			calls = append(calls, d.ask(fmt.Sprintf(`[{"question":"Which %d?","options":["A","B"]}]`, i)))
		}
		return calls
	}
	parts := func(d *driver) []*questions.Call {
		return []*questions.Call{d.ask(`[{"question":"1?","options":["A","B"]},{"question":"2?","options":["A","B"]},{"question":"3?","options":["A","B"]},{"question":"4?","options":["A","B"]},{"question":"5?","options":["A","B"]}]`)}
	}
	r, n := rand.New(rand.NewPCG(93, 93)), 0
	for _, tt := range []struct {
		name   string
		open   func(d *driver) []*questions.Call
		keys   []string
		before []string // keys
	}{
		{"permissions", six, []string{"y", "n", "enter", "1", "space", "z"}, nil},
		{"questions", asks, []string{"y", "enter", "1", "space", "z"}, nil},
		{"a form", parts, []string{"enter", "1", "space"}, nil},
		{"when, of permissions", six, []string{"z", "1", "enter"}, []string{"z"}},
		{"permissions from help", six, []string{"enter"}, []string{"?"}},
		{"questions, commands", asks, []string{"enter"}, []string{"ctrl+p"}},
		{"the list", asks, []string{"enter"}, []string{"esc"}},
	} {
		for _, key := range tt.keys {
			for _, h := range holds(r, n) {
				t.Run(fmt.Sprintf("%s %s %v", tt.name, key, h), func(t *testing.T) {
					t.Parallel()
					setup{}.run(t, func(d *driver) {
						d.EventTypes(h.types)
						calls := tt.open(d)
						d.Wait(5 * time.Second)
						d.Quick(tt.before...)
						d.Wait(3 * time.Second)
						d.Hold(key, h.types, h.delay, h.hz)
						d.Wait(5 * time.Second)
						if n := answers(calls) + chosenIn(d) + snoozedIn(d); n > 1 {
							t.Errorf("%d effects\n%s", n, d.Text())
						}
					})
				})
			}
			n++
		}
	}
}

// The key that opens the dialog before the end neither ends the deck nor answers, and one that
// chooses in it does nothing to what is below.
func TestAHeldKeyQuitsAtMostOnce(t *testing.T) {
	r, n := rand.New(rand.NewPCG(95, 95)), 0
	for _, tt := range []struct {
		name     string
		before   []string // keys
		key      string
		ends     bool
		answered int // of three
	}{
		{"opened", nil, "q", false, 0},
		{"kept", []string{"q"}, "k", true, 0},
		{"enter", []string{"q"}, "enter", true, 0},
		{"all declined", []string{"q"}, "d", true, 3},
		{"stay", []string{"q"}, "s", false, 0},
		{"escaped", []string{"q"}, "esc", false, 0},
		{"another key", []string{"q"}, "y", false, 0},
		{"a digit", []string{"q"}, "1", false, 0},
		{"opened twice", []string{"q", "s"}, "q", false, 0},
		{"an answer too", []string{"q", "s"}, "y", false, 1},
	} {
		for _, h := range holds(r, n)[:3] {
			t.Run(fmt.Sprintf("%s %v", tt.name, h), func(t *testing.T) {
				t.Parallel()
				setup{}.run(t, func(d *driver) {
					d.EventTypes(h.types)
					var calls []*questions.Call
					for i := range 3 {
						calls = append(calls, d.ask(fmt.Sprintf(`[{"question":"Shall I %d?","options":["Yes","No"],"kind":"confirm"}]`, i)))
					}
					d.Wait(5 * time.Second)
					d.Keys(tt.before...)
					d.Wait(3 * time.Second)
					d.Hold(tt.key, h.types, h.delay, h.hz)
					d.Wait(5 * time.Second)
					if n := answers(calls); d.Ended() != tt.ends || n != tt.answered {
						t.Errorf("ended %v, %d answered\n%s", d.Ended(), n, d.Text())
					}
				})
			})
		}
		n++
	}
}

// The rule must not be so strict that nothing can be answered.
func TestAPressAfterAnotherAnswersTheNext(t *testing.T) {
	press := func(d *driver, with bool, key string) {
		k := tea.Key(frame.Key(key))
		d.Now(tea.KeyPressMsg(k))
		if with {
			d.Now(tea.KeyReleaseMsg(k))
		}
	}
	for _, tt := range []struct {
		name  string
		types bool
		keys  []string
		gap   time.Duration
		want  int
	}{
		{"two presses 30 ms apart", false, []string{"y", "y"}, 30 * time.Millisecond, 1},
		{"two presses 30 ms apart, told apart", true, []string{"y", "y"}, 30 * time.Millisecond, 1},
		{"two presses 700 ms apart", false, []string{"y", "y"}, 700 * time.Millisecond, 1},
		{"two presses 700 ms apart, told apart", true, []string{"y", "y"}, 700 * time.Millisecond, 1},
		{"y j y", false, []string{"y", "j", "y"}, 900 * time.Millisecond, 2},
		{"y j y, told apart", true, []string{"y", "j", "y"}, 900 * time.Millisecond, 2},
		{"y y after a rest", false, []string{"y", "y"}, 3500 * time.Millisecond, 2},
		{"y y after a rest, told apart", true, []string{"y", "y"}, 3500 * time.Millisecond, 2},
		{"y y too soon to know", false, []string{"y", "y"}, 3 * time.Second, 1},
	} {
		prompted(t, func(d *driver, calls []*questions.Call) {
			d.EventTypes(tt.types)
			for i, key := range tt.keys {
				if i > 0 {
					d.Wait(tt.gap)
				}
				press(d, tt.types, key)
			}
			d.Wait(time.Second)
			if n := answers(calls); n != tt.want {
				t.Errorf("%s: %d were answered, want %d\n%s", tt.name, n, tt.want, d.Text())
			}
		}, bash("1", "make"), bash("2", "make install"), bash("3", "make clean"))
	}
}

func TestWhatWasAllowedIsSaidForAWhile(t *testing.T) {
	prompted(t, func(d *driver, calls []*questions.Call) {
		d.Keys("y")
		calls[0].Delivered(questions.Delivered)
		d.Wait(time.Second)
		d.Has("allowed once: Bash  make all", "… · claude api", "make install") // the next is there, too
		d.Keys("n")
		d.Wait(3 * time.Second)
		calls[1].Delivered(questions.Delivered)
		d.Wait(time.Second)
		d.Has("denied: Bash  make install")
		d.Wait(10 * time.Second)
		d.Lacks("allowed once: ", "denied: ")
	}, bash("1", "make all "+strings.Repeat("x", 100)), bash("2", "make install"))
}
