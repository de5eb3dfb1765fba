package pxl

import (
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/smooth"
)

func paletteFields() []field[Palette] {
	return []field[Palette]{
		{"name", func(d *decoder, p *Palette, n *json5.Node) { p.Name = d.str(n) }},
		{"colors", func(d *decoder, p *Palette, n *json5.Node) { p.Colors = d.colours(n) }},
		{"ramps", func(d *decoder, p *Palette, n *json5.Node) { p.Ramps = membersOf(d, n, d.ramp) }},
		{"roles", func(d *decoder, p *Palette, n *json5.Node) {
			p.Roles = membersOf(d, n, func(k json5.Key, v *json5.Node) TokenRole { return TokenRole{k.Name, d.role(v), k.Pos} })
		}},
		{"relationships", func(d *decoder, p *Palette, n *json5.Node) {
			p.Relations = membersOf(d, n, func(k json5.Key, v *json5.Node) Relation {
				r := Relation{Token: k.Name, Pos: k.Pos}
				fields(d, v, &r, []field[Relation]{
					{"type", func(d *decoder, r *Relation, n *json5.Node) {
						r.Type = d.oneOf(n, "derives-from", "contained-within", "adjacent-to", "paired-with")
					}},
					{"target", func(d *decoder, r *Relation, n *json5.Node) { r.Target = d.str(n) }},
				})
				if r.Type == "" || v.Get("target") == nil {
					d.bad(v, "a relationship needs a type and a target")
				}
				return r
			})
		}},
		newer("antialias", func(d *decoder, p *Palette, n *json5.Node) { p.Antialias = d.antialias(n) }),
	}
}

func (d *decoder) palette(n *json5.Node) *Palette {
	p := &Palette{pos: n.Pos}
	fields(d, n, p, paletteFields())
	return p
}

func (d *decoder) role(n *json5.Node) string {
	return d.oneOf(n, "boundary", "anchor", "fill", "shadow", "highlight")
}

// colours reads a map of token to colour string.
func (d *decoder) colours(n *json5.Node) []Entry {
	return membersOf(d, n, func(k json5.Key, v *json5.Node) Entry { return Entry{k.Name, d.str(v), k.Pos} })
}

func (d *decoder) ramp(k json5.Key, n *json5.Node) Ramp {
	r := Ramp{Name: k.Name, Steps: 3, Pos: k.Pos}
	shift := func(n *json5.Node) *Shift {
		s := &Shift{}
		fields(d, n, s, []field[Shift]{
			{"lightness", func(d *decoder, s *Shift, n *json5.Node) { s.Lightness = d.float(n) }},
			{"hue", func(d *decoder, s *Shift, n *json5.Node) { s.Hue = d.float(n) }},
			{"saturation", func(d *decoder, s *Shift, n *json5.Node) { s.Saturation = d.float(n) }},
		})
		return s
	}
	fields(d, n, &r, []field[Ramp]{
		{"base", func(d *decoder, r *Ramp, n *json5.Node) { r.Base = d.str(n) }},
		{"steps", func(d *decoder, r *Ramp, n *json5.Node) { r.Steps = d.integer(n, 1, maxRampSteps) }},
		{"shadow_shift", func(_ *decoder, r *Ramp, n *json5.Node) { r.Shadow = shift(n) }},
		{"highlight_shift", func(_ *decoder, r *Ramp, n *json5.Node) { r.Highlight = shift(n) }},
	})
	if n.Get("base") == nil {
		d.bad(n, "ramp %q needs a base colour", k.Name)
	}
	return r
}

func (d *decoder) antialias(n *json5.Node) *Antialias {
	a := &Antialias{}
	fields(d, n, a, []field[Antialias]{
		{"enabled", func(d *decoder, a *Antialias, n *json5.Node) { a.Enabled = new(d.boolean(n)) }},
		{"algorithm", func(d *decoder, a *Antialias, n *json5.Node) {
			a.Algorithm = d.oneOf(n, Algorithms()...)
		}},
		{"strength", func(d *decoder, a *Antialias, n *json5.Node) { a.Strength = new(d.float(n)) }},
		{"anchor_mode", func(d *decoder, a *Antialias, n *json5.Node) {
			a.AnchorMode = d.oneOf(n, "preserve", "reduce", "normal")
		}},
		{"gradient_shadows", func(d *decoder, a *Antialias, n *json5.Node) { a.Gradients = new(d.boolean(n)) }},
		{"respect_containment", func(d *decoder, a *Antialias, n *json5.Node) { a.Contain = new(d.boolean(n)) }},
		{"semantic_aware", func(d *decoder, _ *Antialias, n *json5.Node) { d.boolean(n) }},
		{"regions", func(d *decoder, _ *Antialias, n *json5.Node) { d.entries(n, func(json5.Key, *json5.Node) {}) }},
	})
	return a
}

// Algorithms lists the names of the antialias algorithms.
func Algorithms() []string { return smooth.Algorithms() }
