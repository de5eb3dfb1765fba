package widget

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
)

func stripped(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = ansi.Strip(r)
	}
	return out
}

func TestCodeShowsEveryCharacterAndWhereLinesEnd(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	tests := []struct {
		name, in string
		w        int
		want     []string
	}{
		{"one line", "rm -rf build", 20, []string{"rm -rf build"}},
		{"a row that is full", "abcdef  gh", 4, []string{"abcd", "ef  ", "gh"}},
		{"several lines", "ab\ncdefgh\n", 6, []string{"1 ab", "2 cdef", "  gh"}},
		{"what would be obeyed", "a\x1b[2K", 20, []string{"a<U+001B>[2K"}},
		{"an empty line", "a\n\nb", 9, []string{"1 a", "2 ", "3 b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := stripped(Code(th, tt.in, tt.w)); !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADiffKeepsItsSignsAndItsText(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	rows := Diff(th, "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n--- old\n+new\u202eline\n", 8)
	want := []string{"--- a/x", "+++ b/x", "@@ -1,2 ", "+1,2 @@", " same", "--- old", "+new<U+2", "+02E>lin", "+e"}
	got := stripped(rows)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if !strings.Contains(rows[5], th.Removed.Render("--- old")) {
		t.Errorf("what goes is drawn as %q", rows[5])
	}
}

func TestArgumentsBeginWithTheOneThatSaysMost(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	got := stripped(Arguments(th, []byte(`{"a":1,"body":"one\ntwo","c":{"d":[1]},"long":"`+strings.Repeat("x", 30)+`"}`), 40))
	want := []string{"long: " + strings.Repeat("x", 30), "c:", "  1 {", `  2   "d": [`, "  3     1", "  4   ]", "  5 }", "body:", "  1 one", "  2 two", "a: 1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := stripped(Arguments(th, []byte(`not json`), 40)); !slices.Equal(got, []string{"not json"}) {
		t.Errorf("what is no object is %q", got)
	}
}
