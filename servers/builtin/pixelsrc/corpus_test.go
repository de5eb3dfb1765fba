package pixelsrc

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// TestFormatCorpus formats every file of the corpus: twice is once, nothing is
// lost, and what is drawn stays the same.
func TestFormatCorpus(t *testing.T) {
	formatted := 0
	for name, text := range sample.Corpus(t) {
		f, err := Format(text)
		if err != nil {
			continue
		}
		formatted++
		if mustFormat(t, text); len(f.Dropped) == 0 {
			sample.SameValues(t, text, f.Text)
		}
		if a, b := len(comments0(text)), len(comments0(f.Text)); a != b {
			t.Errorf("%s: %d comments became %d", name, a, b)
		}
		before, after := pxl.Parse([]byte(text), pxl.Options{}), pxl.Parse([]byte(f.Text), pxl.Options{})
		for _, o := range before.Objects() {
			if o.Kind != pxl.KindSprite && o.Kind != pxl.KindComposition && o.Kind != pxl.KindVariant {
				continue
			}
			p, errA := before.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name})
			q, errB := after.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name})
			if (errA == nil) != (errB == nil) {
				t.Errorf("%s %s: %v, then %v", name, o.Name, errA, errB)
			} else if errA == nil && diffPixels(p.Image(), q.Image()) != nil {
				t.Errorf("%s %s: the picture differs", name, o.Name)
			}
		}
	}
	if formatted < 50 {
		t.Errorf("only %d files could be formatted", formatted)
	}
}
