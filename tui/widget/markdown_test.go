package widget_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
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
		{"block", "```go\nx := 1\n```\nend", 40, "│ x := 1\nend"},
		{"a long line of code is broken, not cut", "~~~\nabcdefghijkl\n~~~", 8, "│ abcdef\n│ ghijkl"},
		{"code in a list keeps its own indent", "- a\n  ```\n  if x {\n    y\n  ```", 40, "· a\n│ if x {\n│   y"},
		{"code without an end", "```\n# not a heading", 40, "│ # not a heading"},
		{"emphasis", "*one* _two_ __two words__ ~~four~~ **five**", 60, "one two two words four five"},
		{"no emphasis", "a * b * c, snake_case_name, 2*3*4 = 24", 60, "a * b * c, snake_case_name, 2*3*4 = 24"},
		{"numbers hang", "10. one two three", 12, "10. one two\n    three"},
		{"nested", "- a\n  - b\n    1. c", 40, "· a\n  · b\n    1. c"},
		{"quote", "> one two three four", 12, "▌ one two\n▌ three four"},
		{"rule", "a\n\n---\nb", 8, "a\n\n────────\nb"},
		{"table", "| Name | Count |\n|:-----|------:|\n| `a` | 1 |\n| **long one** | 1200 |", 40, "Name      Count\n───────────────\na             1\nlong one   1200"},
		{"table of wide characters", "a|b\n-|-\n世界|x\ny|z", 40, "a     b\n───────\n世界  x\ny     z"},
		{"table with a bar in a cell", "a|b\n-|-\nx\\|y|z", 40, "a    b\n──────\nx|y  z"},
		{"table too wide is wrapped", "a|b\n-|-\none two three|four five six", 20, "a          b\n────────────────────\none two    four five\nthree      six"},
		{"table without room", "a|b|c|d\n-|-|-|-\n123456|123456|123456|123456", 12, "a · b · c ·\nd\n123456 ·\n123456 ·\n123456 ·\n123456"},
		{"address", "see https://a.example/x.", 60, "see https://a.example/x."},
		{"address as a link", "[https://a.example](https://a.example)", 60, "https://a.example"},
		{"a title is not lost", `[a](https://a.example "title")`, 60, `[a](https://a.example "title")`},
		{"html", "<b>x</b><!-- y -->", 60, "<b>x</b><!-- y -->"},
		{"list hangs", "- one two three", 12, "· one two\n  three"},
		{"link shows its target", "[docs](https://a.example/x)", 60, "docs (https://a.example/x)"},
		{"not a heading", "#hashtag", 40, "#hashtag"},
		{"blank", " \n ", 40, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ansi.Strip(strings.Join(widget.Markdown(th, tt.in, tt.w), "\n")); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
	for _, row := range widget.Markdown(th, "**bold words that go on for some rows**", 12) {
		if !strings.HasSuffix(row, "\x1b[m") {
			t.Errorf("a style does not end with its row: %q", row)
		}
	}
}

func FuzzMarkdown(f *testing.F) {
	f.Add("[a b c d e f g h](https://a.example/x) https://b.example\n> q\n1. x\n|a|b|\n|-|-|\n|c|d|\n# h", 9)
	f.Add("**a** `b` [c](d)\n- x\n```\ny", 20)
	th := theme.New(theme.Options{})
	f.Fuzz(func(t *testing.T, s string, w int) {
		w = 8 + min(max(w, 0), 200)
		for _, row := range widget.Markdown(th, sanitize.Text(s), w) {
			if strings.Contains(row, "\n") {
				t.Fatalf("a row with a line break: %q", row)
			}
			if widget.Width(row) > w {
				t.Fatalf("%d cells, at most %d: %q", widget.Width(row), w, row)
			}
			if strings.Count(row, "\x1b]8;;http") > strings.Count(row, "\x1b]8;;\a") {
				t.Fatalf("a link does not end with its row: %q", row)
			}
		}
	})
}

func TestWhatLooksLikeMarkdown(t *testing.T) {
	for text, want := range map[string]bool{
		"# Title\n\ntext":                 true,
		"```go\nx\n```":                   true,
		"a|b\n-|-\nc|d":                   true,
		"- **one**: a\n- two":             true,
		"ok":                              false,
		"saved as hero_big_final.png":     false,
		"# comment of a script\nx=1\ny=2": true,
		"total 12\n-rw-r--r-- 1 a b 3 x":  false,
		"--- a/x\n+++ b/x\n-one\n+two":    false,
		"func main() {\n\tx := a * b\n}":  false,
	} {
		if got := widget.LooksMarkdown(text); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// Text from agents must not make the terminal follow anything but the web.
func TestOnlyAddressesOfTheWebBecomeLinks(t *testing.T) {
	th := theme.New(theme.Options{Dark: true})
	for address, want := range map[string]bool{
		"https://a.example/x?y=1#z":                      true,
		"http://localhost:8080":                          true,
		"file:///etc/passwd":                             false,
		"javascript:alert(1)":                            false,
		"vscode://file/x":                                false,
		"https://bank.example@evil.test":                 false,
		"https://":                                       false,
		"https://a.example/\x1b]52;c;eA\a":               false,
		"https://a.example/ x":                           false,
		"https://a.exämple":                              false,
		"https://a.example/" + strings.Repeat("x", 3000): false,
	} {
		got := widget.Link(th, "text", address)
		if linked := strings.Contains(got, "\x1b]8;;"+address+"\a"); linked != want {
			t.Errorf("%q: linked %v, want %v", address, linked, want)
		}
		if !want && (strings.Contains(got, "\x1b]") || strings.Contains(got, "\a")) {
			t.Errorf("%q: %q", address, got)
		}
		for _, row := range widget.Markdown(th, sanitize.Text("see ["+"here]("+address+") or "+address), 200) {
			if !want && strings.Contains(row, linkOf(address)) {
				t.Errorf("%q became a link: %q", address, row)
			}
		}
	}
}

func linkOf(address string) string { return "\x1b]8;;" + address + "\a" }

func TestWrapKeepsAHyphenInsideItsRow(t *testing.T) {
	got := widget.Wrap("00000000000- x", 11)
	for _, row := range got {
		if widget.Width(row) > 11 {
			t.Errorf("%q has %d cells", row, widget.Width(row))
		}
	}
	if strings.Join(got, "") != "00000000000-x" {
		t.Errorf("the text became %q", got)
	}
}
