package pixelsrc

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// FuzzImport imports PNG files as they come: what can be decoded renders to the
// same pixels.
func FuzzImport(f *testing.F) {
	for _, p := range []string{"A", "AB CY", "KKKK K..K KKKK", ".A. AhA .A."} {
		b, err := base64.StdEncoding.DecodeString(sample.PNG(p))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, "name")
	}
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		img, err := DecodePNG(data)
		if err != nil || img.Rect.Dx()*img.Rect.Dy() > 1<<14 {
			return
		}
		im, err := Import(t.Context(), img, ImportOptions{MaxColors: 256, Name: name, Analyze: true})
		if err != nil {
			t.Fatal(err)
		}
		d := pxl.Parse([]byte(im.Source), pxl.Options{})
		res, err := d.Render(pxl.RenderOptions{})
		if err != nil || len(d.Diagnostics()) > 0 {
			t.Fatalf("%v %v\n%.300s", err, d.Diagnostics(), im.Source)
		}
		if strings.HasPrefix(im.Notes[0], "Lossless") {
			samePixels(t, res.Image(), img)
		}
	})
}
