package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"slices"
	"time"
)

const (
	sampleEvery = 250 * time.Millisecond
	longest     = 4 * time.Second // that a frame stays
	lastFor     = 3 * time.Second
)

// film is a recording.
type film struct {
	frames []*image.RGBA
	shown  []time.Duration // how long each
	since  time.Time       // of the last frame
}

// add adds a frame, unless it is as the last one.
func (f *film) add(im *image.RGBA) {
	now := time.Now()
	if n := len(f.frames); n > 0 {
		if bytes.Equal(f.frames[n-1].Pix, im.Pix) {
			return
		}
		f.shown = append(f.shown, min(now.Sub(f.since), longest))
	}
	f.frames, f.since = append(f.frames, im), now
}

// encode makes an animated GIF of a [palette], each frame only what differs from the one
// before.
func (f *film) encode(most, near int) ([]byte, error) {
	if len(f.frames) == 0 {
		return nil, fmt.Errorf("nothing was recorded")
	}
	shown := append(slices.Clone(f.shown), lastFor)
	colours := palette(f.frames, most, near)
	var out gif.GIF
	var before *image.Paletted
	for i, im := range f.frames {
		whole := reduced(im, colours)
		frame := whole
		if before != nil {
			frame = changed(before, whole)
		}
		before = whole
		out.Image = append(out.Image, frame)
		out.Delay = append(out.Delay, int(shown[i]/(10*time.Millisecond)))
		out.Disposal = append(out.Disposal, gif.DisposalNone)
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &out)
	return b.Bytes(), err
}

// changed is the part of a frame that differs from the one before, transparent where it does
// not.
func changed(before, now *image.Paletted) *image.Paletted {
	w := now.Rect.Dx()
	r := image.Rectangle{}
	for p := range now.Pix {
		if before.Pix[p] != now.Pix[p] {
			r = r.Union(image.Rect(p%w, p/w, p%w+1, p/w+1))
		}
	}
	if r.Empty() { // only colours that were merged have changed
		r = image.Rect(0, 0, 1, 1)
	}
	part := image.NewPaletted(r, now.Palette)
	draw.Draw(part, r, now, r.Min, draw.Src)
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if before.ColorIndexAt(x, y) == now.ColorIndexAt(x, y) {
				part.SetColorIndex(x, y, 0)
			}
		}
	}
	return part
}

// reduced is a picture in the colours of a palette but the first, which is for what is
// transparent.
func reduced(im *image.RGBA, colours color.Palette) *image.Paletted {
	known := map[color.RGBA]uint8{}
	out := image.NewPaletted(im.Bounds(), colours)
	for p := range out.Pix {
		c := color.RGBA{im.Pix[4*p], im.Pix[4*p+1], im.Pix[4*p+2], 0xff}
		i, ok := known[c]
		if !ok {
			i = uint8(1 + colours[1:].Index(c))
			known[c] = i
		}
		out.Pix[p] = i
	}
	return out
}

// palette is the most frequent colours of pictures, behind the transparent one. Those that
// differ from a more frequent one by less than near are not in it: the edges of letters
// have hundreds of them.
func palette(pictures []*image.RGBA, most, near int) color.Palette {
	count := map[color.RGBA]int{}
	for _, im := range pictures {
		for p := 0; p < len(im.Pix); p += 4 {
			count[color.RGBA{im.Pix[p], im.Pix[p+1], im.Pix[p+2], 0xff}]++
		}
	}
	all := make([]color.RGBA, 0, len(count))
	for c := range count {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(int(a.R)<<16|int(a.G)<<8|int(a.B), int(b.R)<<16|int(b.G)<<8|int(b.B)))
	})
	out := color.Palette{color.RGBA{}}
	for _, c := range all {
		if len(out) > most {
			break
		}
		alike := slices.ContainsFunc(out[1:], func(o color.Color) bool {
			k := opaque(o)
			return max(apart(c.R, k.R), apart(c.G, k.G), apart(c.B, k.B)) < near
		})
		if !alike {
			out = append(out, c)
		}
	}
	return out
}

func apart(a, b uint8) int { return max(int(a), int(b)) - min(int(a), int(b)) }
