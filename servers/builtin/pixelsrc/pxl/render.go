package pxl

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/smooth"
)

// RenderOptions says what to draw and how. The zero value draws the first sprite, else
// the first composition, animation or variant, at its own size; what is imported comes
// last. The documented dialect also draws a particle, as an animation.
type RenderOptions struct {
	Kind Kind   // sprite, variant, composition, animation; "" finds the name among all of them in this order
	Name string // "" is the first of its kind

	Scale     int      // whole factor, 0 counts as 1
	Antialias string   // an algorithm of Algorithms; "" follows the document, "none" switches it off
	Strength  *float64 // of the antialias, 0 to 1; nil follows the document
	States    []string // active states for state rules
	AllStates bool     // every state is active
	Slice     [2]int   // width and height to stretch a nine-slice sprite to; 0,0 leaves it
	Tag       string   // of an animation: only the frames of this tag
	Bake      Bake     // of a particle: how it becomes an animation
	Tokens    bool     // tell which region painted each pixel, see Result.Tokens
}

// Tag is a range of frames, both ends inclusive.
type Tag struct {
	Name       string
	Start, End int
	Loop       bool
	FPS        float64 // 0 when the tag has none of its own
}

// TokenMap says which region painted each pixel of a sprite's output. It is there
// for sprites and variants that were neither smoothed nor stretched by fractions of a pixel.
type TokenMap struct {
	Width, Height int
	Names         []string // token of every region, in the order of the text
	Colors        []color.NRGBA
	cells         []uint16
	scale         int
}

// At gives the number of the region that painted a pixel of the output; -1 for none.
func (t *TokenMap) At(x, y int) int {
	if x < 0 || y < 0 || x >= t.Width || y >= t.Height {
		return -1
	}
	at := y*t.Width + x
	if t.scale > 1 {
		at = y/t.scale*(t.Width/t.scale) + x/t.scale
	}
	c := t.cells[at]
	if c == noToken {
		return -1
	}
	return int(c)
}

// RegionInfo describes one region of a drawn sprite, before its transforms.
type RegionInfo struct {
	Token   string
	Shape   ShapeKind
	Bounds  image.Rectangle // of the whole shape, also off the canvas
	Z       int
	Role    string
	Color   color.NRGBA
	Pixels  int // on the canvas
	Visible int // not painted over
}

// Result is what Render drew.
type Result struct {
	Kind        Kind
	Name        string
	Frames      []frames.Frame // at least one
	Native      image.Point
	Scale       int
	Antialias   string // the algorithm that was applied; "" for none
	Loop        bool
	Tags        []Tag
	Tokens      *TokenMap
	Metadata    Metadata // of a sprite
	Diagnostics []Diagnostic
}

// Impossible is why a part of the picture is one transparent pixel: its size lies
// outside the limits, or cannot be worked out. ok is false when all was drawn.
func (r *Result) Impossible() (d Diagnostic, ok bool) {
	i := slices.IndexFunc(r.Diagnostics, func(d Diagnostic) bool {
		return d.Severity == Error && (d.Code == CodeSize || d.Code == CodeMissingSize)
	})
	if i < 0 {
		return Diagnostic{}, false
	}
	return r.Diagnostics[i], true
}

// Image is the first frame.
func (r *Result) Image() *image.NRGBA { return r.Frames[0].Image }

// Duration is the time of all frames together.
func (r *Result) Duration() time.Duration {
	var sum time.Duration
	for _, f := range r.Frames {
		sum += f.Duration
	}
	return sum
}

// NotFoundError means that a document has no object of the name asked for.
type NotFoundError struct {
	Kind    Kind // "" when any kind would have done
	Name    string
	Names   []string // what there is
	Nearest string   // the name that may have been meant; "" for none
}

