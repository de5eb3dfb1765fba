package catalogue

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Agents know tools and prompts by other names than the server does.
func TestTextsNameToolsAndPromptsAsAgentsSeeThem(t *testing.T) {
	tools, _ := Read([]json.RawMessage{
		json.RawMessage(`{"name":"get-sum","description":"See code-review, or code-review-all; not get-sum-of, re-get-sum or the review."}`),
		json.RawMessage(`{"name":"echo"}`),
	})
	prompts, _ := ReadPrompts([]json.RawMessage{
		json.RawMessage(`{"name":"code-review"}`), json.RawMessage(`{"name":"code-review-all","description":"More than code-review with get-sum."}`), json.RawMessage(`{"name":"review"}`),
		json.RawMessage(`{"name":"echo","description":"Call ` + "`echo`" + `, or ` + "`review`" + `."}`),
	})
	l := Listing{Tools: tools, Prompts: prompts}
	c := New(l, Verdict{Instructions: "Start with code-review."}, Options{Prefix: "x_"})
	for _, tt := range [][2]string{
		{c.Instructions, "Start with x_code-review."},
		{c.Original("get-sum").Description, "See x_code-review, or x_code-review-all; not get-sum-of, re-get-sum or the review."},
		{string(c.Prompt("x_code-review-all").Raw), `{"name":"x_code-review-all","description":"More than x_code-review with x_get-sum."}`},
		{string(c.Prompt("x_echo").Raw), `{"name":"x_echo","description":"Call ` + "`x_echo`, or `x_review`" + `."}`},
	} {
		if tt[0] != tt[1] {
			t.Errorf("got  %s\nwant %s", tt[0], tt[1])
		}
	}
	for name, got := range map[string]string{
		"held":             New(l, Verdict{Held: []Held{{Kind: OfPrompt, Tool: "code-review", New: true}}, Instructions: "Start with code-review."}, Options{Prefix: "x_"}).Instructions,
		"turned off":       New(l, Verdict{Instructions: "Start with code-review."}, Options{Prefix: "x_", Without: func(k Kind) bool { return k == OfPrompt }}).Instructions,
		"as the server is": New(l, Verdict{Instructions: "Start with code-review."}, Options{Prefix: "x_", RawTexts: true}).Instructions,
	} {
		if got != "Start with code-review." {
			t.Errorf("the name of a prompt that agents do not get was replaced (%s): %s", name, got)
		}
	}
}

// Names are replaced in the texts of a server with many tools, too.
func TestEveryOfManyNamesIsFound(t *testing.T) {
	exposed, text, want := map[string]string{}, strings.Builder{}, strings.Builder{}
	for i := range 2000 {
		name := fmt.Sprintf("tool_%d", i*i)
		exposed[name] = "x_" + name
		fmt.Fprintf(&text, "%s, %s0x or %s_b. ", name, name, name)
		fmt.Fprintf(&want, "x_%s, %s0x or %s_b. ", name, name, name)
	}
	r := newRenamer(exposed)
	if len(r.lengths) > 8 {
		t.Errorf("%d look-ups at each word", len(r.lengths))
	}
	if got := r.text(text.String()); got != want.String() {
		t.Errorf("got %.300s", got)
	}
}
