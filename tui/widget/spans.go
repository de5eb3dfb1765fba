package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Spans draws clean text in a style, with the Markdown within its lines: code, emphasis,
// and links with their target. Names and patterns such as __init__ and *.go stay as they
// are written, and so does all that could be meant otherwise, and what is between fences.
func Spans(th *theme.Theme, base theme.Style, text string) string {
	return eachLine(text, base.Render, func(line string) string { return spans(th, base, line) })
}

// Spanned is Spans as rows of at most w cells.
func Spanned(th *theme.Theme, base theme.Style, text string, w int) []string {
	return Closed(Wrap(Spans(th, base, text), w))
}

// Unmarked is the text that Spans draws, without a style.
func Unmarked(text string) string {
	return eachLine(text, func(line string) string { return line }, unmarked)
}

// eachLine puts a text together of its lines, those between fences by exact.
func eachLine(text string, exact, line func(string) string) string {
	if !strings.Contains(text, "\n") {
		return line(text)
	}
	lines, fence := strings.Split(text, "\n"), ""
	for i, l := range lines {
		t := strings.TrimSpace(l)
		switch {
		case fence != "":
			if strings.HasPrefix(t, fence) {
				fence = ""
			}
			lines[i] = exact(l)
		case strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"):
			fence = t[:3]
			lines[i] = exact(l)
		default:
			lines[i] = line(l)
		}
	}
	return strings.Join(lines, "\n")
}

func spans(th *theme.Theme, base theme.Style, line string) string {
	return eachSpan(line, func(s string) string { return Linked(th, base, s) }, func(s inline) string {
		switch {
		case s.sign == '`':
			return th.Info.Render(s.text)
		case s.sign == '~':
			return th.Faint.Render(unmarked(s.text))
		case s.sign == '[' && unmarked(s.text) == s.target:
			return Link(th, s.target, s.target)
		case s.sign == '[':
			return Link(th, unmarked(s.text), s.target) + " " + th.Faint.Render("("+s.target+")")
		case s.signs == 1:
			return spans(th, th.Emphasis, s.text)
		}
		return spans(th, th.Strong, s.text)
	})
}

func unmarked(line string) string {
	return eachSpan(line, func(s string) string { return s }, func(s inline) string {
		switch {
		case s.sign == '`':
			return s.text
		case s.sign == '[' && unmarked(s.text) != s.target:
			return unmarked(s.text) + " (" + s.target + ")"
		}
		return unmarked(s.text)
	})
}

// inline is a marked part of a line.
type inline struct {
	sign         byte // of the mark that it begins with
	signs        int
	text, target string
	end          int // the index behind it
}

// eachSpan puts a line together of its text and of what is marked in it.
func eachSpan(line string, text func(string) string, draw func(inline) string) string {
	var b strings.Builder
	at := 0
	for i := 0; i < len(line); i++ {
		s, ok := spanAt(line, i)
		if !ok {
			if strings.HasPrefix(line[i:], "://") {
				i += restOfAddress(line[i:]) - 1
			}
			continue
		}
		if at < i {
			b.WriteString(text(line[at:i]))
		}
		b.WriteString(draw(s))
		at, i = s.end, s.end-1
	}
	if at < len(line) || at == 0 {
		b.WriteString(text(line[at:]))
	}
	return b.String()
}

// spanAt is what is marked from index i on.
func spanAt(s string, i int) (inline, bool) {
	switch s[i] {
	case '`':
		return codeAt(s, i)
	case '*', '_', '~':
		return emphasisAt(s, i)
	case '!', '[':
		return linkAt(s, i)
	}
	return inline{}, false
}

// codeAt is code between as many backticks as it begins with.
func codeAt(s string, i int) (inline, bool) {
	if before, _ := utf8.DecodeLastRuneInString(s[:i]); before == '`' || before == '\\' || word(before) {
		return inline{}, false // as in don`t
	}
	n := run(s[i:])
	for j := i + n; j < len(s); j++ {
		if s[j] != '`' {
			continue
		}
		m := run(s[j:])
		if m == n {
			text := s[i+n : j]
			if t := strings.TrimSpace(text); t != "" && text[0] == ' ' && text[len(text)-1] == ' ' {
				text = text[1 : len(text)-1]
			}
			return inline{'`', n, text, "", j + m}, true
		}
		j += m - 1
	}
	return inline{}, false
}

