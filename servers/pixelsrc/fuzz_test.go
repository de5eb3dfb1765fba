package pixelsrc

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
)

// FuzzImport imports PNG files as they come: what can be decoded renders to the
// same pixels.
func FuzzImport(f *testing.F) {
	for _, p := range []string{"A", "AB CY", "KKKK K..K KKKK", ".A. AhA .A."} {
		b, err := base64.StdEncoding.DecodeString(pngOf(p))
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

// FuzzRead reads resources under addresses as they come.
func FuzzRead(f *testing.F) {
	for _, uri := range []string{"pixelsrc://palettes", "pixelsrc://palette/gameboy", "pixelsrc://example/%2e%2e/coin", "pixelsrc://template/item", "pixelsrc://example/..%2f..%2fguide%2ffull"} {
		f.Add(uri)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		mime, body, err := Read(uri)
		if err == nil && (mime == "" || body == "") {
			t.Errorf("%q gives nothing", uri)
		}
		if strings.Contains(uri, "example/") && strings.Contains(body, "# Pixelsrc Primer") {
			t.Errorf("%q leads out of the examples", uri)
		}
	})
}

// FuzzBase64 decodes what agents send as base64.
func FuzzBase64(f *testing.F) {
	f.Add("data:image/png;base64,AAAA")
	f.Add("a-_=\n")
	f.Fuzz(func(t *testing.T, s string) {
		b, err := decodeBase64(s)
		if err == nil && len(b) > len(s) {
			t.Errorf("%d bytes of %d", len(b), len(s))
		}
	})
}
