package pxl

import (
	"math"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/smooth"
)

// Pixels is about how many pixels are in memory at most while an object is drawn, told from
// the sizes and numbers of frames in the text alone. It is never more than a call may hold.
func (d *Document) Pixels(o RenderOptions) int {
	obj, err := d.target(o)
	if err != nil {
		return 0
	}
	e := estimate{d: d, seen: map[objectName]bool{}, factor: max(1, smooth.Algorithm(o.Antialias).Factor())}
	e.object(obj)
	made := e.made // pictures beside those of the objects themselves
	if e.factor > 1 {
		made = max(made, e.frames, 1)
	}
	return min(e.sum+made*e.largest*e.factor*e.factor, maxHeld)
}

// estimate adds up what drawing an object takes.
type estimate struct {
	d            *Document
	seen         map[objectName]bool
	sum          int // pixels of the objects
	largest      int // of them
	frames, made int // of animations; made are those that are no object's picture
	factor       int // of the antialias
}

func (e *estimate) named(name string) {
	if obj, ok := e.d.Find("", name); ok && e.sum < maxHeld {
		e.object(obj)
	}
}

func (e *estimate) object(obj Object) {
	k := objectName{obj.Kind, obj.Name}
	if e.seen[k] {
		return
	}
	e.seen[k] = true
	switch {
	case obj.Sprite != nil, obj.Variant != nil:
		e.sprite(obj)
	case obj.Composition != nil:
		e.composition(obj.Composition)
	case obj.Animation != nil:
		e.animation(obj.Animation)
	case obj.Particle != nil:
		e.named(obj.Particle.Sprite)
		e.add(bakedSide*bakedSide, bakedMost)
	}
}

func (e *estimate) add(area, pictures int) {
	e.largest = max(e.largest, area)
	e.sum += area * pictures
}

// sprite adds a sprite or variant before and behind its transforms.
func (e *estimate) sprite(obj Object) {
	var steps []Op
	for depth := 0; depth <= maxComposition; depth++ {
		base := ""
		if v := obj.Variant; v != nil {
			steps, base = append(steps, v.Transform...), v.Base
		} else if s := obj.Sprite; s != nil {
			steps, base = append(steps, s.Transform...), s.Source
			if a := s.Antialias; a != nil {
				e.factor = max(e.factor, smooth.Algorithm(a.Algorithm).Factor())
			}
			if s.Size != nil {
				e.canvas(s.Size[0], s.Size[1], steps)
				return
			}
		}
		next, ok := e.d.Find("", base)
		if !ok {
			return
		}
		obj = next
	}
}

func (e *estimate) canvas(w, h int, steps []Op) {
	if w < 1 || h < 1 || fits(w, h) != nil {
		return
	}
	e.add(w*h, 1)
	for i := range steps {
		if nw, nh := steps[i].grown(w, h); fits(nw, nh) == nil {
			w, h = nw, nh
		}
	}
	if len(steps) > 0 {
		e.add(w*h, 2)
	}
}

// grown is about how large a picture is behind a transform.
func (o *Op) grown(w, h int) (nw, nh int) {
	switch o.Name {
	case "tile":
		return w * o.N[0], h * o.N[1]
	case "pad", "outline":
		return w + 2*o.N[0], h + 2*o.N[0]
	case "shadow":
		return w + max(o.N[0], -o.N[0]), h + max(o.N[1], -o.N[1])
	case "scale":
		return int(math.Ceil(min(float64(w)*o.F[0], MaxSide))), int(math.Ceil(min(float64(h)*o.F[1], MaxSide)))
	case "rotate":
		return max(w, h), max(w, h)
	case "skew-x", "skew-y", "squash", "stretch":
		return 2 * w, 2 * h
	}
	return w, h
}

func (e *estimate) composition(c *Composition) {
	e.named(c.Base)
	for i := range c.Symbols {
		e.named(c.Symbols[i].Name)
	}
	w, h := 0, 0
	for i := range c.Layers {
		e.named(c.Layers[i].Sprite)
		columns, rows := extent(&c.Layers[i])
		w, h = max(w, columns*max(1, c.CellSize[0])), max(h, rows*max(1, c.CellSize[1]))
	}
	if c.Size != nil {
		w, h = c.Size[0], c.Size[1]
	}
	e.add(min(max(w*h, e.largest), maxArea), 2)
}

func (e *estimate) animation(a *Animation) {
	if next := e.d.animations[a.Source]; next != nil && !e.seen[objectName{KindAnimation, next.Name}] {
		e.object(Object{Kind: KindAnimation, Name: next.Name, Animation: next})
	}
	e.named(a.Sprite)
	e.named(a.Source)
	for i := range a.Frames {
		e.named(a.Frames[i].Name)
	}
	for i := range a.Keyframes {
		e.named(a.Keyframes[i].Sprite)
	}
	for i := range a.Attachments {
		for _, name := range a.Attachments[i].Chain {
			e.named(name)
		}
	}
	e.frames = max(e.frames, min(len(a.Frames), MaxFrames))
	if len(a.Cycles)+len(a.Keyframes)+len(a.Attachments)+len(a.Transform) == 0 {
		return // the frames are pictures of sprites
	}
	if len(a.Frames) == 0 || len(a.Cycles)+len(a.Transform) > 0 {
		e.frames = MaxFrames
	}
	e.made = e.frames
	side := int(math.Sqrt(float64(e.largest)))
	for i := range a.Transform {
		if w, h := a.Transform[i].grown(side, side); fits(w, h) == nil {
			side = max(side, w, h)
		}
	}
	e.largest = max(e.largest, min(side*side, maxArea))
}
