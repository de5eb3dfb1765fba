package inbox_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
)

// reply is the end of a call, after the hold.
func (d *driver) reply(c *questions.Call) questions.Reply {
	d.t.Helper()
	d.Wait(3 * time.Second)
	select {
	case <-c.Done():
	default:
		d.t.Fatalf("nothing was sent:\n%s", d.Text())
	}
	r, err := c.Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// notSent fails the test when the call has ended.
func (d *driver) notSent(c *questions.Call) {
	d.t.Helper()
	d.Wait(3 * time.Second)
	select {
	case <-c.Done():
		r, err := c.Reply()
		d.t.Fatalf("it was sent: %+v %v", r, err)
	default:
	}
}

// first is the draft of the first question of the first request.
func (d *driver) first() questions.AnswerDraft { return d.q.Pending().Items[0].Draft.Answers[0] }

// play asks raw, presses keys and returns the results.
func play(t *testing.T, raw string, keys ...string) []questions.Result {
	t.Helper()
	var out []questions.Result
	with(t, raw, func(d *driver, c *questions.Call) {
		d.press(keys...)
		out = d.reply(c).Results
	})
	return out
}

// with opens one request and its screen.
func with(t *testing.T, raw string, test func(d *driver, c *questions.Call)) {
	t.Helper()
	sized(t, frame.Size{W: 80, H: 24}, raw, test)
}

func sized(t *testing.T, size frame.Size, raw string, test func(d *driver, c *questions.Call)) {
	t.Helper()
	setup{size: size}.run(t, func(d *driver) {
		c := d.ask(raw)
		d.Wait(5 * time.Second)
		d.Keys("enter")
		test(d, c)
	})
}

// press types words after a quote, waits at "wait", and presses all other names.
func (d *driver) press(keys ...string) {
	for _, k := range keys {
		if k == "wait" {
			d.Wait(time.Second)
			continue
		}
		if s, ok := strings.CutPrefix(k, "'"); ok {
			d.Type(s)
			continue
		}
		d.Keys(k)
	}
}

// one is a result for the question a.
func one(selected []string, custom string) []questions.Result {
	if selected == nil {
		selected = []string{}
	}
	return []questions.Result{{ID: "a", SelectedOptions: selected, CustomInput: custom}}
}

func same(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

const (
	abc      = `[{"id":"a","question":"Which?","options":["A","B","C"]}]`
	sessions = `[{"id":"a","question":"Auth?","options":["JWT","Session auth"],"recommended":1}]`
	several  = `[{"id":"a","question":"Which?","multi":true,"options":["JWT","Session","C"]}]`
	pair     = `[{"id":"a","question":"First?","options":["A","B"]},{"id":"b","question":"Second?","options":["C","D"]}]`
	pairText = `[{"id":"a","question":"First?","options":["A","B"]},{"id":"b","question":"Name?"}]`
	mixed    = `[{"id":"auth_method","question":"First?","multi":true,"options":["A","B"]},{"question":"Second?","options":["C","D"]}]`
)

func long(lines, options int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `[{"id":"a","question":"Which?","description":"%s","options":[`, strings.TrimSuffix(strings.Repeat(`about\n`, lines), `\n`))
	for i := range options {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"option %02d"`, i+1)
	}
	b.WriteString(`]}]`)
	return b.String()
}

type refCase struct {
	n    int
	name string
	run  func(t *testing.T)
}

// TestReferenceCases are the cases collected from other pickers, by number.
func TestReferenceCases(t *testing.T) {
	all := slices.Concat(resultCases(), keyCases(), tabCases(), drawCases(), relatedCases())
	covered := map[int]bool{}
	for _, c := range all {
		covered[c.n] = true
		t.Run(fmt.Sprintf("%d %s", c.n, c.name), func(t *testing.T) {
			t.Parallel()
			c.run(t)
		})
	}
	for n := 1; n <= 67; n++ {
		if !covered[n] {
			t.Errorf("case %d has no row", n)
		}
	}
}

func resultCases() []refCase {
	return []refCase{
		{1, "only B is marked", func(t *testing.T) {
			t.Helper()
			with(t, `[{"question":"Which?","options":["A","B","C"],"recommended":1}]`, func(d *driver, _ *questions.Call) {
				if s := d.Text(); strings.Count(s, "recommended") != 1 || !strings.Contains(s, "B  recommended") {
					t.Errorf("screen:\n%s", s)
				}
			})
		}},
		{2, "recommended out of range: no mark, cursor on the first", func(t *testing.T) {
			t.Helper()
			for _, r := range []string{"-1", "9"} {
				with(t, `[{"question":"Which?","options":["A","B","C"],"recommended":`+r+`}]`, func(d *driver, _ *questions.Call) {
					d.Lacks("recommended")
					same(t, d.first().Cursor, 0)
				})
			}
		}},
		{3, "label that says recommended is marked once and kept", func(t *testing.T) {
			t.Helper()
			with(t, `[{"id":"a","question":"Which?","options":["Safe (Recommended)","Fast"],"recommended":0}]`, func(d *driver, c *questions.Call) {
				if n := strings.Count(strings.ToLower(d.Text()), "recommended"); n != 1 {
					t.Errorf("said %d times:\n%s", n, d.Text())
				}
				d.Keys("enter")
				same(t, d.reply(c).Results, one([]string{"Safe (Recommended)"}, ""))
			})
		}},
		{4, "the mark is no part of the answer", func(t *testing.T) {
			t.Helper()
			same(t, play(t, sessions, "enter"), one([]string{"Session auth"}, ""))
		}},
		{5, "note on the choice", func(t *testing.T) {
			t.Helper()
			got := play(t, sessions, "f6", "'split-session", "enter", "enter")
			same(t, got[0].Notes, map[string]string{"Session auth": "split-session"})
			same(t, got[0].SelectedOptions, []string{"Session auth"})
		}},
		{6, "free text, single", func(t *testing.T) {
			t.Helper()
			same(t, play(t, sessions, "o", "'custom auth flow", "enter"), one(nil, "custom auth flow"))
		}},
		{7, "blank free text cannot be sent", func(t *testing.T) {
			t.Helper()
			with(t, sessions, func(d *driver, c *questions.Call) {
				d.press("end", "enter", "'  ", "enter")
				d.notSent(c)
			})
		}},
		{8, "two choices, a note on the second", func(t *testing.T) {
			t.Helper()
			got := play(t, several, "space", "down", "f6", "'stateful", "enter", "enter")
			same(t, got[0].SelectedOptions, []string{"JWT", "Session"})
			same(t, got[0].Notes, map[string]string{"Session": "stateful"})
		}},
		{9, "choice and free text", func(t *testing.T) {
			t.Helper()
			same(t, play(t, several, "space", "o", "'organization-sso", "enter", "enter"), one([]string{"JWT"}, "organization-sso"))
		}},
		{10, "option order", func(t *testing.T) {
			t.Helper()
			same(t, play(t, several, "3", "1", "enter"), one([]string{"JWT", "C"}, ""))
		}},
		{11, "declined with a draft: nothing is chosen", func(t *testing.T) {
			t.Helper()
			with(t, pair, func(d *driver, c *questions.Call) {
				d.press("space", "f6", "'note", "enter", "x", "enter")
				r := d.reply(c)
				same(t, r.Status, questions.Declined)
				same(t, len(r.Results), 0)
			})
		}},
		{12, "no screen", func(t *testing.T) {
			t.Helper()
			_, err := questions.NewClient(questions.ClientOptions{Path: "/nonexistent/ask.sock", Wait: -1}).Open(questions.Request{})
			same(t, err, error(questions.ErrUnavailable))
		}},
		{13, "no questions", func(t *testing.T) {
			t.Helper()
			_, err := questions.ParseQuestions(json.RawMessage(`[]`))
			same(t, fmt.Sprint(err), "questions must not be empty")
		}},
		{14, "three questions in order", func(t *testing.T) {
			t.Helper()
			got := play(t, `[{"id":"z","question":"1?","options":["A"]},{"id":"y","question":"2?","options":["B"]},{"id":"x","question":"3?","options":["C"]}]`, "enter", "enter", "enter", "enter")
			same(t, []string{got[0].ID, got[1].ID, got[2].ID, got[2].SelectedOptions[0]}, []string{"z", "y", "x", "C"})
		}},
		{15, "control characters: clean on screen, raw in the answer", func(t *testing.T) {
			t.Helper()
			with(t, `[{"id":"a\tb","question":"Wh\u0007ich?","options":["one\ttwo\u0007","B"]}]`, func(d *driver, c *questions.Call) {
				d.Has("Which?", "one two")
				d.press("f6")
				d.Send(tea.PasteMsg{Content: "line1\r\nline2\x07"})
				d.press("enter", "enter")
				got := d.reply(c).Results[0]
				same(t, got.SelectedOptions, []string{"one\ttwo\u0007"})
				same(t, got.Note, "line1\nline2")
			})
		}},
		{16, "line break in free text", func(t *testing.T) {
			t.Helper()
			same(t, play(t, sessions, "o", "'enterprise", "ctrl+j", "'sso", "enter"), one(nil, "enterprise\nsso"))
		}},
		{17, "description is shown, not echoed", func(t *testing.T) {
			t.Helper()
			with(t, `[{"id":"a","question":"Which?","description":"the long story","options":["A"]}]`, func(d *driver, c *questions.Call) {
				d.Has("the long story")
				d.Keys("enter")
				if b, _ := json.Marshal(d.reply(c).Results); strings.Contains(string(b), "story") {
					t.Errorf("echoed: %s", b)
				}
			})
		}},
	}
}

func keyCases() []refCase {
	return []refCase{
		{18, "Enter sends the first option", func(t *testing.T) {
			t.Helper()
			same(t, play(t, `[{"id":"a","question":"?","options":["A","B"]}]`, "enter"), one([]string{"A"}, ""))
		}},
		{19, "the free-text row stays open until there is text", func(t *testing.T) {
			t.Helper()
			same(t, play(t, `[{"id":"a","question":"?","options":["A"]}]`, "down", "enter", "enter", "'custom-flow", "enter"), one(nil, "custom-flow"))
		}},
		{20, "Tab keeps the note", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.press("f6", "'x", "enter")
				d.Has("A — x")
				same(t, d.first().Notes[0], "x")
				d.notSent(c)
			})
		}},
		{21, "Ctrl+C in the editor asks whether to quit, the draft stays", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.press("f6", "'draft", "ctrl+c")
				d.Has("Quit mcpdeck?")
				d.Keys("esc")
				d.press("esc")
				d.notSent(c)
				d.Has("A — draft")
			})
		}},
		{22, "Esc leaves, it stays pending", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.Keys("esc")
				d.notSent(c)
				same(t, d.q.Pending().Waiting, 1)
			})
		}},
		{23, "caret moves", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, _ *questions.Call) {
				d.press("f6", "'split", "left", "left", "'X")
				same(t, d.first().Notes[0], "splXit")
			})
		}},
		{24, "the cursor stops at both ends", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, _ *questions.Call) {
				d.Keys("up")
				same(t, d.first().Cursor, 0)
				d.Keys("down", "down", "down", "down", "down")
				same(t, d.first().Cursor, 3)
			})
		}},
	}
}

func tabCases() []refCase {
	return []refCase{
		{25, "Space toggles, Enter never unchooses", func(t *testing.T) {
			t.Helper()
			with(t, mixed, func(d *driver, _ *questions.Call) {
				d.Keys("space", "space")
				same(t, len(d.first().Chosen), 0)
				d.Keys("enter", "left", "enter")
				same(t, d.first().Chosen, []int{0})
			})
		}},
		{26, "multi: blank free text stays in the editor", func(t *testing.T) {
			t.Helper()
			with(t, mixed, func(d *driver, _ *questions.Call) {
				d.Keys("end", "enter", "enter")
				same(t, d.q.Pending().Items[0].Draft.Field, questions.OtherField)
			})
		}},
		{27, "then text, and review sends", func(t *testing.T) {
			t.Helper()
			got := play(t, mixed, "end", "enter", "enter", "'text", "enter", "right", "enter", "enter")
			same(t, got[0], questions.Result{ID: "auth_method", SelectedOptions: []string{}, CustomInput: "text"})
		}},
		{28, "left from the first tab wraps to review", func(t *testing.T) {
			t.Helper()
			with(t, pair, func(d *driver, _ *questions.Call) {
				d.Keys("left")
				same(t, d.q.Pending().Items[0].Draft.Tab, 2)
			})
		}},
		{29, "review with open questions goes to the first", func(t *testing.T) {
			t.Helper()
			with(t, pair, func(d *driver, c *questions.Call) {
				d.Keys("right", "right", "enter")
				d.notSent(c)
				same(t, d.q.Pending().Items[0].Draft.Tab, 0)
				d.Has("not answered")
			})
		}},
		{30, "Esc on review and in a note leaves", func(t *testing.T) {
			t.Helper()
			for _, keys := range [][]string{{"left", "esc"}, {"f6", "'n", "ctrl+c"}, {"left", "ctrl+c"}} {
				with(t, pair, func(d *driver, c *questions.Call) {
					d.press(keys...)
					d.notSent(c)
					same(t, d.q.Pending().Waiting, 1)
				})
			}
		}},
		{31, "one question has no tabs", func(t *testing.T) {
			t.Helper()
			with(t, abc, func(d *driver, c *questions.Call) {
				d.Lacks("review")
				d.Keys("enter")
				d.reply(c)
			})
		}},
		{32, "a note in a single choice does not choose", func(t *testing.T) {
			t.Helper()
			with(t, pair, func(d *driver, _ *questions.Call) {
				d.press("f6", "'n", "enter")
				same(t, len(d.first().Chosen), 0)
				same(t, d.q.Pending().Items[0].Draft.Tab, 0)
			})
		}},
		{33, "tab labels from ids", func(t *testing.T) {
			t.Helper()
			with(t, mixed, func(d *driver, _ *questions.Call) { d.Has("auth method", "Q2") })
		}},
		{34, "review lines", func(t *testing.T) {
			t.Helper()
			with(t, `[{"id":"a","question":"?","options":["A"]},{"id":"b","question":"?","multi":true,"options":["A","B"]},{"id":"c","question":"?","options":["C"]},{"id":"d","question":"?","multi":true,"options":["A"]},{"id":"e","question":"?","options":["E"]}]`, func(d *driver, _ *questions.Call) {
				d.press("enter", "1", "2", "enter", "o", "'x", "enter", "1", "o", "'y", "enter", "enter", "right")
				d.Has("[A, B]", "“x”", "[A] + “y”", "not answered")
			})
		}},
	}
}

// bells counts the BELs that end titles.
func bells(raw string) int { return strings.Count(raw, "\x1b]0;") }
