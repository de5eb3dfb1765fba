package colour

import (
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Parse reads a CSS colour: #RGB, #RGBA, #RRGGBB, #RRGGBBAA, the CSS names and
// transparent, rgb(), hsl(), hwb(), lab(), lch(), oklab(), oklch(), color(),
// color-mix(), and relative colours. The error says in a few words why a string
// is none. Variables must have been resolved before.
func Parse(s string) (color.NRGBA, error) {
	if s == "" {
		return color.NRGBA{}, reason("the colour is empty")
	}
	if s[0] == '#' {
		return parseHex(s[1:])
	}
	p := scanner{s: s}
	v := p.colour()
	p.space()
	if p.err == nil && p.at < len(s) {
		p.fail("expected nothing after the colour, found" + p.here()[3:])
	}
	if p.err != nil {
		return color.NRGBA{}, p.err
	}
	return v.bytes(), nil
}

func parseHex(h string) (color.NRGBA, error) {
	var d [8]byte
	for i, r := range h {
		v, ok := byte(0), false
		if r < 128 {
			v, ok = hexDigit(byte(r))
		}
		if !ok {
			return color.NRGBA{}, reason(strconv.QuoteRune(r) + " is not a hex digit")
		}
		if i < len(d) {
			d[i] = v
		}
	}
	c := color.NRGBA{A: 255}
	switch len(h) {
	case 3, 4:
		c.R, c.G, c.B = d[0]*17, d[1]*17, d[2]*17
		if len(h) == 4 {
			c.A = d[3] * 17
		}
	case 6, 8:
		c.R, c.G, c.B = d[0]<<4|d[1], d[2]<<4|d[3], d[4]<<4|d[5]
		if len(h) == 8 {
			c.A = d[6]<<4 | d[7]
		}
	default:
		return color.NRGBA{}, reason("a hex colour has 3, 4, 6 or 8 digits, this one has " + strconv.Itoa(len(h)))
	}
	return c, nil
}

// colour reads one colour.
func (p *scanner) colour() value {
	p.space()
	if p.peek(0) == '#' {
		p.at++
		from := p.at
		for isNameStart(p.peek(0)) || isDigit(p.peek(0)) || p.peek(0) == '-' {
			p.at++
		}
		c, err := parseHex(p.s[from:p.at])
		if err != nil {
			p.fail(err.Error())
		}
		return fromBytes(c)
	}
	name, call := p.word()
	if name == "" {
		p.fail("expected a colour" + p.here())
		return value{}
	}
	if !call {
		c, ok := Named(name)
		if !ok {
			p.fail(strconv.Quote(name) + " is not a colour name" + hexHint(name))
		}
		return fromBytes(c)
	}
	p.open()
	v := p.function(name)
	p.close()
	return v
}

func hexHint(name string) string {
	if _, err := parseHex(name); err == nil {
		return "; a hex colour starts with #"
	}
	return ""
}

func (p *scanner) function(name string) value {
	switch name {
	case "rgb", "rgba":
		return p.rgb()
	case "hsl", "hsla":
		return p.hueFirst(hsl)
	case "hwb":
		return p.hueFirst(hwb)
	case "lab":
		return p.labLike(lab, 100, 125)
	case "oklab":
		return p.labLike(oklab, 1, 0.4)
	case "lch":
		return p.labLike(lch, 100, 150)
	case "oklch":
		return p.labLike(oklch, 1, 0.4)
	case "color":
		return p.predefined()
	case "color-mix":
		return p.colorMix()
	case "var":
		p.fail("var() of a variable that is not defined here")
		return value{}
	}
	p.fail(name + "() is not a colour function")
	return value{}
}

// channels are the letters that stand for the channels of a colour given with
// "from".
type channels struct {
	letters string
	v       value
}

func (c *channels) get(name string) (component, bool) {
	if c == nil {
		return component{}, false
	}
	if name == "alpha" {
		return component{number, c.v.c[3]}, true
	}
	i := strings.Index(c.letters, name)
	switch {
	case i < 0 || len(name) != 1:
		return component{}, false
	case name == "h":
		return component{angle, c.v.c[i]}, true
	}
	return component{number, c.v.c[i]}, true
}

// origin reads "from C", if it comes next.
func (p *scanner) origin() (value, bool) {
	before := p.at
	if name, call := p.word(); name != "from" || call {
		p.at = before
		return value{}, false
	}
	return p.colour(), true
}

func relative(c value, s space, intoGamut bool) *channels {
	c = convert(c, s).withoutNone()
	if intoGamut {
		c = toGamut(c)
	}
	if s == lch || s == oklch {
		if c.c[2] = mod360(c.c[2]); c.c[2] < 0 {
			c.c[2] += 360
		}
	}
	return &channels{models[s].letters, c}
}

// component reads a number, percentage, angle, calc(), channel letter or, as
// not-a-number, none.
func (p *scanner) component(ch *channels) component {
	p.space()
	if p.err != nil {
		return component{}
	}
	if p.startsNumber() {
		return p.numeric()
	}
	name, call := p.word()
	switch {
	case call && name == "calc":
		return p.calc(ch)
	case call:
		p.fail(name + "() is not supported in a colour; write its value")
	case name == "none":
		return component{number, float32(math.NaN())}
	default:
		if v, ok := ch.get(name); ok {
			return v
		}
		if name != "" {
			p.fail(strconv.Quote(name) + " is not a component")
		} else {
			p.fail("expected a number or percentage" + p.here())
		}
	}
	return component{}
}

// plain reads a component that is no angle.
func (p *scanner) plain(ch *channels) component {
	c := p.component(ch)
	if c.kind == angle {
		p.fail("expected a number or percentage, found an angle")
	}
	return c
}

// basis reads a component and takes a percentage times full.
func (p *scanner) basis(ch *channels, full float32) float32 {
	c := p.plain(ch)
	if c.kind == percent {
		return c.v * full
	}
	return c.v
}

// hue reads degrees.
func (p *scanner) hue(ch *channels) float32 {
	c := p.component(ch)
	if c.kind == percent {
		p.fail("a hue must be a number or an angle, not a percentage")
	}
	return c.v
}

// alpha reads what follows the three components. legacy is the comma form.
func (p *scanner) alpha(ch *channels, legacy bool) float32 {
	mark := byte('/')
	if legacy {
		mark = ','
	}
	if !p.take(mark) {
		return 1
	}
	a := p.basis(ch, 1)
	if legacy && isNone(a) {
		p.fail("none is not allowed in the comma form")
	}
	return min(max(a, 0), 1)
}

func (p *scanner) rgb() value {
	var ch *channels
	from, isRelative := p.origin()
	if isRelative {
		ch = relative(from, rgb255, true)
	}
	var in [3]component
	in[0] = p.plain(ch)
	legacy := !isRelative && !isNone(in[0].v) && p.take(',')
	in[1] = p.plain(ch)
	if legacy {
		p.comma()
	}
	in[2] = p.plain(ch)
	v := value{space: rgb255}
	none := false
	for i, c := range in {
		if legacy && (c.kind != in[0].kind || isNone(c.v)) {
			p.fail("in the comma form, the three components must all be numbers or all be percentages")
		}
		f := c.v
		if c.kind == percent {
			f *= 255
		}
		if isNone(f) {
			none = true
		} else {
			f = min(max(round32(f), 0), 255)
		}
		v.c[i] = f
	}
	v.c[3] = p.alpha(ch, legacy)
	if none || isNone(v.c[3]) {
		return v
	}
	return fromBytes(color.NRGBA{R: ToByte(v.c[0]), G: ToByte(v.c[1]), B: ToByte(v.c[2]), A: byte32(v.c[3])})
}

// hueFirst reads hsl() and hwb().
func (p *scanner) hueFirst(s space) value {
	var ch *channels
	from, isRelative := p.origin()
	if isRelative {
		ch = relative(from, s, true)
	}
	v := value{space: s}
	v.c[0] = p.hue(ch)
	legacy := s == hsl && !isRelative && !isNone(v.c[0]) && p.take(',')
	v.c[1] = p.basis(ch, 100)
	if legacy {
		p.comma()
	}
	v.c[2] = p.basis(ch, 100)
	if legacy && (isNone(v.c[1]) || isNone(v.c[2])) {
		p.fail("none is not allowed in the comma form")
	}
	none := isNone(v.c[0])
	for i := 1; i < 3; i++ {
		none = none || isNone(v.c[i])
		v.c[i] = min(max(v.c[i], 0), 100)
	}
	v.c[3] = p.alpha(ch, legacy)
	if none || isNone(v.c[3]) {
		return v
	}
	return fromBytes(v.bytes())
}

// labLike reads lab(), oklab(), lch() and oklch(); l and ab are the values of
// 100 % for lightness and for the chroma axes.
func (p *scanner) labLike(s space, l, ab float32) value {
	var ch *channels
	from, isRelative := p.origin()
	if isRelative {
		ch = relative(from, s, true)
	}
	v := value{space: s}
	v.c[0] = max(p.basis(ch, l), 0)
	v.c[1] = p.basis(ch, ab)
	if s == lch || s == oklch {
		v.c[1] = max(v.c[1], 0)
		v.c[2] = p.hue(ch)
	} else {
		v.c[2] = p.basis(ch, ab)
	}
	v.c[3] = p.alpha(ch, false)
	return v
}

// predefined reads color().
func (p *scanner) predefined() value {
	from, isRelative := p.origin()
	name, call := p.word()
	s, ok := spaceNamed(name)
	if !ok || call || gamutTop(s, 0) == 0 && s != xyz50 && s != xyz65 {
		p.fail("color(): unknown colour space " + strconv.Quote(name))
		return value{}
	}
	var ch *channels
	if isRelative {
		ch = relative(from, s, false)
	}
	v := value{space: s}
	for i := range 3 {
		v.c[i] = p.basis(ch, 1)
	}
	v.c[3] = p.alpha(ch, false)
	return v
}

func spaceNamed(name string) (space, bool) {
	if name == "xyz" {
		name = "xyz-d65"
	}
	i := slices.IndexFunc(models[:], func(m model) bool { return m.name == name && name != "" })
	return space(max(i, 0)), i >= 0
}

// colorMix reads color-mix(in SPACE [METHOD hue], A [p%], B [p%]).
func (p *scanner) colorMix() value {
	if name, _ := p.word(); name != "in" {
		p.fail(`color-mix() must start with "in SPACE,"`)
		return value{}
	}
	name, _ := p.word()
	s, ok := spaceNamed(name)
	switch s {
	case displayP3, a98, prophoto, rec2020:
		ok = false
	default:
	}
	if !ok {
		p.fail("color-mix(): unknown colour space " + strconv.Quote(name))
		return value{}
	}
	method := p.method(s)
	p.comma()
	a, pa, hasA := p.share()
	p.comma()
	b, pb, hasB := p.share()
	switch {
	case !hasA && !hasB:
		pa, pb = 0.5, 0.5
	case !hasA:
		pa = 1 - pb
	case !hasB:
		pb = 1 - pa
	}
	if pa+pb == 0 {
		p.fail("the percentages of color-mix() add up to 0")
	}
	if p.err != nil {
		return value{}
	}
	return mix(s, method, a, pa, b, pb)
}

func (p *scanner) method(s space) hueMethod {
	if hueAt(s) < 0 {
		return shorter
	}
	name, call := p.word()
	if name == "" {
		return shorter
	}
	for i, m := range [...]string{"shorter", "longer", "increasing", "decreasing", "specified"} {
		if m == name && !call {
			if hue, _ := p.word(); hue != "hue" {
				p.fail(strconv.Quote(name) + ` must be followed by "hue"`)
			}
			return hueMethod(i)
		}
	}
	p.fail(strconv.Quote(name) + " is not a hue interpolation method")
	return shorter
}

// share reads a colour with a percentage before or after it.
func (p *scanner) share() (c value, part float32, given bool) {
	part, given = p.percentage()
	c = p.colour()
	if !given {
		part, given = p.percentage()
	}
	return c, part, given
}

func (p *scanner) percentage() (float32, bool) {
	p.space()
	before := p.at
	var c component
	if p.startsNumber() {
		c = p.numeric()
	} else if name, call := p.word(); call && name == "calc" {
		c = p.calc(nil)
	} else {
		p.at = before
		return 0, false
	}
	if c.kind != percent {
		p.fail("expected a percentage after the colour")
	}
	return c.v, true
}
