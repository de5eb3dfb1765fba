package pxl

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// magenta is what a pixel without a valid colour is painted with.
func magenta() color.NRGBA { return color.NRGBA{R: 255, B: 255, A: 255} }

// maxTokens is how many tokens a palette may have before its ramps are cut off.
const maxTokens = 16 << 10

// tokens is a palette with its colours worked out. It is shared and never written to
// once built; with and clone make changed copies.
type tokens struct {
	names   []string
	values  []string // colour strings, variables replaced
	colours []color.NRGBA
	bad     []bool // the colour did not parse
	index   map[string]int
	source  *Palette // roles, relations, antialias; nil for inline ones
	missing bool     // there is no such palette
	diags   []Diagnostic
}

// cache holds what several renders of a document share.
type cache struct {
	named    map[string]*tokens
	inline   map[*PaletteRef]*tokens
	includes map[string]*included
	colours  map[string]parsed
	files    int
}

type parsed struct {
	c   color.NRGBA
	err error
}

// otherSpelling is {x} for x and x for {x}.
func otherSpelling(token string) string {
	if b := Bare(token); b != token {
		return b
	}
	return "{" + token + "}"
}

// Bare is the spelling of a token without braces.
func Bare(token string) string {
	if n := len(token); n > 2 && token[0] == '{' && token[n-1] == '}' {
		return token[1 : n-1]
	}
	return token
}

// find gives the index of a token; -1 when the palette lacks it.
func (t *tokens) find(token string) int {
	if i, ok := t.index[token]; ok {
		return i
	}
	return -1
}

// clone copies what recolouring changes.
func (t *tokens) clone() *tokens {
	c := *t
	c.names, c.values, c.colours, c.bad = slices.Clone(t.names), slices.Clone(t.values), slices.Clone(t.colours), slices.Clone(t.bad)
	c.index = make(map[string]int, len(t.index)+4)
	maps.Copy(c.index, t.index)
	return &c
}

// put gives a token a colour, adding it when it is new.
func (t *tokens) put(token, value string, p parsed) {
	i, ok := t.index[token]
	if !ok {
		i = len(t.names)
		t.index[token] = i
		t.names, t.values = append(t.names, token), append(t.values, value)
		t.colours, t.bad = append(t.colours, p.c), append(t.bad, false)
	}
	t.values[i], t.colours[i], t.bad[i] = value, p.c, p.err != nil
}

// bothSpellings lets the tokens from number first on be found with braces and without.
func (t *tokens) bothSpellings(first int) {
	for i := first; i < len(t.names); i++ {
		if o := otherSpelling(t.names[i]); t.find(o) < 0 {
			t.index[o] = i
		}
	}
}

// set is put for one of a palette that is built already.
func (t *tokens) set(d Dialect, token, value string, p parsed) {
	n := len(t.names)
	if t.put(token, value, p); d == Documented {
		t.bothSpellings(n)
	}
}

// parse reads a colour once; what does not parse is magenta. The caller holds the lock.
func (d *Document) parse(value string) parsed {
	if p, ok := d.cache.colours[value]; ok {
		return p
	}
	c, err := colour.Parse(value)
	if err != nil {
		c = magenta()
	}
	if d.cache.colours == nil {
		d.cache.colours = map[string]parsed{}
	}
	p := parsed{c, err}
	d.cache.colours[value] = p
	return p
}

// Colour reads a colour string with the document's cache.
func (d *Document) Colour(value string) (color.NRGBA, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.parse(value)
	return p.c, p.err
}

// build works out the colours of a list of entries.
func (d *Document) build(object string, entries []Entry, src *Palette, at *int32) *tokens {
	t := &tokens{source: src, index: make(map[string]int, 2*len(entries)+8)}
	s := &sink{doc: d, object: object, list: &t.diags}
	place := func(p int32) int32 {
		if at != nil {
			return *at
		}
		return p
	}
	vars := variablesOf(entries)
	add := func(token, value string, pos int32) {
		p := d.parse(value)
		if p.err != nil {
			s.fail(place(pos), CodeColour, s.colourHelp(value), "colour of %s, painted magenta: %v", token, p.err)
		}
		t.put(token, value, p)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Token, "--") {
			continue
		}
		value, err := vars.resolve(e.Value)
		if err != nil {
			s.warn(place(e.Pos), CodeColour, vars.help(err), "colour of %s, painted magenta: %v", e.Token, err)
			t.put(e.Token, e.Value, parsed{magenta(), err})
			continue
		}
		add(e.Token, value, e.Pos)
	}
	if src != nil {
		for _, r := range src.Ramps {
			if len(t.names) > maxTokens {
				s.fail(place(r.Pos), CodeLimit, "use fewer or shorter ramps", "the palette has more than %d tokens; ramps from %q on are skipped", maxTokens, r.Name)
				break
			}
			d.expandRamp(r, vars, add)
		}
	}
	if d.dialect == Documented {
		t.bothSpellings(0)
	}
	return t
}

