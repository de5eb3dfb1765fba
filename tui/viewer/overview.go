package viewer

import (
	"fmt"
	"image"
	"image/color"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Overview draws the whole picture small, with a frame round the part that is in view,
// in a box of at most w by h cells whose upper left is at x, y of the frame. It is empty
// while all of the picture is in view.
func (v *Viewer) Overview(f *tui.Frame, x, y, w, h int) []string {
	if v.OverviewRows(f, w, h) == 0 {
		return nil
	}
	img := v.pic.Frames[v.frame].Image
	room := f.PictureRoom(w, h)
	cols, rows := picture.FitSmooth(img.Rect.Dx(), img.Rect.Dy(), room)
	crop, ground := v.view.crop, v.checker(f.Theme, f.PictureCaps())
	return f.Picture(x, y, picture.Spec{
		Slot: v.Slot + " overview", Key: fmt.Sprintf("%s\x01%d %v %v", v.pic.Key, v.frame, crop, ground),
		Cols: cols, Rows: rows, Smooth: true,
		Make: func() *image.NRGBA { return overview(img, cols*room.UnitW, rows*room.UnitH, crop, ground) },
	})
}

// OverviewRows is how many rows Overview takes of at most h.
func (v *Viewer) OverviewRows(f *tui.Frame, w, h int) int {
	if v.pic == nil || !v.Cropped() || v.repeat || f.PictureCaps().Mode == picture.ModeLetters {
		return 0
	}
	b := v.pic.Frames[v.frame].Image.Bounds()
	cols, rows := picture.FitSmooth(b.Dx(), b.Dy(), f.PictureRoom(w, h))
	if cols < 4 || rows < 2 {
		return 0
	}
	return rows
}

func overview(img *image.NRGBA, w, h int, crop image.Rectangle, ground *picture.Checker) *image.NRGBA {
	out := picture.Shrink(img, w, h)
	if ground != nil {
		out = picture.Over(out, *ground)
	}
	b := img.Bounds()
	r := image.Rect(crop.Min.X*w/b.Dx(), crop.Min.Y*h/b.Dy(), (crop.Max.X*w+b.Dx()-1)/b.Dx(), (crop.Max.Y*h+b.Dy()-1)/b.Dy())
	drawFrame(out, r, 1, color.NRGBA{255, 80, 80, 255})
	return out
}
