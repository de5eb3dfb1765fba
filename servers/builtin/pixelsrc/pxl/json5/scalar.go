package json5

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// key reads an object key: a quoted string or an identifier.
func (p *parser) key() (string, *Error) {
	if p.pos < len(p.src) && (p.src[p.pos] == '"' || p.src[p.pos] == '\'') {
		return p.str()
	}
	start := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		if isLetter(c) || c == '_' || c == '$' || (c >= '0' && c <= '9' && p.pos > start) {
			p.pos++
			continue
		}
		break
	}
	if p.pos < len(p.src) && (p.src[p.pos] >= utf8.RuneSelf || p.src[p.pos] == '\\') {
		return p.identifier(start)
	}
	if p.pos == start {
		return "", p.fail("expected a key, found " + p.here())
	}
	return p.src[start:p.pos], nil
}

// identifier reads the rest of a key that holds characters outside ASCII or \u escapes.
func (p *parser) identifier(start int) (string, *Error) {
	var b strings.Builder
	b.WriteString(p.src[start:p.pos])
	for p.pos < len(p.src) {
		r, n := utf8.DecodeRuneInString(p.src[p.pos:])
		if r == '\\' {
			if !strings.HasPrefix(p.src[p.pos:], `\u`) {
				return "", p.fail(`only \uXXXX escapes are allowed in an unquoted key`)
			}
			p.pos += 2
			v, err := p.hex(4)
			if err != nil {
				return "", err
			}
			r, n = rune(v), 0
		}
		if !identifierRune(r, b.Len() == 0) {
			if n == 0 {
				return "", p.fail("this escape is not a letter; put the key in quotes")
			}
			break
		}
		b.WriteRune(r)
		p.pos += n
	}
	if b.Len() == 0 {
		return "", p.fail("expected a key, found " + p.here())
	}
	return b.String(), nil
}

func identifierRune(r rune, first bool) bool {
	if r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r) {
		return true
	}
	return !first && (unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == 0x200C || r == 0x200D)
}

// str reads a quoted string. Without escapes it shares the memory of the source.
func (p *parser) str() (string, *Error) {
	start, quote := p.pos, p.src[p.pos]
	p.pos++
	from := p.pos
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == quote:
			p.pos++
			return p.src[from : p.pos-1], nil
		case c == '\\':
			return p.escaped(start, from, quote)
		case c == '\n' || c == '\r' || p.separator():
			p.pos = start
			return "", p.fail("this string is not closed on its line; add the closing " + string(rune(quote)))
		}
		p.pos++
	}
	p.pos = start
	return "", p.fail("this string is never closed; add the closing " + string(rune(quote)))
}

// separator reports whether U+2028 or U+2029 stands here.
func (p *parser) separator() bool {
	return p.src[p.pos] == 0xE2 && (strings.HasPrefix(p.src[p.pos:], "\u2028") || strings.HasPrefix(p.src[p.pos:], "\u2029"))
}

func (p *parser) escaped(start, from int, quote byte) (string, *Error) {
	b := []byte(p.src[from:p.pos])
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == quote:
			p.pos++
			return string(b), nil
		case c == '\n' || c == '\r' || p.separator():
			p.pos = start
			return "", p.fail("this string is not closed on its line; add the closing " + string(rune(quote)))
		case c == '\\':
			var err *Error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
			p.pos++
		}
	}
	p.pos = start
	return "", p.fail("this string is never closed; add the closing " + string(rune(quote)))
}

// escape reads one backslash sequence and appends what it stands for.
func (p *parser) escape(b []byte) ([]byte, *Error) {
	p.pos++
	if p.pos >= len(p.src) {
		return nil, p.fail("the text ends after a backslash")
	}
	c := p.src[p.pos]
	p.pos++
	if i := strings.IndexByte("bfnrtv0", c); i >= 0 {
		return append(b, "\b\f\n\r\t\v\x00"[i]), nil
	}
	switch {
	case c == 'x':
		v, err := p.hex(2)
		return utf8.AppendRune(b, rune(v)), err
	case c == 'u':
		return p.unicode(b)
	case c >= '1' && c <= '9':
		p.pos -= 2
		return nil, p.fail(`a backslash cannot precede a digit from 1 to 9; write \\ or \xHH`)
	case c == '\r':
		if p.pos < len(p.src) && p.src[p.pos] == '\n' {
			p.pos++
		}
		return b, nil
	case c == '\n':
		return b, nil
	}
	p.pos--
	if p.separator() {
		p.pos += 3
		return b, nil
	}
	_, n := utf8.DecodeRuneInString(p.src[p.pos:])
	b = append(b, p.src[p.pos:p.pos+n]...)
	p.pos += n
	return b, nil
}

