package pxl

import (
	"context"
	"fmt"
	"image"
	"io"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Sheet lays the frames out in cells of the largest size, columns in a row; 0 puts
// all into one row. ErrTooLarge when the sheet would exceed the limits.
func (r *Result) Sheet(columns int) (*image.NRGBA, error) {
	n := len(r.Frames)
	w, h := frames.Bounds(r.Frames)
	columns, rows := frames.Grid(n, columns)
	if w*columns*h*rows > maxShown {
		return nil, fmt.Errorf("sheet: %s of %d×%d pixels are %w (at most %d pixels); use a smaller scale or a tag", humanize.Count(n, "frame"), w, h, ErrTooLarge, maxShown)
	}
	return frames.Sheet(r.Frames, columns), nil
}

// GIF writes the frames as an animated GIF. ErrTooLarge when it would exceed the limits.
func (r *Result) GIF(w io.Writer) error {
	if x, y := frames.Bounds(r.Frames); x*y*len(r.Frames) > 2*maxShown {
		return fmt.Errorf("gif: %s of %d×%d pixels are %w (at most %d pixels); use a smaller scale or a tag", humanize.Count(len(r.Frames), "frame"), x, y, ErrTooLarge, 2*maxShown)
	}
	return frames.GIF(context.Background(), w, r.Frames, 1, r.Loop)
}

// Atlas packs every sprite and variant of a document, drawn with the options, and
// describes the animations made of them. tooLarge names the sprites that fit no page.
func (d *Document) Atlas(o RenderOptions, p frames.Packing) (pages []frames.Page, anims []frames.Animation, tooLarge []string, diags []Diagnostic, err error) {
	r := &renderer{doc: d, opt: o, states: o.States}
	r.opt.Scale = max(o.Scale, 1)
	area := 0
	var list []frames.Sprite
	for _, k := range []Kind{KindSprite, KindVariant} {
		for _, name := range d.names(k) {
			obj, _ := d.Find(k, name)
			if int(obj.Node.Pos) >= d.own {
				continue
			}
			res := &Result{}
			if err := r.object(res, obj); err != nil {
				return nil, nil, nil, nil, err
			}
			m := res.Image()
			if area += m.Rect.Dx() * m.Rect.Dy(); area > maxShown {
				return nil, nil, nil, nil, fmt.Errorf("atlas: the sprites are %w (at most %d pixels in total); use a smaller scale", ErrTooLarge, maxShown)
			}
			s := frames.Sprite{Name: name, Image: m, Origin: res.Metadata.Origin, Boxes: map[string][4]int{}}
			for _, b := range res.Metadata.Boxes {
				s.Boxes[b.Name] = [4]int{b.X, b.Y, b.W, b.H}
			}
			if sp := obj.Sprite; sp != nil && sp.NineSlice != nil {
				k, n := r.opt.Scale, sp.NineSlice
				s.Border = &[4]int{n.Left * k, n.Right * k, n.Top * k, n.Bottom * k}
			}
			list = append(list, s)
		}
	}
	for _, name := range d.names(KindAnimation) {
		anims = append(anims, d.animations[name].forAtlas())
	}
	pages, tooLarge = frames.Pack(list, p)
	return pages, anims, tooLarge, sortDiagnostics(r.diags), nil
}

// forAtlas describes an animation for the atlas's JSON.
func (a *Animation) forAtlas() frames.Animation {
	g := animating{a: a}
	out := frames.Animation{Name: a.Name, Loop: a.Loop, Duration: time.Duration(g.perFrame()) * time.Millisecond, Tags: map[string]frames.Tag{}}
	for _, f := range a.Frames {
		out.Frames = append(out.Frames, f.Name)
	}
	for i := range a.Keyframes {
		if s := a.Keyframes[i].Sprite; s != "" && len(a.Frames) == 0 {
			out.Frames = append(out.Frames, s)
		}
	}
	for _, t := range a.Tags {
		out.Tags[t.Name] = frames.Tag{Start: t.Start, End: t.End, Loop: t.Loop, FPS: t.FPS}
	}
	for _, boxes := range a.FrameMeta {
		m := map[string]*[4]int{}
		for _, b := range boxes {
			m[b.Name] = nil
			if !b.None {
				m[b.Name] = &[4]int{b.X, b.Y, b.W, b.H}
			}
		}
		out.Metadata = append(out.Metadata, m)
	}
	return out
}
