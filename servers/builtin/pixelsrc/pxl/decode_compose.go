package pxl

import (
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

func (d *decoder) composition(n *json5.Node) *Composition {
	c := &Composition{CellSize: [2]int{1, 1}, pos: n.Pos}
	fields(d, n, c, []field[Composition]{
		{"name", func(d *decoder, c *Composition, n *json5.Node) { c.Name = d.str(n) }},
		{"base", func(d *decoder, c *Composition, n *json5.Node) { c.Base = d.str(n) }},
		{"size", func(d *decoder, c *Composition, n *json5.Node) { c.Size = d.pair(n, (*decoder).unsigned) }},
		{"cell_size", func(d *decoder, c *Composition, n *json5.Node) {
			c.CellSize = *d.pair(n, func(d *decoder, n *json5.Node) int { return d.integer(n, 1, maxInt) })
		}},
		{"sprites", func(d *decoder, c *Composition, n *json5.Node) {
			c.Symbols = membersOf(d, n, func(k json5.Key, v *json5.Node) Symbol {
				s := Symbol{Key: k.Name, None: v.Kind == json5.Null, Pos: k.Pos}
				if !s.None {
					s.Name = d.str(v)
				}
				return s
			})
		}},
		{"layers", func(d *decoder, c *Composition, n *json5.Node) { c.Layers = listOf(d, n, d.layer) }},
	})
	d.need(n, "name", "layers")
	if d.ref {
		d.need(n, "sprites")
	}
	return c
}

func (d *decoder) layer(n *json5.Node) Layer {
	l := Layer{Opacity: 1, Pos: n.Pos, MapPos: n.Pos}
	fields(d, n, &l, []field[Layer]{
		{"name", func(d *decoder, l *Layer, n *json5.Node) { l.Name = d.str(n) }},
		{"fill", func(d *decoder, l *Layer, n *json5.Node) { l.Fill = d.str(n) }},
		{"map", func(d *decoder, l *Layer, n *json5.Node) { l.Map, l.HasMap, l.MapPos = d.strings(n), true, n.Pos }},
		{"transform", func(d *decoder, l *Layer, n *json5.Node) { l.Transform = d.ops(n) }},
		{"blend", func(d *decoder, l *Layer, n *json5.Node) { l.Blend, l.blendPos = d.str(n), n.Pos }},
		{"opacity", func(d *decoder, l *Layer, n *json5.Node) {
			l.HasOpacity, l.opacityPos = true, n.Pos
			if n.Kind == json5.String {
				l.OpacityText = n.Text
				return
			}
			l.Opacity = d.float(n)
		}},
		newer("sprite", func(d *decoder, l *Layer, n *json5.Node) { l.Sprite = d.str(n) }),
		newer("x", func(d *decoder, l *Layer, n *json5.Node) { l.X = d.signed(n) }),
		newer("y", func(d *decoder, l *Layer, n *json5.Node) { l.Y = d.signed(n) }),
		newer("position", func(d *decoder, l *Layer, n *json5.Node) {
			p := d.pair(n, (*decoder).signed)
			l.X, l.Y = p[0], p[1]
		}),
	})
	return l
}

// stateRules reads the list form, and in the documented dialect also the map form
// selector → properties, with `rules` or `states` around it or not.
func (d *decoder) stateRules(n *json5.Node) *StateRules {
	s := &StateRules{}
	d.need(n, "name")
	for i, k := range n.Keys {
		v := &n.Items[i]
		switch k.Name {
		case "name":
			s.Name = d.str(v)
		case "type":
		case "rules", "states":
			if v.Kind == json5.Object && !d.ref {
				d.entries(v, func(k json5.Key, v *json5.Node) {
					s.Rules = append(s.Rules, d.stateApply(StateRule{Selector: k.Name, Pos: k.Pos}, v))
				})
				continue
			}
			d.list(v, func(v *json5.Node) { s.Rules = append(s.Rules, d.stateRule(v)) })
		default:
			d.notes.warn(k.Pos, CodeUnknownField, "", "unknown key %q, ignored", k.Name)
		}
	}
	if d.ref {
		d.need(n, "rules")
	}
	return s
}

func (d *decoder) stateRule(n *json5.Node) StateRule {
	r := StateRule{Pos: n.Pos}
	d.need(n, "selector", "apply")
	if sel := n.Get("selector"); sel != nil {
		r.Selector = d.str(sel)
	}
	if apply := n.Get("apply"); apply != nil {
		r = d.stateApply(r, apply)
	}
	return r
}

func (d *decoder) stateApply(r StateRule, n *json5.Node) StateRule {
	fields(d, n, &r, []field[StateRule]{
		{"color", func(d *decoder, r *StateRule, n *json5.Node) { r.Color = d.str(n) }},
		{"visible", func(d *decoder, r *StateRule, n *json5.Node) { r.Visible = new(d.boolean(n)) }},
		{"z", func(d *decoder, r *StateRule, n *json5.Node) { r.Z = new(d.signed(n)) }},
		{"transform", func(d *decoder, r *StateRule, n *json5.Node) { r.Transform = d.str(n) }},
		{"filter", func(d *decoder, r *StateRule, n *json5.Node) { r.Filter = d.loose(n) }},
		{"animation", func(d *decoder, r *StateRule, n *json5.Node) { r.Animation = d.loose(n) }},
		{"drop-shadow", func(d *decoder, r *StateRule, n *json5.Node) { r.Shadow = d.loose(n) }},
		newer("opacity", func(d *decoder, r *StateRule, n *json5.Node) { r.Opacity = new(d.float(n)) }),
	})
	return r
}

// loose reads a string that the reference does not look at.
func (d *decoder) loose(n *json5.Node) string {
	if d.ref {
		return ""
	}
	return d.str(n)
}

// particle reads an emitter. The reference checks no more of it than that it is there.
func (d *decoder) particle(n *json5.Node) *Particle {
	p := &Particle{Rate: 1, Lifetime: [2]int{10, 20}, Seed: 42, pos: n.Pos}
	d.need(n, "name", "sprite", "emitter")
	if v := n.Get("name"); v != nil {
		p.Name = d.str(v)
	}
	if v := n.Get("sprite"); v != nil {
		p.Sprite = d.str(v)
	}
	switch e := n.Get("emitter"); {
	case e == nil:
	case e.Kind != json5.Object:
		d.bad(e, "expected an object, found %s", e.Kind)
	case !d.ref:
		d.emitter(p, e)
	}
	return p
}

// transformObject checks the schema of a user-defined transform, which is never drawn.
func (d *decoder) transformObject(n *json5.Node) {
	d.need(n, "name")
	if v := n.Get("name"); v != nil {
		d.str(v)
	}
	if v := n.Get("ops"); v != nil && v.Kind != json5.Null {
		d.ops(v)
	}
	if v := n.Get("frames"); v != nil && v.Kind != json5.Null && d.unsigned(v) == 0 {
		d.notes.warn(v.Pos, CodeRange, "give at least one frame", "the transform has no frames")
	}
}

func (d *decoder) importObject(n *json5.Node) {
	d.need(n, "from")
	if v := n.Get("from"); v != nil {
		d.str(v)
	}
	if v := n.Get("as"); v != nil && v.Kind != json5.Null {
		d.str(v)
	}
	for _, key := range []string{"sprites", "palettes", "transforms", "animations"} {
		if v := n.Get(key); v != nil && v.Kind != json5.Null {
			d.strings(v)
		}
	}
}

// number reads a number out of text such as "12" or " 0.5 ".
func number(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && v == v && v-v == 0
}
