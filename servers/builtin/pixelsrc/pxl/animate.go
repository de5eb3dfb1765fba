package pxl

import (
	"image"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// still is one frame before smoothing and scaling.
type still struct {
	b    *bitmap
	ms   int
	name string
	from *picture // the sprite it shows, where it shows one as it is
}

// animating is one animation under construction.
type animating struct {
	r *renderer
	a *Animation
	s *sink
}

func (r *renderer) renderAnimation(res *Result, a *Animation) error {
	g := &animating{r: r, a: a, s: r.sink("animation " + strconv.Quote(a.Name))}
	if !r.reference() {
		g.follow(nil)
	}
	list := g.frames()
	if len(list) == 0 {
		g.s.warn(a.pos, CodeFrame, "give it frames, keyframes or a palette_cycle", "it has no drawable frames")
		list = []still{{b: standIn(false), ms: 100}}
	}
	if len(list) > MaxFrames {
		g.s.warn(a.pos, CodeLimit, "use fewer frames", "it has %s; only the first %d are drawn", humanize.Count(len(list), "frame"), MaxFrames)
		list = list[:MaxFrames]
	}
	if !r.reference() {
		list = g.sequence(list)
		g.attach(list)
		for _, u := range g.a.Unknown {
			g.s.warn(a.pos, CodeModifier, "", "%s is kept as metadata but not drawn", u)
		}
	}
	res.Loop = g.a.Loop
	for _, t := range g.a.Tags {
		loop := t.Loop == nil || *t.Loop
		res.Tags = append(res.Tags, Tag{Name: t.Name, Start: t.Start, End: min(t.End, len(list)-1), Loop: loop, FPS: t.FPS})
	}
	return g.show(res, g.cut(res, list))
}

// longestGIF is the longest time of a frame in a GIF, in milliseconds.
const longestGIF = 0xFFFF * 10

func seconds(ms int) string { return strconv.FormatFloat(float64(ms)/1000, 'f', -1, 64) }

// show smooths and scales the frames.
func (g *animating) show(res *Result, list []still) error {
	r, area, long := g.r, 0, false
	for _, f := range list {
		res.Native.X, res.Native.Y = max(res.Native.X, f.b.w), max(res.Native.Y, f.b.h)
		var out *bitmap
		var name string
		if f.from != nil && f.from.b == f.b {
			out, name = r.antialias(f.from)
		} else {
			out, name = r.smoothPlain(f.b)
		}
		res.Antialias = name
		if area += out.w * out.h * r.opt.Scale * r.opt.Scale; area > maxShown && len(res.Frames) > 0 {
			g.s.fail(g.a.pos, CodeLimit, "use a smaller scale or fewer frames", "its frames have more than %d pixels in total; the rest are skipped", maxShown)
			break
		}
		m, err := enlarge(out, r.opt.Scale)
		if err != nil {
			return err
		}
		if f.ms > longestGIF && !r.reference() && !long {
			long = true
			g.s.warn(g.a.pos, CodeRange, "repeat the frame", "a frame stands for %s s; a GIF shows it for at most %s", seconds(f.ms), seconds(longestGIF))
		}
		res.Frames = append(res.Frames, frames.Frame{Image: m, Duration: time.Duration(f.ms) * time.Millisecond, Name: f.name})
	}
	return nil
}

// follow takes from the animation named as source what this one lacks.
func (g *animating) follow(via []string) {
	a := g.a
	if a.Source == "" || len(a.Frames) > 0 || len(a.Keyframes) > 0 {
		return
	}
	from := g.r.doc.animations[a.Source]
	switch {
	case from == nil && g.r.doc.sprites[a.Source] != nil:
		own := *a
		own.Frames = []FrameRef{{Name: a.Source, Pos: a.pos}}
		g.a = &own
		return
	case from == nil:
		g.s.fail(a.pos, CodeMissingSource, g.r.suggest(g.s, a.Source, KindAnimation), "its source %q does not exist", a.Source)
		return
	case slices.Contains(via, a.Source) || a.Source == a.Name || len(via) > maxComposition:
		g.s.fail(a.pos, CodeMissingSource, "give one of them frames of its own", "its source refers back to itself")
		return
	}
	base := animating{r: g.r, a: from, s: g.s}
	base.follow(append(via, a.Name))
	own := *base.a
	own.Name, own.Loop, own.pos, own.Transform = a.Name, a.Loop, a.pos, append(slices.Clip(own.Transform), a.Transform...)
	if a.Duration > 0 {
		own.Duration, own.FPS = a.Duration, 0
	}
	if a.FPS > 0 {
		own.FPS = a.FPS
	}
	if len(a.Tags) > 0 {
		own.Tags = a.Tags
	}
	if a.Timing != "" {
		own.Timing = a.Timing
	}
	if len(a.Cycles) > 0 {
		own.Cycles = a.Cycles
	}
	g.a = &own
}

// frames makes the frames by whichever way the animation is written.
func (g *animating) frames() []still {
	if len(g.a.Cycles) > 0 {
		switch {
		case g.r.reference() && len(g.a.Frames) == 1:
			return g.cycle(g.a.Frames[0].Name, g.a.Frames[0].Pos)
		case g.r.reference():
		case g.a.Sprite != "":
			return g.cycle(g.a.Sprite, g.a.pos)
		case len(g.a.Frames) == 1:
			return g.cycle(g.a.Frames[0].Name, g.a.Frames[0].Pos)
		}
	}
	if len(g.a.Frames) > 0 || g.r.reference() {
		return g.list()
	}
	if len(g.a.Keyframes) > 0 {
		return g.keyframes()
	}
	if g.a.Sprite != "" {
		if b, ok := g.picture(g.a.Sprite, g.a.pos); ok {
			return []still{{b: b, ms: g.perFrame(), name: g.a.Sprite}}
		}
	}
	return nil
}

// perFrame is the time of one frame in milliseconds.
func (g *animating) perFrame() int {
	if g.a.FPS > 0 {
		return max(1, int(math.Round(min(1000/g.a.FPS, math.MaxInt32))))
	}
	if g.a.Duration > 0 {
		return g.a.Duration
	}
	return 100
}

// list draws the frames that are named one by one.
func (g *animating) list() []still {
	var out []still
	for i, f := range g.a.Frames {
		if i >= MaxFrames {
			g.s.warn(f.Pos, CodeLimit, "use fewer frames", "frames after the first %d are skipped", MaxFrames)
			break
		}
		b, ok := g.picture(f.Name, f.Pos)
		if !ok {
			continue
		}
		st := still{b: b, ms: g.perFrame(), name: f.Name, from: g.r.sprites[f.Name]}
		if f.Duration > 0 {
			st.ms = f.Duration
		}
		out = append(out, st)
	}
	return out
}

// picture draws a sprite, variant or composition as a frame; a name that means none is told and left out.
func (g *animating) picture(name string, pos int32) (*bitmap, bool) {
	r := g.r
	if b := r.named(name, frame); b != nil {
		return b, true
	}
	if c := r.doc.compositions[name]; c != nil {
		return r.compose(c)
	}
	g.s.warn(pos, CodeFrame, r.suggest(g.s, name, KindSprite, KindVariant, KindComposition), "no sprite or composition %q; the frame is skipped", name)
	return nil, false
}

// sequence applies the animation's own transforms: those of the order of frames, and those of every picture.
func (g *animating) sequence(list []still) []still {
	for i := range g.a.Transform {
		o := &g.a.Transform[i]
		switch o.Name {
		case "pingpong":
			back := slices.Clone(list)
			slices.Reverse(back)
			if o.N[0] == 1 && len(back) > 1 {
				back = back[1 : len(back)-1]
			}
			if len(list) > 1 {
				list = append(slices.Clip(list), back...)
			}
		case "reverse":
			list = slices.Clone(list)
			slices.Reverse(list)
		case "frame-offset":
			n := ((o.N[0] % len(list)) + len(list)) % len(list)
			list = append(slices.Clone(list[n:]), list[:n]...)
		case "hold":
			list = hold(list, o.N[0], o.N[1])
		default:
			e := effect{r: g.r, s: g.s, dial: g.r.doc.dialect, colors: &tokens{}}
			for k := range list {
				b := list[k].b
				if needsTokens(g.a.Transform[i : i+1]) {
					b = b.plain(true)
				}
				list[k].b = e.run(b, g.a.Transform[i:i+1])
				if n := list[k].b.w * list[k].b.h; list[k].b != b && !g.r.spend(g.s, o.Pos, 0, n) {
					list = list[:k+1]
					break
				}
			}
		}
		if len(list) > MaxFrames {
			g.s.warn(o.Pos, CodeLimit, "use fewer frames", "frames after the first %d are skipped", MaxFrames)
			list = list[:MaxFrames]
		}
	}
	return list
}

// hold lets one frame occur count times in all; an animation always keeps one frame.
func hold(list []still, at, count int) []still {
	if at >= len(list) || (count == 0 && len(list) == 1) {
		return list
	}
	out := slices.Clone(list[:at])
	for range min(count, MaxFrames) {
		out = append(out, list[at])
	}
	return append(out, list[at+1:]...)
}

// cut keeps the frames of the tag asked for, with its own pace.
func (g *animating) cut(res *Result, list []still) []still {
	if g.r.opt.Tag == "" {
		return list
	}
	for _, t := range res.Tags {
		if t.Name != g.r.opt.Tag {
			continue
		}
		if t.Start > t.End || t.Start >= len(list) {
			g.s.warn(g.a.pos, CodeRange, "", "tag %q covers no frames; drawing all of them", t.Name)
			return list
		}
		res.Loop = t.Loop
		out := slices.Clone(list[t.Start : t.End+1])
		for i := range out {
			if t.FPS > 0 {
				out[i].ms = max(1, int(math.Round(min(1000/t.FPS, math.MaxInt32))))
			}
		}
		return out
	}
	names := make([]string, len(res.Tags))
	for i := range names {
		names[i] = res.Tags[i].Name
	}
	g.s.warn(g.a.pos, CodeRange, didYouMean(g.r.opt.Tag, names), "no tag %q; drawing all frames", g.r.opt.Tag)
	return list
}

// attach draws the chains that hang on the frames: segment k lags k·delay frames behind.
func (g *animating) attach(list []still) {
	if len(g.a.Attachments) == 0 {
		return
	}
	bare := make([]*bitmap, len(list))
	for i := range list {
		bare[i] = list[i].b
		if n := bare[i].w * bare[i].h; !g.r.spend(g.s, g.a.pos, n, n) {
			return
		}
	}
	for i := range list {
		list[i].b = newBitmap(bare[i].w, bare[i].h, false)
	}
	pass := func(under bool) {
		for i := range g.a.Attachments {
			if at := &g.a.Attachments[i]; (at.ZIndex < 0) == under {
				g.chain(list, at)
			}
		}
	}
	pass(true)
	for i := range list {
		list[i].b.blend(bare[i], 0, 0, nil, 1, false)
	}
	pass(false)
	for i := range g.a.Attachments {
		if at := &g.a.Attachments[i]; at.Follow != "position" {
			g.s.warn(at.Pos, CodeModifier, `write follow: "position"`, "attachment %q follows %s, which is drawn as \"position\"", at.Name, at.Follow)
		}
	}
}

func (g *animating) chain(list []still, at *Attachment) {
	for f := range list {
		x, y := at.Anchor[0], at.Anchor[1]
		for k, name := range at.Chain {
			b, ok := g.picture(name, at.Pos)
			if !ok {
				continue
			}
			var m Metadata
			if s := g.r.doc.sprites[name]; s != nil {
				m = s.Metadata
			}
			o := at.offset(f - k*at.Delay)
			if m.AttachIn != nil {
				x, y = x-m.AttachIn[0], y-m.AttachIn[1]
			}
			if !g.r.spend(g.s, at.Pos, list[f].b.blend(b, x+o[0], y+o[1], nil, 1, false)+1, 0) {
				return
			}
			if m.AttachOut != nil {
				x, y = x+m.AttachOut[0], y+m.AttachOut[1]
			}
		}
	}
}

// offset is where the anchor has moved at a frame: the last key at or before it.
func (at *Attachment) offset(frame int) (out [2]int) {
	best := -1
	for _, k := range at.Keyframes {
		if n, ok := natural(k.Frame); ok && n <= frame && n >= best {
			best, out = n, k.Offset
		}
	}
	return out
}

func box(b *bitmap, x, y int) image.Rectangle { return image.Rect(x, y, x+b.w, y+b.h) }
