package inbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

func relatedCases() []refCase {
	parse := func(raw string) error {
		_, err := questions.ParseQuestions(json.RawMessage(raw))
		return err
	}
	return []refCase{
		{52, "questions as a string", func(t *testing.T) { t.Helper(); same(t, parse(`"  [{\"question\":\"A?\"}] "`), nil) }},
		{53, "string that is no JSON", func(t *testing.T) {
			t.Helper()
			if parse(`"what?"`) == nil {
				t.Error("taken")
			}
		}},
		{54, "selections and free text", func(t *testing.T) {
			t.Helper()
			same(t, play(t, several, "2", "o", "'w", "enter", "enter"), one([]string{"Session"}, "w"))
		}},
		{55, "left open: skipped, not an answer", func(t *testing.T) {
			t.Helper()
			got := play(t, `[{"id":"a","question":"?","options":["A"]},{"id":"b","question":"?","options":["B"],"required":false}]`, "enter", "right", "enter")
			same(t, got[1], questions.Result{ID: "b", SelectedOptions: []string{}, Skipped: true})
		}},
		{56, "two askers, each gets its own", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				c1 := d.askAs(abc, "claude-code", "/a")
				c2 := d.askAs(abc, "codex", "/b")
				d.Wait(5 * time.Second)
				d.Keys("j", "2")
				d.Wait(time.Second)
				d.Keys("3")
				same(t, d.reply(c2).Results, one([]string{"B"}, ""))
				same(t, d.reply(c1).Results, one([]string{"C"}, ""))
			})
		}},
		{57, "the asker has gone: marked, and a later one gets it only by a key", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.Keys("space")
				c.Leave("hung up")
				d.Wait(time.Second)
				d.Has("no agent is waiting for this", "hung up")
				d.Keys("enter")
				again := d.ask(abc)
				d.Wait(5 * time.Second)
				d.Has("you answered this when nobody was waiting")
				d.notSent(again)
				d.Keys("enter", "enter")
				same(t, d.reply(again).Results, one([]string{"A"}, ""))
			})
		}},
		{58, "withdrawn before it was shown: marked, in the history, not waiting", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				d.ask(abc).Leave("cancelled")
				d.Wait(5 * time.Second)
				s := d.q.Pending()
				same(t, []any{s.Waiting, s.History[0].Delivery}, []any{0, questions.Withdrawn})
				d.Has("no agent is waiting")
			})
		}},
		{59, "answered, then cancelled: stays answered", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.Keys("enter")
				r := d.reply(c)
				c.Leave("too late")
				same(t, d.q.Pending().History[0].Reply.Status, r.Status)
			})
		}},
		{60, "another request and back", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				d.askAs(pair, "claude-code", "/a")
				d.askAs(abc, "codex", "/b")
				d.Wait(5 * time.Second)
				d.press("enter", "1", "down", "f6", "'half a no", "esc", "esc", "down", "enter")
				d.Has("codex")
				d.Keys("esc", "up")
				d.Has("Second?", "( ) 2 D", "half a no")
			})
		}},
		{61, "text stays with its question", func(t *testing.T) {
			t.Helper()
			with(t, pairText, func(d *driver, _ *questions.Call) {
				d.press("enter", "'my na", "esc", "left", "2")
				it := d.q.Pending().Items[0]
				same(t, []any{it.Draft.Answers[0].Chosen, it.Draft.Answers[1].Other}, []any{[]int{1}, "my na"})
			})
		}},
		{62, "a request before the open one goes: the open one stays", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				d.askAs(pair, "claude-code", "/a")
				d.askAs(abc, "codex", "/b")
				d.Wait(5 * time.Second)
				d.Keys("]")
				d.Has("codex")
				_ = d.q.Decline(1, "")
				d.Wait(time.Second)
				d.Has("codex", "Which?")
				_ = d.q.Decline(2, "")
				d.Wait(time.Second)
				d.Has("Nothing needs you")
			})
		}},
		{63, "three arrivals, one notification", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				for i := range 3 {
					d.askAs(abc, fmt.Sprint("agent", i%2), "/a")
				}
				d.Wait(10 * time.Second)
				raw := d.Raw()
				same(t, []int{strings.Count(raw, "\x1b]9;3 questions from 2 agents\x1b\\"), strings.Count(raw, "\a") - strings.Count(raw, "\x1b]2;") - strings.Count(raw, "\x1b]7501;")}, []int{1, 1 + bells(raw)})
			})
		}},
		{64, "an option that does not exist is refused", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				if err := d.q.Answer(1, one([]string{"Z"}, "")); err == nil {
					t.Error("taken")
				}
				d.Keys("7")
				d.notSent(c)
			})
		}},
		{65, "rapid Enter Enter: one question is answered", func(t *testing.T) {
			t.Helper()
			with(t, pair, func(d *driver, _ *questions.Call) {
				d.Quick("enter", "enter")
				it := d.q.Pending().Items[0]
				same(t, []any{len(it.Draft.Answers[0].Chosen), len(it.Draft.Answers[1].Chosen)}, []any{1, 0})
			})
		}},
		{66, "[Recommended] in the label", func(t *testing.T) {
			t.Helper()
			with(t, `[{"id":"a","question":"?","options":["Y","[Recommended] X"]}]`, func(d *driver, c *questions.Call) {
				same(t, d.first().Cursor, 1)
				d.Keys("enter")
				same(t, d.reply(c).Results, one([]string{"[Recommended] X"}, ""))
			})
		}},
		{67, "Space while a request appears chooses nothing", func(t *testing.T) {
			t.Helper()
			setup{}.run(t, func(d *driver) {
				d.Wait(5 * time.Second)
				c := d.ask(abc)
				for range 60 { // it appears within this
					d.Send(frame.Key("space"))
					if strings.Contains(d.Text(), "Which?") {
						break
					}
				}
				d.Send(frame.Key("space"), frame.Key("enter"))
				same(t, len(d.first().Chosen), 0)
				d.notSent(c)
			})
		}},
	}
}
