package pixels_test

import (
	"testing"

	"github.com/mcpdeck/mcpdeck/tui/page/pixels"
)

// BenchmarkRender is a frame of the page whose picture is drawn already.
func BenchmarkRender(b *testing.B) {
	p := pixels.New(pixels.Options{Sources: []pixels.Source{newSource(still(1, 0, 0), animation())}})
	feed := p.Feed()
	defer feed.Stop()
	p.Update(feed.Load())
	f := testFrame(120, 40)
	p.Render(f)
	for b.Loop() {
		p.Render(f)
	}
}
