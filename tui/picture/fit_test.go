package picture

import (
	"image"
	"slices"
	"testing"
)

var allSets = []Set{Half, Block, Sextant, Octant, Best}

func TestSpritesAreExactInEverySet(t *testing.T) {
	sprites := map[string]*image.NRGBA{
		"8 px":             spriteSubject(8, false),
		"16 px, holes":     spriteSubject(16, true),
		"33 px, odd":       spriteSubject(33, true),
		"64 px":            spriteSubject(64, false),
		"tiles":            rowOf(tilesSubject(), 0, 48),
		"one pixel":        spriteSubject(1, false),
		"half transparent": Over(spriteSubject(16, true), Checker{Light: rgb(0x808080), Dark: rgb(0x606060), Square: 4}),
	}
	checkExact(t, sprites)
}

func TestCorpusIsExactInEverySet(t *testing.T) {
	sprites := corpusSprites(t)
	if len(sprites) < 300 {
		t.Fatalf("only %d sprites with pixels in the corpus", len(sprites))
	}
	checkExact(t, sprites)
}

func checkExact(t *testing.T, sprites map[string]*image.NRGBA) {
	t.Helper()
	for name, sprite := range sprites {
		// As the page shows them: laid on a ground, which makes any alpha exact; and as
		// they are where alpha is only on or off.
		pictures := map[string]*image.NRGBA{"on a checkerboard": Over(sprite, Checker{Light: rgb(0x777777), Dark: rgb(0x555555), Square: 4})}
		if onOrOff(sprite) {
			pictures["on the terminal's ground"] = sprite
		}
		for how, picture := range pictures {
			for _, factor := range []int{1, 2, 3} {
				if b := picture.Bounds(); factor > 1 && b.Dx()*b.Dy() > 1024 {
					continue
				}
				frame := Scale(picture, factor)
				frame = Pad(frame, 0, (frame.Bounds().Dy()+1)/2*2)
				cols, rows := halfCells(frame)
				for _, set := range allSets {
					for _, snap := range []float64{NoSnap, 0, 0.75} {
						if snap != NoSnap && factor > 1 || snap == 0.75 && set != Best {
							continue
						}
						back := rebuild(t, Fit(frame, cols, rows, Options{Set: set, Snap: snap}))
						if share := exactShare(frame, back); share != 1 {
							t.Errorf("%s %s, %dx, %s, snap %v: %.2f %% exact", name, how, factor, set, snap, 100*share)
						}
					}
				}
			}
		}
	}
}

func onOrOff(img *image.NRGBA) bool {
	for i := 3; i < len(img.Pix); i += 4 {
		if a := img.Pix[i]; a != 0 && a != 255 {
			return false
		}
	}
	return true
}

// The least that each renderer must reach. The pictures are drawn, so the numbers are
// this file's own; chafa's for the same pictures stand in the package's README.
func TestFidelity(t *testing.T) {
	sprite, tiles, page, photo := spriteSubject(64, false), tilesSubject(), pageSubject(1920, 1152), photoSubject(960, 576)
	for _, row := range []struct {
		name       string
		img        *image.NRGBA
		cols, rows int
		o          Options
		psnr, ssim float64
		difference float64 // at most
		exact      float64
	}{
		{"sprite 64x32 half", sprite, 64, 32, Options{Half, NoSnap}, 99, 1, 0, 1},
		{"sprite 32x16 half", sprite, 32, 16, Options{Half, NoSnap}, 19.5, 0.80, 3.3, 0.75},
		{"sprite 32x16 block", sprite, 32, 16, Options{Block, NoSnap}, 23.0, 0.90, 1.6, 0.86},
		{"sprite 32x16 octant", sprite, 32, 16, Options{Octant, NoSnap}, 32.4, 0.98, 0.3, 0.94},
		{"sprite 32x16 octant, own colours", sprite, 32, 16, Options{Octant, 0}, 30.5, 0.98, 0.25, 0.97},
		{"tiles 128x64 octant", tiles, 128, 64, Options{Octant, NoSnap}, 28.0, 0.90, 1.9, 0.70},
		{"tiles 128x64 octant, own colours", tiles, 128, 64, Options{Octant, 0}, 26.7, 0.90, 1.3, 0.93},
		{"page 80x24 half", page, 80, 24, Options{Half, NoSnap}, 18.9, 0.70, 3.9, 0.57},
		{"page 80x24 block", page, 80, 24, Options{Block, 0.75}, 19.8, 0.78, 2.2, 0.89},
		{"page 80x24 best, means", page, 80, 24, Options{Best, NoSnap}, 21.0, 0.81, 2.5, 0.65},
		{"page 80x24 best", page, 80, 24, Options{Best, 0.75}, 20.6, 0.81, 2.1, 0.87},
		{"photo 80x24 half", photo, 80, 24, Options{Half, NoSnap}, 34.0, 0.83, 1.4, 0},
		{"photo 80x24 best", photo, 80, 24, Options{Best, NoSnap}, 35.4, 0.88, 1.25, 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			back := rebuild(t, Fit(row.img, row.cols, row.rows, row.o))
			exact := exactShare(row.img, back)
			source := stretch(row.img, back.Bounds().Dx(), back.Bounds().Dy())
			psnr, ssim, difference := fidelity(source, back)
			t.Logf("%.1f dB, similarity %.3f, difference %.2f, %.0f %% exact", psnr, ssim, difference, 100*exact)
			if psnr < row.psnr || ssim < row.ssim || difference > row.difference || exact < row.exact {
				t.Errorf("wanted at least %.1f dB, %.3f, at most %.2f, at least %.0f %%", row.psnr, row.ssim, row.difference, 100*row.exact)
			}
		})
	}
}

// stretch brings the source to the rebuilt size: repeated when it is smaller, averaged
// when it is larger.
func stretch(img *image.NRGBA, w, h int) *image.NRGBA { return Shrink(img, w, h) }

func TestSameInputSameBytes(t *testing.T) {
	page := pageSubject(480, 288)
	first := Fit(page, 40, 12, Options{Best, 0.75}).Lines(Palette{})
	for range 3 {
		if again := Fit(page, 40, 12, Options{Best, 0.75}).Lines(Palette{}); !slices.Equal(first, again) {
			t.Fatal("the same picture gave other bytes")
		}
	}
}

func TestSpriteIsSmall(t *testing.T) {
	bytes := 0
	for _, line := range Fit(spriteSubject(64, false), 64, 32, Options{Half, 0}).Lines(Palette{}) {
		bytes += len(line)
	}
	if bytes > 10_000 {
		t.Errorf("a 64 px sprite takes %d bytes, wanted under 10,000", bytes)
	}
}

// halfCells returns the box in which each pixel of img is one half cell.
func halfCells(img *image.NRGBA) (cols, rows int) {
	return img.Bounds().Dx(), (img.Bounds().Dy() + 1) / 2
}
