package ask

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/theme"
)

func TestMarkdown(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	tests := []struct {
		name, in string
		w        int
		want     string
	}{
		{"heading", "## Why\ntext", 40, "Why\ntext"},
		{"code", "see `a.go`", 40, "see a.go"},
		{"block", "```go\nx := 1\n```\nend", 40, "  x := 1\nend"},
		{"list hangs", "- one two three", 12, "· one two\n  three"},
		{"link shows its target", "[docs](https://a.example/x)", 60, "docs (https://a.example/x)"},
		{"not a heading", "#hashtag", 40, "#hashtag"},
		{"blank", " \n ", 40, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ansi.Strip(strings.Join(markdown(th, tt.in, tt.w), "\n")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, row := range markdown(th, "**bold words that go on for some rows**", 12) {
		if !strings.HasSuffix(row, "\x1b[m") {
			t.Errorf("a style does not end with its row: %q", row)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("**a** `b` [c](d)\n- x\n```\ny", 20)
	th := theme.New(theme.Options{})
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = 8 + min(max(w, 0), 200)
		for _, row := range markdown(th, strings.ToValidUTF8(s, "?"), w) {
			if strings.Contains(row, "\n") {
				t.Fatalf("a row with a line break: %q", row)
			}
		}
	})
}
