package pixelsrc

import (
	"context"
	"image"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/quant"
)

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
