package pxl

import (
	"bytes"
	"image"
	"math"
)

// property is what a keyframe may give a number.
type property int

const (
	opacity property = iota
	offsetX
	offsetY
	moveX
	moveY
	turn
	scaleX
	scaleY
	skewX
	skewY
	flipX // 1: flipped
	flipY
	properties
)

// pose is what the keyframes say at one moment.
type pose struct {
	sprite string
	pos    int32
	of     [properties]float64
}

// posed is a pose that changes nothing.
func posed() (p pose) {
	p.of[opacity], p.of[scaleX], p.of[scaleY] = 1, 1, 1
	return p
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

// tracks are the sprite and the properties over time.
type tracks struct {
	sprite track
	of     [properties]track
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
		at := key{at: k.At, pos: k.Pos, ease: ease}
		add := func(to property, v float64) {
			at.v = v
			t.of[to] = append(t.of[to], at)
		}
		if k.Sprite != "" {
			named := at
			named.word = k.Sprite
			t.sprite = append(t.sprite, named)
		}
		if k.Opacity != nil {
			add(opacity, *k.Opacity)
		}
		if k.Offset != nil {
			add(offsetX, float64(k.Offset[0]))
			add(offsetY, float64(k.Offset[1]))
		}
		if k.Transform != "" {
			p := g.parsePose(k)
			for to := moveX; to < properties; to++ {
				add(to, p.of[to])
			}
		}
	}
	return t
}

// parsePose reads a keyframe's transform; the last of several calls of one function wins.
func (g *animating) parsePose(k *Keyframe) pose {
	p := posed()
	calls, err := parseCalls(k.Transform)
	if err != nil {
		g.s.warn(k.Pos, CodeTransform, "use translate, rotate, scale and flip", "transform %s: %v", quoted(k.Transform), err)
	}
	for _, c := range calls {
		switch c.name {
		case "translate":
			p.of[moveX], p.of[moveY] = c.args[0], c.args[1]
		case "rotate":
			p.of[turn] = c.args[0]
		case "scale":
			p.of[scaleX], p.of[scaleY] = c.args[0], c.args[1]
		case "skew-x":
			p.of[skewX] = c.args[0]
		case "skew-y":
			p.of[skewY] = c.args[0]
		case "flip-x":
			p.of[flipX] = 1
		case "flip-y":
			p.of[flipY] = 1
		default:
			g.s.warn(k.Pos, CodeTransform, "use translate, rotate, scale and flip", "transform %s: unknown function %s", quoted(k.Transform), c.name)
		}
	}
	return p
}

func (t *tracks) at(now float64) pose {
	p := posed()
	for i, of := range t.of {
		p.of[i] = of.number(now, p.of[i])
	}
	for _, flip := range [...]property{flipX, flipY} {
		if k := t.of[flip].hold(now); k != nil {
			p.of[flip] = k.v
		}
	}
	if k := t.sprite.hold(now); k != nil {
		p.sprite, p.pos = k.word, k.pos
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
	b := turned(src, p.of[turn])
	sx, sy, mirrorX, mirrorY := p.of[scaleX], p.of[scaleY], p.of[flipX] == 1, p.of[flipY] == 1
	if sx < 0 {
		sx, mirrorX = -sx, !mirrorX
	}
	if sy < 0 {
		sy, mirrorY = -sy, !mirrorY
	}
	var err error
	for _, step := range []func() (*bitmap, error){
		func() (*bitmap, error) {
			if sx == 0 || sy == 0 {
				return newBitmap(b.w, b.h, false), nil
			}
			return scale(b, sx, sy)
		},
		func() (*bitmap, error) { return skew(b, min(max(p.of[skewX], -88), 88), false) },
		func() (*bitmap, error) { return skew(b, min(max(p.of[skewY], -88), 88), true) },
	} {
		if out, e := step(); e != nil {
			err = e
		} else {
			b = out
		}
	}
	if err != nil {
		g.s.warn(pos, CodeTransform, "", "part of a keyframe's transform is skipped: %v", err)
	}
	if mirrorX {
		b = mirrorH(b)
	}
	if mirrorY {
		b = mirrorV(b)
	}
	if p.of[opacity] < 1 {
		b = b.fade(p.of[opacity])
	}
	x := floorHalf(src.w-b.w) + whole32(p.of[moveX]+p.of[offsetX])
	y := floorHalf(src.h-b.h) + whole32(p.of[moveY]+p.of[offsetY])
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
