package inbox_test

import (
	"testing"

	questions "github.com/mcpdeck/mcpdeck/ask"
)

// What an asker writes is cleaned before it is drawn: nothing that hides or turns
// text round is left, and the user is told so. The answer carries the asker's
// own label.
func TestTextIsCleaned(t *testing.T) {
	tests := []struct {
		name, ask string
		has       []string
		lacks     []string
		first     string // label in the answer
	}{
		{
			"sequences and controls", `[{"question":"Wh\u001b[31mich\u0007?","options":["\u001b]0;title\u0007one","two"],"description":"see [here](https://evil.example/)"}]`,
			[]string{"Which?", "one", "here (https://evil.example/)"},
			[]string{"hidden characters", "title"},
			"\x1b]0;title\aone",
		},
		{
			"bidirectional", `[{"question":"Pay \u202eeno\u2069?","options":["a\u2066b","c"]}]`,
			[]string{"Pay eno?", "ab", "hidden characters removed"},
			[]string{"U+"},
			"a\u2066b",
		},
		{
			"zero width, joiners stay", `[{"question":"Which?","options":["sa\u200bme","same","\u2060","👩\u200d💻"]}]`,
			[]string{"same (1)", "same (2)", "(only invisible characters)", "hidden characters"},
			[]string{"U+"},
			"sa\u200bme",
		},
		{
			"in a description", `[{"question":"Which?","description":"all \u200bwell","options":["a","b"]}]`,
			[]string{"all well", "hidden characters"},
			[]string{"U+"},
			"a",
		},
		{
			"line breaks in labels", `[{"question":"Which?","header":"x\ny","options":["a\nb","c\td"]},{"question":"And?"}]`,
			[]string{"a b", "c d", "x y"},
			[]string{"hidden characters"},
			"",
		},
		{"nothing hidden", `[{"question":"Größe – 大小?","options":["e\u0301","b"]}]`, []string{"Größe – 大小?"}, []string{"hidden characters"}, "e\u0301"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			with(t, tt.ask, func(d *driver, c *questions.Call) {
				d.Has(tt.has...)
				d.Lacks(tt.lacks...)
				if tt.first == "" {
					return
				}
				d.press("1", "enter")
				same(t, d.reply(c).Results[0].SelectedOptions, []string{tt.first})
			})
		})
	}
}

// Without a free-text row, o says why nothing opens.
func TestNoAnswerOfOnesOwn(t *testing.T) {
	with(t, `[{"question":"Which?","options":["a","b"],"allowOther":false}]`, func(d *driver, c *questions.Call) {
		d.Keys("o")
		d.Has("this question accepts only the listed options")
		d.Lacks("something else")
		d.notSent(c)
	})
}
