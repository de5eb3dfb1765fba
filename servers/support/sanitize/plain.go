// Package sanitize makes text from outside safe to show in a terminal.
//
// Tool arguments, results, file names and client names come from programs the
// user did not write. Escape sequences in them could repaint the screen,
// bidirectional marks could make a line read as something else, and invisible
// characters could hide text, so control characters are removed and the others
// are made visible.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns s on one line: line breaks and tabs become spaces, escape
// sequences and other control characters vanish, invisible and bidirectional
// characters are shown as <U+202E>, bad bytes as U+FFFD.
func Line(s string) string { return clean(s, style{show: true}) }

// Text is Line with line breaks kept, and tabs as four spaces.
func Text(s string) string { return clean(s, style{lines: true, show: true}) }

// Shown is Text with escape sequences and other control characters shown as <U+001B>: for
// what was sent to a program or came from it, where it matters what was in it.
func Shown(s string) string { return clean(s, style{lines: true, show: true, controls: true}) }

// ShownLine is Shown on one line.
func ShownLine(s string) string { return clean(s, style{show: true, controls: true}) }

// Output is Text with tabs as they are, for what a command prints.
func Output(s string) string { return clean(s, style{lines: true, tabs: true, show: true}) }

// Bare is Line without the invisible and bidirectional characters, for text that
// is to be read rather than judged. Say so where it [Hides] something.
func Bare(s string) string { return clean(s, style{}) }

// BareText is Bare with line breaks kept, and tabs as four spaces.
func BareText(s string) string { return clean(s, style{lines: true}) }

// Exact returns s with everything in it that a terminal obeys or hides shown as <U+001B>
// or <U+200D>, and with spaces that are not the ordinary one: for text that is about to
// run. Nothing vanishes. Line breaks are kept, and tabs become four spaces.
func Exact(s string) string {
	if isPlain(s, style{lines: true}) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, w := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case r == '\n' || r == ' ':
			b.WriteRune(r)
		case r == '\t':
			b.WriteString("    ")
		case unseen(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
		i += w
	}
	return b.String()
}

// unseen tells whether r leaves nothing on the screen that could be told from what
// ordinary characters leave.
func unseen(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Z, unicode.Variation_Selector) || hidden(r) || r == 0x2800
}

// Hides tells whether s has characters that Bare leaves out and Line shows.
func Hides(s string) bool { return strings.ContainsFunc(s, hidden) }

// Cut returns s cut to at most n runes, the last one replaced by … when
// something was cut.
func Cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for range n - 1 {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return s[:i] + "…"
}

// First returns the first n runes of s.
func First(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// Passed is what is passed on to a model of s: no control characters but line breaks
// and tabs, and at most n runes.
func Passed(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < 0x20 || r >= 0x7f && r < 0xa0) {
			return -1
		}
		return r
	}, s)
	return First(s, n)
}

// JSON returns a piece of JSON with what a terminal would obey or hide as
// escapes. It says the same.
func JSON(b []byte) []byte {
	out := make([]byte, 0, len(b)+len(b)/8)
	for i := 0; i < len(b); {
		r, w := utf8.DecodeRune(b[i:])
		switch {
		case r == utf8.RuneError && w == 1:
			out = append(out, `\ufffd`...)
		case r == '\r': // between values; in a text it is an escape
			out = append(out, ' ')
		case r < 0x20 && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r == '\u2028', r == '\u2029', hidden(r) && r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		case hidden(r):
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = append(out, b[i:i+w]...)
		}
		i += w
	}
	return out
}

// style is what is done to text.
type style struct {
	lines bool // keep line breaks
	tabs  bool // keep tabs
	show  bool // show what is hidden instead of leaving it out
	// controls shows what a terminal obeys instead of leaving it out.
	controls bool
}

func clean(s string, as style) string {
	if isPlain(s, as) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		if n := sequence(s[i:]); n > 0 && !as.controls {
			i += n
			continue
		}
		r, w := utf8.DecodeRuneInString(s[i:])
		i += w
		switch {
		case r == '\r' && i < len(s) && s[i] == '\n':
		case r == '\r' && as.controls:
			b.WriteString("<U+000D>")
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			b.WriteByte(lineBreak(as.lines))
		case r == '\t':
			b.WriteString(tab(as))
		case r < 0x20 || r >= 0x7f && r < 0xa0:
			if as.controls {
				fmt.Fprintf(&b, "<U+%04X>", r)
			}
		case hidden(r):
			if as.show {
				fmt.Fprintf(&b, "<U+%04X>", r)
			}
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func lineBreak(lines bool) byte {
	if lines {
		return '\n'
	}
	return ' '
}

func tab(as style) string {
	switch {
	case as.tabs:
		return "\t"
	case as.lines:
		return "    "
	}
	return " "
}

// isPlain is the fast path: printable ASCII, and what the style keeps.
func isPlain(s string, as style) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 || c >= 0x7f) && !(c == '\n' && as.lines) && !(c == '\t' && as.tabs) {
			return false
		}
	}
	return true
}

// hidden tells whether r is a format character that a terminal does not show:
// bidirectional marks, zero-width characters, tags. Joiners stay, since emoji
// and several scripts need them, and so do the signs that some scripts write
// before a number. Noncharacters are for a program's own use, as the screen's is.
func hidden(r rune) bool {
	const zwnj, zwj = 0x200c, 0x200d
	if r < 0x80 || r == zwnj || r == zwj || unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return false
	}
	return unicode.Is(unicode.Cf, r) || r == 0x034f || r == 0x115f || r == 0x1160 || r == 0x3164 || r == 0xffa0 || unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// sequence returns the length of the escape sequence at the start of s, 0 if
// there is none. An unfinished sequence ends with s.
func sequence(s string) int {
	const esc = 0x1b
	if len(s) < 2 || s[0] != esc {
		return 0
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i
			}
		}
		return len(s)
	case ']', 'P', '_', '^', 'X':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == esc && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
			if s[i] == '\n' {
				return i
			}
		}
		return len(s)
	}
	if s[1] >= 0x20 && s[1] < 0x7f {
		return 2
	}
	return 1
}
