package pxl

import (
	"bytes"
	"image"
	"math"
)

// pose is what the keyframes say at one moment.
type pose struct {
	sprite       string
	pos          int32
	opacity      float64
	dx, dy       float64
	rotate       float64
	sx, sy       float64
	skewX, skewY float64
	flipX, flipY bool
}

// placed is a posed picture with its place relative to the unposed sprite.
type placed struct {
	b    *bitmap
	x, y int
	ms   int
	name string
}

// keyframes samples the animation 20 times a second, or fps times where that is given.
func (g *animating) keyframes() []still {
	total := g.a.Duration
	if total <= 0 {
		total = 100
	}
	rate := 20.0
	if g.a.FPS > 0 {
		rate = g.a.FPS
	}
	n := int(min(max(math.Round(float64(total)*rate/1000), 2), MaxFrames))
	tracks := g.tracks()
	last := float64(n)
	if !g.a.Loop {
		last = float64(n - 1)
	}
	var list []placed
	var all image.Rectangle
	for i := range n {
		p := tracks.at(float64(i) / last)
		f, ok := g.pose(p)
		if !ok {
			continue
		}
		f.ms = total*(i+1)/n - total*i/n
		all = all.Union(box(f.b, f.x, f.y))
		list = append(list, f)
		if n := f.b.w * f.b.h; !g.r.spend(g.s, g.a.pos, 4*n, n) {
			break
		}
	}
	if len(list) == 0 {
		return nil
	}
	if err := fits(all.Dx(), all.Dy()); err != nil {
		g.s.fail(g.a.pos, CodeSize, "move and scale less", "its frames span %d×%d: %v", all.Dx(), all.Dy(), err)
		return nil
	}
	return g.union(list, all)
}

// union draws every frame on the box that holds all of them; equal neighbours become one.
func (g *animating) union(list []placed, all image.Rectangle) []still {
	var out []still
	for _, f := range list {
		b := f.b
		if box(b, f.x, f.y) != all {
			b = newBitmap(all.Dx(), all.Dy(), false)
			b.blend(f.b, f.x-all.Min.X, f.y-all.Min.Y, nil, 1, false)
			if n := b.w * b.h; !g.r.spend(g.s, g.a.pos, n, n) {
				break
			}
		}
		if k := len(out) - 1; k >= 0 && bytes.Equal(out[k].b.pix, b.pix) {
			out[k].ms += f.ms
			continue
		}
		out = append(out, still{b: b, ms: f.ms, name: f.name})
	}
	for i := range out {
		if i < len(g.a.FrameMeta) {
			out[i].boxes = g.a.FrameMeta[i]
		}
	}
	return out
}

// key is one value of a track: a number, a word, or both.
type key struct {
	at   float64
	v    float64
	word string
	pos  int32
	ease func(float64) float64
}

// track is one property over time.
type track []key

// number interpolates; before the first and after the last key the value holds.
func (t track) number(at, standard float64) float64 {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].at > at && i > 0 {
			continue
		}
		k := t[i]
		if i == len(t)-1 || k.at > at {
			return k.v
		}
		next := t[i+1]
		return k.v + (next.v-k.v)*k.ease((at-k.at)/(next.at-k.at))
	}
	return standard
}

// hold is the key that holds at a moment; nil when there is none.
func (t track) hold(at float64) *key {
	for i := len(t) - 1; i >= 0; i-- {
		if t[i].at <= at || i == 0 {
			return &t[i]
		}
	}
	return nil
}

type tracks struct {
	sprite, opacity, offX, offY  track
	moveX, moveY, rotate, sx, sy track
	skewX, skewY, flipX, flipY   track
}

// tracks sorts the keyframes' properties out.
func (g *animating) tracks() *tracks {
	t := &tracks{}
	linear := func(t float64) float64 { return t }
	whole := linear
	if g.a.Timing != "" {
		f, err := Timing(g.a.Timing, Documented)
		if err != nil {
			g.s.warn(g.a.timingPos, CodeRange, "using linear", "%v", err)
		} else {
			whole = f
		}
	}
	for i := range g.a.Keyframes {
		k := &g.a.Keyframes[i]
		ease := whole
		if k.Timing != "" {
			f, err := Timing(k.Timing, Documented)
			if err != nil {
				g.s.warn(k.Pos, CodeRange, "using linear", "%v", err)
				f = linear
			}
			ease = f
		}
		add := func(to *track, v float64, word string) {
			*to = append(*to, key{at: k.At, v: v, word: word, pos: k.Pos, ease: ease})
		}
		if k.Sprite != "" {
			add(&t.sprite, 0, k.Sprite)
		}
		if k.Opacity != nil {
			add(&t.opacity, *k.Opacity, "")
		}
		if k.Offset != nil {
			add(&t.offX, float64(k.Offset[0]), "")
			add(&t.offY, float64(k.Offset[1]), "")
		}
		if k.Transform != "" {
			p := g.parsePose(k)
			add(&t.moveX, p.dx, "")
			add(&t.moveY, p.dy, "")
			add(&t.rotate, p.rotate, "")
			add(&t.sx, p.sx, "")
			add(&t.sy, p.sy, "")
			add(&t.skewX, p.skewX, "")
			add(&t.skewY, p.skewY, "")
			add(&t.flipX, flag(p.flipX), "")
			add(&t.flipY, flag(p.flipY), "")
		}
	}
	return t
}

func flag(on bool) float64 {
	if on {
		return 1
	}
	return 0
}

