package pixelsrc

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync/atomic"
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

// counted is a context that ends when it has been asked so often.
type counted struct {
	context.Context
	asked, ends atomic.Int64
}

func (c *counted) Err() error {
	if n := c.asked.Add(1); c.ends.Load() > 0 && n > c.ends.Load() {
		return context.Canceled
	}
	return nil
}

func TestAnImportEndsInTheMiddleWhenItsContextDoes(t *testing.T) {
	noise := image.NewNRGBA(image.Rect(0, 0, 128, 128))
	seed := uint32(1)
	for i := range noise.Pix {
		seed = seed*1664525 + 1013904223
		noise.Pix[i] = byte(seed >> 24)
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	for _, o := range []ImportOptions{{MaxColors: 256}, {MaxColors: 16, Analyze: true}} {
		ctx := &counted{Context: t.Context()}
		_, _ = Import(ctx, noise, o) // it may be too long as source
		whole := ctx.asked.Load()
		if whole < 100 {
			t.Errorf("the context was asked %d times in all", whole)
		}
		ctx.ends.Store(whole + whole/2)
		if _, err := Import(ctx, noise, o); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if more := ctx.asked.Load() - ctx.ends.Load(); more > whole/10 {
			t.Errorf("it went on for %d of %d looks", more, whole)
		}
	}
}