// emphasisAt is text between stars, underscores or tildes that stand as those around
// words do.
func emphasisAt(s string, i int) (inline, bool) {
	if !opens(s[:i]) { // first, so that a run is measured once, not from each of its signs
		return inline{}, false
	}
	c, n := s[i], run(s[i:])
	if n > 3 || c == '_' && n > 2 || c == '~' && n != 2 {
		return inline{}, false
	}
	inner := s[i+n:]
	j := closing(inner, c)
	if j < 0 || run(inner[j:]) != n || !closes(inner[j+n:]) || !prose(inner[:j], c, n) {
		return inline{}, false
	}
	return inline{c, n, inner[:j], "", i + n + j + n}, true
}

// closing is where a sign stands next that is not in code, -1 for nowhere.
func closing(s string, sign byte) int {
	for i := 0; i < len(s); i++ {
		if s[i] == sign {
			return i
		}
		if s[i] == '`' {
			if code, ok := codeAt(s, i); ok {
				i = code.end - 1
			}
		}
	}
	return -1
}

// opens reports whether a mark may begin behind a text.
func opens(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return before == "" || unicode.IsSpace(r) || r > unicode.MaxASCII || strings.ContainsRune(`([{"'`, r)
}

// closes reports whether a mark may end before a text. A sentence goes on after its
// punctuation with a space, a pattern or a path does not.
func closes(after string) bool {
	r, n := utf8.DecodeRuneInString(after)
	switch {
	case after == "", unicode.IsSpace(r), r > unicode.MaxASCII, strings.ContainsRune(`)]}"'`, r):
		return true
	case !strings.ContainsRune(".,;:!?", r):
		return false
	}
	next, _ := utf8.DecodeRuneInString(after[n:])
	return !word(next) && next != '/'
}

// prose reports whether n signs around a text mark it: in a pattern, an expression or an
// identifier such as __init__ they belong to it.
func prose(text string, sign byte, n int) bool {
	if text == "" || strings.TrimSpace(text) != text || strings.ContainsAny(text[:1], `./\,`) || strings.ContainsAny(text[len(text)-1:], `/\,(`) {
		return false
	}
	switch many := strings.Contains(text, " "); {
	case sign == '_' && n == 2:
		return many
	case sign == '*' && n == 1:
		return many || !strings.ContainsAny(text, "./\\$?[]{}<>=|&")
	}
	return true
}

// linkAt is a link, or a picture, that has an address for its target.
func linkAt(s string, i int) (inline, bool) {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	inner, is := strings.CutPrefix(strings.TrimPrefix(s[i:], "!"), "[")
	if !is || word(before) || strings.ContainsRune("])\\", before) { // as in handlers[i](x)
		return inline{}, false
	}
	j := strings.IndexAny(inner, "[]")
	if j < 1 || !strings.HasPrefix(inner[j:], "](") {
		return inline{}, false
	}
	target := inner[j+2:]
	k := strings.IndexAny(target[:min(len(target), 2*longestLink)], " \t)")
	if k < 0 || target[k] != ')' || !address(target[:k]) {
		return inline{}, false
	}
	return inline{'[', 1, inner[:j], target[:k], len(s) - len(target) + k + 1}, true
}

// restOfAddress is how much of a text may be part of the address that it is in.
func restOfAddress(s string) int {
	i := strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > unicode.MaxASCII || strings.ContainsRune("\"<>`{|}", r) })
	if i < 0 {
		return len(s)
	}
	return i
}

// address reports whether a text is where a link may lead, and no part of a pattern.
func address(s string) bool {
	return strings.Contains(s, "://") || strings.HasPrefix(s, "mailto:") || strings.ContainsAny(s, "/.#") && !strings.ContainsAny(s, `*+^$|\`)
}

// run is how often the first sign of s is repeated at its beginning.
func run(s string) int { return len(s) - len(strings.TrimLeft(s, s[:1])) }

// word reports whether r is part of an ASCII word.
func word(r rune) bool {
	return r == '_' || r <= unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
