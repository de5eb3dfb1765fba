package inbox_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/tui/internal/fake"
	"github.com/mcpdeck/mcpdeck/tui/internal/frame"
	page "github.com/mcpdeck/mcpdeck/tui/page/inbox"
)

// asksForm opens a form and its screen.
func asksForm(t *testing.T, s setup, message, schema string, test func(d *driver, c *questions.Call)) {
	t.Helper()
	s.run(t, func(d *driver) {
		c := d.askForm(message, schema)
		d.Wait(5 * time.Second)
		d.Keys("enter")
		test(d, c)
	})
}

func (d *driver) askForm(message, schema string) *questions.Call {
	d.t.Helper()
	qs, err := questions.FormQuestions(message, json.RawMessage(schema))
	if err != nil {
		d.t.Fatal(err)
	}
	c, err := d.q.Open(questions.Request{
		Questions: qs, Local: true, From: questions.From{Client: "Trains", Agent: "for codex"}, Title: "codex has called trains_book",
		Peer: questions.Peer{PID: 7, Program: "trains-mcp", Cwd: "/home/ana/src/shop"},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// filled gives what keys make of a form.
func filled(t *testing.T, schema string, keys ...string) string {
	t.Helper()
	var out string
	asksForm(t, setup{}, "Well?", schema, func(d *driver, c *questions.Call) {
		d.press(keys...)
		r := d.reply(c)
		out = string(r.Results[0].Content)
	})
	return out
}

func TestFormsAreFilledInByKeys(t *testing.T) {
	const (
		two   = `{"properties":{"name":{"type":"string"},"n":{"type":"integer"}},"required":["name"]}`
		size  = `{"properties":{"size":{"enum":["s","m"],"enumNames":["small","middle"]}}}`
		sure  = `{"properties":{"ok":{"type":"boolean"},"why":{"type":"string"}}}`
		some  = `{"properties":{"which":{"type":"array","items":{"enum":["a","b","c"]}},"x":{"type":"string"}}}`
		stops = `{"properties":{"stops":{"type":"array","items":{"type":"string"}}}}`
		deep  = `{"properties":{"at":{"type":"object","properties":{"street":{"type":"string"}},"required":["street"]},"by":{"oneOf":[{"type":"object","title":"Car","properties":{"plate":{"type":"string"}}},{"type":"integer"}]}}}`
	)
	tests := []struct {
		name, schema string
		keys         []string
		want         string
	}{
		{"text and number, then send", two, []string{"'Ana", "enter", "'9007199254740993", "enter", "enter"}, `{"name":"Ana","n":9007199254740993}`},
		{"what is missing is gone to", two, []string{"ctrl+s", "'Ana", "ctrl+s"}, `{"name":"Ana"}`},
		{"tab goes on and back", two, []string{"tab", "'7", "shift+tab", "'A", "ctrl+s"}, `{"name":"A","n":7}`},
		{"lines", two, []string{"'a", "ctrl+j", "'b", "ctrl+s"}, `{"name":"a\nb"}`},
		{"the only field is sent at once", size, []string{"down", "enter"}, `{"size":"m"}`},
		{"by its digit", size, []string{"2"}, `{"size":"m"}`},
		{"yes by its letter", sure, []string{"y", "'because", "enter", "enter"}, `{"ok":true,"why":"because"}`},
		{"no by its letter", sure, []string{"n", "ctrl+s"}, `{"ok":false}`},
		{"several", some, []string{"space", "3", "enter", "ctrl+s"}, `{"which":["a","c"]}`},
		{"a list", stops, []string{"down", "enter", "'Rome", "esc", "down", "enter", "'Oslo", "esc", "alt+up", "ctrl+s"}, `{"stops":["Oslo","Rome"]}`},
		{"an entry taken away", stops, []string{"down", "enter", "'a", "esc", "delete", "ctrl+s"}, `{"stops":[]}`},
		{"inside an object and an alternative", deep, []string{"'High St", "enter", "1", "'B 7", "ctrl+s"}, `{"at":{"street":"High St"},"by":{"plate":"B 7"}}`},
		{"typed as JSON", two, []string{"'Ana", "esc", "v", "ctrl+end", "backspace", "backspace", "backspace", "backspace", `'B","n":1e400}`, "ctrl+s"}, `{"name":"AnB","n":1e400}`},
		{"as JSON and back", two, []string{"'Ana", "esc", "v", "tab", "end", "enter"}, `{"name":"Ana"}`},
		{"cleared", two, []string{"'Ana", "enter", "'5", "esc", "delete", "ctrl+s"}, `{"name":"Ana"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := filled(t, tt.schema, tt.keys...); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestAFormIsNotSentWhileItDoesNotFit(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"n":{"type":"integer","maximum":5},"m":{"type":"string","format":"email"}}}`, func(d *driver, c *questions.Call) {
		d.press("'many", "ctrl+s", "ctrl+s")
		d.notSent(c)
		d.Has(`n: "many" is not a number`)
		d.press("ctrl+u", "'6", "ctrl+s")
		d.notSent(c)
		d.Has("6 is above 5")
		d.press("ctrl+u", "'5", "tab", "'nobody", "ctrl+s")
		d.notSent(c)
		d.Has(`"nobody" is not a valid email; send again to send it anyway`)
		d.press("ctrl+s")
		same(t, string(d.reply(c).Results[0].Content), `{"n":5,"m":"nobody"}`)
	})
}

// Broken JSON can be neither sent nor shown in fields, and stays as it was typed.
func TestBrokenJSONStaysWhereItIs(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"n":{"type":"integer"},"m":{"type":"string"}}}`, func(d *driver, c *questions.Call) {
		d.press("esc", "v", "ctrl+end", "'!", "tab")
		d.Has("{}!", "not valid JSON")
		d.press("ctrl+s")
		d.notSent(c)
		d.press("tab")
		d.Has("{}!")
		d.press("ctrl+end", "backspace", "backspace", `'"n":7.5}`, "tab")
		d.Has("7.5", "[ Send ]")
	})
}

