// Package smooth scales pixel art: without filtering, by fractions, and with filters
// that soften its stair steps.
package smooth

import (
	"fmt"
	"image"
	"image/color"
	"strings"
)

// Algorithm is the name of a filter as files write it.
type Algorithm string

// The filters. Nearest changes nothing.
const (
	Nearest Algorithm = "nearest"
	Scale2x Algorithm = "scale2x"
	HQ2x    Algorithm = "hq2x"
	HQ4x    Algorithm = "hq4x"
	XBR2x   Algorithm = "xbr2x"
	XBR4x   Algorithm = "xbr4x"
	AABlur  Algorithm = "aa-blur"
)

// Algorithms lists the names of the filters, Nearest first.
func Algorithms() []string {
	return []string{string(Nearest), string(Scale2x), string(HQ2x), string(HQ4x), string(XBR2x), string(XBR4x), string(AABlur)}
}

// Factor is how many times larger a filter's result is, 0 for an unknown name.
func (a Algorithm) Factor() int {
	switch a {
	case Scale2x, HQ2x, XBR2x:
		return 2
	case HQ4x, XBR4x:
		return 4
	case Nearest, AABlur, "":
		return 1
	}
	return 0
}

// Anchors says what a filter does with the pixels of anchor regions.
type Anchors string

// Anchor modes: Preserve keeps the pixels as they are, Reduce softens them less,
// Normal treats them like any other.
const (
	Preserve Anchors = "preserve"
	Reduce   Anchors = "reduce"
	Normal   Anchors = "normal"
)

// Options are the knobs of the filters.
type Options struct {
	Algorithm Algorithm
	// Strength is 0 (plain enlarging) to 1.
	Strength float32
	// Anchors is Preserve when empty.
	Anchors Anchors
	// Containment keeps edges between a region and the one it lies within hard.
	Containment bool
	// GradientShadows softens the edges between colours that derive from each other.
	GradientShadows bool
	// Published selects the published rules of hq and xBR, which do soften
	// stairs; without it they are those of the reference engine, which hardly do.
	Published bool
	// Stop is asked at each row whether to give up, which leaves the rest as it is;
	// nil: never.
	Stop func() bool
}

func (o Options) stopped() bool { return o.Stop != nil && o.Stop() }

// Role is what a pixel's region is for.
type Role uint8

// Roles, in rising priority where several regions cover one pixel.
const (
	NoRole Role = iota
	Fill
	Highlight
	Shadow
	Boundary
	Anchor
)

// Gradient is a pair of colours of which one derives from the other, with the
// pixels of the first that touch the second.
type Gradient struct {
	From, To color.NRGBA
	Boundary []image.Point
}

// Context is what regions say about the pixels of one canvas. A nil Context
// says nothing.
type Context struct {
	W, H int
	// Roles has one entry per canvas pixel, row by row, or is nil.
	Roles []Role
	// Edges marks the canvas pixels of an inner region that touch the region
	// around it, or is nil.
	Edges []bool
	// Gradients are in the order of their definition.
	Gradients []Gradient

	// shadows marks the pixels in some gradient's boundary.
	shadows []bool
}

// Apply filters an image. The result is Factor() times as large; the input is
// not changed. An unknown algorithm is an error.
func Apply(img *image.NRGBA, o Options, ctx *Context) (*image.NRGBA, error) {
	k := o.Algorithm.Factor()
	if k == 0 {
		return nil, fmt.Errorf("antialias: unknown algorithm %q: use one of %s", o.Algorithm, strings.Join(Algorithms(), ", "))
	}
	ctx = ctx.prepared()
	src := view(img)
	out := src
	switch o.Algorithm {
	case Scale2x:
		out = scale2x(src, o, ctx)
	case HQ2x, HQ4x, XBR2x, XBR4x:
		switch {
		case o.Published:
			out = soften(src, k, o, ctx)
		case o.Algorithm == HQ2x || o.Algorithm == HQ4x:
			out = hq(src, k, o, ctx)
		default:
			out = xbr2x(src, o, ctx)
			if k == 4 {
				out = xbr2x(out, o, ctx.Scaled(2).prepared())
			}
		}
	case AABlur:
		out = blur(src, o, ctx)
	default:
		return Scale(img, 1), nil
	}
	if o.GradientShadows && ctx != nil && len(ctx.Gradients) > 0 {
		out = gradients(out, o, ctx.Scaled(k))
	}
	return out.image(), nil
}

// prepared is the context with what the filters derive from it.
func (c *Context) prepared() *Context {
	if c == nil || c.shadows != nil {
		return c
	}
	d := *c
	d.shadows = make([]bool, c.W*c.H)
	for _, g := range c.Gradients {
		for _, p := range g.Boundary {
			if p.X >= 0 && p.Y >= 0 && p.X < c.W && p.Y < c.H {
				d.shadows[p.Y*c.W+p.X] = true
			}
		}
	}
	return &d
}

// Scaled is the context of the canvas enlarged k times.
func (c *Context) Scaled(k int) *Context {
	if c == nil || k == 1 {
		return c
	}
	d := &Context{W: c.W * k, H: c.H * k}
	if c.Roles != nil {
		d.Roles = blocks(c.Roles, c.W, c.H, k)
	}
	if c.Edges != nil {
		d.Edges = blocks(c.Edges, c.W, c.H, k)
	}
	for _, g := range c.Gradients {
		points := make([]image.Point, 0, len(g.Boundary)*k*k)
		for _, p := range g.Boundary {
			for y := range k {
				for x := range k {
					points = append(points, image.Pt(p.X*k+x, p.Y*k+y))
				}
			}
		}
		d.Gradients = append(d.Gradients, Gradient{g.From, g.To, points})
	}
	return d
}

func blocks[T any](in []T, w, h, k int) []T {
	out := make([]T, len(in)*k*k)
	for y := range h * k {
		for x := range w * k {
			out[y*w*k+x] = in[y/k*w+x/k]
		}
	}
	return out
}

func (c *Context) role(x, y int) Role {
	if c == nil || c.Roles == nil || x >= c.W || y >= c.H {
		return NoRole
	}
	return c.Roles[y*c.W+x]
}

func (c *Context) edge(x, y int) bool {
	return c != nil && c.Edges != nil && x >= 0 && y >= 0 && x < c.W && y < c.H && c.Edges[y*c.W+x]
}

func (c *Context) shadow(x, y int) bool {
	return c != nil && c.shadows != nil && x < c.W && y < c.H && c.shadows[y*c.W+x]
}

// kept reports whether the hq and xBR filters leave a pixel as a plain block.
func (o Options) kept(c *Context, x, y int) bool {
	if c.role(x, y) == Anchor {
		return o.preserves()
	}
	return o.Containment && c.edge(x, y)
}

func (o Options) preserves() bool { return o.Anchors == Preserve || o.Anchors == "" }

// threshold is the difference up to which hq and xBR take colours for similar.
func (o Options) threshold(c *Context, x, y int) float32 {
	if o.GradientShadows && c.shadow(x, y) {
		return 32 * o.Strength
	}
	return 48 * o.Strength
}
