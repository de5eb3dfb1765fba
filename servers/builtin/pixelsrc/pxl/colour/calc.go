package colour

import "math"

// calc evaluates the inside of a calc(), whose opening parenthesis is taken.
// letters resolves the channel letters of relative colours.
func (p *scanner) calc(letters *channels) component {
	p.open()
	v := p.sum(letters)
	p.close()
	return v
}

func (p *scanner) sum(letters *channels) component {
	v := p.product(letters)
	for p.err == nil {
		before := p.at
		p.space()
		op := p.peek(0)
		// + and - need white space on both sides, else they are signs.
		if p.at == before || (op != '+' && op != '-') || !isSpace(p.peek(1)) {
			p.at = before
			return v
		}
		p.at++
		w := p.product(letters)
		if w.kind != v.kind {
			p.fail("calc() cannot add a number to a percentage or angle")
			return v
		}
		if op == '-' {
			w.v = -w.v
		}
		v.v += w.v
	}
	return v
}

func (p *scanner) product(letters *channels) component {
	v := p.factor(letters)
	for p.err == nil {
		before := p.at
		switch {
		case p.take('*'):
			w := p.factor(letters)
			if v.kind != number && w.kind != number {
				p.fail("calc() cannot multiply two percentages or angles")
			}
			v = component{max(v.kind, w.kind), v.v * w.v}
		case p.take('/'):
			w := p.factor(letters)
			if w.kind != number {
				p.fail("calc() can only divide by a number")
			}
			v.v /= w.v
		default:
			p.at = before // the white space belongs to a + or - that may follow
			return v
		}
	}
	return v
}

func (p *scanner) factor(letters *channels) component {
	p.space()
	if p.err != nil {
		return component{}
	}
	if p.startsNumber() {
		return p.numeric()
	}
	if p.take('(') {
		return p.calc(letters)
	}
	name, call := p.word()
	if call {
		if name == "calc" {
			return p.calc(letters)
		}
		p.fail(name + "() is not supported in a colour; write its value")
		return component{}
	}
	switch name {
	case "e":
		return component{number, math.E}
	case "pi":
		return component{number, math.Pi}
	case "infinity":
		return component{number, math.MaxFloat32}
	case "-infinity":
		return component{number, -math.MaxFloat32}
	}
	if v, ok := letters.get(name); ok {
		return v
	}
	p.fail("expected a number" + p.here())
	return component{}
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '/'
}
