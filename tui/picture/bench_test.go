package picture

import (
	"image"
	"testing"
)

func BenchmarkFit(b *testing.B) {
	sprite, tiles, page, photo := spriteSubject(64, false), tilesSubject(), pageSubject(1920, 1080), photoSubject(1920, 1080)
	for _, row := range []struct {
		name       string
		img        *image.NRGBA
		cols, rows int
		o          Options
	}{
		{"sprite 64x32 half", sprite, 64, 32, Options{Half, 0}},
		{"sprite 64x32 best", sprite, 64, 32, Options{Best, 0}},
		{"sprite 32x16 octant", sprite, 32, 16, Options{Octant, NoSnap}},
		{"sprite 32x16 octant own colours", sprite, 32, 16, Options{Octant, 0}},
		{"tiles 128x64 octant", tiles, 128, 64, Options{Octant, NoSnap}},
		{"tiles 128x64 octant own colours", tiles, 128, 64, Options{Octant, 0}},
		{"page 80x24 half", page, 80, 24, Options{Half, NoSnap}},
		{"page 80x24 block", page, 80, 24, Options{Block, 0.75}},
		{"page 80x24 best means", page, 80, 24, Options{Best, NoSnap}},
		{"page 80x24 best", page, 80, 24, Options{Best, 0.75}},
		{"photo 80x24 best", photo, 80, 24, Options{Best, NoSnap}},
	} {
		b.Run(row.name, func(b *testing.B) {
			bytes := 0
			for b.Loop() {
				bytes = 0
				for _, line := range Fit(row.img, row.cols, row.rows, row.o).Lines(Palette{}) {
					bytes += len(line)
				}
			}
			b.ReportMetric(float64(bytes), "bytes")
		})
	}
}
