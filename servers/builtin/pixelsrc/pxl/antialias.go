package pxl

import (
	"image"
	"image/color"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/smooth"
)

// smoothing works out the antialias of a sprite: of the call, else of the sprite,
// else of its palette. The reference never smooths by what a file says.
func (r *renderer) smoothing(rec *recipe) (smooth.Options, bool) {
	o := smooth.Options{
		Algorithm: smooth.Algorithm(r.opt.Antialias), Containment: true, GradientShadows: true,
		Published: !r.reference(), Strength: -1,
	}
	if r.opt.Antialias == "none" {
		return o, false
	}
	if rec != nil && !r.reference() {
		var files []*Antialias
		if p := rec.colors.source; p != nil && p.Antialias != nil {
			files = append(files, p.Antialias)
		}
		if a := rec.sprite.Antialias; a != nil {
			files = append(files, a)
		}
		on, named := false, o.Algorithm
		for _, a := range files {
			on = a.merge(&o, on)
		}
		if named != "" {
			o.Algorithm = named
		} else if !on {
			o.Algorithm = ""
		}
	}
	if r.opt.Strength != nil {
		o.Strength = float32(min(max(*r.opt.Strength, 0), 1))
	}
	if o.Strength < 0 {
		o.Strength = 1
		if o.Algorithm == smooth.AABlur || (r.reference() && o.Algorithm != smooth.Scale2x) {
			o.Strength = 0.5
		}
	}
	return o, o.Algorithm != "" && o.Algorithm != smooth.Nearest && o.Algorithm.Factor() > 0
}

// merge lays one configuration over the options; it reports whether smoothing is on.
func (a *Antialias) merge(o *smooth.Options, on bool) bool {
	if a.Enabled != nil {
		on = *a.Enabled
	}
	if a.Algorithm != "" {
		o.Algorithm = smooth.Algorithm(a.Algorithm)
	}
	if a.Strength != nil {
		o.Strength = float32(min(max(*a.Strength, 0), 1))
	}
	if a.AnchorMode != "" {
		o.Anchors = smooth.Anchors(a.AnchorMode)
	}
	if a.Contain != nil {
		o.Containment = *a.Contain
	}
	if a.Gradients != nil {
		o.GradientShadows = *a.Gradients
	}
	return on
}

// antialias smooths a drawn sprite. It returns the algorithm that was applied, "" for none.
func (r *renderer) antialias(p *picture) (*bitmap, string) {
	o, on := r.smoothing(p.recipe)
	if !on {
		return p.b, ""
	}
	return r.smooth(p.b, o, r.context(p), r.sink(p.recipe.object), p.recipe.pos)
}

// smoothPlain smooths a picture of which only the pixels are known, as the call asks.
func (r *renderer) smoothPlain(b *bitmap) (*bitmap, string) {
	o, on := r.smoothing(nil)
	if !on {
		return b, ""
	}
	return r.smooth(b, o, nil, r.sink(""), 0)
}

func (r *renderer) smooth(b *bitmap, o smooth.Options, ctx *smooth.Context, s *sink, pos int32) (*bitmap, string) {
	k := o.Algorithm.Factor()
	if b.w*k > MaxOutSide || b.h*k > MaxOutSide || b.w*b.h*k*k > MaxOutArea {
		s.fail(pos, CodeLimit, "use a smaller picture", "the picture is too large for %s; it is not smoothed", o.Algorithm)
		return b, ""
	}
	if n := b.w * b.h * k * k; !r.spend(s, pos, 4*n, n) {
		return b, ""
	}
	o.Stop = func() bool { return r.doc.stopped() != nil }
	m, err := smooth.Apply(b.image(), o, ctx)
	if err != nil {
		s.warn(pos, CodeRange, "", "%v", err)
		return b, ""
	}
	return fromImage(m), string(o.Algorithm)
}

// context tells the filters what the visible regions mean: roles, edges between a
// region and the one around it, and colours that derive from each other.
func (r *renderer) context(p *picture) *smooth.Context {
	if p.b.tok == nil || len(p.names) == 0 {
		return nil
	}
	src := p.recipe.colors.source
	roles := make([]smooth.Role, len(p.names))
	for i, role := range p.recipe.roles() {
		roles[i] = roleOf(role)
	}
	n := p.b.w * p.b.h
	c := &smooth.Context{W: p.b.w, H: p.b.h, Roles: make([]smooth.Role, n)}
	for i, t := range p.b.tok {
		if int(t) < len(roles) {
			c.Roles[i] = roles[t]
		}
	}
	if src != nil {
		for i, rel := range src.Relations {
			if i*(n+len(p.names)) > maxDrawn || r.doc.stopped() != nil {
				break
			}
			p.relate(c, rel)
		}
	}
	return c
}

func roleOf(name string) smooth.Role {
	switch name {
	case "anchor":
		return smooth.Anchor
	case "boundary":
		return smooth.Boundary
	case "shadow":
		return smooth.Shadow
	case "highlight":
		return smooth.Highlight
	case "fill":
		return smooth.Fill
	}
	return smooth.NoRole
}

// relate adds one relationship of the palette to the context.
func (p *picture) relate(c *smooth.Context, rel Relation) {
	if rel.Type != "derives-from" && rel.Type != "contained-within" {
		return
	}
	from, to := p.member(rel.Token), p.member(rel.Target)
	var edge []image.Point
	for i, t := range p.b.tok {
		if int(t) < len(from) && from[t] && p.besides(i, to) {
			edge = append(edge, image.Pt(i%p.b.w, i/p.b.w))
		}
	}
	if len(edge) == 0 {
		return
	}
	if rel.Type == "contained-within" {
		if c.Edges == nil {
			c.Edges = make([]bool, p.b.w*p.b.h)
		}
		for _, e := range edge {
			c.Edges[e.Y*p.b.w+e.X] = true
		}
		return
	}
	colour := func(token string) color.NRGBA {
		if i := p.recipe.colors.find(token); i >= 0 {
			return p.recipe.colors.colours[i]
		}
		return magenta()
	}
	c.Gradients = append(c.Gradients, smooth.Gradient{From: colour(rel.Token), To: colour(rel.Target), Boundary: edge})
}

// member marks the regions of a token.
func (p *picture) member(token string) []bool {
	out := make([]bool, len(p.names))
	for i, n := range p.names {
		out[i] = Bare(n) == Bare(token)
	}
	return out
}

// besides reports whether one of the four neighbours of pixel i belongs to the regions.
func (p *picture) besides(i int, regions []bool) bool {
	x, y, w, h := i%p.b.w, i/p.b.w, p.b.w, p.b.h
	in := func(ok bool, j int) bool {
		return ok && int(p.b.tok[j]) < len(regions) && regions[p.b.tok[j]]
	}
	return in(x > 0, i-1) || in(x < w-1, i+1) || in(y > 0, i-w) || in(y < h-1, i+w)
}
