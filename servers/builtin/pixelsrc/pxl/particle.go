package pxl

import (
	"cmp"
	"math"
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

// Particle is an emitter of copies of a sprite; it is drawn as an animation.
type Particle struct {
	Name, Sprite string
	Rate         float64 // copies a frame; fractions add up
	Lifetime     [2]int  // in frames, inclusive
	Velocity     *[2][2]float64
	Gravity      float64 // added to the downward speed every frame
	Fade         bool
	Rotation     *[2]float64 // degrees
	Seed         uint64
	pos          int32
}

// Bake says how a particle becomes an animation. The zero value takes twice the
// longest life for the frames, a canvas of 32 by 32 and the middle of its lower edge.
type Bake struct {
	Frames int
	Canvas [2]int
	Origin *[2]int
}

const (
	particlesMost = 4096 // alive at once
	bakedFPS      = 10
	bakedSide     = 32
	bakedLeast    = 12
	bakedMost     = 64
)

// emitter reads what emits; what is of the wrong type keeps its standard and is told.
func (d *decoder) emitter(p *Particle, n *json5.Node) {
	number := func(n *json5.Node, what string) float64 {
		if n.Kind != json5.Int && n.Kind != json5.Float || math.IsInf(n.Float(), 0) || math.IsNaN(n.Float()) {
			d.notes.warn(n.Pos, CodeRange, "write a number", "the %s is not a number", what)
			return 0
		}
		return n.Float()
	}
	ends := func(n *json5.Node, what string) (out [2]float64, ok bool) {
		if n == nil || n.Kind == json5.Null {
			return out, false
		}
		if n.Kind != json5.Array || len(n.Items) != 2 {
			d.notes.warn(n.Pos, CodeRange, "write [minimum, maximum]", "the %s is not a pair of numbers", what)
			return out, false
		}
		return [2]float64{number(&n.Items[0], what), number(&n.Items[1], what)}, true
	}
	if v := n.Get("rate"); v != nil {
		p.Rate = number(v, "rate")
	}
	if life, ok := ends(n.Get("lifetime"), "lifetime"); ok {
		p.Lifetime = [2]int{whole32(life[0]), whole32(life[1])}
	}
	if v := n.Get("velocity"); v != nil {
		p.Velocity = &[2][2]float64{}
		p.Velocity[0], _ = ends(v.Get("x"), "velocity")
		p.Velocity[1], _ = ends(v.Get("y"), "velocity")
	}
	if v := n.Get("gravity"); v != nil {
		p.Gravity = number(v, "gravity")
	}
	p.Fade = isTrue(n.Get("fade"))
	if turn, ok := ends(n.Get("rotation"), "rotation"); ok {
		p.Rotation = &turn
	}
	if v := n.Get("seed"); v != nil {
		if p.Seed = uint64(max(number(v, "seed"), 0)); v.Kind == json5.Int {
			p.Seed = uint64(v.Int()) // all of its digits
		}
	}
}

// xorshift is the generator whose numbers a seed stands for.
type xorshift uint64

func newXorshift(seed uint64) xorshift {
	seed = cmp.Or(seed, 0x123456789ABCDEF0)
	return xorshift(seed)
}

func (x *xorshift) next() uint64 {
	*x ^= *x << 13
	*x ^= *x >> 7
	*x ^= *x << 17
	return uint64(*x)
}

func (x *xorshift) between(ends [2]float64) float64 {
	return ends[0] + (ends[1]-ends[0])*float64(x.next()>>11)/(1<<53)
}

func (x *xorshift) whole(ends [2]int) int {
	if ends[0] >= ends[1] {
		return ends[0]
	}
	return ends[0] + int(x.next()%uint64(ends[1]-ends[0]+1))
}

// mote is one copy in flight.
type mote struct {
	b            *bitmap
	x, y, vx, vy float64
	age, life    int
}

// renderParticle lets an emitter run and draws what is in flight at each frame.
func (r *renderer) renderParticle(res *Result, p *Particle) error {
	g := &animating{r: r, a: &Animation{Name: p.Name, Loop: true, pos: p.pos}, s: r.sink("particle " + strconv.Quote(p.Name))}
	src, ok := g.picture(p.Sprite, p.pos)
	if !ok {
		return g.show(res, []still{{b: standIn(false), ms: 1000 / bakedFPS}})
	}
	bake := r.opt.Bake
	if bake.Frames <= 0 {
		bake.Frames = min(max(2*p.Lifetime[1], bakedLeast), bakedMost)
	}
	if bake.Canvas[0] <= 0 || bake.Canvas[1] <= 0 {
		bake.Canvas = [2]int{bakedSide, bakedSide}
	}
	if bake.Origin == nil {
		bake.Origin = &[2]int{bake.Canvas[0] / 2, bake.Canvas[1] - 1}
	}
	if err := fits(bake.Canvas[0], bake.Canvas[1]); err != nil {
		return err
	}
	res.Loop = true
	return g.show(res, g.emit(p, src, bake))
}

func (g *animating) emit(p *Particle, src *bitmap, bake Bake) []still {
	random, due := newXorshift(p.Seed), 0.0
	var alive []mote
	var list []still
	for range min(bake.Frames, MaxFrames) {
		out := newBitmap(bake.Canvas[0], bake.Canvas[1], false)
		if !g.r.spend(g.s, p.pos, 0, out.w*out.h) {
			break
		}
		for due += max(p.Rate, 0); due >= 1 && len(alive) < particlesMost; due-- {
			m := mote{b: src, x: float64(bake.Origin[0]), y: float64(bake.Origin[1])}
			if p.Velocity != nil {
				m.vx, m.vy = random.between(p.Velocity[0]), random.between(p.Velocity[1])
			}
			m.life = random.whole(p.Lifetime)
			if p.Rotation != nil {
				if turn := random.between(*p.Rotation); turn != 0 {
					m.b = turned(src, turn)
				}
				if !g.r.spend(g.s, p.pos, m.b.w*m.b.h, 0) {
					return list
				}
			}
			alive = append(alive, m)
		}
		due -= math.Floor(due)
		kept := alive[:0]
		for _, m := range alive {
			opacity := 1.0
			if p.Fade && m.life > 0 {
				opacity = 1 - float64(m.age)/float64(m.life)
			}
			if !g.r.spend(g.s, p.pos, out.blend(m.b, whole32(m.x)-m.b.w/2, whole32(m.y)-m.b.h/2, nil, float32(opacity), false)+1, 0) {
				return list
			}
			m.x, m.y, m.vy, m.age = m.x+m.vx, m.y+m.vy, m.vy+p.Gravity, m.age+1
			if m.age < m.life {
				kept = append(kept, m)
			}
		}
		alive = kept
		list = append(list, still{b: out, ms: 1000 / bakedFPS, name: p.Sprite})
	}
	return list
}
