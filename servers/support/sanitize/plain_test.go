package sanitize

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestLineAndText(t *testing.T) {
	tests := []struct{ name, in, line, text string }{
		{"plain", "hello", "hello", "hello"},
		{"line breaks", "a\r\nb\nc\rd", "a b c d", "a\nb\nc\nd"},
		{"tab", "a\tb", "a b", "a    b"},
		{"colour", "\x1b[31mred\x1b[0m", "red", "red"},
		{"title ended by BEL", "\x1b]0;evil\x07ok", "ok", "ok"},
		{"title ended by ST", "\x1b]0;evil\x1b\\ok", "ok", "ok"},
		{"kitty picture", "\x1b_Ga=T;AAAA\x1b\\ok", "ok", "ok"},
		{"unfinished sequence", "a\x1b[31", "a", "a"},
		{"lone escape", "a\x1b", "a", "a"},
		{"C1", "a\u009b31mb", "a31mb", "a31mb"},
		{"BEL and NUL", "a\x07\x00b", "ab", "ab"},
		{"bidi override", "a\u202eb", "a<U+202E>b", "a<U+202E>b"},
		{"zero width space", "a\u200bb", "a<U+200B>b", "a<U+200B>b"},
		{"noncharacter", "a\ufdd0b", "a<U+FDD0>b", "a<U+FDD0>b"},
		{"number sign stays", "a\u0600b", "a\u0600b", "a\u0600b"},
		{"joiner stays", "👩\u200d💻", "👩\u200d💻", "👩\u200d💻"},
		{"bad bytes", "a\xffb", "a\ufffdb", "a\ufffdb"},
		{"paragraph separator", "a\u2029b", "a b", "a\nb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Line(tt.in); got != tt.line {
				t.Errorf("Line: got %q, want %q", got, tt.line)
			}
			if got := Text(tt.in); got != tt.text {
				t.Errorf("Text: got %q, want %q", got, tt.text)
			}
			for _, mark := range []string{"<U+202E>", "<U+200B>", "<U+FDD0>"} {
				tt.line, tt.text = strings.ReplaceAll(tt.line, mark, ""), strings.ReplaceAll(tt.text, mark, "")
			}
			if got := Bare(tt.in); got != tt.line {
				t.Errorf("Bare: got %q, want %q", got, tt.line)
			}
			if got := BareText(tt.in); got != tt.text {
				t.Errorf("BareText: got %q, want %q", got, tt.text)
			}
			if got := Hides(tt.in); got != strings.Contains(Line(tt.in), "<U+") {
				t.Errorf("Hides: %v", got)
			}
		})
	}
}

func TestShownShowsWhatATerminalObeys(t *testing.T) {
	for in, want := range map[string]string{
		"hello": "hello", "\x1b[31mred\x1b[0m": "<U+001B>[31mred<U+001B>[0m", "\x1b]0;evil\x07ok": "<U+001B>]0;evil<U+0007>ok", "a\x1b": "a<U+001B>",
		"a\u009bb": "a<U+009B>b", "a\rb": "a<U+000D>b", "a\x00b": "a<U+0000>b", "a\r\nb\tc": "a\nb    c", "a\u202eb": "a<U+202E>b", "❤\ufe0f": "❤\ufe0f",
	} {
		if got := Shown(in); got != want {
			t.Errorf("Shown(%q) = %q, want %q", in, got, want)
		}
		line := strings.NewReplacer("\n", " ", "    ", " ").Replace(want)
		if got := ShownLine(in); got != line {
			t.Errorf("ShownLine(%q) = %q, want %q", in, got, line)
		}
	}
}

func TestExactShowsEverythingThatIsThere(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain", "rm -rf build", "rm -rf build"},
		{"line breaks", "a\nb\r\nc", "a\nb<U+000D>\nc"},
		{"tab", "a\tb", "a    b"},
		{"escape sequence", "a\x1b[2Kb\x1b]0;x\x07", "a<U+001B>[2Kb<U+001B>]0;x<U+0007>"},
		{"C1", "a\u009bb", "a<U+009B>b"},
		{"bidi override", "a\u202eb", "a<U+202E>b"},
		{"zero width", "r\u200bm\u200d\ufe0f", "r<U+200B>m<U+200D><U+FE0F>"},
		{"other spaces", "rm\u00a0-rf\u3000x\u2028y", "rm<U+00A0>-rf<U+3000>x<U+2028>y"},
		{"blank that is a letter", "a\u3164\u2800b", "a<U+3164><U+2800>b"},
		{"bad bytes", "a\xffb", "a<0xFF>b"},
		{"letters", "größe 漢字 é", "größe 漢字 é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Exact(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		name, in string
		n        int
		want     string
	}{
		{"fits", "abc", 3, "abc"},
		{"cut", "abcd", 3, "ab…"},
		{"runes, not bytes", "äöüß", 4, "äöüß"},
		{"nothing", "abc", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Cut(tt.in, tt.n); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("\x1b[31mred\x1b]0;t\x07\u202e\r\n\t")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Text(s) {
			if r != '\n' && unicode.IsControl(r) || hidden(r) {
				t.Fatalf("%q left %U in %q", s, r, Text(s))
			}
		}
		for _, r := range BareText(s) {
			if r != '\n' && unicode.IsControl(r) || hidden(r) {
				t.Fatalf("%q left %U in %q", s, r, BareText(s))
			}
		}
		if line := Line(s); strings.ContainsAny(line, "\n\r\x1b") || !utf8.ValidString(line) {
			t.Fatalf("%q is no plain line: %q", s, line)
		}
	})
}

func TestTextsForModelsAreCleanedAndCut(t *testing.T) {
	got := Passed("Look\x1b first.\x07\n\tThen "+strings.Repeat("é", 9000), 8000)
	if !strings.HasPrefix(got, "Look first.\n\tThen ééé") || len([]rune(got)) != 8000 {
		t.Errorf("%d characters: %.50q", len([]rune(got)), got)
	}
}
