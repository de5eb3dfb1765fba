package pixelsrc

import (
	"fmt"
	"image"
	"strings"
	"testing"
)

// What is too long as source is told in time, with a size that fits.
func TestImportOfNoise(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 640, 640))
	s := uint32(1)
	for i := range noise.Pix {
		s ^= s << 13
		s ^= s >> 17
		s ^= s << 5
		noise.Pix[i] = uint8(s) | 255*uint8(i%4/3)
	}
	_, err := Import(t.Context(), noise, ImportOptions{MaxColors: 16})
	var w, h int
	if err == nil {
		t.Fatal("a megabyte of source")
	}
	_, after, _ := strings.Cut(err.Error(), "scale it down to ")
	if _, e := fmt.Sscanf(after, "%dx%d first", &w, &h); e != nil || w != h || w < 200 || w > 500 {
		t.Fatalf("%v", err)
	}
	if _, err = Import(t.Context(), noise.SubImage(image.Rect(0, 0, w, h)).(*image.NRGBA), ImportOptions{MaxColors: 16}); err != nil {
		t.Errorf("%dx%d: %v", w, h, err)
	}
}
