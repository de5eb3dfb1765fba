package pxl

import (
	"testing"
	"time"
)

// TestCyclesRepeatWhenTheirPacesSay has paces that are no whole milliseconds.
func TestCyclesRepeatWhenTheirPacesSay(t *testing.T) {
	tests := []struct {
		name, cycles string
		frames       int
		total        time.Duration
	}{
		{"30 and 10 fps", `{tokens: ["a", "b", "c"], fps: 30}, {tokens: ["k", "w"], fps: 10}`, 6, 200 * time.Millisecond},
		{"30 and 7 fps", `{tokens: ["a", "b", "c"], fps: 30}, {tokens: ["k", "w"], fps: 7}`, 72, 2 * time.Second},
		{"29.97 fps", `{tokens: ["a", "b", "c"], fps: 29.97}`, 3, 100 * time.Millisecond},
		{"faster than a millisecond", `{tokens: ["a", "b"], fps: 5000}`, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := Parse([]byte(two()+`{type: "animation", name: "n", sprite: "s", palette_cycle: [`+tt.cycles+`]}`), Options{})
			res, err := doc.Render(RenderOptions{Kind: KindAnimation})
			if err != nil {
				t.Fatal(err)
			}
			if tt.frames == 0 { // what can be shown of it is something
				if len(res.Frames) == 0 || res.Duration() <= 0 {
					t.Errorf("got %d frames, %v", len(res.Frames), res.Duration())
				}
				return
			}
			if len(res.Frames) != tt.frames || res.Duration() != tt.total || len(res.Diagnostics) > 0 {
				t.Errorf("got %d frames in %v, want %d in %v: %v", len(res.Frames), res.Duration(), tt.frames, tt.total, res.Diagnostics)
			}
		})
	}
}
