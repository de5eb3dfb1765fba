package pxl

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/json5"
)

func animationFields() []field[Animation] {
	return []field[Animation]{
		{"name", func(d *decoder, a *Animation, n *json5.Node) { a.Name = d.str(n) }},
		{"frames", func(d *decoder, a *Animation, n *json5.Node) { a.Frames = listOf(d, n, d.frameRef) }},
		{"keyframes", func(d *decoder, a *Animation, n *json5.Node) { d.keyframes(a, n) }},
		{"source", func(d *decoder, a *Animation, n *json5.Node) { a.Source = d.str(n) }},
		{"transform", func(d *decoder, a *Animation, n *json5.Node) { a.Transform = d.ops(n) }},
		{"duration", func(d *decoder, a *Animation, n *json5.Node) { a.Duration = d.duration(n) }},
		{"timing_function", func(d *decoder, a *Animation, n *json5.Node) { a.Timing, a.timingPos = d.str(n), n.Pos }},
		{"loop", func(d *decoder, a *Animation, n *json5.Node) { a.Loop = d.boolean(n) }},
		{"palette_cycle", func(d *decoder, a *Animation, n *json5.Node) {
			if n.Kind == json5.Object && !d.ref {
				a.Cycles = []Cycle{d.cycle(n)}
				return
			}
			a.Cycles = listOf(d, n, d.cycle)
		}},
		{"tags", func(d *decoder, a *Animation, n *json5.Node) { a.Tags = membersOf(d, n, d.tag) }},
		{"frame_metadata", func(d *decoder, a *Animation, n *json5.Node) {
			a.FrameMeta = listOf(d, n, func(v *json5.Node) (boxes []BoxMeta) {
				if b := v.Get("boxes"); b != nil && b.Kind != json5.Null {
					boxes = d.boxes(b, true)
				}
				return boxes
			})
		}},
		{"attachments", func(d *decoder, a *Animation, n *json5.Node) { a.Attachments = listOf(d, n, d.attachment) }},
		newer("sprite", func(d *decoder, a *Animation, n *json5.Node) { a.Sprite = d.str(n) }),
		newer("fps", func(d *decoder, a *Animation, n *json5.Node) { a.FPS = d.pace(n) }),
	}
}

func (d *decoder) animation(n *json5.Node) *Animation {
	a := &Animation{Loop: true, pos: n.Pos, timingPos: n.Pos}
	fields(d, n, a, animationFields())
	d.need(n, "name")
	for _, k := range []string{"squash", "stretch", "squash_stretch", "secondary_motion", "hit_stop", "onion_skin"} {
		if v := n.Get(k); v != nil {
			a.Unknown = append(a.Unknown, k)
		}
	}
	return a
}

func (d *decoder) frameRef(n *json5.Node) FrameRef {
	f := FrameRef{Pos: n.Pos}
	if n.Kind != json5.Object || d.ref {
		f.Name = d.str(n)
		return f
	}
	d.need(n, "sprite")
	fields(d, n, &f, []field[FrameRef]{
		{"sprite", func(d *decoder, f *FrameRef, n *json5.Node) { f.Name = d.str(n) }},
		{"duration", func(d *decoder, f *FrameRef, n *json5.Node) { f.Duration = d.duration(n) }},
	})
	return f
}

// duration reads milliseconds as an integer, or text such as "500ms" and "0.5s". Text
// that is no duration gives 0, which stands for the default, and is told.
func (d *decoder) duration(n *json5.Node) int {
	if n.Kind != json5.String {
		return d.integer(n, 0, 1<<32-1)
	}
	s := strings.ToLower(strings.TrimSpace(n.Text))
	factor := 1.0
	switch {
	case strings.HasSuffix(s, "ms"):
		s = s[:len(s)-2]
	case strings.HasSuffix(s, "s"):
		s, factor = s[:len(s)-1], 1000
	}
	v, ok := number(strings.TrimSpace(s))
	if (!ok || v < 0) && !d.ref {
		d.warn(n.Pos, CodeRange, `write milliseconds, or text such as "500ms" or "0.5s"`, "%s is not a duration; the default holds", quoted(n.Text))
	}
	if !ok {
		return 0
	}
	return int(min(max(v*factor, 0), math.MaxUint32))
}

// pace reads frames a second; 0 stands for the default.
func (d *decoder) pace(n *json5.Node) float64 {
	v := d.float(n)
	if v <= 0 && d.err == "" {
		d.warn(n.Pos, CodeRange, "write a number above 0", "fps must be above 0; the default holds")
		return 0
	}
	return v
}