// What was entered is there again when the user comes back.
func TestADraftOfAFormIsKept(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}}}`, func(d *driver, _ *questions.Call) {
		d.press("'first", "enter", "'sec", "esc", "esc")
		d.Has("draft")
		d.press("enter")
		d.Has("first", "sec")
		d.press("enter", "'ond", "esc")
		d.Has("second")
		d.press("x", "'not now", "esc")
		d.Has("second", "[ Send ]")
	})
}

func TestAFormIsSentFromItsLastRowAndTakenBack(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"a":{"type":"string"},"b":{"type":"string"}}}`, func(d *driver, c *questions.Call) {
		d.press("'x", "enter", "'y", "enter", "enter")
		d.Has("sent to Trains")
		d.press("u")
		d.Has("taken back", "x", "y", "[ Send ]")
		d.Wait(time.Second)
		d.press("ctrl+s")
		same(t, string(d.reply(c).Results[0].Content), `{"a":"x","b":"y"}`)
		d.press("H")
		d.Has("Well?", `{"a":"x","b":"y"}`)
	})
}

// What was typed into one form must not keep the next one off the screen.
func TestAFormThatComesWhileAnotherIsBeingSentIsOpened(t *testing.T) {
	const one = `{"properties":{"a":{"type":"string"}}}`
	asksForm(t, setup{}, "First?", one, func(d *driver, c *questions.Call) {
		d.press("'x", "enter")
		d.Has("sent to Trains")
		second := d.askForm("Second?", one)
		d.Wait(time.Second)
		d.press("enter", "'y", "enter")
		same(t, string(d.reply(c).Results[0].Content), `{"a":"x"}`)
		same(t, string(d.reply(second).Results[0].Content), `{"a":"y"}`)
	})
}

