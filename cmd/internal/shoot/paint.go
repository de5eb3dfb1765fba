package main

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/go-fonts/dejavu/dejavusansmono"
	"github.com/go-fonts/dejavu/dejavusansmonobold"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// painter draws the cells of a terminal: block elements as geometry, as good terminals do,
// and all else in a font that is the same on every machine.
type painter struct {
	w, h          int // of a cell, in pixels
	regular, bold font.Face
	base          int // of the text in a cell
}

// The colours of a terminal without a theme.
var (
	paper = color.RGBA{0x10, 0x12, 0x16, 0xff}
	ink   = color.RGBA{0xe6, 0xe6, 0xe6, 0xff}
)

func newPainter(w, h int) (*painter, error) {
	p := &painter{w: w, h: h}
	var err error
	if p.regular, err = fitting(dejavusansmono.TTF, w, h); err != nil {
		return nil, err
	}
	if p.bold, err = fitting(dejavusansmonobold.TTF, w, h); err != nil {
		return nil, err
	}
	m := p.regular.Metrics()
	p.base = (h-(m.Ascent+m.Descent).Ceil())/2 + m.Ascent.Ceil()
	return p, nil
}

// fitting returns a font in the largest size that fits a cell.
func fitting(ttf []byte, w, h int) (font.Face, error) {
	f, err := opentype.Parse(ttf)
	if err != nil {
		return nil, fmt.Errorf("read the font: %w", err)
	}
	for size := float64(h); size > 3; size -= 0.25 {
		face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72})
		if err != nil {
			return nil, fmt.Errorf("size the font: %w", err)
		}
		advance, _ := face.GlyphAdvance('M')
		if m := face.Metrics(); advance.Ceil() <= w && (m.Ascent+m.Descent).Ceil() <= h+2 {
			return face, nil
		}
	}
	return nil, fmt.Errorf("no size of the font fits %d×%d pixels", w, h)
}

// screen draws a whole screen.
func (p *painter) screen(s interface{ CellAt(x, y int) *uv.Cell }, cols, rows int) *image.RGBA {
	im := image.NewRGBA(image.Rect(0, 0, cols*p.w, rows*p.h))
	draw.Draw(im, im.Bounds(), image.NewUniform(paper), image.Point{}, draw.Src)
	for y := range rows {
		for x := range cols {
			if c := s.CellAt(x, y); c != nil && c.Width > 0 {
				p.cell(im, x, y, c)
			}
		}
	}
	return im
}

func (p *painter) cell(dst *image.RGBA, x, y int, c *uv.Cell) {
	fg, bg := colours(c.Style)
	r := image.Rect(x*p.w, y*p.h, (x+c.Width)*p.w, (y+1)*p.h)
	draw.Draw(dst, r, image.NewUniform(bg), image.Point{}, draw.Src)
	if c.Content == "" {
		return
	}
	if glyph, n := utf8.DecodeRuneInString(c.Content); n == len(c.Content) {
		if covers, ok := block(glyph); ok {
			p.geometry(dst, r, covers, fg, bg)
			return
		}
	}
	face := p.regular
	if c.Style.Attrs&uv.AttrBold != 0 {
		face = p.bold
	}
	d := font.Drawer{Dst: dst.SubImage(r).(*image.RGBA), Src: image.NewUniform(fg), Face: face, Dot: fixed.P(r.Min.X, r.Min.Y+p.base)}
	d.DrawString(c.Content)
	if c.Style.Underline != ansi.UnderlineNone {
		draw.Draw(dst, image.Rect(r.Min.X, r.Max.Y-2, r.Max.X, r.Max.Y-1), image.NewUniform(fg), image.Point{}, draw.Src)
	}
}

// geometry fills what a block element covers of a cell.
func (p *painter) geometry(dst *image.RGBA, r image.Rectangle, covers func(x, y float64) float64, fg, bg color.RGBA) {
	for y := range p.h {
		for x := range p.w {
			if a := covers((float64(x)+.5)/float64(p.w), (float64(y)+.5)/float64(p.h)); a > 0 {
				dst.SetRGBA(r.Min.X+x, r.Min.Y+y, blend(fg, bg, a))
			}
		}
	}
}

func blend(a, b color.RGBA, part float64) color.RGBA {
	mix := func(u, v uint8) uint8 { return uint8(float64(u)*part + float64(v)*(1-part) + .5) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

func colours(s uv.Style) (fg, bg color.RGBA) {
	fg, bg = ink, paper
	if s.Fg != nil {
		fg = opaque(s.Fg)
	}
	if s.Bg != nil {
		bg = opaque(s.Bg)
	}
	if s.Attrs&uv.AttrReverse != 0 {
		fg, bg = bg, fg
	}
	if s.Attrs&uv.AttrFaint != 0 {
		fg = blend(fg, bg, 2.0/3)
	}
	return fg, bg
}

func opaque(c color.Color) color.RGBA {
	r, g, b, _ := c.RGBA()
	return color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0xff}
}

// block returns how much of each place of a cell, from 0 to 1 in both directions, a block
// element or Braille pattern covers; false for a glyph that needs a font.
func block(r rune) (covers func(x, y float64) float64, ok bool) {
	where := func(in func(x, y float64) bool) func(x, y float64) float64 {
		return func(x, y float64) float64 {
			if in(x, y) {
				return 1
			}
			return 0
		}
	}
	// Which quarters: 1 top left, 2 top right, 4 bottom left, 8 bottom right.
	quarters, is := map[rune]int{'▀': 3, '▄': 12, '▌': 5, '▐': 10, '▘': 1, '▝': 2, '▖': 4, '▗': 8, '▚': 9, '▞': 6, '▛': 7, '▜': 11, '▙': 13, '▟': 14, '█': 15}[r]
	switch {
	case is:
		return where(func(x, y float64) bool { return quarters>>(2*int(y*2)+int(x*2))&1 == 1 }), true
	case r >= '▁' && r <= '▇':
		return where(func(_, y float64) bool { return y >= 1-float64(r-'▁'+1)/8 }), true
	case r >= '▉' && r <= '▏':
		return where(func(x, _ float64) bool { return x < float64('▐'-r)/8 }), true
	case r >= '░' && r <= '▓':
		part := float64(r-'░'+1) / 4
		return func(float64, float64) float64 { return part }, true
	case r >= '⠀' && r <= '⣿':
		return where(func(x, y float64) bool { return dot(byte(r), x*2, y*4) }), true
	case r == '▔':
		return where(func(_, y float64) bool { return y < 1.0/8 }), true
	case r == '▕':
		return where(func(x, _ float64) bool { return x >= 7.0/8 }), true
	}
	return nil, false
}

// dot reports whether a place is on a dot of a Braille pattern, in units of a dot's room.
func dot(pattern byte, x, y float64) bool {
	bit := [4][2]byte{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}[int(y)][int(x)]
	middle := func(v float64) bool { return math.Abs(v-math.Floor(v)-0.5) < 0.3 }
	return pattern&bit != 0 && middle(x) && middle(y)
}
