package pxl

import (
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Check tells everything that is wrong or doubtful in a document: what reading it
// found, what drawing every object finds, and what can be said of objects that are
// not drawn. It draws within the budget of one call.
func (d *Document) Check() []Diagnostic {
	c := &checker{r: &renderer{doc: d, opt: RenderOptions{Scale: 1}, checking: true}, doc: d}
	c.r.diags = slices.Concat(d.diags, d.notes)
	shared := map[string]Kind{}
	for i := range d.objects {
		if d.stopped() != nil {
			break
		}
		o := &d.objects[i]
		c.s = c.r.sink(o.title())
		c.sharedName(shared, o)
		c.object(o)
	}
	for _, k := range Drawable() {
		for _, name := range d.names(k) {
			if obj, ok := d.Find(k, name); ok && d.stopped() == nil {
				_ = c.r.object(&Result{}, obj)
			}
		}
	}
	return sortDiagnostics(c.r.diags)
}

type checker struct {
	r   *renderer
	doc *Document
	s   *sink
}

// sharedName warns of a sprite, transform or state-rules that takes a name another of these kinds has.
func (c *checker) sharedName(seen map[string]Kind, o *Object) {
	switch o.Kind {
	case KindSprite, KindTransform, KindStateRules:
		if k, ok := seen[o.Name]; ok && (k != KindSprite || o.Kind != KindSprite) {
			c.s.warn(o.Node.Pos, CodeDuplicateName, "rename one of them", "the name %q is already used by a %s", o.Name, k)
		}
		seen[o.Name] = o.Kind
	default:
	}
}

func (c *checker) object(o *Object) {
	switch o.Kind {
	case KindPalette:
		c.palette(o.Palette)
	case KindSprite:
		c.sprite(o.Sprite)
	case KindAnimation:
		c.animation(o.Animation)
	case KindStateRules:
		if len(o.StateRules.Rules) == 0 {
			c.s.warn(o.Node.Pos, CodeNoRegions, "add rules", "it has no rules")
		}
		for i := range o.StateRules.Rules {
			c.r.active(o.StateRules, &o.StateRules.Rules[i])
		}
	case KindParticle:
		c.particle(o.Node)
	case KindImport:
		c.importObject(o)
	default:
	}
}

func (c *checker) palette(p *Palette) {
	t := c.doc.paletteOf(&PaletteRef{Name: p.Name, Pos: p.pos}, "")
	if c.doc.palettes[p.Name] == p {
		c.r.diags = append(c.r.diags, t.diags...)
	}
	has := func(token string) bool { return t.find(token) >= 0 }
	for _, r := range p.Roles {
		if !has(r.Token) {
			c.s.fail(r.Pos, CodeRoleToken, didYouMean(r.Token, t.names), "roles names token %q, which has no colour", r.Token)
		}
	}
	for _, r := range p.Relations {
		for _, token := range []string{r.Token, r.Target} {
			if !has(token) {
				c.s.fail(r.Pos, CodeRelationship, didYouMean(token, t.names), "a relationship names token %q, which has no colour", token)
			}
		}
	}
	seen := map[string]string{}
	for _, e := range p.Colors {
		if other, ok := seen[Bare(e.Token)]; ok && other != e.Token {
			c.s.warn(e.Pos, CodeDuplicateName, "keep one of them", "%s and %s are two spellings of the same token", other, e.Token)
		}
		seen[Bare(e.Token)] = e.Token
	}
	c.circles(p)
}

// circles tells each circle of derives-from once, with its path.
func (c *checker) circles(p *Palette) {
	next := map[string]Relation{}
	for _, r := range p.Relations {
		if r.Type == "derives-from" {
			next[r.Token] = r
		}
	}
	done := map[string]bool{}
	for _, r := range p.Relations {
		var path []string
		at := map[string]int{}
		for token := r.Token; !done[token]; token = next[token].Target {
			if k, ok := at[token]; ok {
				c.s.fail(next[token].Pos, CodeCircular, "give one of them a colour of its own", "derives-from refers back to itself: %s", strings.Join(append(path[k:], token), " -> "))
				break
			}
			at[token] = len(path)
			path = append(path, token)
			if _, ok := next[token]; !ok {
				break
			}
		}
		for _, token := range path {
			done[token] = true
		}
	}
}

func (c *checker) sprite(s *Sprite) {
	if s.HasRegions && s.Source != "" {
		c.s.warn(s.pos, CodeConflict, "remove one of them", "it has both regions and a source; the source wins")
	}
	for i := range s.Regions {
		c.region(&s.Regions[i], s.Regions[i].Token)
	}
}

// region warns of shapes that lose, and of modifiers that are not drawn.
func (c *checker) region(g *Region, token string) {
	if g.several {
		c.s.warn(g.Pos, CodeConflict, "keep one shape, or combine them in a union", "region %q has several shapes; %s wins", token, g.Shape)
	}
	if m := g.More; m != nil {
		for _, name := range m.undrawn(g, c.r.reference()) {
			c.s.warn(g.Pos, CodeModifier, "", "%s of region %q is not drawn", name, token)
		}
	}
	for i := range g.Subs {
		c.region(&g.Subs[i], token)
	}
	for i := range g.Minus {
		c.region(&g.Minus[i], token)
	}
	if g.Base != nil {
		c.region(g.Base, token)
	}
}

// undrawn lists the modifiers of a region that have no effect.
func (m *Modifiers) undrawn(g *Region, reference bool) []string {
	list := []struct {
		name string
		on   bool
	}{
		{"antialias", m.Antialias},
		{"offset", m.Offset != nil && g.Shape != ShapeShadow},
		{"thickness", m.Thickness != nil && g.Shape != ShapeStroke && (reference || (g.Shape != ShapeLine && g.Shape != ShapeOutline))},
		{"round", m.Round > 0 && (reference || (g.Shape != ShapeRect && g.Shape != ShapeStroke))},
		{"x", reference && m.X != nil},
		{"y", reference && m.Y != nil},
		{"repeat", reference && m.Repeat != nil},
		{"transform", reference && m.Transform != ""},
		{"jitter", reference && (m.JitterX != nil || m.JitterY != nil)},
		{"within", reference && m.Within != ""},
		{"adjacent-to", reference && m.AdjacentTo != ""},
	}
	var out []string
	for _, l := range list {
		if l.on {
			out = append(out, l.name)
		}
	}
	return out
}

func (c *checker) animation(a *Animation) {
	if len(a.Frames) > 0 && len(a.Keyframes) > 0 {
		c.s.warn(a.pos, CodeConflict, "remove one of them", "it has both frames and keyframes; the frames win")
	}
	for i := range a.Keyframes {
		k := &a.Keyframes[i]
		if k.Sprite != "" && !c.draws(k.Sprite) {
			c.s.warn(k.Pos, CodeFrame, c.r.suggest(c.s, k.Sprite, KindSprite, KindVariant, KindComposition), "no sprite or composition %q; the frame is skipped", k.Sprite)
		}
	}
}

func (c *checker) draws(name string) bool {
	return c.doc.sprites[name] != nil || c.doc.variants[name] != nil || c.doc.compositions[name] != nil
}

func (c *checker) particle(n *json5.Node) {
	if v := n.Get("name"); v != nil && v.Text == "" {
		c.s.fail(v.Pos, CodeDuplicateName, "give it a name", "the particle's name is empty")
	}
	if v := n.Get("sprite"); v != nil && v.Text == "" {
		c.s.fail(v.Pos, CodeMissingPalette, "name a sprite", "the particle's sprite is empty")
	} else if v != nil && !c.draws(v.Text) {
		c.s.warn(v.Pos, CodeMissingSprite, c.r.suggest(c.s, v.Text, KindSprite, KindVariant), "no sprite %q", v.Text)
	}
	if e := n.Get("emitter"); e != nil {
		if l := e.Get("lifetime"); l != nil && len(l.Items) == 2 && l.Items[0].Float() > l.Items[1].Float() {
			c.s.warn(l.Pos, CodeRange, "write the smaller number first", "the lifetime's minimum exceeds its maximum")
		}
	}
}

// importObject checks an import by itself; what it names is checked where projects are known.
func (c *checker) importObject(o *Object) {
	n := o.Node
	if o.Name == "" {
		c.s.fail(n.Pos, CodeRange, "name the file to import", "from is empty")
	}
	if as := n.Get("as"); as != nil && as.Kind == json5.String {
		if as.Text == "" || strings.ContainsAny(as.Text, ":/") {
			c.s.fail(as.Pos, CodeRange, "use a plain name", "alias %q is empty or contains : or /", as.Text)
		}
		if c.doc.palettes[as.Text] != nil || c.doc.sprites[as.Text] != nil {
			c.s.warn(as.Pos, CodeShadowed, "use another alias", "alias %q is also the name of a palette or sprite in this file", as.Text)
		}
	}
	for _, key := range []string{"sprites", "palettes", "transforms", "animations"} {
		list := n.Get(key)
		if list == nil {
			continue
		}
		for i := range list.Items {
			if v := &list.Items[i]; strings.ContainsAny(v.Text, ":/") {
				c.s.fail(v.Pos, CodeRange, "use a plain name", "imported name %q contains : or /", v.Text)
			}
		}
	}
}
