package inbox_test

import (
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func TestEnterSendsOnlyWhatTheCursorIsOn(t *testing.T) {
	const one = `[{"id":"a","question":"?","options":["A","B","C"]}]`
	const some = `[{"id":"a","question":"?","multi":true,"options":["A","B","C"]}]`
	tests := []struct {
		name, raw string
		keys      []string
		says      string
		want      string // after one more Enter
	}{
		{"another option", one, []string{"space", "j", "enter"}, "your choice was replaced", "[B]"},
		{"back to the first", one, []string{"j", "space", "k", "enter"}, "your choice was replaced", "[A]"},
		{"the own answer", one, []string{"o", "'mine", "esc", "k", "k", "k", "space", "end", "enter"}, "your choice was replaced", "mine"},
		{"several", some, []string{"space", "j", "space", "j", "enter"}, "the cursor is not on your choice", "[A B]"},
		{"skipped and taken back", one, []string{"s", "u", "wait", "enter"}, "this question is skipped", "skipped"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			with(t, tt.raw, func(d *driver, c *questions.Call) {
				d.press(tt.keys...)
				d.Has(tt.says)
				d.notSent(c)
				if it := d.q.Pending().Items[0]; it.State == questions.Sending {
					t.Fatal("it is being sent")
				}
				d.press("enter")
				r := d.reply(c).Results[0]
				got := "[" + strings.Join(r.SelectedOptions, " ") + "]"
				switch {
				case r.Skipped:
					got = "skipped"
				case r.CustomInput != "":
					got = r.CustomInput
				}
				if got != tt.want {
					t.Errorf("sent %s, want %s", got, tt.want)
				}
			})
		})
	}
}

func TestAFieldThatWasLeftIsOpenedAgain(t *testing.T) {
	const raw = `[{"id":"a","question":"Branch?","placeholder":"main"}]`
	with(t, raw, func(d *driver, c *questions.Call) {
		d.press("'sx z?1qcrRD[]", "esc")
		d.notSent(c)
		d.Has("sx z?1qcrRD[]", "Branch?")
		d.press("enter", "'!", "enter")
		if got := d.reply(c).Results[0].CustomInput; got != "sx z?1qcrRD[]!" {
			t.Errorf("sent %q", got)
		}
	})
	with(t, raw, func(d *driver, c *questions.Call) {
		d.press("esc", "x")
		d.Has("decline the whole request?")
		d.press("esc", "esc", "esc")
		d.notSent(c)
	})
}

func TestAnOptionalQuestionIsSeenBeforeItIsSkipped(t *testing.T) {
	const raw = `[{"id":"a","question":"First?","options":["A"]},{"id":"b","question":"Second?","options":["B"],"required":false}]`
	with(t, raw, func(d *driver, c *questions.Call) {
		d.press("space", "ctrl+s")
		d.Has("Second?", "optional, but not yet seen")
		d.notSent(c)
		d.press("ctrl+s")
		if r := d.reply(c).Results; !r[1].Skipped {
			t.Errorf("sent %+v", r)
		}
	})
	with(t, raw, func(d *driver, _ *questions.Call) {
		d.press("enter")
		d.Has("Second?")
	})
}

func TestWhatWasNotDeliveredStandsInTheList(t *testing.T) {
	for _, size := range []frame.Size{{W: 80, H: 24}, {W: 40, H: 12}} {
		sized(t, size, `[{"id":"a","question":"Which colour?","options":["red","blue"]}]`, func(d *driver, c *questions.Call) {
			d.press("2", "wait", "wait", "wait")
			d.Lacks("not delivered") // it is on its way
			d.Do(func() { c.Delivered(questions.NotTaken) })
			d.Wait(10 * time.Second)
			d.Has("not delivered", "Which")
			if size.W > 40 {
				d.Has("claude shop", "Which colour? → blue")
			}
			d.press("enter")
			d.Has("Which colour?", "blue")
			d.press("x", "esc")
			d.Has("Nothing needs you")
			d.Lacks("not delivered")
		})
	}
}

func TestAnAnswerToNobodyStandsInTheList(t *testing.T) {
	with(t, `[{"id":"a","question":"Which colour?","options":["red","blue"]}]`, func(d *driver, c *questions.Call) {
		d.Do(func() { c.Leave("hung up") })
		d.press("2", "wait")
		d.Has("not delivered", "Which colour? → blue")
	})
}

// The word comes by itself, on whatever page the user is by then.
func TestAnAnswerThatDidNotArriveIsSaidAtOnce(t *testing.T) {
	const word = "claude did not get your answer"
	with(t, `[{"id":"a","question":"Which colour?","options":["red","blue"]}]`, func(d *driver, c *questions.Call) {
		d.press("2", "wait", "wait", "wait")
		d.Lacks(word)
		d.Do(func() { c.Delivered(questions.NotTaken) })
		d.Wait(time.Second)
		d.Has(word)
	})
	with(t, `[{"id":"a","question":"Which colour?","options":["red","blue"]}]`, func(d *driver, c *questions.Call) {
		d.Do(func() { c.Leave("hung up") })
		d.press("2", "wait")
		d.Lacks(word) // the question said before that nobody waited
	})
}

func TestHistoryTellsTheEndsApart(t *testing.T) {
	setup{size: frame.Size{W: 100, H: 30}}.run(t, func(d *driver) {
		asked := func(name string, end func(id int)) {
			c := d.ask(`[{"id":"a","question":"` + name + `?","options":["red","blue"]}]`)
			d.Do(func() { end(d.q.Pending().Items[0].ID); c.Delivered(questions.Delivered) })
		}
		answer := func(r questions.Result) func(int) {
			r.ID = "a"
			return func(id int) { _ = d.q.Answer(id, []questions.Result{r}) }
		}
		asked("One", answer(questions.Result{SelectedOptions: []string{"blue"}}))
		asked("Two", func(id int) { _ = d.q.Decline(id, "not now") })
		asked("Three", answer(questions.Result{Clarify: "which wall?"}))
		asked("Four", answer(questions.Result{Skipped: true}))
		c, err := d.q.Open(questions.Request{Questions: d.q.Pending().History[0].Request.Questions, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		d.press("esc")
		d.Wait(2 * time.Minute)
		c.Delivered(questions.Delivered)
		d.press("H")
		d.Has("✓ claude     shop  One? → blue", "✗ claude     shop  Two? → declined: not now", "✓ claude     shop  Three? → asked back: which wall?",
			"Four? → skipped", "→ timed out")
	})
}
