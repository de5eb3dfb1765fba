package viewer

import (
	"fmt"
	"image"
	"time"
)

// sheetDuration is how long a frame cut from a sheet is shown: nothing says it.
const sheetDuration = 100 * time.Millisecond

// GuessFrame guesses the frames of a sprite sheet: squares as high as the sheet when
// those fill it, else the largest usual size that does. It returns 0 when none fits.
func GuessFrame(w, h int) (fw, fh int) {
	if w > h && h > 0 && w%h == 0 {
		return h, h
	}
	for _, n := range []int{64, 48, 32, 24, 16, 8} {
		if w%n == 0 && h%n == 0 && (w > n || h > n) {
			return n, n
		}
	}
	return 0, 0
}

// Slice cuts a still into frames of fw by fh pixels, row by row, and leaves out what is
// empty at the end. Only those from first to last (counted from 0; last below 0 is the
// end) become the animation.
func Slice(p *Picture, fw, fh, first, last int) (*Picture, error) {
	w, h := p.Size()
	if fw <= 0 || fh <= 0 || fw > w || fh > h {
		return nil, fmt.Errorf("slice the sheet: frames of %d×%d do not fit into %d×%d pixels", fw, fh, w, h)
	}
	if n := w / fw * (h / fh); n > maxFrames {
		return nil, fmt.Errorf("slice the sheet: too many frames: %d", n)
	}
	sheet := p.Frames[0].Image
	out := &Picture{Tokens: p.Tokens}
	for y := 0; y+fh <= h; y += fh {
		for x := 0; x+fw <= w; x += fw {
			out.Frames = append(out.Frames, Frame{Image: crop(sheet, image.Rect(x, y, x+fw, y+fh)), Duration: sheetDuration})
		}
	}
	for len(out.Frames) > 1 && empty(out.Frames[len(out.Frames)-1].Image) {
		out.Frames = out.Frames[:len(out.Frames)-1]
	}
	if last < 0 || last >= len(out.Frames) {
		last = len(out.Frames) - 1
	}
	first = min(max(first, 0), last)
	out.Frames = out.Frames[first : last+1]
	out.Key = fmt.Sprintf("%s slice %dx%d %d-%d", p.Key, fw, fh, first, last)
	return out, nil
}

func empty(img *image.NRGBA) bool {
	for i := 3; i < len(img.Pix); i += 4 {
		if img.Pix[i] != 0 {
			return false
		}
	}
	return true
}
