package pxl

import (
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

func spriteFields() []field[Sprite] {
	return []field[Sprite]{
		{"name", func(d *decoder, s *Sprite, n *json5.Node) { s.Name = d.str(n) }},
		{"size", func(d *decoder, s *Sprite, n *json5.Node) {
			s.Size, s.sizePos = d.pair(n, (*decoder).coord), n.Pos
		}},
		{"palette", func(d *decoder, s *Sprite, n *json5.Node) { s.Palette = d.paletteRef(n) }},
		{"source", func(d *decoder, s *Sprite, n *json5.Node) { s.Source = d.str(n) }},
		{"regions", func(d *decoder, s *Sprite, n *json5.Node) {
			s.HasRegions = true
			s.Regions = make([]Region, 0, len(n.Items))
			d.entries(n, func(k json5.Key, v *json5.Node) { d.topRegion(s, k, v) })
		}},
		{"transform", func(d *decoder, s *Sprite, n *json5.Node) { s.Transform = d.ops(n) }},
		{"metadata", func(d *decoder, s *Sprite, n *json5.Node) { d.metadata(&s.Metadata, n) }},
		{"nine_slice", func(d *decoder, s *Sprite, n *json5.Node) { s.NineSlice = d.nineSlice(n) }},
		{"antialias", func(d *decoder, s *Sprite, n *json5.Node) { s.Antialias = d.antialias(n) }},
		newer("origin", func(d *decoder, s *Sprite, n *json5.Node) { s.Metadata.Origin = d.pair(n, (*decoder).signed) }),
		newer("background", func(d *decoder, s *Sprite, n *json5.Node) { s.Background = d.str(n) }),
		newer("state-rules", func(d *decoder, s *Sprite, n *json5.Node) { s.StateRules = d.str(n) }),
		newer("state_rules", func(d *decoder, s *Sprite, n *json5.Node) { s.StateRules = d.str(n) }),
	}
}

func (d *decoder) sprite(n *json5.Node) *Sprite {
	s := &Sprite{pos: n.Pos, sizePos: n.Pos}
	fields(d, n, s, spriteFields())
	d.need(n, "name")
	if s.Palette == nil {
		if d.ref {
			d.bad(n, "missing palette")
		} else if s.Source == "" && d.err == "" {
			d.fail(n.Pos, CodeMissingPalette, `add palette: "name" or a map of tokens to colours`, "the sprite has no palette")
		}
	}
	return s
}

// need requires keys that are present and not null.
func (d *decoder) need(n *json5.Node, names ...string) {
	for _, name := range names {
		if v := n.Get(name); v == nil || v.Kind == json5.Null {
			d.bad(n, "missing %s", name)
		}
	}
}

func (d *decoder) paletteRef(n *json5.Node) *PaletteRef {
	switch n.Kind {
	case json5.String:
		return &PaletteRef{Name: n.Text, Pos: n.Pos}
	case json5.Object:
		return &PaletteRef{Inline: d.colours(n), IsMap: true, Pos: n.Pos}
	default:
	}
	d.bad(n, "palette must be a name or a map of tokens to colours, not %s", n.Kind)
	return nil
}

func (d *decoder) nineSlice(n *json5.Node) *NineSlice {
	s := &NineSlice{}
	d.need(n, "left", "right", "top", "bottom")
	fields(d, n, s, []field[NineSlice]{
		{"left", func(d *decoder, s *NineSlice, n *json5.Node) { s.Left = d.unsigned(n) }},
		{"right", func(d *decoder, s *NineSlice, n *json5.Node) { s.Right = d.unsigned(n) }},
		{"top", func(d *decoder, s *NineSlice, n *json5.Node) { s.Top = d.unsigned(n) }},
		{"bottom", func(d *decoder, s *NineSlice, n *json5.Node) { s.Bottom = d.unsigned(n) }},
	})
	return s
}

func (d *decoder) metadata(m *Metadata, n *json5.Node) {
	fields(d, n, m, []field[Metadata]{
		{"origin", func(d *decoder, m *Metadata, n *json5.Node) { m.Origin = d.pair(n, (*decoder).signed) }},
		{"attach_in", func(d *decoder, m *Metadata, n *json5.Node) { m.AttachIn = d.pair(n, (*decoder).signed) }},
		{"attach_out", func(d *decoder, m *Metadata, n *json5.Node) { m.AttachOut = d.pair(n, (*decoder).signed) }},
		{"boxes", func(d *decoder, m *Metadata, n *json5.Node) { m.Boxes = d.boxes(n, false) }},
	})
}

func (d *decoder) boxes(n *json5.Node, nulls bool) []BoxMeta {
	return membersOf(d, n, func(k json5.Key, v *json5.Node) BoxMeta {
		b := BoxMeta{Name: k.Name}
		if nulls && v.Kind == json5.Null {
			b.None = true
			return b
		}
		d.need(v, "x", "y", "w", "h")
		fields(d, v, &b, []field[BoxMeta]{
			{"x", func(d *decoder, b *BoxMeta, n *json5.Node) { b.X = d.signed(n) }},
			{"y", func(d *decoder, b *BoxMeta, n *json5.Node) { b.Y = d.signed(n) }},
			{"w", func(d *decoder, b *BoxMeta, n *json5.Node) { b.W = d.unsigned(n) }},
			{"h", func(d *decoder, b *BoxMeta, n *json5.Node) { b.H = d.unsigned(n) }},
		})
		return b
	})
}

func (d *decoder) variant(n *json5.Node) *Variant {
	v := &Variant{pos: n.Pos, basePos: n.Pos}
	fields(d, n, v, []field[Variant]{
		{"name", func(d *decoder, v *Variant, n *json5.Node) { v.Name = d.str(n) }},
		{"base", func(d *decoder, v *Variant, n *json5.Node) { v.Base, v.basePos = d.str(n), n.Pos }},
		{"palette", func(d *decoder, v *Variant, n *json5.Node) {
			if n.Kind == json5.String && !d.ref {
				v.PaletteRef = n.Text
				return
			}
			v.Palette = d.colours(n)
		}},
		{"transform", func(d *decoder, v *Variant, n *json5.Node) { v.Transform = d.ops(n) }},
	})
	d.need(n, "name", "base", "palette")
	return v
}

// topRegion decodes a region of the sprite itself. The documented dialect leaves
// out a region that is malformed and keeps the rest.
func (d *decoder) topRegion(s *Sprite, k json5.Key, v *json5.Node) {
	if d.ref {
		r := d.region(v, 0)
		r.Token, r.Pos = k.Name, k.Pos
		s.Regions = append(s.Regions, r)
		return
	}
	outer, outerAt := d.err, d.errAt
	d.err = ""
	var r Region
	if v.Kind == json5.String {
		if r.Shape = ShapeBackground; v.Text != "background" {
			d.bad(v, "unknown region %q; the only region given as a string is \"background\"", v.Text)
		}
	} else {
		r = d.region(v, 0)
	}
	r.Token, r.Pos = k.Name, k.Pos
	if d.err != "" {
		d.fail(d.errAt, CodeSyntax, "the region is skipped until this is fixed", "region %q: %s", k.Name, d.err)
	} else {
		s.Regions = append(s.Regions, r)
	}
	d.err, d.errAt = outer, outerAt
}
