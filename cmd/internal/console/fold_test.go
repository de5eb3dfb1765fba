package console

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestLongLinesAreBrokenBetweenWords(t *testing.T) {
	for _, r := range []struct{ name, text, want string }{
		{"short", "one two", "one two"},
		{"prose", "one two three four five\nsix", "one two three four\nfive\nsix"},
		{"a row's end", "one two three four a --b", "one two three four a\n--b"},
		{"a row", "  --all   shows one two three", "  --all   shows one\n          two three"},
		{"a row in colours", "  \x1b[36m--all\x1b[m   shows one two three", "  --all   shows one\n          two three"},
		{"a row with a wide first column", "  --a-very-long-name   one two three", "  --a-very-long-name\n  one two three"},
		{"a row with a first column in Chinese", "  日本   one two three four", "  日本   one two\n         three four"},
		{"hyphens", "one two three mcpdeck-hook --json", "one two three\nmcpdeck-hook --json"},
		{"an address", "https://example.com/" + strings.Repeat("x", 10), "https://example.com/\nxxxxxxxxxx"},
	} {
		t.Run(r.name, func(t *testing.T) {
			got := fold(r.text, 20)
			if ansi.Strip(got) != r.want || strings.HasPrefix(r.text, "  \x1b[36m--all\x1b[m   ") != strings.HasPrefix(got, "  \x1b[36m--all\x1b[m   ") {
				t.Errorf("got\n%q, want\n%q", got, r.want)
			}
		})
	}
}

func TestTextForATerminalOfUnknownWidthIsNotFolded(t *testing.T) {
	const text = "one two three\n  four   five"
	if got := fold(text, 0); got != text {
		t.Errorf("got %q", got)
	}
}

func TestTextThatIsNotForATerminalIsNotFolded(t *testing.T) {
	long := strings.Repeat("word ", 200)
	if got := Fold(&strings.Builder{}, long); got != long {
		t.Errorf("got %q", got)
	}
}