func (e *NotFoundError) Error() string {
	what := "object"
	if e.Kind != "" {
		what = string(e.Kind)
	}
	if len(e.Names) == 0 {
		return fmt.Sprintf("render: no %s to draw; add a sprite", what)
	}
	s := fmt.Sprintf("render: %s %q not found. Available: %s", what, e.Name, strings.Join(e.Names, ", "))
	if e.Nearest != "" {
		s += fmt.Sprintf("; did you mean %s?", e.Nearest)
	}
	return s
}

// ErrTooLarge is wrapped by the error of a result that would exceed the limits.
var ErrTooLarge = errors.New("too large")

// Drawable lists the kinds that Render draws. In the documented dialect a particle is
// drawn too, as the animation that it becomes, under its name and KindAnimation.
func Drawable() []Kind {
	return []Kind{KindSprite, KindVariant, KindComposition, KindAnimation}
}

// target chooses the object to draw.
func (d *Document) target(o RenderOptions) (Object, error) {
	kinds := Drawable()
	if o.Kind != "" {
		kinds = []Kind{o.Kind}
	}
	if o.Name == "" {
		order := kinds
		if o.Kind == "" {
			order = []Kind{KindSprite, KindComposition, KindAnimation, KindVariant}
		}
		// What is imported comes last, whatever its kind.
		for _, list := range [][]Object{d.Objects(), d.objects} {
			for _, k := range order {
				for i := range list {
					if list[i].Kind == k {
						found, _ := d.Find(k, list[i].Name)
						return found, nil
					}
				}
			}
		}
	} else if found, ok := d.Find(o.Kind, o.Name); ok && slices.Contains(Drawable(), found.Kind) {
		return found, nil
	}
	if d.dialect == Documented && (o.Kind == "" || o.Kind == KindAnimation) {
		if found, ok := d.Find(KindParticle, o.Name); ok {
			return found, nil
		}
	}
	names := d.names(kinds...)
	return Object{}, &NotFoundError{Kind: o.Kind, Name: o.Name, Names: names, Nearest: nearest(o.Name, names)}
}

// Render draws one object. What is wrong with the document comes as diagnostics of
// the result; an error means that there is nothing to show: no such object
// (*NotFoundError), a picture beyond the limits (ErrTooLarge), or a context that ended.
func (d *Document) Render(o RenderOptions) (*Result, error) {
	obj, err := d.target(o)
	if err != nil {
		return nil, err
	}
	o.Scale = max(o.Scale, 1)
	alone := obj.Kind == KindSprite || obj.Kind == KindVariant // what has a [TokenMap]
	r := &renderer{doc: d, opt: o, states: o.States, tokens: o.Tokens && alone}
	res := &Result{Kind: obj.Kind, Name: obj.Name, Scale: o.Scale}
	err = r.object(res, obj)
	r.release()
	res.Diagnostics = sortDiagnostics(r.diags)
	if stopped := d.stopped(); stopped != nil {
		return nil, fmt.Errorf("render: %w", stopped)
	}
	return res, err
}

// object draws one object into a result.
func (r *renderer) object(res *Result, obj Object) error {
	switch obj.Kind {
	case KindComposition:
		return r.renderComposition(res, obj.Composition)
	case KindAnimation:
		return r.renderAnimation(res, obj.Animation)
	case KindParticle:
		res.Kind = KindAnimation
		return r.renderParticle(res, obj.Particle)
	default:
		return r.renderSprite(res, obj)
	}
}

