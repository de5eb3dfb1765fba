package frames

import (
	"encoding/json"
	"image"
	"math/bits"
	"slices"
	"time"
)

// Sprite is one picture of an atlas, with the metadata that games read.
type Sprite struct {
	Name   string
	Image  *image.NRGBA
	Origin *[2]int
	// Boxes are named rectangles x, y, w, h.
	Boxes map[string][4]int
	// Border is left, right, top and bottom of a nine-slice sprite, else nil.
	Border *[4]int
}

// Tag is a named range of an animation's frames, both ends included.
type Tag struct {
	Start int     `json:"start"`
	End   int     `json:"end"`
	Loop  *bool   `json:"loop,omitempty"`
	FPS   float64 `json:"fps,omitempty"`
}

// Animation is a sequence of the atlas's sprites.
type Animation struct {
	Name     string
	Frames   []string
	Duration time.Duration // of one frame
	Loop     bool
	Tags     map[string]Tag
	// Metadata has one entry per frame, or is nil: boxes by name, null for none.
	Metadata []map[string]*[4]int
}

// Packing says how large an atlas may become.
type Packing struct {
	// Max is the largest width and height, 4096 when 0.
	Max int
	// Padding is left between sprites.
	Padding int
	// PowerOfTwo rounds the sides of the atlas up.
	PowerOfTwo bool
}

// Page is one atlas picture and where each sprite stands on it.
type Page struct {
	Image   *image.NRGBA
	Sprites []Placed
}

// Placed is a sprite and its rectangle.
type Placed struct {
	Sprite
	Rect image.Rectangle
}

// shelf is a row of an atlas page.
type shelf struct{ y, h, used int }

type page struct {
	shelves []shelf
	bottom  int
	placed  []Placed
}

// Pack puts sprites on shelves, the tallest first, on as many pages as it
// takes. It also returns the names of those larger than a page.
func Pack(list []Sprite, p Packing) (pages []Page, tooLarge []string) {
	if p.Max <= 0 {
		p.Max = 4096
	}
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b Sprite) int { return b.Image.Bounds().Dy() - a.Image.Bounds().Dy() })
	var open []*page
next:
	for _, s := range sorted {
		w, h := s.Image.Bounds().Dx(), s.Image.Bounds().Dy()
		if w > p.Max || h > p.Max {
			tooLarge = append(tooLarge, s.Name)
			continue
		}
		for _, pg := range open {
			if pg.add(s, w, h, p) {
				continue next
			}
		}
		pg := &page{}
		pg.add(s, w, h, p)
		open = append(open, pg)
	}
	for _, pg := range open {
		pages = append(pages, pg.draw(p))
	}
	return pages, tooLarge
}

func (pg *page) add(s Sprite, w, h int, p Packing) bool {
	for i := range pg.shelves {
		sh := &pg.shelves[i]
		if sh.h >= h && (sh.used+w <= p.Max) {
			pg.place(s, sh, w, h, p)
			return true
		}
	}
	if pg.bottom+h > p.Max {
		return false
	}
	pg.shelves = append(pg.shelves, shelf{y: pg.bottom, h: h + p.Padding})
	pg.bottom += h + p.Padding
	pg.place(s, &pg.shelves[len(pg.shelves)-1], w, h, p)
	return true
}

func (pg *page) place(s Sprite, sh *shelf, w, h int, p Packing) {
	pg.placed = append(pg.placed, Placed{s, image.Rect(sh.used, sh.y, sh.used+w, sh.y+h)})
	sh.used += w + p.Padding
}

func (pg *page) draw(p Packing) Page {
	w, h := 0, pg.bottom-p.Padding
	for _, s := range pg.shelves {
		w = max(w, s.used-p.Padding)
	}
	if p.PowerOfTwo {
		w, h = power(w), power(h)
	}
	out := Page{Image: image.NewNRGBA(image.Rect(0, 0, max(w, 0), max(h, 0))), Sprites: pg.placed}
	for _, s := range pg.placed {
		place(out.Image, s.Image, s.Rect.Min.X, s.Rect.Min.Y)
	}
	return out
}

func power(n int) int {
	if n < 2 {
		return n
	}
	return 1 << bits.Len(uint(n-1))
}

type atlasJSON struct {
	Image      string                   `json:"image"`
	Size       [2]int                   `json:"size"`
	Frames     map[string]frameJSON     `json:"frames"`
	Animations map[string]animationJSON `json:"animations,omitempty"`
}

type frameJSON struct {
	X      int               `json:"x"`
	Y      int               `json:"y"`
	W      int               `json:"w"`
	H      int               `json:"h"`
	Origin *[2]int           `json:"origin,omitempty"`
	Boxes  map[string][4]int `json:"boxes,omitempty"`
}

type animationJSON struct {
	Frames   []string             `json:"frames"`
	FPS      int                  `json:"fps"`
	Loop     bool                 `json:"loop"`
	Tags     map[string]Tag       `json:"tags,omitempty"`
	Metadata []map[string]*[4]int `json:"frame_metadata,omitempty"`
}

// JSON describes a page stored under the file name file: the rectangle, origin
// and boxes of each frame, and the animations of which it has a frame.
func (p Page) JSON(file string, animations []Animation) ([]byte, error) {
	b := p.Image.Bounds()
	out := atlasJSON{Image: file, Size: [2]int{b.Dx(), b.Dy()}, Frames: map[string]frameJSON{}}
	for _, s := range p.Sprites {
		out.Frames[s.Name] = frameJSON{s.Rect.Min.X, s.Rect.Min.Y, s.Rect.Dx(), s.Rect.Dy(), s.Origin, s.Boxes}
	}
	for _, a := range animations {
		if !slices.ContainsFunc(a.Frames, func(f string) bool { _, ok := out.Frames[f]; return ok }) {
			continue
		}
		if out.Animations == nil {
			out.Animations = map[string]animationJSON{}
		}
		j := animationJSON{
			Frames: a.Frames, Loop: a.Loop, Tags: a.Tags, Metadata: a.Metadata,
			FPS: 1000 / int(max(1, a.Duration.Milliseconds())),
		}
		out.Animations[a.Name] = j
	}
	return json.MarshalIndent(out, "", "  ")
}
