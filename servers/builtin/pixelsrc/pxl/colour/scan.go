package colour

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// maxDepth bounds nested colours, calc() and parentheses.
const maxDepth = 32

// scanner walks over a CSS value. A malformed value leaves its reason in err,
// and every further step does nothing.
type scanner struct {
	s     string
	at    int
	depth int
	err   error
}

// reason is why a string is not a colour.
type reason string

func (r reason) Error() string { return string(r) }

func (p *scanner) fail(why string) {
	if p.err == nil {
		p.err = reason(why)
	}
}

// peek is the byte at an offset, 0 past the end.
func (p *scanner) peek(off int) byte {
	if i := p.at + off; i < len(p.s) {
		return p.s[i]
	}
	return 0
}

func (p *scanner) space() {
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f':
			p.at++
		case c == '/' && p.peek(1) == '*':
			p.at += 2
			for p.at < len(p.s) && (p.s[p.at] != '*' || p.peek(1) != '/') {
				p.at++
			}
			p.at = min(p.at+2, len(p.s))
		default:
			return
		}
	}
}

// take skips white space and the byte c, if it comes next.
func (p *scanner) take(c byte) bool {
	p.space()
	if p.err == nil && p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

// comma takes a comma, which must be there.
func (p *scanner) comma() {
	if !p.take(',') {
		p.fail(`expected ","` + p.here())
	}
}

// close takes the closing parenthesis, which may be missing at the very end.
func (p *scanner) close() {
	if !p.take(')') && p.at < len(p.s) {
		p.fail("expected )" + p.here())
	}
	p.depth--
}

func (p *scanner) open() {
	if p.depth++; p.depth > maxDepth {
		p.fail("nested too deeply")
	}
}

// here says where the scanner stands, for messages.
func (p *scanner) here() string {
	if p.at >= len(p.s) {
		return " at the end"
	}
	rest := p.s[p.at:]
	if len(rest) > 12 {
		rest = rest[:12]
	}
	return " at " + strconv.Quote(rest)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameStart(c byte) bool {
	return 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c >= utf8.RuneSelf
}

func (p *scanner) startsName() bool {
	c := p.peek(0)
	if c == '-' {
		d := p.peek(1)
		return isNameStart(d) || d == '-' || d == '\\' && p.at+2 < len(p.s)
	}
	return isNameStart(c) || c == '\\' && p.at+1 < len(p.s) && p.peek(1) != '\n'
}

// word reads an identifier, in lower case and without escapes, and whether an
// opening parenthesis touched it (which is taken then). It is "" when none comes.
func (p *scanner) word() (name string, call bool) {
	p.space()
	if p.err != nil || !p.startsName() {
		return "", false
	}
	from := p.at
	plain := true
	for p.at < len(p.s) {
		c := p.s[p.at]
		if !isNameStart(c) && !isDigit(c) && c != '-' {
			plain = c != '\\'
			break
		}
		if 'A' <= c && c <= 'Z' {
			plain = false
			break
		}
		p.at++
	}
	name = p.s[from:p.at]
	if !plain {
		name = p.slowWord(from)
	}
	if p.peek(0) == '(' {
		p.at++
		return name, true
	}
	return name, false
}

func (p *scanner) slowWord(from int) string {
	p.at = from
	var b []byte
	for p.at < len(p.s) {
		c := p.s[p.at]
		switch {
		case c == '\\' && p.at+1 < len(p.s) && p.s[p.at+1] != '\n':
			p.at++
			b = utf8.AppendRune(b, p.escape())
		case isNameStart(c) || isDigit(c) || c == '-':
			b = append(b, lower(c))
			p.at++
		default:
			return string(b)
		}
	}
	return string(b)
}

// escape reads what follows a backslash: up to six hex digits and one white
// space, or any one character.
func (p *scanner) escape() rune {
	r, n := rune(0), 0
	for n < 6 {
		d, ok := hexDigit(p.peek(0))
		if !ok {
			break
		}
		r = r<<4 | rune(d)
		p.at++
		n++
	}
	if n == 0 {
		r, size := utf8.DecodeRuneInString(p.s[p.at:])
		p.at += size
		return r | 0x20*boolRune('A' <= r && r <= 'Z')
	}
	if c := p.peek(0); c == ' ' || c == '\t' || c == '\n' {
		p.at++
	}
	if r == 0 || !utf8.ValidRune(r) {
		return utf8.RuneError
	}
	return r | 0x20*boolRune('A' <= r && r <= 'Z')
}

func boolRune(b bool) rune {
	if b {
		return 1
	}
	return 0
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// kind is the type of a component.
type kind uint8

const (
	number kind = iota
	percent
	angle
)

// component is a number, the unit value of a percentage, or an angle in degrees.
type component struct {
	kind kind
	v    float32
}

// startsNumber reports whether a number comes next.
func (p *scanner) startsNumber() bool {
	i := 0
	if c := p.peek(0); c == '+' || c == '-' {
		i = 1
	}
	return isDigit(p.peek(i)) || p.peek(i) == '.' && isDigit(p.peek(i+1))
}

// numeric reads a number, percentage or angle token; startsNumber has said yes.
func (p *scanner) numeric() component {
	from := p.at
	if c := p.s[p.at]; c == '+' || c == '-' {
		p.at++
	}
	digits := func() {
		for isDigit(p.peek(0)) {
			p.at++
		}
	}
	digits()
	if p.peek(0) == '.' && isDigit(p.peek(1)) {
		p.at++
		digits()
	}
	if p.peek(0)|0x20 == 'e' {
		i := 1
		if c := p.peek(1); c == '+' || c == '-' {
			i = 2
		}
		if isDigit(p.peek(i)) {
			p.at += i
			digits()
		}
	}
	f, _ := strconv.ParseFloat(p.s[from:p.at], 64) // out of range gives an infinity, which is what is wanted
	if p.peek(0) == '%' {
		p.at++
		return component{percent, finite(f / 100)}
	}
	if !p.startsName() {
		return component{number, finite(f)}
	}
	unit, call := p.word()
	v := finite(f)
	switch {
	case call:
	case unit == "deg":
		return component{angle, v}
	case unit == "grad":
		return component{angle, float32(v*180) / 200}
	case unit == "turn":
		return component{angle, v * 360}
	case unit == "rad":
		return component{angle, v * (180 / math.Pi)}
	}
	p.fail("unknown unit " + strconv.Quote(unit))
	return component{}
}

// finite is f as a float32, held inside its range.
func finite(f float64) float32 {
	return float32(min(max(f, -math.MaxFloat32), math.MaxFloat32))
}
