package viewer

import (
	"image"
	"image/color"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// legend is the letters of two pictures that are compared, or of one; it is kept as long
// as they are shown.
type legend struct {
	of, before *Picture
	letters    []picture.Letter
	ok         bool
}

// letters are the same in all frames and in what they are compared with; false when there
// are more colours than letters.
func (v *Viewer) letters() ([]picture.Letter, bool) {
	if v.legend != nil && v.legend.of == v.pic && v.legend.before == v.before {
		return v.legend.letters, v.legend.ok
	}
	v.legend = &legend{of: v.pic, before: v.before}
	var frames []*image.NRGBA
	for _, p := range []*Picture{v.pic, v.before} {
		if p == nil {
			continue
		}
		if p.Smooth {
			return nil, false
		}
		for _, f := range p.Frames {
			frames = append(frames, f.Image)
		}
	}
	v.legend.letters, v.legend.ok = picture.Legend(frames...)
	return v.legend.letters, v.legend.ok
}

// Letter is what stands for a colour in a picture written in letters: "a", a dot for
// nothing, "" for a colour that has none.
func (v *Viewer) Letter(c color.NRGBA) string {
	if c.A == 0 {
		return "."
	}
	letters, _ := v.letters()
	for _, one := range letters {
		if one.Color == c {
			return string(one.Char)
		}
	}
	return ""
}

// lettering writes what a composer composes; the cursor, a colour that was asked for and
// what changed stand out.
func (c *composer) lettering(letters []picture.Letter) *picture.Lettering {
	from := c.view.crop.Min
	img := c.p.Frames[c.index].Image
	return picture.NewLettering(letters, c.view.wide, func(x, y int) bool {
		p := image.Pt(x, y).Add(from)
		at := image.Pt(p.X%img.Rect.Dx(), p.Y%img.Rect.Dy()) // it may repeat
		on := c.only != nil && img.NRGBAAt(at.X, at.Y) == *c.only
		if c.before != nil {
			d := difference{c.before.Frames[c.beforeAt].Image, img, c.tolerance}
			on = on || d.at(at.X, at.Y)
		}
		return on != (c.cursor != nil && *c.cursor == p)
	})
}