func TestASkippedFormIsNeitherAnsweredNorDeclined(t *testing.T) {
	for name, tt := range map[string]struct {
		keys []string
		want string
	}{
		"skipped":                    {[]string{"esc", "s"}, `{"action":"cancel"}`},
		"skipped with a draft":       {[]string{"'x", "esc", "s"}, `{"action":"cancel"}`},
		"taken back and sent":        {[]string{"'x", "esc", "s", "u", "wait", "ctrl+s"}, `{"action":"accept","content":{"a":"x"}}`},
		"taken back and filled in":   {[]string{"esc", "s", "u", "wait", "enter", "'y", "enter", "ctrl+s"}, `{"action":"accept","content":{"a":"y"}}`},
		"taken back, skipped again":  {[]string{"'x", "esc", "s", "u", "wait", "s"}, `{"action":"cancel"}`},
		"a letter of a text":         {[]string{"'s", "enter", "ctrl+s"}, `{"action":"accept","content":{"a":"s"}}`},
		"without fields, by its key": {[]string{"s"}, `{"action":"cancel"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := `{"properties":{"a":{"type":"string"},"b":{"type":"string"}},"required":["a"]}`
			if strings.Contains(name, "without fields") {
				schema = `{"properties":{}}`
			}
			asksForm(t, setup{}, "Well?", schema, func(d *driver, c *questions.Call) {
				d.press(tt.keys...)
				r := d.reply(c)
				e, _ := r.Elicited()
				got, err := json.Marshal(e)
				if err != nil {
					t.Fatal(err)
				}
				same(t, string(got), tt.want)
			})
		})
	}
}

func TestAnOptionOfManyIsFoundByTyping(t *testing.T) {
	asksForm(t, setup{}, "Which journey shall I book?", fake.Form(), func(d *driver, _ *questions.Call) {
		d.press("tab", "tab")
		d.Has("type to find one of 126")
		d.press("'gleport", "enter")
		d.Lacks("type to find")
		d.Has("Glenport")
	})
}

func TestAFormThatAsksForASecretSaysSo(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"password":{"type":"string"}}}`, func(d *driver, _ *questions.Call) {
		d.Has("looks like a secret: password")
	})
	asksForm(t, setup{}, "Well?", `{"properties":{"name":{"type":"string"}}}`, func(d *driver, _ *questions.Call) {
		d.Lacks("looks like a secret")
	})
}

func TestAWatcherSeesAFormAndChangesNothing(t *testing.T) {
	asksForm(t, setup{page: page.Options{Watch: true}}, "Well?", `{"properties":{"a":{"enum":["one","two"]},"b":{"type":"string"}}}`, func(d *driver, c *questions.Call) {
		d.press("1", "enter", "space", "'text", "ctrl+s", "delete", "end", "enter")
		d.notSent(c)
		if !d.q.Pending().Items[0].Draft.Empty() {
			t.Error("something was entered")
		}
	})
}

func TestAClickOpensAFieldAndChoosesAnOption(t *testing.T) {
	asksForm(t, setup{}, "Well?", `{"properties":{"a":{"type":"string"},"size":{"enum":["small","large"]}}}`, func(d *driver, c *questions.Call) {
		click := func(word string) {
			for y, l := range strings.Split(d.Text(), "\n") {
				if x := strings.Index(l, word); x >= 0 {
					d.Click(x, y)
					d.Wait(time.Second)
					return
				}
			}
		}
		click("size")
		d.Has("2 large")
		click("large")
		d.notSent(c)
		d.press("ctrl+s")
		same(t, string(d.reply(c).Results[0].Content), `{"size":"large"}`)
	})
}

func TestFramesOfForms(t *testing.T) {
	for _, s := range []frame.Size{{W: 110, H: 34}, {W: 80, H: 24}, {W: 40, H: 12}} {
		for _, v := range []struct {
			name string
			keys []string
		}{
			{"form", nil},
			{"form-options", []string{"'Ana", "enter", "'a@b", "enter", "'e"}},
			{"form-nested", []string{"esc", "end", "up", "up", "up", "up", "up", "enter", "'Rome", "tab", "'5", "esc", "down", "down", "enter", "2", "'X1", "esc"}},
			{"form-missing", []string{"'A", "ctrl+s", "esc", "v", "tab"}},
			{"form-json", []string{"'Ana", "esc", "v"}},
		} {
			name := fmt.Sprintf("%s-%dx%d", v.name, s.W, s.H)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				asksForm(t, setup{size: s}, "Which journey shall I book?", fake.Form(), func(d *driver, _ *questions.Call) {
					d.press(v.keys...)
					d.Golden(name)
				})
			})
		}
	}
}
