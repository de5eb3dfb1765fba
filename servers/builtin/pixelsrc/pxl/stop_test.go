package pxl

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
)

// counted is a context that counts how often it is asked, and ends after some asks.
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

// heavy are documents that take long, each in another part of the engine.
func heavy() map[string]string {
	sprite := func(name string, side int, more string) string {
		return fmt.Sprintf(`{"type":"sprite","name":%q,"size":[%d,%d],"palette":{"a":"#FF0000","b":"#00FF0080"},"regions":{"a":{"rect":[0,0,%d,%d]},"b":{"circle":[%d,%d,%d],"z":2}}%s}`,
			name, side, side, side, side, side/2, side/2, side/3, more) + "\n"
	}
	var regions, layers, frames []string
	for i := range 300 {
		regions = append(regions, fmt.Sprintf(`"r%d":{"ellipse":[%d,%d,200,150],"z":%d}`, i, 200+i, 200+i/2, i))
		layers = append(layers, fmt.Sprintf(`{"sprite":"s","position":[%d,0],"blend":"multiply","opacity":0.5}`, i))
	}
	for i := range 200 {
		frames = append(frames, fmt.Sprintf(`"f%d"`, i))
	}
	many := ""
	for i := range 200 {
		many += sprite(fmt.Sprintf("f%d", i), 64, "")
	}
	return map[string]string{
		"regions":     `{"type":"sprite","name":"s","size":[500,500],"palette":{},"regions":{` + strings.Join(regions, ",") + `}}`,
		"transforms":  sprite("s", 200, `,"transform":[`+strings.TrimSuffix(strings.Repeat(`"mirror-h",`, 200), ",")+`]`),
		"smoothing":   sprite("s", 200, `,"antialias":{"enabled":true,"algorithm":"hq4x"}`),
		"blur":        sprite("s", 200, `,"antialias":{"enabled":true,"algorithm":"aa-blur"}`),
		"composition": sprite("s", 128, "") + `{"type":"composition","name":"c","size":[200,200],"layers":[` + strings.Join(layers, ",") + `]}`,
		"animation":   many + `{"type":"animation","name":"c","frames":[` + strings.Join(frames, ",") + `]}`,
		"keyframes":   sprite("s", 128, "") + `{"type":"animation","name":"c","duration":4000,"fps":60,"keyframes":{"0%":{"sprite":"s","transform":"rotate(0deg)"},"100%":{"sprite":"s","transform":"rotate(350deg)"}}}`,
	}
}

func TestWorkEndsInTheMiddleWhenItsContextDoes(t *testing.T) {
	for name, text := range heavy() {
		kind := Kind("")
		switch name {
		case "composition":
			kind = KindComposition
		case "animation", "keyframes":
			kind = KindAnimation
		}
		for _, work := range []struct {
			name string
			run  func(*Document) error
		}{
			{"render", func(d *Document) error { _, err := d.Render(RenderOptions{Kind: kind}); return err }},
			{"check", func(d *Document) error { d.Check(); return d.stopped() }},
		} {
			t.Run(name+" "+work.name, func(t *testing.T) {
				ctx := &counted{Context: t.Context()}
				d := Parse([]byte(text), Options{Context: ctx})
				for _, g := range d.Diagnostics() {
					if g.Severity == Error {
						t.Fatal(g)
					}
				}
				before := ctx.asked.Load()
				if err := work.run(d); err != nil {
					t.Fatal(err)
				}
				whole := ctx.asked.Load() - before
				const least = 40
				if whole < least {
					t.Errorf("the context was asked %d times in all: the inner loops do not look", whole)
				}
				ctx.ends.Store(ctx.asked.Load() + whole/2)
				if err := work.run(d); !errors.Is(err, context.Canceled) {
					t.Errorf("got %v", err)
				}
				if more := ctx.asked.Load() - ctx.ends.Load(); more > max(40, whole/10) {
					t.Errorf("work went on for %d of %d looks after its context had ended", more, whole)
				}
			})
		}
	}
}

func TestDiagnosticsDoNotRepeatLongNames(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	text := `{"type":"sprite","name":"` + long + `","size":[4,4],"palette":{"a":"#F00"},"regions":{`
	for i := range 300 {
		text += fmt.Sprintf(`"q%d":{"rect":[0,0,1,1]},`, i)
	}
	d := Parse([]byte(strings.TrimSuffix(text, ",")+"}}"), Options{})
	total := 0
	for _, g := range d.Check() {
		total += len(g.Message) + len(g.Object) + len(g.Help)
	}
	if total == 0 || total > len(text) {
		t.Errorf("%d bytes of diagnostics for a source of %d", total, len(text))
	}
}
