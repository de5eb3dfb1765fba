package inbox_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// rounds are how many rates and delays of a held key are tried, from one seed.
const rounds = 6

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
	seed := uint64(93)
	r := rand.New(rand.NewPCG(seed, seed))
	for name, tt := range map[string]struct {
		open   func(d *driver) []*questions.Call
		keys   []string
		before []string // keys
	}{
		"permissions":           {six, []string{"y", "n", "enter", "1", "space"}, nil},
		"questions":             {asks, []string{"y", "enter", "1", "space"}, nil},
		"a form":                {parts, []string{"enter", "1", "space"}, nil},
		"permissions from help": {six, []string{"enter"}, []string{"?"}},
		"questions, commands":   {asks, []string{"enter"}, []string{"ctrl+p"}},
		"the list":              {asks, []string{"enter"}, []string{"esc"}},
	} {
		for _, key := range tt.keys {
			for _, with := range []bool{false, true} {
				for range rounds {
					delay := time.Duration(150+r.IntN(2250)) * time.Millisecond
					hz := 2 + 58*r.Float64()
					setup{}.run(t, func(d *driver) {
						d.EventTypes(with)
						calls := tt.open(d)
						d.Wait(5 * time.Second)
						d.Quick(tt.before...)
						d.Wait(3 * time.Second)
						d.Hold(key, with, delay, hz)
						d.Wait(5 * time.Second)
						if n := answers(calls) + chosenIn(d); n > 1 {
							t.Errorf("%s, %s held, event types %v, after %v at %.1f Hz (seed %d): %d effects\n%s", name, key, with, delay, hz, seed, n, d.Text())
						}
					})
				}
			}
		}
	}
}

// The key that opens the dialog before the end neither ends the deck nor answers, and one that
// chooses in it does nothing to what is below.
func TestAHeldKeyQuitsAtMostOnce(t *testing.T) {
	const seed = 95
	r := rand.New(rand.NewPCG(seed, seed))
	for name, tt := range map[string]struct {
		before   []string // keys
		key      string
		ends     bool
		answered int // of three
	}{
		"opened":        {nil, "q", false, 0},
		"kept":          {[]string{"q"}, "k", true, 0},
		"enter":         {[]string{"q"}, "enter", true, 0},
		"all declined":  {[]string{"q"}, "d", true, 3},
		"stay":          {[]string{"q"}, "s", false, 0},
		"escaped":       {[]string{"q"}, "esc", false, 0},
		"another key":   {[]string{"q"}, "y", false, 0},
		"a digit":       {[]string{"q"}, "1", false, 0},
		"opened twice":  {[]string{"q", "s"}, "q", false, 0},
		"an answer too": {[]string{"q", "s"}, "y", false, 1},
	} {
		for _, with := range []bool{false, true} {
			for range rounds / 2 {
				delay, hz := time.Duration(150+r.IntN(2250))*time.Millisecond, 2+58*r.Float64()
				setup{}.run(t, func(d *driver) {
					d.EventTypes(with)
					var calls []*questions.Call
					for i := range 3 {
						calls = append(calls, d.ask(fmt.Sprintf(`[{"question":"Shall I %d?","options":["Yes","No"],"kind":"confirm"}]`, i)))
					}
					d.Wait(5 * time.Second)
					d.Keys(tt.before...)
					d.Wait(3 * time.Second)
					d.Hold(tt.key, with, delay, hz)
					d.Wait(5 * time.Second)
					if n := answers(calls); d.Ended() != tt.ends || n != tt.answered {
						t.Errorf("%s, %s held, event types %v, after %v at %.1f Hz (seed %d): ended %v, %d answered\n%s", name, tt.key, with, delay, hz, seed, d.Ended(), n, d.Text())
					}
				})
			}
		}
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
		d.Has("allowed once: Bash  make all", "make install") // the next is there, too
		d.Keys("n")
		d.Wait(3 * time.Second)
		calls[1].Delivered(questions.Delivered)
		d.Wait(time.Second)
		d.Has("denied: Bash  make install")
		d.Wait(10 * time.Second)
		d.Lacks("allowed once: ", "denied: ")
	}, bash("1", "make all"), bash("2", "make install"))
}
