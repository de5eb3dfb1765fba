package shape

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePath reads the path language of the format: M m L l H h V v Z z, each command
// written out, numbers apart by commas or spaces. The vertices come back truncated
// toward zero; they are filled as one closed polygon. A path with a point beyond MaxCoord
// is an error unless it may lie far away.
func ParsePath(text string, far bool) ([]Point, error) {
	const farthest = 1 << 30
	p := pathReader{tokens: pathTokens(text)}
	if len(p.tokens) == 0 {
		return nil, fmt.Errorf("the path is empty; start it with M x,y")
	}
	var out []Point
	var x, y, startX, startY float32
	for i := 0; p.at < len(p.tokens); i++ {
		c := p.tokens[p.at]
		p.at++
		if i == 0 && c != "M" && c != "m" {
			return nil, fmt.Errorf("the path starts with %q; start it with M x,y", clip(c))
		}
		switch c {
		case "M", "L":
			x, y = p.number(), p.number()
		case "m", "l":
			dx, dy := p.number(), p.number()
			if i > 0 {
				dx, dy = x+dx, y+dy
			}
			x, y = dx, dy
		case "H":
			x = p.number()
		case "h":
			x += p.number()
		case "V":
			y = p.number()
		case "v":
			y += p.number()
		case "Z", "z":
			x, y = startX, startY
			continue
		default:
			return nil, fmt.Errorf("%q is not a path command; use M, L, H, V or Z and repeat the letter for every point", clip(c))
		}
		if p.err != nil {
			return nil, p.err
		}
		if c == "M" || c == "m" {
			startX, startY = x, y
		}
		x, y = min(max(x, -farthest), farthest), min(max(y, -farthest), farthest)
		if !far && (abs32(x) > MaxCoord || abs32(y) > MaxCoord) {
			return nil, fmt.Errorf("a point of the path is beyond %d", MaxCoord)
		}
		out = append(out, Point{int(x), int(y)})
	}
	return out, nil
}

func abs32(v float32) float32 { return max(v, -v) }

func clip(s string) string {
	if len(s) > 20 {
		return s[:20]
	}
	return s
}

type pathReader struct {
	tokens []string
	at     int
	err    error
}

func (p *pathReader) number() float32 {
	if p.err != nil {
		return 0
	}
	if p.at >= len(p.tokens) {
		p.err = fmt.Errorf("expected a number, found the end of the path")
		return 0
	}
	t := p.tokens[p.at]
	v, err := strconv.ParseFloat(t, 32)
	if err != nil || v != v || strings.ContainsAny(t, "xX_pP") {
		p.err = fmt.Errorf("invalid number %q in the path", clip(t))
		return 0
	}
	p.at++
	return float32(v)
}

func pathTokens(text string) []string {
	var out []string
	start := -1
	for i := 0; i <= len(text); i++ {
		var c byte = ' '
		if i < len(text) {
			c = text[i]
		}
		letter := strings.IndexByte("MmLlHhVvZz", c) >= 0
		if letter || c == ',' || c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			if start >= 0 {
				out = append(out, text[start:i])
				start = -1
			}
			if letter {
				out = append(out, text[i:i+1])
			}
		} else if start < 0 {
			start = i
		}
	}
	return out
}
