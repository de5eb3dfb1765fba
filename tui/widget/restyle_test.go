package widget_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

func mark(s string) string { return "[" + s + "]" }

func TestRestyle(t *testing.T) {
	tests := []struct {
		name, row string
		spans     []widget.Span
		want      string // without escape sequences
	}{
		{"nothing", "plain", nil, "plain"},
		{"in the middle", "a \x1b[1mbold\x1b[m c", []widget.Span{{From: 3, To: 5}}, "a b[ol]d c"},
		{"two", "one two", []widget.Span{{From: 0, To: 3}, {From: 4, To: 7}}, "[one] [two]"},
		{"half of a wide character", "a世b", []widget.Span{{From: 2, To: 3}}, "a[世]b"},
		{"both halves in two spans", "世", []widget.Span{{From: 0, To: 1}, {From: 1, To: 2}}, "[世]"},
		{"a mark stays with its letter", "cafe\u0301 x", []widget.Span{{From: 3, To: 4}}, "caf[e\u0301] x"},
		{"beyond the end", "ab", []widget.Span{{From: 1, To: 9}}, "a[b]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ansi.Strip(widget.Restyle(tt.row, tt.spans, mark)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What follows the spans looks as it did.
func TestRestyleGoesOnInTheRowsOwnStyle(t *testing.T) {
	got := widget.Restyle("\x1b[31mred word\x1b[m", []widget.Span{{From: 0, To: 3}}, mark)
	if after := got[strings.Index(got, "]"):]; !strings.Contains(after, "\x1b[31m") {
		t.Errorf("the rest lost its colour: %q", got)
	}
}

func FuzzRestyle(f *testing.F) {
	f.Add("a 世界 e\u0301 👩‍💻 y", 2, 5)
	f.Fuzz(func(t *testing.T, row string, from, n int) {
		if from < 0 || n < 0 || from > 1000 || n > 1000 || !utf8.ValidString(row) || strings.ContainsFunc(row, unicode.IsControl) {
			t.Skip("not a row")
		}
		row = "\x1b[1m" + row + "\x1b[m tail"
		got := widget.Restyle(row, []widget.Span{{From: from, To: from + n}}, func(s string) string { return s })
		if want := ansi.Strip(row); widget.Width(got) != widget.Width(want) {
			t.Errorf("%d cells of %q became %d: %q", widget.Width(want), want, widget.Width(got), got)
		}
	})
}
