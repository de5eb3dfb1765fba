package inbox_test

import (
	"fmt"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

func TestEarlierAnswersComeBackInAField(t *testing.T) {
	text := func(n int) string { return fmt.Sprintf(`[{"question":"Which name, %d?","type":"text"}]`, n) }
	setup{}.run(t, func(d *driver) {
		for i, answer := range []string{"first", "second", "second"} {
			c := d.ask(text(i))
			d.Wait(5 * time.Second)
			d.press("enter", "'"+answer, "enter")
			d.reply(c)
		}
		d.ask(text(9))
		d.Wait(5 * time.Second)
		check := func(want string) {
			t.Helper()
			if got := d.first().Other; got != want {
				t.Errorf("the field has %q, want %q", got, want)
			}
		}
		d.press("enter", "'mine")
		for _, step := range []struct{ key, want string }{
			{"up", "second"},
			{"up", "first"},
			{"up", "first"},
			{"down", "second"},
			{"down", "mine"},
			{"down", "mine"},
			{"up", "second"},
			{"'x", "secondx"},
			{"up", "second"},
			{"down", "secondx"},
			{"ctrl+_", "second"},
		} {
			d.press(step.key)
			check(step.want)
		}
	})
}

func TestAQuestionAskedAgainShowsTheEarlierAnswer(t *testing.T) {
	const text = `[{"question":"Which name?","type":"text"}]`
	setup{}.run(t, func(d *driver) {
		answer := func(raw string, keys ...string) {
			t.Helper()
			c := d.ask(raw)
			d.Wait(5 * time.Second)
			d.press(keys...)
			d.reply(c)
			c.Delivered(questions.Delivered)
		}
		answer(text, "enter", "'first", "enter")
		answer(`[{"question":"Which colour?","type":"text"}]`, "enter", "'blue", "enter")
		c := d.ask(text)
		d.Wait(5 * time.Second)
		d.Keys("enter")
		d.Has("first  ↑ fills in your last answer")
		if got := d.first().Other; got != "" {
			t.Errorf("the field has %q before anything is typed", got)
		}
		d.press("enter") // an earlier answer is not sent by itself
		d.notSent(c)
		d.press("'x")
		d.Lacks("your last answer", "first")
		d.press("backspace", "up")
		if got := d.first().Other; got != "first" {
			t.Errorf("the field has %q, want the answer to this question", got)
		}
		d.press("up")
		if got := d.first().Other; got != "blue" {
			t.Errorf("the field has %q, want the newest other answer", got)
		}
		d.press("down", "enter")
		d.reply(c)
		c.Delivered(questions.Delivered)
		d.askAs(text, "codex", "/home/ana/src/shop")
		d.Wait(5 * time.Second)
		d.Has("your answer")
		d.Lacks("your last answer")
	})
}