func (d *decoder) keyframes(a *Animation, n *json5.Node) {
	d.entries(n, func(k json5.Key, v *json5.Node) {
		f := Keyframe{Pos: k.Pos}
		fields(d, v, &f, []field[Keyframe]{
			{"sprite", func(d *decoder, f *Keyframe, n *json5.Node) { f.Sprite = d.str(n) }},
			{"transform", func(d *decoder, f *Keyframe, n *json5.Node) { f.Transform = d.str(n) }},
			{"opacity", func(d *decoder, f *Keyframe, n *json5.Node) { f.Opacity = new(d.float(n)) }},
			{"offset", func(d *decoder, f *Keyframe, n *json5.Node) { f.Offset = d.pair(n, (*decoder).signed) }},
			{"timing_function", func(d *decoder, f *Keyframe, n *json5.Node) { f.Timing = d.loose(n) }},
		})
		key := strings.TrimSpace(k.Name)
		switch key {
		case "from":
		case "to":
			f.At = 1
		default:
			p, ok := number(strings.TrimSuffix(key, "%"))
			if !ok || !strings.HasSuffix(key, "%") {
				d.warn(k.Pos, CodeFrame, "use from, to or a percentage such as 50%", "keyframe %q is skipped", k.Name)
				return
			}
			f.At = min(max(p/100, 0), 1)
		}
		a.Keyframes = append(a.Keyframes, f)
	})
	slices.SortStableFunc(a.Keyframes, func(a, b Keyframe) int { return cmp.Compare(a.At, b.At) })
}

func (d *decoder) cycle(n *json5.Node) Cycle {
	var c Cycle
	d.need(n, "tokens")
	fields(d, n, &c, []field[Cycle]{
		{"tokens", func(d *decoder, c *Cycle, n *json5.Node) { c.Tokens = d.strings(n) }},
		{"duration", func(d *decoder, c *Cycle, n *json5.Node) {
			if d.ref {
				c.Duration = d.integer(n, 0, 1<<32-1)
				return
			}
			c.Duration = d.duration(n)
		}},
		newer("fps", func(d *decoder, c *Cycle, n *json5.Node) { c.FPS = d.pace(n) }),
		newer("direction", func(d *decoder, c *Cycle, n *json5.Node) { c.Reverse = d.oneOf(n, "forward", "reverse") == "reverse" }),
	})
	return c
}

func (d *decoder) tag(k json5.Key, n *json5.Node) TagRange {
	t := TagRange{Name: k.Name}
	d.need(n, "start", "end")
	fields(d, n, &t, []field[TagRange]{
		{"start", func(d *decoder, t *TagRange, n *json5.Node) { t.Start = d.unsigned(n) }},
		{"end", func(d *decoder, t *TagRange, n *json5.Node) { t.End = d.unsigned(n) }},
		{"loop", func(d *decoder, t *TagRange, n *json5.Node) { t.Loop = new(d.boolean(n)) }},
		{"fps", func(d *decoder, t *TagRange, n *json5.Node) {
			if d.ref {
				t.FPS = float64(d.unsigned(n))
				return
			}
			t.FPS = d.pace(n)
		}},
	})
	return t
}

func (d *decoder) attachment(n *json5.Node) Attachment {
	a := Attachment{Delay: 1, Follow: "position", Pos: n.Pos}
	d.need(n, "name", "anchor", "chain")
	fields(d, n, &a, []field[Attachment]{
		{"name", func(d *decoder, a *Attachment, n *json5.Node) { a.Name = d.str(n) }},
		{"anchor", func(d *decoder, a *Attachment, n *json5.Node) { a.Anchor = *d.pair(n, (*decoder).signed) }},
		{"chain", func(d *decoder, a *Attachment, n *json5.Node) { a.Chain = d.strings(n) }},
		{"delay", func(d *decoder, a *Attachment, n *json5.Node) { a.Delay = d.unsigned(n) }},
		{"follow", func(d *decoder, a *Attachment, n *json5.Node) {
			a.Follow = d.oneOf(n, "position", "velocity", "rotation")
		}},
		{"damping", func(d *decoder, _ *Attachment, n *json5.Node) { d.float(n) }},
		{"stiffness", func(d *decoder, _ *Attachment, n *json5.Node) { d.float(n) }},
		{"z_index", func(d *decoder, a *Attachment, n *json5.Node) { a.ZIndex = d.signed(n) }},
		{"keyframes", func(d *decoder, a *Attachment, n *json5.Node) {
			a.Keyframes = membersOf(d, n, func(k json5.Key, v *json5.Node) AttachKey {
				key := AttachKey{Frame: k.Name}
				d.need(v, "offset")
				if o := v.Get("offset"); o != nil {
					key.Offset = *d.pair(o, (*decoder).signed)
				}
				return key
			})
		}},
	})
	return a
}
