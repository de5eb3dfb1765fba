package json5

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxErrors is how many malformed pieces a stream may hold before reading stops.
const maxErrors = 100

// Parse reads every object of a text. Objects may be separated by white space,
// comments and commas, and several may share a line. A malformed piece gives one
// error, and reading goes on at the next object.
func Parse(src string) ([]Node, []*Error) {
	p := &parser{src: src, nodes: make([]Node, 0, 64), keys: make([]Key, 0, 64)}
	var out []Node
	var errs []*Error
	if i := firstInvalid(src); i >= 0 {
		p.src = src[:i]
		errs = append(errs, &Error{Pos: int32(i), Message: "invalid UTF-8; the rest of the text is ignored"})
	}
	for {
		if err := p.space(); err != nil {
			errs = append(errs, err)
			p.pos = p.resume(p.pos)
			continue
		}
		if p.pos >= len(p.src) {
			break
		}
		if p.src[p.pos] == ',' {
			p.pos++
			continue
		}
		start := p.pos
		n, err := p.value()
		if err == nil && n.Kind != Object {
			err = &Error{Pos: int32(start), Message: "expected an object at the top level, found " + n.Kind.String()}
			errs = append(errs, err)
		} else if err != nil {
			if balanced(p.src, start) < 0 {
				line, _ := NewLines(p.src).At(err.Pos)
				err = &Error{Pos: int32(start), Message: "this object is never closed; add the missing bracket (line " + strconv.Itoa(line) + ": " + err.Message + ")"}
			}
			errs = append(errs, err)
			p.nodes, p.keys, p.depth = p.nodes[:0], p.keys[:0], 0
			p.pos = p.recover(start)
		} else {
			out = append(out, n)
		}
		if len(errs) >= maxErrors {
			errs = append(errs, &Error{Pos: int32(p.pos), Message: "too many errors; the rest of the text is ignored"})
			break
		}
	}
	return out, errs
}

// firstInvalid finds the start of the first line that is not UTF-8; -1 when all is well.
func firstInvalid(src string) int {
	if utf8.ValidString(src) {
		return -1
	}
	for start := 0; ; {
		i := strings.IndexByte(src[start:], '\n')
		if i < 0 || !utf8.ValidString(src[start:start+i]) {
			return start
		}
		start += i + 1
	}
}

// recover finds where reading goes on after a piece that starts at from and is malformed.
func (p *parser) recover(from int) int {
	if c := p.src[from]; c != '{' && c != '[' {
		return p.resume(from)
	}
	if end := balanced(p.src, from); end > 0 {
		return end
	}
	if i := strings.Index(p.src[from:], "\n{"); i >= 0 {
		return from + i + 1
	}
	for at := from + 1; ; {
		i := strings.IndexByte(p.src[at:], '{')
		if i < 0 {
			return len(p.src)
		}
		at += i
		rest := strings.TrimLeft(p.src[at+1:min(len(p.src), at+32)], " \t\r\n\"'")
		if strings.HasPrefix(rest, "type") {
			return at
		}
		at++
	}
}

// resume skips stray text: to the next line or the next opening brace after from.
func (p *parser) resume(from int) int {
	if i := strings.IndexAny(p.src[from+1:], "\n{"); i >= 0 {
		return from + 1 + i
	}
	return len(p.src)
}

// balanced finds the end of the bracket that opens at from; -1 when it never closes.
// A closing bracket that nothing open matches is passed over, one that matches an
// outer bracket closes the inner ones too. Strings end at the end of their line at the latest.
func balanced(src string, from int) int {
	var open []byte
	var count [256]int // how many of a bracket are open
	for i := from; i < len(src); i++ {
		switch c := src[i]; c {
		case '{', '[':
			open = append(open, c+2) // the closing one
			count[c+2]++
		case '}', ']':
			for last := byte(0); last != c && count[c] > 0; open = open[:len(open)-1] {
				last = open[len(open)-1]
				count[last]--
			}
			if len(open) == 0 {
				return i + 1
			}
		case '"', '\'':
			i = skipString(src, i)
		case '/':
			i = skipComment(src, i)
		}
	}
	return -1
}

func skipString(src string, i int) int {
	quote := src[i]
	for i++; i < len(src) && src[i] != quote && src[i] != '\n'; i++ {
		if src[i] == '\\' {
			i++
		}
	}
	return i
}

func skipComment(src string, i int) int {
	rest := src[i:]
	var end int
	if strings.HasPrefix(rest, "//") {
		end = strings.IndexByte(rest, '\n')
	} else if strings.HasPrefix(rest, "/*") {
		if end = strings.Index(rest[2:], "*/"); end >= 0 {
			end += 3
		}
	} else {
		return i
	}
	if end < 0 {
		return len(src)
	}
	return i + end
}

// ParseLines reads a text the way the reference does: line by line, counting
// brackets until they balance, and stopping for good at the first piece that is
// not exactly one value. The stop is the returned error.
func ParseLines(src string) ([]Node, *Error) {
	if i := firstInvalid(src); i >= 0 {
		src = src[:i]
	}
	p := &parser{src: src, strict: true}
	var out []Node
	s := scan{start: -1}
	for at := 0; at < len(src); {
		end := strings.IndexByte(src[at:], '\n')
		next := at + end + 1
		if end < 0 {
			next, end = len(src), len(src)-at
		}
		line := src[at : at+end]
		if s.start < 0 {
			trimmed := strings.TrimFunc(line, unicode.IsSpace)
			if trimmed == "" || strings.HasPrefix(trimmed, "//") || strings.HasPrefix(trimmed, "/*") {
				at = next
				continue
			}
			s.start = at
		}
		s.line(line)
		if s.curly == 0 && s.square == 0 {
			n, err := p.whole(s.start, at+len(line))
			if err != nil {
				return out, err
			}
			out = append(out, n)
			s = scan{start: -1, block: s.block}
		}
		at = next
	}
	if s.start >= 0 {
		n, err := p.whole(s.start, len(src))
		if err != nil {
			return out, err
		}
		out = append(out, n)
	}
	return out, nil
}

// scan is what the reference carries from line to line.
type scan struct {
	start         int // of the piece being gathered; -1 for none
	curly, square int
	str, esc      bool
	block         bool
}

func (s *scan) line(line string) {
	var last byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case s.block:
			if c == '/' && last == '*' {
				s.block = false
				c = 0
			}
		case s.esc:
			s.esc = false
		case s.str:
			s.esc, s.str = c == '\\', c != '"'
		case c == '/' && last == '/':
			return
		case c == '*' && last == '/':
			s.block = true
			c = 0
		default:
			s.count(c)
		}
		last = c
	}
}

func (s *scan) count(c byte) {
	switch c {
	case '"':
		s.str = true
	case '{':
		s.curly++
	case '}':
		s.curly--
	case '[':
		s.square++
	case ']':
		s.square--
	}
}
