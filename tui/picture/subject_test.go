package picture

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
)

// The test pictures are drawn, not stored: a sprite, a tile sheet, a page and a photo.

func rgb(v uint32) color.NRGBA { return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 255} }

func fill(img *image.NRGBA, x0, y0, x1, y1 int, c color.NRGBA) {
	r := image.Rect(x0, y0, x1, y1).Intersect(img.Bounds())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			img.SetNRGBA(x, y, c)
		}
	}
}

// spriteSubject is a shaded, outlined figure with speckles, opaque or with holes round it.
func spriteSubject(size int, holes bool) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	ground := color.NRGBA{}
	if !holes {
		ground = rgb(0x2b2b3a)
	}
	ramp := []color.NRGBA{rgb(0x1a1c2c), rgb(0x5d275d), rgb(0xb13e53), rgb(0xef7d57), rgb(0xffcd75), rgb(0xf4f4f4)}
	r := rand.New(rand.NewPCG(7, uint64(size)))
	for y := range size {
		for x := range size {
			u, v := 2*(float64(x)+.5)/float64(size)-1, 2*(float64(y)+.5)/float64(size)-1
			d := math.Hypot(u, v*0.9)
			switch {
			case d > 0.92:
				img.SetNRGBA(x, y, ground)
			case d > 0.92-2.5/float64(size):
				img.SetNRGBA(x, y, ramp[0])
			default:
				shade := 3.2 - 2*u - 1.6*v + 0.4*math.Sin(9*u)
				c := ramp[1+int(max(0, min(4, shade)))]
				if r.IntN(40) == 0 {
					c = rgb(0x41a6f6)
				}
				img.SetNRGBA(x, y, c)
			}
		}
	}
	for _, eye := range []int{size * 5 / 16, size * 10 / 16} {
		fill(img, eye, size/3, eye+size/12+1, size/3+size/8+1, ramp[5])
		fill(img, eye+1, size/3+1, eye+size/16+1, size/3+size/10+1, ramp[0])
	}
	return img
}

func tilesSubject() *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, 256, 256))
	r := rand.New(rand.NewPCG(3, 9))
	grounds := [][3]uint32{{0x38b764, 0x257179, 0xa7f070}, {0x566c86, 0x333c57, 0x94b0c2}, {0xef7d57, 0xb13e53, 0xffcd75}}
	for ty := range 16 {
		for tx := range 16 {
			g := grounds[(tx/3+ty/5)%3]
			for y := range 16 {
				for x := range 16 {
					c := g[0]
					if x == 0 || y == 15 || (x+y*3)%11 == 0 {
						c = g[1]
					}
					if r.IntN(12) == 0 {
						c = g[2]
					}
					img.SetNRGBA(tx*16+x, ty*16+y, rgb(c))
				}
			}
		}
	}
	return img
}

// pageSubject is a design page: bars, cards, rules and lines of five by seven letters.
func pageSubject(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	fill(img, 0, 0, w, h, rgb(0xf8f9fb))
	fill(img, 0, 0, w, h/16, rgb(0x1f2937))
	fill(img, 0, h/16, w/6, h, rgb(0xe5e7eb))
	r := rand.New(rand.NewPCG(1, 2))
	text := func(x, y, end, unit int, c color.NRGBA) {
		for x+5*unit < end {
			if r.IntN(6) == 0 {
				x += 4 * unit
				continue
			}
			for j := range 7 {
				for i := range 5 {
					if r.IntN(9) < 4 {
						fill(img, x+i*unit, y+j*unit, x+(i+1)*unit, y+(j+1)*unit, c)
					}
				}
			}
			x += 6 * unit
		}
	}
	unit := max(1, w/960)
	text(w/40, h/50, w/4, 2*unit, rgb(0xffffff))
	for i := range 9 {
		text(w/60, h/8+i*h/14, w/7, unit, rgb(0x4b5563))
	}
	accents := []uint32{0x2563eb, 0x16a34a, 0xd97706, 0xdc2626, 0x7c3aed, 0x0891b2}
	for i := range 6 {
		x, y := w/5+i%3*w*4/15, h/8+i/3*h*2/5
		fill(img, x, y, x+w*7/30, y+h/3, rgb(0xd1d5db))
		fill(img, x+unit, y+unit, x+w*7/30-unit, y+h/3-unit, rgb(0xffffff))
		fill(img, x+unit, y+unit, x+w*7/30-unit, y+h/40, rgb(accents[i]))
		text(x+w/80, y+h/22, x+w/8, 2*unit, rgb(0x111827))
		for line := range 5 {
			text(x+w/80, y+h/9+line*h/36, x+w*7/30-w/80, unit, rgb(0x6b7280))
		}
		fill(img, x+w/80, y+h/3-h/18, x+w/12, y+h/3-h/50, rgb(accents[i]))
	}
	return img
}

// photoSubject has what photos have: gradients, soft edges, grain.
func photoSubject(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.New(rand.NewPCG(11, 5))
	type wave struct{ fx, fy, phase, amp float64 }
	var waves [3][14]wave
	for c := range waves {
		for i := range waves[c] {
			f := math.Pow(1.5, float64(i))
			angle := r.Float64() * 2 * math.Pi
			waves[c][i] = wave{f * math.Cos(angle), f * math.Sin(angle), r.Float64() * 7, 60 / math.Pow(1.28, float64(i))}
		}
	}
	for y := range h {
		for x := range w {
			u, v := 3*float64(x)/float64(w), 3*float64(y)/float64(w)
			var p [3]uint8
			base := 0.0
			for i := range waves[0] {
				q := &waves[0][i]
				base += q.amp * math.Sin(q.fx*u+q.fy*v+q.phase)
			}
			for c := range p {
				tint := 0.0
				for i := range 4 {
					q := &waves[c][i]
					tint += q.amp * 0.6 * math.Sin(q.fy*u-q.fx*v+q.phase)
				}
				edge := 0.0
				if math.Hypot(u-1.6, v-0.9) < 0.5 {
					edge = 45
				}
				p[c] = uint8(max(0, min(255, 120+base*0.55+tint+edge+r.NormFloat64()*4)))
			}
			img.SetNRGBA(x, y, color.NRGBA{p[0], p[1], p[2], 255})
		}
	}
	return img
}