// renderSprite draws a sprite or variant by name.
func (r *renderer) renderSprite(res *Result, obj Object) error {
	rec := r.lookup(obj.Kind, obj.Name, alone)
	p := r.draw(rec, r.reference() && obj.Kind == KindVariant)
	if r.opt.Slice != [2]int{} {
		b, err := nineSlice(p.b, rec.sprite.NineSlice, r.opt.Slice[0], r.opt.Slice[1])
		if err != nil {
			r.sink(rec.object).warn(rec.pos, CodeNineSlice, "", "it cannot be stretched: %v", err)
		} else {
			p.b = b
		}
	}
	r.applyStates(p)
	res.Native = image.Pt(p.b.w, p.b.h)
	res.Metadata = rec.sprite.Metadata
	tok := p.b.tok
	out, name := r.antialias(p)
	res.Antialias = name
	m, err := enlarge(out, r.opt.Scale)
	if err != nil {
		return err
	}
	res.Frames = []frames.Frame{{Image: m, Name: obj.Name}}
	if r.tokens && name == "" && tok != nil {
		res.Tokens = r.tokenMap(p, tok)
	}
	return nil
}

func (r *renderer) tokenMap(p *picture, cells []uint16) *TokenMap {
	t := &TokenMap{Width: p.b.w * r.opt.Scale, Height: p.b.h * r.opt.Scale, Names: p.names, cells: cells, scale: r.opt.Scale}
	for _, n := range p.names {
		c := magenta()
		if i := p.recipe.colors.find(n); i >= 0 {
			c = p.recipe.colors.colours[i]
		}
		t.Colors = append(t.Colors, c)
	}
	return t
}

// enlarge scales by a whole factor and checks the limits of the output.
func enlarge(b *bitmap, k int) (*image.NRGBA, error) {
	if w, h := b.w*k, b.h*k; w > MaxOutSide || h > MaxOutSide || w*h > MaxOutArea {
		largest := 1
		for s := 2; b.w*s <= MaxOutSide && b.h*s <= MaxOutSide && b.w*b.h*s*s <= MaxOutArea; s++ {
			largest = s
		}
		return nil, fmt.Errorf("render: %d×%d pixels at scale %d are %w (at most %d a side and %d in total); the largest scale is %d",
			b.w, b.h, k, ErrTooLarge, MaxOutSide, MaxOutArea, largest)
	}
	if k == 1 {
		return b.image(), nil
	}
	return smooth.Scale(b.image(), k), nil
}

// Regions describes the regions of a sprite as they are drawn, in the order of the text.
func (d *Document) Regions(sprite string) ([]RegionInfo, error) {
	obj, err := d.target(RenderOptions{Kind: KindSprite, Name: sprite})
	if err != nil {
		return nil, err
	}
	r := &renderer{doc: d, tokens: true}
	rec := r.lookup(obj.Kind, obj.Name, alone)
	p := r.draw(rec, true)
	if stopped := d.stopped(); stopped != nil {
		return nil, fmt.Errorf("regions: %w", stopped)
	}
	out := make([]RegionInfo, len(p.shapes))
	for i, s := range p.shapes {
		g := &rec.regions[i]
		info := RegionInfo{Token: g.Token, Shape: g.Shape, Z: zOf(g), Role: g.Role, Color: magenta(), Pixels: s.Inside(p.b.w, p.b.h)}
		if b, ok := s.Bounds(); ok {
			info.Bounds = image.Rect(b.X0, b.Y0, b.X1+1, b.Y1+1)
		}
		if k := rec.colors.find(g.Token); k >= 0 {
			info.Color = rec.colors.colours[k]
		}
		out[i] = info
	}
	for _, t := range p.b.tok {
		if int(t) < len(out) {
			out[t].Visible++
		}
	}
	return out, nil
}

// Sizes gives the size every object of Objects is drawn at, before smoothing and
// scaling; 0,0 for those that are not drawn or lie beyond the budget of one call.
func (d *Document) Sizes() []image.Point {
	r := &renderer{doc: d, opt: RenderOptions{Scale: 1, Antialias: "none"}}
	out := make([]image.Point, d.owned())
	for i, o := range d.Objects() {
		particle := o.Kind == KindParticle && d.dialect == Documented
		if (particle || slices.Contains(Drawable(), o.Kind)) && r.budget.left() {
			res := &Result{}
			if r.object(res, o) == nil {
				out[i] = res.Native
			}
		}
	}
	return out
}