func (p *parser) unicode(b []byte) ([]byte, *Error) {
	at := p.pos - 2
	v, err := p.hex(4)
	if err != nil {
		return nil, err
	}
	r := rune(v)
	if utf16.IsSurrogate(r) {
		var low uint32
		if strings.HasPrefix(p.src[p.pos:], `\u`) {
			p.pos += 2
			if low, err = p.hex(4); err != nil {
				return nil, err
			}
		}
		if r = utf16.DecodeRune(r, rune(low)); r == utf8.RuneError {
			p.pos = at
			return nil, p.fail(`incomplete surrogate pair; write both \uXXXX halves`)
		}
	}
	return utf8.AppendRune(b, r), nil
}

func (p *parser) hex(digits int) (uint32, *Error) {
	if p.pos+digits <= len(p.src) {
		if v, err := strconv.ParseUint(p.src[p.pos:p.pos+digits], 16, 32); err == nil {
			p.pos += digits
			return uint32(v), nil
		}
	}
	return 0, p.fail("expected " + strconv.Itoa(digits) + " hexadecimal digits")
}

// number reads a number with its sign.
func (p *parser) number() (Node, *Error) {
	start := p.pos
	i := start
	negative := p.src[i] == '-'
	if negative || p.src[i] == '+' {
		i++
	}
	rest := p.src[i:]
	node := func(k Kind, bits uint64, end int) (Node, *Error) {
		p.pos = end
		return Node{Kind: k, Pos: int32(start), End: int32(end), num: bits}, nil
	}
	switch {
	case strings.HasPrefix(rest, "Infinity"):
		f := math.Inf(1)
		if negative {
			f = math.Inf(-1)
		}
		return node(Float, math.Float64bits(f), i+8)
	case strings.HasPrefix(rest, "NaN"):
		return node(Float, math.Float64bits(math.NaN()), i+3)
	case (i == start || !p.strict) && (strings.HasPrefix(rest, "0x") || strings.HasPrefix(rest, "0X")):
		end := i + 2
		for end < len(p.src) && isHex(p.src[end]) {
			end++
		}
		v, err := strconv.ParseUint(p.src[i+2:end], 16, 32)
		if !p.strict && end > i+2 && (err != nil || negative) {
			return p.farHex(node, i, end, negative)
		}
		if err != nil {
			return Node{}, p.fail("a hexadecimal number must have 1 to 8 digits")
		}
		return node(Int, v, end)
	}
	end, float := p.decimal(i)
	if end < 0 || (end < len(p.src) && (isLetter(p.src[end]) || p.src[end] == '_' || (p.src[end] >= '0' && p.src[end] <= '9'))) {
		return Node{}, p.fail("invalid number: " + clip(strings.SplitN(p.src[start:], "\n", 2)[0]))
	}
	text := p.src[start:end]
	if float {
		f, _ := strconv.ParseFloat(text, 64)
		return node(Float, math.Float64bits(f), end)
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !p.strict {
		f, _ := strconv.ParseFloat(text, 64)
		return node(Float, math.Float64bits(f), end)
	}
	if err != nil {
		return Node{}, p.fail("this integer is too large: " + clip(text))
	}
	return node(Int, uint64(v), end)
}

// farHex is a hexadecimal number with a sign or more than 32 bits: like a decimal one, a Float
// beyond 64.
func (p *parser) farHex(node func(Kind, uint64, int) (Node, *Error), from, end int, negative bool) (Node, *Error) {
	v, err := strconv.ParseInt(p.src[from+2:end], 16, 64)
	sign := int64(1)
	if negative {
		sign = -1
	}
	if err == nil {
		return node(Int, uint64(sign*v), end)
	}
	f, _ := strconv.ParseFloat(p.src[from:end]+"p0", 64)
	return node(Float, math.Float64bits(float64(sign)*f), end)
}

// decimal finds the end of digits, point and exponent from i; -1 when there is no number.
func (p *parser) decimal(i int) (end int, float bool) {
	digits := func(i int) int {
		for i < len(p.src) && p.src[i] >= '0' && p.src[i] <= '9' {
			i++
		}
		return i
	}
	whole := digits(i)
	count := whole - i
	if count > 1 && p.src[i] == '0' {
		return -1, false
	}
	i = whole
	if i < len(p.src) && p.src[i] == '.' {
		float = true
		end := digits(i + 1)
		count += end - i - 1
		i = end
	}
	if count == 0 {
		return -1, false
	}
	if i < len(p.src) && p.src[i]|0x20 == 'e' {
		j := i + 1
		if j < len(p.src) && (p.src[j] == '+' || p.src[j] == '-') {
			j++
		}
		end := digits(j)
		if end == j {
			return -1, false
		}
		i, float = end, true
	}
	return i, float
}

func isHex(c byte) bool { return (c >= '0' && c <= '9') || (c|0x20 >= 'a' && c|0x20 <= 'f') }