// colourHelp says what may have been meant by a colour that does not parse.
func (s *sink) colourHelp(value string) string {
	if len(*s.list) >= maxDiagnostics {
		return ""
	}
	if strings.HasPrefix(value, "#") {
		return "expected 3, 4, 6 or 8 hex digits after #"
	}
	if !strings.Contains(value, "(") {
		if near := nearest(strings.ToLower(strings.TrimSpace(value)), colour.Names()); near != "" {
			return "did you mean " + near + "?"
		}
	}
	return "write #RRGGBB, a CSS colour name, or a function such as rgb(255 0 0)"
}

// expandRamp adds the tokens of a ramp: {x_2} {x_1} {x} {x+1} {x+2}. A base that is no colour adds nothing.
func (d *Document) expandRamp(r Ramp, vars *variables, add func(token, value string, pos int32)) {
	base := r.Base
	if d.dialect == Documented {
		if v, err := vars.resolve(base); err == nil {
			base = v
		}
	}
	p := d.parse(base)
	if p.err != nil {
		return
	}
	shadow, light := Shift{-15, 10, 5}, Shift{12, -5, -10}
	if r.Shadow != nil {
		shadow = *r.Shadow
	}
	if r.Highlight != nil {
		light = *r.Highlight
	}
	step := func(s Shift, k int) string {
		h, sat, l := colour.ToHSL(p.c)
		f := float64(k)
		return colour.Hex(colour.FromHSL(h+f*s.Hue, sat+f*s.Saturation, l+f*s.Lightness, p.c.A))
	}
	down := (r.Steps - 1) / 2
	for k := down; k >= 1; k-- {
		add(fmt.Sprintf("{%s_%d}", r.Name, k), step(shadow, k), r.Pos)
	}
	add("{"+r.Name+"}", base, r.Pos)
	for k := 1; k <= r.Steps-1-down; k++ {
		add(fmt.Sprintf("{%s+%d}", r.Name, k), step(light, k), r.Pos)
	}
}

// paletteOf works out the palette a sprite refers to.
func (d *Document) paletteOf(ref *PaletteRef, object string) *tokens {
	d.mu.Lock()
	defer d.mu.Unlock()
	if ref == nil {
		return &tokens{missing: true}
	}
	if ref.IsMap {
		if t, ok := d.cache.inline[ref]; ok {
			return t
		}
		t := d.build(object+" inline palette", ref.Inline, nil, nil)
		if d.cache.inline == nil {
			d.cache.inline = map[*PaletteRef]*tokens{}
		}
		d.cache.inline[ref] = t
		return t
	}
	if t, ok := d.cache.named[ref.Name]; ok {
		return t
	}
	t := d.named(ref, object)
	if t.missing {
		return t // its diagnostics are about this reference
	}
	if d.cache.named == nil {
		d.cache.named = map[string]*tokens{}
	}
	d.cache.named[ref.Name] = t
	return t
}

// named works out a palette known by name: of the file, built in or included.
func (d *Document) named(ref *PaletteRef, object string) *tokens {
	name := ref.Name
	var p *Palette
	ok := false
	switch {
	case strings.HasPrefix(name, "@include:"):
		return d.included(strings.TrimPrefix(name, "@include:"), ref.Pos, object)
	case strings.HasPrefix(name, "@"):
		p, ok = Builtin(name[1:])
	default:
		p, ok = d.palettes[name]
	}
	if !ok {
		t := &tokens{missing: true}
		s := &sink{doc: d, object: object, list: &t.diags}
		known := make([]string, 0, len(d.palettes)+8)
		for _, o := range d.objects {
			if o.Palette != nil {
				known = append(known, o.Palette.Name)
			}
		}
		for _, b := range Builtins() {
			known = append(known, "@"+b)
		}
		help := cmp.Or(didYouMean(name, known), "define it, or use a built-in one such as @pico8")
		s.warn(ref.Pos, CodeMissingPalette, help, "no palette %q; everything it would colour is magenta", name)
		return t
	}
	return d.build(fmt.Sprintf("palette %q", name), p.Colors, p, nil)
}
