package picture

import "image"

// sampleScale is the number of sample steps per step of a pixel channel.
const sampleScale = 16

// span is the weight of source pixel at within one sample.
type span struct{ at, weight int }

// spans lists, for each of n samples over size pixels, the pixels it covers and by how
// much. All samples have the same total weight, which is also returned.
func spans(size, n int) (list [][]span, total int) {
	d := gcd(size, n)
	pixel, sample := n/d, size/d // lengths of a pixel and a sample in a common unit
	list = make([][]span, n)
	for i := range list {
		from, to := i*sample, (i+1)*sample
		for at := from / pixel; at*pixel < to; at++ {
			overlap := min(to, (at+1)*pixel) - max(from, at*pixel)
			list[i] = append(list[i], span{at, overlap})
		}
	}
	return list, sample
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// boxSamples returns the exact mean colour of each of w by h equal boxes, ignoring alpha.
// A box that covers a single colour yields exactly that colour.
func boxSamples(img *image.NRGBA, w, h int) []vec {
	b := img.Bounds()
	across, perX := spans(b.Dx(), w)
	down, perY := spans(b.Dy(), h)
	if perX*perY < 1<<24 {
		return sampleBoxes[uint32](img, across, down, perX*perY)
	}
	return sampleBoxes[uint64](img, across, down, perX*perY)
}

// sampleBoxes sums in the narrowest integer type that can hold an all-white box.
func sampleBoxes[sum uint32 | uint64](img *image.NRGBA, across, down [][]span, total int) []vec {
	w := len(across)
	out := make([]vec, w*len(down))
	line, acc := make([]sum, 3*w), make([]sum, 3*w)
	scale := float64(sampleScale) / float64(total)
	last := -1
	for y, list := range down {
		clear(acc)
		for _, s := range list {
			if s.at != last {
				boxLine(img.Pix[s.at*img.Stride:], across, line)
				last = s.at
			}
			weight := sum(s.weight)
			for i, v := range line {
				acc[i] += v * weight
			}
		}
		row := out[y*w : (y+1)*w]
		for x := range row {
			for c := range 3 {
				// The conversion prevents a fused multiply-add, so all machines agree.
				row[x][c] = int32(float64(float64(acc[3*x+c])*scale) + 0.5)
			}
		}
	}
	return out
}

func boxLine[sum uint32 | uint64](pix []uint8, across [][]span, line []sum) {
	for x, list := range across {
		var r, g, b sum
		for _, s := range list {
			p := pix[4*s.at : 4*s.at+3 : 4*s.at+3]
			weight := sum(s.weight)
			r += sum(p[0]) * weight
			g += sum(p[1]) * weight
			b += sum(p[2]) * weight
		}
		line[3*x], line[3*x+1], line[3*x+2] = r, g, b
	}
}

// Shrink resizes img to w by h pixels using exact area means weighted by alpha. It is the
// right filter for making pictures smaller. When enlarging, it repeats pixels and blends
// them where the factor is not whole; use [Scale] for pixel art.
func Shrink(img *image.NRGBA, w, h int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, max(w, 0), max(h, 0)))
	b := img.Bounds()
	if w <= 0 || h <= 0 || b.Empty() {
		return out
	}
	across, perX := spans(b.Dx(), w)
	down, perY := spans(b.Dy(), h)
	total := uint64(perX) * uint64(perY)
	line := make([]uint64, 4*w)
	sum := make([]uint64, 4*w)
	last := -1
	for y := range h {
		clear(sum)
		for _, s := range down[y] {
			if s.at != last {
				shrinkLine(img.Pix[s.at*img.Stride:], across, line)
				last = s.at
			}
			for i, v := range line {
				sum[i] += v * uint64(s.weight)
			}
		}
		for x := range w {
			s, p := sum[4*x:4*x+4], out.Pix[y*out.Stride+4*x:]
			if a := s[3]; a > 0 {
				p[0], p[1], p[2] = uint8((s[0]+a/2)/a), uint8((s[1]+a/2)/a), uint8((s[2]+a/2)/a)
				p[3] = uint8((a + total/2) / total)
			}
		}
	}
	return out
}

func shrinkLine(pix []uint8, across [][]span, line []uint64) {
	for x, list := range across {
		var r, g, b, a uint64
		for _, s := range list {
			p := pix[4*s.at : 4*s.at+4 : 4*s.at+4]
			w := uint64(p[3]) * uint64(s.weight)
			r += uint64(p[0]) * w
			g += uint64(p[1]) * w
			b += uint64(p[2]) * w
			a += w
		}
		line[4*x], line[4*x+1], line[4*x+2], line[4*x+3] = r, g, b, a
	}
}
