package pixelsrc

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl/quant"
)

// inks are the colours of drawn pictures.
func ink(r rune) color.NRGBA {
	return map[rune]color.NRGBA{
		'A': {255, 0, 0, 255}, 'B': {0, 255, 0, 255}, 'C': {0, 0, 255, 255}, 'Y': {255, 255, 0, 255},
		'K': {0, 0, 0, 255}, 'W': {255, 255, 255, 255}, 'h': {255, 0, 0, 128}, 'R': {0xC8, 0x64, 0x64, 255}, 'D': {0x64, 0x32, 0x32, 255},
	}[r]
}

// drawn makes a picture of rows of letters; a dot is transparent.
func drawn(s string) *image.NRGBA {
	rows := strings.Fields(s)
	img := image.NewNRGBA(image.Rect(0, 0, len(rows[0]), len(rows)))
	for y, row := range rows {
		for x, r := range row {
			img.SetNRGBA(x, y, ink(r))
		}
	}
	return img
}

// pngOf is a drawn picture as base64.
func pngOf(s string) string {
	var b bytes.Buffer
	if err := png.Encode(&b, drawn(s)); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// samePixels compares pictures; transparent pixels equal each other.
func samePixels(t *testing.T, got, want *image.NRGBA) {
	t.Helper()
	if got.Rect.Size() != want.Rect.Size() {
		t.Fatalf("got %v, want %v", got.Rect, want.Rect)
	}
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			if pixel(got, x, y) != pixel(want, x, y) {
				t.Fatalf("pixel %d,%d: got %v, want %v", x, y, pixel(got, x, y), pixel(want, x, y))
			}
		}
	}
}

func noContext() context.Context { return context.Background() }

func reducedOf(img *image.NRGBA) quant.Result {
	r, err := quant.Reduce(noContext(), img, 256)
	if err != nil {
		panic(err)
	}
	return r
}