// parsePose reads a keyframe's transform; the last of several calls of one function wins.
func (g *animating) parsePose(k *Keyframe) pose {
	p := pose{sx: 1, sy: 1}
	calls, err := parseCalls(k.Transform)
	if err != nil {
		g.s.warn(k.Pos, CodeTransform, "use translate, rotate, scale and flip", "transform %s: %v", quoted(k.Transform), err)
	}
	for _, c := range calls {
		switch c.name {
		case "translate":
			p.dx, p.dy = c.args[0], c.args[1]
		case "rotate":
			p.rotate = c.args[0]
		case "scale":
			p.sx, p.sy = c.args[0], c.args[1]
		case "skew-x":
			p.skewX = c.args[0]
		case "skew-y":
			p.skewY = c.args[0]
		case "flip-x":
			p.flipX = true
		case "flip-y":
			p.flipY = true
		default:
			g.s.warn(k.Pos, CodeTransform, "use translate, rotate, scale and flip", "transform %s: unknown function %s", quoted(k.Transform), c.name)
		}
	}
	return p
}

func (t *tracks) at(now float64) pose {
	p := pose{
		opacity: t.opacity.number(now, 1),
		dx:      t.moveX.number(now, 0) + t.offX.number(now, 0),
		dy:      t.moveY.number(now, 0) + t.offY.number(now, 0),
		rotate:  t.rotate.number(now, 0),
		sx:      t.sx.number(now, 1), sy: t.sy.number(now, 1),
		skewX: t.skewX.number(now, 0), skewY: t.skewY.number(now, 0),
	}
	if k := t.sprite.hold(now); k != nil {
		p.sprite, p.pos = k.word, k.pos
	}
	if k := t.flipX.hold(now); k != nil {
		p.flipX = k.v == 1
	}
	if k := t.flipY.hold(now); k != nil {
		p.flipY = k.v == 1
	}
	return p
}

// pose draws the sprite of a moment: rotated, scaled, flipped about its centre, then moved.
func (g *animating) pose(p pose) (placed, bool) {
	name, pos := p.sprite, p.pos
	if name == "" {
		name, pos = g.a.Sprite, g.a.pos
	}
	if name == "" {
		g.s.warn(g.a.pos, CodeFrame, `give a keyframe sprite: "name"`, "none of its keyframes names a sprite")
		return placed{}, false
	}
	src, ok := g.picture(name, pos)
	if !ok {
		return placed{}, false
	}
	b := turned(src, p.rotate)
	if p.sx < 0 {
		p.sx, p.flipX = -p.sx, !p.flipX
	}
	if p.sy < 0 {
		p.sy, p.flipY = -p.sy, !p.flipY
	}
	var err error
	steps := []func(*bitmap) (*bitmap, error){
		func(b *bitmap) (*bitmap, error) {
			if p.sx == 0 || p.sy == 0 {
				return newBitmap(b.w, b.h, false), nil
			}
			return scale(b, p.sx, p.sy)
		},
		func(b *bitmap) (*bitmap, error) { return skew(b, min(max(p.skewX, -88), 88), false) },
		func(b *bitmap) (*bitmap, error) { return skew(b, min(max(p.skewY, -88), 88), true) },
	}
	for _, f := range steps {
		out, e := f(b)
		if e != nil {
			err = e
			continue
		}
		b = out
	}
	if err != nil {
		g.s.warn(pos, CodeTransform, "", "part of a keyframe's transform is skipped: %v", err)
	}
	if p.flipX {
		b = mirrorH(b)
	}
	if p.flipY {
		b = mirrorV(b)
	}
	if p.opacity < 1 {
		b = b.fade(p.opacity)
	}
	x := floorHalf(src.w-b.w) + whole32(p.dx)
	y := floorHalf(src.h-b.h) + whole32(p.dy)
	return placed{b: b, x: x, y: y, name: name}, true
}

func floorHalf(v int) int { return v >> 1 }

// fade multiplies alpha.
func (b *bitmap) fade(opacity float64) *bitmap {
	out := &bitmap{w: b.w, h: b.h, pix: bytes.Clone(b.pix)}
	for i := 3; i < len(out.pix); i += 4 {
		out.pix[i] = uint8(math.Round(float64(out.pix[i]) * max(opacity, 0)))
	}
	return out
}

// turned rotates about the centre: quarter turns exactly, other angles by the nearest source pixel.
func turned(b *bitmap, degrees float64) *bitmap {
	degrees = math.Mod(degrees, 360)
	if degrees < 0 {
		degrees += 360
	}
	if q := math.Round(degrees / 90); math.Abs(degrees-q*90) < 1e-9 {
		return rotate(b, int(q)%4*90)
	}
	sin, cos := math.Sincos(degrees * math.Pi / 180)
	fw, fh := float64(b.w), float64(b.h)
	w := int(math.Ceil(math.Abs(fw*cos) + math.Abs(fh*sin) - 1e-9))
	h := int(math.Ceil(math.Abs(fw*sin) + math.Abs(fh*cos) - 1e-9))
	// With sides as odd or even as those of the source the centre stays where it is.
	w, h = w+(w-b.w)&1, h+(h-b.h)&1
	if fits(w, h) != nil {
		return b
	}
	out := newBitmap(w, h, false)
	for y := range h {
		for x := range w {
			dx, dy := float64(x)+0.5-float64(w)/2, float64(y)+0.5-float64(h)/2
			sx, sy := math.Floor(dx*cos+dy*sin+fw/2), math.Floor(-dx*sin+dy*cos+fh/2)
			if sx >= 0 && sy >= 0 && sx < fw && sy < fh {
				out.put(y*w+x, b.at(int(sy)*b.w+int(sx)))
			}
		}
	}
	return out
}
