package pixelsrc

import (
	"context"
	"fmt"
	"image"
	"math"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/shape"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// analysis is what the pixels of a picture say about its tokens; each list has
// one entry per token.
type analysis struct {
	roles     []string // "" for one that is not sure
	relations []relation
	z         []int
	notes     []string
}

// relation says how a token relates to another.
type relation struct {
	kind string
	to   int
	sure float64
}

// minSure is the confidence below which a guess is not told.
const minSure = 0.5

// enclosedMost bounds the runs of the sets that are made for one token.
const enclosedMost = 1 << 25

// maxAnalysed bounds the pairs of tokens that are compared.
const maxAnalysed = 64

// scene is a picture as the index of each pixel's token, -1 for none.
type scene struct {
	w, h   int
	at     []int
	tokens []token
	boxes  []shape.Box
	// touching[i][j] counts the pixels of i with a 4-neighbour of j.
	touching [][]int
	bright   []float64
}

func analyse(ctx context.Context, tokens []token, w, h int) analysis {
	a := analysis{roles: make([]string, len(tokens)), relations: make([]relation, len(tokens)), z: make([]int, len(tokens))}
	if len(tokens) > maxAnalysed {
		a.notes = append(a.notes, fmt.Sprintf("Not analysed: it has %s, more than %d; lower max_colors.", humanize.Count(len(tokens), "colour"), maxAnalysed))
		return a
	}
	s := newScene(ctx, tokens, w, h)
	for i := range tokens {
		a.roles[i] = s.role(i)
	}
	inside := make([][]bool, len(tokens)) // inside[o][i]: i lies within o
	for o := range tokens {
		if ctx.Err() != nil {
			return a
		}
		inside[o] = s.enclosed(o)
	}
	for i := range tokens {
		if ctx.Err() != nil {
			return a
		}
		a.relations[i] = s.relation(i, inside)
	}
	a.z = depths(inside)
	for i, t := range tokens {
		if n := s.outline(i); n != "" {
			a.notes = append(a.notes, fmt.Sprintf("Outline: %s (%s) %s.", t.name, colour.Hex(t.colour), n))
		}
	}
	return a
}

func newScene(ctx context.Context, tokens []token, w, h int) *scene {
	s := &scene{w: w, h: h, tokens: tokens, at: make([]int, w*h)}
	for i := range s.at {
		s.at[i] = -1
	}
	for i, t := range tokens {
		for _, r := range t.set {
			for x := r.X0; x < r.X1; x++ {
				s.at[int(r.Y)*w+int(x)] = i
			}
		}
		b, _ := t.set.Bounds()
		s.boxes = append(s.boxes, b)
		c := t.colour
		s.bright = append(s.bright, (0.299*float64(c.R)+0.587*float64(c.G)+0.114*float64(c.B))/255)
		s.touching = append(s.touching, make([]int, len(tokens)))
	}
	for y := range h {
		if ctx.Err() != nil {
			break
		}
		for x := range w {
			s.touch(x, y)
		}
	}
	return s
}

// touch counts which other tokens the pixel's 4-neighbours belong to.
func (s *scene) touch(x, y int) {
	i := s.at[y*s.w+x]
	if i < 0 {
		return
	}
	var seen [4]int
	n := 0
next:
	for _, d := range [4][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		j := s.token(x+d[0], y+d[1])
		if j < 0 || j == i {
			continue
		}
		for _, k := range seen[:n] {
			if k == j {
				continue next
			}
		}
		seen[n] = j
		n++
		s.touching[i][j]++
	}
}

// token is the token at a place, -1 for none and off the canvas.
func (s *scene) token(x, y int) int {
	if x < 0 || y < 0 || x >= s.w || y >= s.h {
		return -1
	}
	return s.at[y*s.w+x]
}

func (s *scene) role(i int) string {
	t, b := s.tokens[i], s.boxes[i]
	edge := 0
	for _, r := range t.set {
		for x := r.X0; x < r.X1; x++ {
			if r.Y == 0 || x == 0 || int(r.Y) == s.h-1 || int(x) == s.w-1 {
				edge++
			}
		}
	}
	share := float64(edge) / float64(t.pixels)
	thin := b.X0 == b.X1 || b.Y0 == b.Y1
	switch {
	case edge > 0 && thin:
		return told("boundary", min(1, 0.7*share+0.3))
	case share > 0.7:
		return told("boundary", 0.8*share)
	case t.pixels < 4:
		return told("anchor", 1.1-0.1*float64(t.pixels))
	}
	if mean, ok := s.neighbours(i); ok {
		diff := mean - s.bright[i]
		if sure := min(1, 0.7+0.3*(math.Abs(diff)-0.15)/0.25); diff >= 0.15 {
			return told("shadow", sure)
		} else if diff <= -0.15 {
			return told("highlight", sure)
		}
	}
	area := float64(t.pixels) / float64(s.w*s.h)
	if interior := 1 - share; area >= 0.05 && interior >= 0.5 {
		return told("fill", min(1, 0.8*min(area, 0.5)+0.6*interior))
	}
	return ""
}

func told(role string, sure float64) string {
	if sure < minSure {
		return ""
	}
	return role
}

// neighbours is the mean brightness of the tokens that touch one.
func (s *scene) neighbours(i int) (mean float64, ok bool) {
	n := 0
	for j, c := range s.touching[i] {
		if c > 0 {
			mean += s.bright[j]
			n++
		}
	}
	return mean / float64(max(n, 1)), n > 0
}

// enclosed marks the tokens from which no way leads to the border of the canvas
// except over token o.
func (s *scene) enclosed(o int) []bool {
	arena := shape.NewArena(enclosedMost)
	covered := arena.Covered(s.tokens[o].set, s.w, s.h)
	in := make([]bool, len(s.tokens))
	for i, t := range s.tokens {
		in[i] = i != o && len(arena.Subtract(t.set, covered)) == 0
	}
	return in
}

// depths counts for each token how many lie round it, one within the other.
func depths(inside [][]bool) []int {
	z := make([]int, len(inside))
	for range inside { // each round settles one more level
		changed := false
		for i := range z {
			for o := range inside {
				if inside[o][i] && z[o]+1 > z[i] && z[o]+1 < len(z) {
					z[i], changed = z[o]+1, true
				}
			}
		}
		if !changed {
			break
		}
	}
	return z
}

// relation is the surest relation of a token; on ties contained-within, then
// derives-from, paired-with, adjacent-to.
func (s *scene) relation(i int, inside [][]bool) relation {
	var best relation
	keep := func(kind string, to int, sure, least float64) {
		if sure >= least && sure > best.sure {
			best = relation{kind, to, sure}
		}
	}
	for o := range s.tokens {
		if o != i && inside[o][i] {
			share := float64(s.touching[i][o]) / float64(s.tokens[i].pixels)
			keep("contained-within", o, min(1, 0.7*share+0.3), minSure)
		}
	}
	for j := range s.tokens {
		if j != i {
			keep("derives-from", j, s.derives(i, j), minSure)
		}
	}
	for j := i + 1; j < len(s.tokens); j++ {
		keep("paired-with", j, s.paired(i, j), 0.6)
	}
	for j := i + 1; j < len(s.tokens); j++ {
		if n := s.touching[i][j]; n > 0 {
			smaller := min(s.tokens[i].pixels, s.tokens[j].pixels)
			keep("adjacent-to", j, min(1, 0.5+0.5*float64(n)/float64(smaller)), minSure)
		}
	}
	return best
}

// derives says how sure i is a darker shade of j; only this direction is asked,
// so chains never close.
func (s *scene) derives(i, j int) float64 {
	h1, s1, l1 := colour.ToHSL(s.tokens[i].colour)
	h2, s2, l2 := colour.ToHSL(s.tokens[j].colour)
	dh := math.Abs(h1 - h2)
	dh = min(dh, 360-dh)
	ds, dl := math.Abs(s1-s2)/100, (l2-l1)/100
	if dh > 15 || ds > 0.15 || dl < 0.1 {
		return 0
	}
	return 0.3*(1-dh/15) + 0.3*(1-ds/0.15) + 0.4*min(dl-0.1, 0.4)/0.4
}

// paired says how sure two tokens mirror each other left and right.
func (s *scene) paired(i, j int) float64 {
	a, b := s.tokens[i], s.tokens[j]
	ratio := float64(min(a.pixels, b.pixels)) / float64(max(a.pixels, b.pixels))
	if ratio < 0.8 {
		return 0
	}
	ax, ay := centre(a.set)
	bx, by := centre(b.set)
	dx, dy := math.Abs(float64(s.w-1)-ax-bx), math.Abs(ay-by)
	reach := 0.1 * float64(s.w)
	if dx > reach || dy > reach {
		return 0
	}
	both := 0
	for _, r := range a.set {
		for x := r.X0; x < r.X1; x++ {
			if b.set.Has(s.w-1-int(x), int(r.Y)) {
				both++
			}
		}
	}
	jaccard := float64(both) / float64(a.pixels+b.pixels-both)
	if jaccard < 0.5 {
		return 0
	}
	return 0.2*ratio + 0.5*jaccard + 0.3*(1-max(dx, dy)/reach)
}

func centre(s shape.Set) (x, y float64) {
	n := 0.0
	for _, r := range s {
		k := float64(r.X1 - r.X0)
		x += k * (float64(r.X0) + float64(r.X1-1)) / 2
		y += k * float64(r.Y)
		n += k
	}
	return x / n, y / n
}

// outline describes a token that draws an outline, "" for one that does not.
func (s *scene) outline(i int) string {
	if s.bright[i] > 0.3 {
		return ""
	}
	t := s.tokens[i]
	perimeter := 0
	touches := map[int]bool{}
	for _, r := range t.set {
		for x := int(r.X0); x < int(r.X1); x++ {
			open := false
			for dy := -1; dy <= 1; dy++ {
				for dx := -1; dx <= 1; dx++ {
					j := s.token(x+dx, int(r.Y)+dy)
					if j != i && dx*dy == 0 {
						open = true
					}
					if j >= 0 && j != i {
						touches[j] = true
					}
				}
			}
			if open {
				perimeter++
			}
		}
	}
	if perimeter == 0 || len(touches) == 0 {
		return ""
	}
	width := float64(t.pixels) / (float64(perimeter) / 2)
	if width < 0.8 || width > 3.5 {
		return ""
	}
	score := 0.6
	if width <= 2 {
		score = 1
	} else if width <= 3 {
		score = 0.8
	}
	if sure := (0.6*score + 0.4*min(1, float64(len(touches))/5)) * (1 - s.bright[i]); sure < 0.3 {
		return ""
	}
	return fmt.Sprintf("is about %.1f px wide and borders %s", width, humanize.Count(len(touches), "colour"))
}

// upscaled is the factor by which a picture seems to have been enlarged, 1 for none.
func upscaled(img *image.NRGBA) int {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
next:
	for _, k := range [...]int{2, 3, 4, 5, 6, 8} {
		if w%k != 0 || h%k != 0 || w/k < 2 || h/k < 2 {
			continue
		}
		blocks := w / k * (h / k)
		odd := 0
		for y := 0; y < h; y += k {
			for x := 0; x < w; x += k {
				if !uniform(img, x, y, k) {
					if odd++; odd*20 > blocks {
						continue next
					}
				}
			}
		}
		return k * upscaledBy(img, k)
	}
	return 1
}

// upscaledBy looks whether a picture that is enlarged k times is enlarged more:
// the smallest factor is not the whole of it.
func upscaledBy(img *image.NRGBA, k int) int {
	w, h := img.Bounds().Dx()/k, img.Bounds().Dy()/k
	small := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			small.SetNRGBA(x, y, pixel(img, x*k, y*k))
		}
	}
	if w < 4 || h < 4 {
		return 1
	}
	return upscaled(small)
}

func uniform(img *image.NRGBA, x, y, k int) bool {
	c := pixel(img, x, y)
	for j := range k {
		for i := range k {
			if pixel(img, x+i, y+j) != c {
				return false
			}
		}
	}
	return true
}

// symmetryOf names the axes about which a picture is its own mirror image.
func symmetryOf(img *image.NRGBA) string {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	mirrorX, mirrorY := w > 0 && h > 0, w > 0 && h > 0
	for y := range h {
		for x := range w {
			c := pixel(img, x, y)
			mirrorX = mirrorX && c == pixel(img, w-1-x, y)
			mirrorY = mirrorY && c == pixel(img, x, h-1-y)
		}
	}
	var axes []string
	if mirrorX {
		axes = append(axes, "x (left and right)")
	}
	if mirrorY {
		axes = append(axes, "y (top and bottom)")
	}
	if len(axes) == 0 {
		return "none"
	}
	return strings.Join(axes, ", ")
}
