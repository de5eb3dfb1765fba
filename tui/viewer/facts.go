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
	key := v.pic.Key + " " + v.pic.Frames[v.frame].Name
	if v.useKey == key && v.useFrame == v.frame {
		return v.uses
	}
	v.useKey, v.useFrame = key, v.frame
	v.uses = usesOf(v.pic.Frames[v.frame].Image, v.pic.Tokens)
	return v.uses
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

// TokenAt says what painted a pixel: its token, or what its colour is called.
func (v *Viewer) TokenAt(x, y int) string {
	if v.pic == nil {
		return ""
	}
	i := v.Index()
	if v.pic.TokenAt != nil {
		if name := v.pic.TokenAt(i, x, y); name != "" {
			return name
		}
	}
	return v.pic.Name(v.pic.Frames[i].Image.NRGBAAt(x, y))
}

// Named tells whether the picture's source names its colours.
func (v *Viewer) Named() bool { return v.pic != nil && len(v.pic.Tokens) > 0 }

// Changes says what is different between two pictures.
type Changes struct {
	Pixels         int
	Box            image.Rectangle
	Added, Removed int // colours
	// Places are the first pixels of the regions that changed, in reading order.
	Places  []image.Point
	Resized bool
}

// facts are the changes between two frames, kept while they are shown.
type facts struct {
	before, after *image.NRGBA
	changes       Changes
}

// Changes compares the frame that is shown with the earlier picture's; ok is false when
// there is none.
func (v *Viewer) Changes() (c Changes, ok bool) {
	if v.pic == nil || v.before == nil || len(v.pic.Frames) == 0 || len(v.before.Frames) == 0 {
		return Changes{}, false
	}
	after := v.pic.Frames[min(v.frame, len(v.pic.Frames)-1)].Image
	before := v.before.Frames[min(v.frame, len(v.before.Frames)-1)].Image
	if v.facts.before != before || v.facts.after != after {
		v.facts = facts{before, after, changesOf(before, after)}
	}
	return v.facts.changes, true
}

// comparedMost bounds the pixels that are compared within a frame.
const comparedMost = 1 << 20

func changesOf(before, after *image.NRGBA) Changes {
	b := before.Bounds().Union(after.Bounds())
	c := Changes{Resized: before.Bounds() != after.Bounds()}
	if b.Dx()*b.Dy() > comparedMost {
		return c
	}
	was, is := map[color.NRGBA]bool{}, map[color.NRGBA]bool{}
	seen := make([]bool, b.Dx()*b.Dy())
	for y := range b.Dy() {
		for x := range b.Dx() {
			if (image.Point{X: x, Y: y}).In(before.Bounds()) {
				was[before.NRGBAAt(x, y)] = true
			}
			if (image.Point{X: x, Y: y}).In(after.Bounds()) {
				is[after.NRGBAAt(x, y)] = true
			}
			if !changedAt(before, after, x, y) {
				continue
			}
			c.Pixels++
			c.Box = c.Box.Union(image.Rect(x, y, x+1, y+1))
			if !seen[y*b.Dx()+x] {
				c.Places = append(c.Places, image.Point{X: x, Y: y})
				flood(seen, b.Dx(), b.Dy(), x, y, func(x, y int) bool { return changedAt(before, after, x, y) })
			}
		}
	}
	for one := range is {
		if !was[one] && one.A != 0 {
			c.Added++
		}
	}
	for one := range was {
		if !is[one] && one.A != 0 {
			c.Removed++
		}
	}
	return c
}

// flood marks all pixels that hang together with x, y.
func flood(seen []bool, w, h, x, y int, member func(x, y int) bool) {
	todo := []image.Point{{X: x, Y: y}}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if p.X < 0 || p.Y < 0 || p.X >= w || p.Y >= h || seen[p.Y*w+p.X] || !member(p.X, p.Y) {
			continue
		}
		seen[p.Y*w+p.X] = true
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				todo = append(todo, p.Add(image.Point{X: dx, Y: dy}))
			}
		}
	}
}

// NextChange moves the cursor to the next region that changed, d of them on.
func (v *Viewer) NextChange(d int) bool {
	c, ok := v.Changes()
	if !ok || len(c.Places) == 0 {
		return false
	}
	n := len(c.Places)
	v.change = ((v.change+d)%n + n) % n
	v.x, v.y, v.cursor = c.Places[v.change].X, c.Places[v.change].Y, true
	v.Move(0, 0)
	return true
}
