package json5

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxDepth is how deep lists and objects may nest.
const MaxDepth = 256

// parser holds the text and the place in it. Values under construction live on
// one stack until their list or object closes.
type parser struct {
	src    string
	pos    int
	depth  int
	nodes  []Node
	keys   []Key
	strict bool // an integer beyond 64 bits is an error, else a Float
}

// whole parses src[from:to] as one value.
func (p *parser) whole(from, to int) (Node, *Error) {
	full := p.src
	p.src, p.pos = full[:to], from
	defer func() { p.src = full }()
	if err := p.space(); err != nil {
		return Node{}, err
	}
	n, err := p.value()
	if err != nil {
		return Node{}, err
	}
	if err := p.space(); err != nil {
		return Node{}, err
	}
	if p.pos < len(p.src) {
		return Node{}, p.fail("unexpected " + p.here() + " after the value")
	}
	return n, nil
}

func (p *parser) fail(msg string) *Error {
	return &Error{Pos: int32(min(p.pos, len(p.src))), Message: msg}
}

// here quotes the character at the current place for a message.
func (p *parser) here() string {
	if p.pos >= len(p.src) {
		return "end of text"
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return strconv.QuoteRune(r)
}

// space skips white space and comments.
func (p *parser) space() *Error {
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		switch {
		case c == ' ' || (c >= '\t' && c <= '\r'):
			p.pos++
		case c == '/':
			if err := p.comment(); err != nil {
				return err
			}
		case c < utf8.RuneSelf:
			return nil
		default:
			r, n := utf8.DecodeRuneInString(p.src[p.pos:])
			if !isSpace(r) {
				return nil
			}
			p.pos += n
		}
	}
	return nil
}

func isSpace(r rune) bool {
	return r == 0xA0 || r == 0xFEFF || r == 0x2028 || r == 0x2029 || unicode.Is(unicode.Zs, r)
}

func (p *parser) comment() *Error {
	rest := p.src[p.pos:]
	if strings.HasPrefix(rest, "//") {
		i := strings.IndexAny(rest, "\n\r\u2028\u2029")
		if i < 0 {
			i = len(rest)
		}
		p.pos += i
		return nil
	}
	if strings.HasPrefix(rest, "/*") {
		i := strings.Index(rest[2:], "*/")
		if i < 0 {
			return p.fail("this comment is never closed; add */")
		}
		p.pos += i + 4
		return nil
	}
	return p.fail("unexpected '/'; comments are // or /* */")
}

func (p *parser) value() (Node, *Error) {
	if p.pos >= len(p.src) {
		return Node{}, p.fail("expected a value, found end of text")
	}
	start := p.pos
	switch c := p.src[p.pos]; {
	case c == '{':
		return p.container(Object, '}')
	case c == '[':
		return p.container(Array, ']')
	case c == '"' || c == '\'':
		s, err := p.str()
		return Node{Kind: String, Pos: int32(start), End: int32(p.pos), Text: s}, err
	case c == '-' || c == '+' || c == '.' || (c >= '0' && c <= '9'):
		return p.number()
	}
	return p.word()
}

// word reads null, true, false, Infinity and NaN.
func (p *parser) word() (Node, *Error) {
	start := p.pos
	end := start
	for end < len(p.src) && (isLetter(p.src[end]) || p.src[end] == '_') {
		end++
	}
	n := Node{Pos: int32(start), End: int32(end)}
	switch p.src[start:end] {
	case "null":
		n.Kind = Null
	case "true":
		n.Kind, n.num = Bool, 1
	case "false":
		n.Kind = Bool
	case "Infinity":
		n.Kind, n.num = Float, math.Float64bits(math.Inf(1))
	case "NaN":
		n.Kind, n.num = Float, math.Float64bits(math.NaN())
	case "":
		return Node{}, p.fail("expected a value, found " + p.here())
	default:
		return Node{}, p.fail("expected a value, found the bare word " + p.src[start:min(end, start+40)] + "; put it in quotes")
	}
	p.pos = end
	return n, nil
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func (p *parser) enter() *Error {
	if p.depth++; p.depth > MaxDepth {
		return p.fail("lists and objects nest deeper than " + strconv.Itoa(MaxDepth))
	}
	return nil
}

// container reads a list or an object.
func (p *parser) container(kind Kind, closing byte) (Node, *Error) {
	start, mark, kmark := p.pos, len(p.nodes), len(p.keys)
	if err := p.enter(); err != nil {
		return Node{}, err
	}
	p.pos++
	for {
		if err := p.space(); err != nil {
			return Node{}, err
		}
		if p.pos < len(p.src) && p.src[p.pos] == closing {
			break
		}
		if kind == Object {
			if err := p.name(); err != nil {
				return Node{}, err
			}
		}
		v, err := p.value()
		if err != nil {
			return Node{}, err
		}
		p.nodes = append(p.nodes, v)
		more, err := p.comma(closing)
		if err != nil {
			return Node{}, err
		}
		if !more {
			break
		}
	}
	p.pos++
	p.depth--
	n := Node{Kind: kind, Pos: int32(start), End: int32(p.pos), Items: take(&p.nodes, mark)}
	if kind == Object {
		n.Keys = take(&p.keys, kmark)
	}
	return n, nil
}

// name reads a key and its colon.
func (p *parser) name() *Error {
	at := p.pos
	name, err := p.key()
	if err != nil {
		return err
	}
	if err := p.space(); err != nil {
		return err
	}
	if p.pos >= len(p.src) || p.src[p.pos] != ':' {
		return p.fail("expected ':' after the key " + strconv.Quote(clip(name)) + ", found " + p.here())
	}
	p.pos++
	p.keys = append(p.keys, Key{Name: name, Pos: int32(at)})
	return p.space()
}

// comma reads what separates two entries. It stops in front of the closing bracket.
func (p *parser) comma(closing byte) (more bool, err *Error) {
	if err := p.space(); err != nil {
		return false, err
	}
	if p.pos >= len(p.src) {
		return false, p.fail("the text ends before the closing " + string(rune(closing)))
	}
	switch p.src[p.pos] {
	case ',':
		p.pos++
		return true, nil
	case closing:
		return false, nil
	}
	return false, p.fail("expected ',' or '" + string(rune(closing)) + "', found " + p.here())
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40]
	}
	return s
}

// take moves the values above a mark from the stack.
func take[T any](stack *[]T, mark int) []T {
	top := slices.Clone((*stack)[mark:])
	*stack = (*stack)[:mark]
	return top
}
