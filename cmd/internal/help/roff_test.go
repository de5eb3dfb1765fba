package help

import (
	"testing"
)

func TestARoffPageKeepsTheText(t *testing.T) {
	for _, r := range []struct{ name, text, want string }{
		{"a paragraph", "one\ntwo", ".PP\none\ntwo\n"},
		{"paragraphs", "one\n\ntwo\n", ".PP\none\n.PP\ntwo\n"},
		{"rows", "one\n  two", ".PP\n.nf\none\n  two\n.fi\n"},
		{"a request", ".one\n'two", ".PP\n\\&.one\n\\&'two\n"},
		{"signs", `a\n-b`, ".PP\na\\en\\-b\n"},
	} {
		t.Run(r.name, func(t *testing.T) {
			if got := roffText(r.text); got != r.want {
				t.Errorf("got %q, want %q", got, r.want)
			}
		})
	}
}
