package viewer

import (
	"cmp"
	"image"
	"image/color"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// Use is one colour of a picture, or a token that no pixel has.
type Use struct {
	Color color.NRGBA
	Count int
	// Names are the tokens of that colour; none when it is not in the palette.
	Names []string
	// Near is another colour in use that can hardly be told from this one.
	Near *color.NRGBA
}

// nearlySame is the difference below which two colours are hardly told apart.
const nearlySame = 3

// usesLimit is the number of colours up to which they are listed.
const usesLimit = 256

// Uses lists the colours of the frame that is shown, the commonest first, then the
// tokens without pixels. It is empty for a picture of too many colours.
func (v *Viewer) Uses() []Use {
	if v.pic == nil || len(v.pic.Frames) == 0 || v.pic.Smooth {
		return nil
	}
	if v.usesOf != v.pic {
		v.usesOf, v.uses = v.pic, make([][]Use, len(v.pic.Frames))
	}
	i := min(v.frame, len(v.pic.Frames)-1) // the picture may not have been drawn yet
	if v.uses[i] == nil {
		v.uses[i] = append([]Use{}, usesOf(v.pic.Frames[i].Image, v.pic.Tokens)...)
	}
	return v.uses[i]
}

func usesOf(img *image.NRGBA, tokens []Token) []Use {
	count := map[color.NRGBA]int{}
	b := img.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if c := img.NRGBAAt(x, y); c.A != 0 {
				count[c]++
			}
		}
		if len(count) > usesLimit {
			return nil
		}
	}
	names := map[color.NRGBA][]string{}
	for _, t := range tokens {
		names[t.Color] = append(names[t.Color], t.Name)
	}
	var uses []Use
	for c, n := range count {
		uses = append(uses, Use{Color: c, Count: n, Names: names[c]})
	}
	for c, list := range names {
		if count[c] == 0 && c.A != 0 {
			uses = append(uses, Use{Color: c, Names: list})
		}
	}
	slices.SortFunc(uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(picture.Hex(a.Color), picture.Hex(b.Color)))
	})
	for i := range uses {
		for j := range i {
			if uses[i].Count > 0 && uses[j].Count > 0 && picture.Difference(uses[i].Color, uses[j].Color) < nearlySame {
				uses[i].Near = &uses[j].Color
			}
		}
	}
	return uses
}

// Name says what the source calls a colour: "{skin}", "{skin} or {sand}", "not in the
// palette". It is "" for a picture whose source is not known.
func (p *Picture) Name(c color.NRGBA) string {
	if p == nil || len(p.Tokens) == 0 {
		return ""
	}
	var names []string
	for _, t := range p.Tokens {
		if t.Color == c || c.A == 0 && t.Color.A == 0 {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return OffPalette
	}
	return strings.Join(names, " or ")
}

// OffPalette is what [Picture.Name] says of a colour that no token has.
const OffPalette = "not in the palette"

// Paint is what painted a pixel of a frame: its token, or what its colour is called, and
// where the palette has that, counted from 0; -1 when it does not.
func (p *Picture) Paint(frame, x, y int) (name string, index int) {
	if p == nil || len(p.Frames) == 0 {
		return "", -1
	}
	c := p.Frames[frame].Image.NRGBAAt(x, y)
	if p.TokenAt != nil {
		name = p.TokenAt(frame, x, y)
	}
	if name == "" {
		name = p.Name(c)
	}
	index = slices.IndexFunc(p.Tokens, func(t Token) bool { return t.Name == name })
	if index < 0 {
		index = slices.IndexFunc(p.Tokens, func(t Token) bool { return t.Color == c })
	}
	return name, index
}

// Named reports whether the source of the picture names its colours.
func (p *Picture) Named() bool { return p != nil && len(p.Tokens) > 0 }
