package pxl

import (
	"math"
	"slices"
	"strconv"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// cycle draws a sprite once for every step of its colour cycles.
func (g *animating) cycle(name string, pos int32) []still {
	r := g.r
	rec := r.lookup("", name, frame)
	if rec == nil {
		_, _ = g.picture(name, pos)
		return nil
	}
	object := rec.object
	var out []still
	for _, step := range g.steps() {
		own := *rec
		own.colors = rec.colors.clone()
		for i := range g.a.Cycles {
			g.turn(own.colors, &g.a.Cycles[i], step.at[i])
		}
		own.object = object
		p := r.draw(&own, r.reference())
		r.applyStates(p)
		out = append(out, still{b: p.b, ms: step.ms, name: name})
		if !r.spend(g.s, pos, 0, 0) {
			break
		}
	}
	return out
}

// turn gives token i of a cycle the colour that token i+k had.
func (g *animating) turn(t *tokens, c *Cycle, k int) {
	n := len(c.Tokens)
	if n == 0 {
		return
	}
	type held struct {
		value string
		p     parsed
		ok    bool
	}
	before := make([]held, n)
	for i, name := range c.Tokens {
		if j := t.find(name); j >= 0 {
			before[i] = held{t.values[j], parsed{c: t.colours[j]}, true}
		}
	}
	for i, name := range c.Tokens {
		from := (i + k) % n
		if c.Reverse {
			from = ((i-k)%n + n) % n
		}
		if before[from].ok {
			t.set(g.r.doc.dialect, name, before[from].value, before[from].p)
		}
	}
}

// step is one frame of colour cycling: how far every cycle has turned, and for how long.
type step struct {
	at []int
	ms int
}

// steps plans the frames. Cycles in the form the reference knows advance together;
// with fps, direction or sprite every cycle runs at its own pace.
func (g *animating) steps() []step {
	together := g.a.Sprite == "" && g.a.FPS == 0
	for i := range g.a.Cycles {
		together = together && g.a.Cycles[i].FPS == 0 && !g.a.Cycles[i].Reverse
	}
	if together || g.r.reference() {
		return g.together()
	}
	return g.timeline()
}

func (g *animating) together() []step {
	n, ms := 1, g.perFrame()
	for i := len(g.a.Cycles) - 1; i >= 0; i-- {
		c := &g.a.Cycles[i]
		if len(c.Tokens) > 0 {
			n = lcm(n, len(c.Tokens))
		}
		if c.Duration > 0 {
			ms = c.Duration
		}
	}
	if n > MaxFrames {
		g.s.warn(g.a.pos, CodeLimit, "use cycle lengths that divide each other", "its cycles repeat only after %s; drawing %d", humanize.Count(n, "step"), MaxFrames)
		n = MaxFrames
	}
	out := make([]step, n)
	for s := range out {
		at := make([]int, len(g.a.Cycles))
		for i := range at {
			at[i] = s % max(1, len(g.a.Cycles[i].Tokens))
		}
		out[s] = step{at, ms}
	}
	return out
}

// pace is the time of one step of a cycle as a fraction of whole numbers, in
// milliseconds: 30 fps are 100/3.
func (g *animating) pace(c *Cycle) (ms, per int) {
	switch {
	case c.FPS > 0:
		return paceOf(c.FPS)
	case c.Duration > 0:
		return c.Duration, 1
	case g.a.FPS > 0:
		return paceOf(g.a.FPS)
	case g.a.Duration > 0:
		return g.a.Duration, 1
	}
	return 100, 1
}

// paceOf is exact for rates with up to three digits behind the point.
func paceOf(fps float64) (ms, per int) {
	for _, k := range [...]int{1, 10, 100, 1000} {
		if f := fps * float64(k); f >= 1 && f <= 1000*float64(k) && math.Abs(f-math.Round(f)) < 1e-9*f {
			ms, per = 1000*k, int(math.Round(f))
			d := gcd(ms, per)
			return ms / d, per / d
		}
	}
	return max(1, int(math.Round(min(1000/fps, math.MaxInt32)))), 1
}

// timeline has a frame for every moment at which some cycle turns. Times are kept
// exactly, in parts of a millisecond that suit every cycle; frames are as long as whole
// milliseconds allow, and together as long as the cycles take.
func (g *animating) timeline() []step {
	parts := 1 // of a millisecond
	for i := range g.a.Cycles {
		_, per := g.pace(&g.a.Cycles[i])
		parts = lcm(parts, per)
	}
	paces := make([]int, len(g.a.Cycles))
	period := 1
	for i := range g.a.Cycles {
		c := &g.a.Cycles[i]
		ms, per := g.pace(c)
		paces[i] = max(1, ms*(parts/per))
		period = lcm(period, max(1, len(c.Tokens))*paces[i])
	}
	round := func(at int) int { return (2*at + parts) / (2 * parts) }
	var out []step
	for now := 0; now < period; {
		next := period
		at := make([]int, len(g.a.Cycles))
		for i, p := range paces {
			n := len(g.a.Cycles[i].Tokens)
			at[i] = now / p % max(1, n)
			if n > 1 {
				next = min(next, (now/p+1)*p)
			}
		}
		if len(out) == MaxFrames {
			g.s.warn(g.a.pos, CodeLimit, "use durations and lengths that divide each other", "its cycles repeat only after %s ms; drawing %d frames", strconv.Itoa(round(period)), MaxFrames)
			break
		}
		ms := round(next) - round(now)
		if n := len(out); n > 0 && slices.Equal(out[n-1].at, at) {
			out[n-1].ms += ms
		} else {
			out = append(out, step{at, ms})
		}
		now = next
	}
	return slices.DeleteFunc(out, func(s step) bool { return s.ms == 0 })
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// never stands for a period that no animation reaches.
const never = 1 << 52

// lcm is the least common multiple, cut off at never.
func lcm(a, b int) int {
	if a /= gcd(a, b); a > never/b {
		return never
	}
	return a * b
}
