package pixelsrc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// corpusPictures are the small pictures of the reference's corpus.
func corpusPictures(t *testing.T) (list []*image.NRGBA) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(realtest.Corpus(t), "corpus.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var row struct {
			W, H int
			RGBA string
		}
		if json.Unmarshal(line, &row) != nil || row.RGBA == "" || row.W < 4 {
			continue
		}
		if b, err := hex.DecodeString(row.RGBA); err == nil && len(b) == 4*row.W*row.H {
			list = append(list, &image.NRGBA{Pix: b, Stride: 4 * row.W, Rect: image.Rect(0, 0, row.W, row.H)})
		}
	}
	return list
}

// examplePictures are the sprites of the examples.
func examplePictures(t *testing.T) (list []*image.NRGBA) {
	t.Helper()
	for _, name := range Examples() {
		d := pxl.Parse([]byte(Example(name)), pxl.Options{})
		for _, o := range d.Objects() {
			if o.Kind == pxl.KindSprite {
				if res, err := d.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name}); err == nil {
					list = append(list, res.Image())
				}
			}
		}
	}
	return list
}

// plainImport is the size of the source that the reference's importer writes: a
// rectangle for each filled component of at least 16 pixels, else points; or
// points only.
func plainImport(img *image.NRGBA, shapes bool) int {
	tokens, transparent := tokensOf(img, reducedOf(img))
	n := len(`{"type":"palette","name":"x_palette","colors":{}}`) + len(`{"type":"sprite","name":"x","size":[16,16],"palette":"x_palette","regions":{}}`) + 2
	if transparent { // it lists the transparent pixels too
		n += len(`"{_}":"#00000000",`) + len(`"{_}":{"points":[]},`)
		for y := range img.Rect.Dy() {
			for x := range img.Rect.Dx() {
				if pixel(img, x, y).A == 0 {
					n += len(fmt.Sprintf("[%d,%d],", x, y))
				}
			}
		}
	}
	for _, tok := range tokens {
		n += len(`"{c1}":"#000000",`) + len(`"{c1}":,`)
		if !shapes {
			n += len(pointsJSON(tok.set))
			continue
		}
		parts := components(tok.set, 0)
		for _, p := range parts {
			b, _ := p.Bounds()
			w, h := b.X1-b.X0+1, b.Y1-b.Y0+1
			if c := p.Count(); c >= 16 && c == w*h {
				n += len(listJSON("rect", b.X0, b.Y0, w, h))
			} else {
				n += len(pointsJSON(p))
			}
		}
		if len(parts) > 1 {
			n += len(`{"union":[]}`) + len(parts) - 1
		}
	}
	return n
}

// TestImportQuality compares the importer with the reference's: every pixel is
// kept, and the source is shorter.
func TestImportQuality(t *testing.T) {
	for name, pictures := range map[string]func(*testing.T) []*image.NRGBA{"examples": examplePictures, "corpus": corpusPictures} {
		t.Run(name, func(t *testing.T) { testImportQuality(t, pictures(t)) })
	}
}

func testImportQuality(t *testing.T, list []*image.NRGBA) {
	t.Helper()
	var ours, points, rects, worse int
	var shares []float64
	for i, img := range list {
		im, err := Import(t.Context(), img, ImportOptions{MaxColors: 256, Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		samePixels(t, renderOf(t, im.Source), img)
		p, r := plainImport(img, false), plainImport(img, true)
		if len(im.Source) > r {
			worse++
			t.Logf("picture %d: %d bytes, the reference has %d", i, len(im.Source), r)
		}
		ours, points, rects = ours+len(im.Source), points+p, rects+r
		shares = append(shares, float64(len(im.Source))/float64(r))
	}
	slices.Sort(shares)
	t.Logf("%d pictures: ours %d bytes, reference with shapes %d, with points only %d; median share %.2f", len(list), ours, rects, points, shares[len(shares)/2])
	if worse > 0 || ours >= rects {
		t.Errorf("%d of %d sources are longer than the reference's", worse, len(list))
	}
}
