package pixelsrc

import (
	"context"
	"errors"
	"fmt"
	"image"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// crowd is a source of about half a megabyte: many objects, many regions, long names.
func crowd() map[string]string {
	var objects, regions, colours, unknown strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&objects, `{"type":"sprite","name":"s%d","size":[1,1],"palette":{"a":"#F00"},"regions":{"a":{"points":[[0,0]]}}}`+"\n", i)
	}
	for i := range 8000 {
		fmt.Fprintf(&regions, `,"t%d":{"points":[[%d,%d]]}`, i, i%100, i/100)
		fmt.Fprintf(&colours, `,"t%d":"#%06X"`, i, i)
		fmt.Fprintf(&unknown, `{"type":"sprite","name":"u%d","size":[1,1],"regoins":{}}`+"\n", i)
	}
	long := strings.Repeat("n", 300_000)
	return map[string]string{
		"many objects":     objects.String(),
		"many regions":     `{"type":"sprite","name":"big","size":[100,100],"palette":{` + colours.String()[1:] + `},"regions":{` + regions.String()[1:] + `}}`,
		"many colours":     `{"type":"palette","name":"big","colors":{` + colours.String()[1:] + `}}`,
		"misspelt objects": unknown.String(),
		"a long name":      `{"type":"sprite","name":"` + long + `","size":[1,1],"palette":{"` + long + `":"#F00"},"regions":{"x":{"points":[[0,0]]}}}`,
	}
}

func TestAnswersAreBoundedAndSayHowToGetTheRest(t *testing.T) {
	s := New(Options{Timeout: time.Minute})
	for name, text := range crowd() {
		for tool, args := range map[string]map[string]any{
			"pixelsrc_explain":  {"source": text},
			"pixelsrc_validate": {"source": text},
			"pixelsrc_suggest":  {"source": text},
			"pixelsrc_diff":     {"source_a": text, "source_b": strings.ReplaceAll(text, "#F00", "#00F")},
			"pixelsrc_analyze":  {"source": text},
			"pixelsrc_render":   {"source": text, "format": "ansi"},
		} {
			t.Run(tool+" of "+name, func(t *testing.T) {
				a := s.Call(t.Context(), Caller{}, tool, args)
				const most = 1 << 20
				if n := a.length(); n > most {
					t.Errorf("%d bytes for a source of %d", n, len(text))
				}
			})
		}
	}
	text := crowd()["many objects"]
	a := s.Call(t.Context(), Caller{}, "pixelsrc_explain", map[string]any{"source": text})
	note := a.Blocks[len(a.Blocks)-1].Text
	if a.length() > 512<<10 || !strings.Contains(note, "of 5000") || !strings.Contains(note, "from=") {
		t.Fatalf("%d bytes, the note is %q", a.length(), note)
	}
	var next int
	if _, err := fmt.Sscanf(note[strings.Index(note, "from="):], "from=%d", &next); err != nil {
		t.Fatal(err)
	}
	a = s.Call(t.Context(), Caller{}, "pixelsrc_explain", map[string]any{"source": text, "from": float64(next)})
	if !strings.Contains(a.Blocks[0].Text, fmt.Sprintf(`"name": "s%d"`, next)) || strings.Contains(a.Blocks[0].Text, fmt.Sprintf(`"name": "s%d"`, next-1)) {
		t.Errorf("from=%d does not begin with s%[1]d", next)
	}
	a = s.Call(t.Context(), Caller{}, "pixelsrc_explain", map[string]any{"source": crowd()["many regions"], "name": "big", "from": 7800.0})
	if text := a.Blocks[0].Text; !strings.Contains(text, `"token": "t7999"`) || strings.Contains(text, `"token": "t100"`) {
		t.Errorf("the last regions are not shown: %s", a.Blocks[len(a.Blocks)-1].Text)
	}
}

func TestAPictureOfTextIsBounded(t *testing.T) {
	a := New(Options{}).Call(t.Context(), Caller{}, "pixelsrc_render", map[string]any{"source": heroSource("#FF0000", 2000), "format": "ansi"})
	if !a.Failed || a.length() > 1000 {
		t.Errorf("%d bytes", a.length())
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
