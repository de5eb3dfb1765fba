package outline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a word, a literal or a sign of a source, comments left out.
type token struct {
	text string
	line int
	// first is set where it is the first of its line and not indented.
	first bool
	word  bool
}

// lex splits TypeScript into tokens, as far as declarations need it: what JSX
// says between tags is taken for code.
func lex(src string) []token {
	l := lexer{src: src, line: 1}
	for l.at < len(l.src) {
		l.next()
	}
	return l.out
}

type lexer struct {
	src  string
	at   int
	line int
	out  []token
}

func (l *lexer) emit(n int, word bool) {
	text := l.src[l.at : l.at+n]
	first := l.at == 0 || l.src[l.at-1] == '\n'
	l.out = append(l.out, token{text, l.line, first, word})
	l.skip(n)
}

func (l *lexer) skip(n int) {
	l.line += strings.Count(l.src[l.at:l.at+n], "\n")
	l.at += n
}

func (l *lexer) next() {
	rest := l.src[l.at:]
	r, size := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsSpace(r), r == '\ufeff':
		l.skip(size)
	case strings.HasPrefix(rest, "//"):
		l.skip(lineEnd(rest))
	case strings.HasPrefix(rest, "/*"):
		end := strings.Index(rest, "*/")
		if end < 0 {
			end = len(rest) - 2
		}
		l.skip(end + 2)
	case r == '"' || r == '\'':
		l.emit(quoted(rest), false)
	case r == '`':
		l.emit(template(rest), false)
	case wordRune(r):
		n := strings.IndexFunc(rest, func(r rune) bool { return !wordRune(r) })
		if n < 0 {
			n = len(rest)
		}
		l.emit(n, true)
	case r == '/' && l.regexpMayStand():
		l.emit(regexpEnd(rest), false)
	case strings.HasPrefix(rest, "=>") || strings.HasPrefix(rest, "?.") || strings.HasPrefix(rest, "??"):
		l.emit(2, false)
	case strings.HasPrefix(rest, "..."):
		l.emit(3, false)
	default:
		l.emit(size, false)
	}
}

func wordRune(r rune) bool {
	return r == '_' || r == '$' || r == '#' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

func lineEnd(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// quoted is the length of a string, 1 for a quote that its line does not close.
func quoted(s string) int {
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case s[0]:
			return i + 1
		}
	}
	return 1
}

// template is the length of a template text with what it embeds.
func template(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '`':
			return i + 1
		case strings.HasPrefix(s[i:], "${"):
			i += embedded(s[i+2:]) + 1
		}
	}
	return len(s)
}

// embedded is the length of an expression up to and with the brace that ends it.
func embedded(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"', '\'':
			i += quoted(s[i:]) - 1
		case '`':
			i += template(s[i:]) - 1
		}
	}
	return len(s)
}

// regexpMayStand reports whether a slash begins a regular expression: it does not
// after a value.
func (l *lexer) regexpMayStand() bool {
	if len(l.out) == 0 {
		return true
	}
	last := l.out[len(l.out)-1]
	if last.word {
		switch last.text {
		case "return", "typeof", "case", "in", "of", "void", "delete", "throw", "new":
			return true
		}
		return false
	}
	switch last.text {
	case "(", ",", "=", ":", "[", "!", "&", "|", "?", "{", "}", ";", "=>", "+", "-", "*", "%", "??":
		return true
	}
	return false
}

// regexpEnd is the length of a regular expression, 1 for a slash that is none.
func regexpEnd(s string) int {
	class := false
	for i := 1; i < len(s) && s[i] != '\n'; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return 1
}
