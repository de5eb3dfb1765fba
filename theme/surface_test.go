package theme

import (
	"fmt"
	"image/color"
	"testing"
)

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}

// Text on a dialog or under the cursor must be readable whatever colour the
// terminal's own text has.
func TestSurfacesBringTheirInk(t *testing.T) {
	tests := []struct {
		name string
		opts Options
	}{
		{"dark", Options{Dark: true}},
		{"light", Options{}},
		{"with a colour of the user", Options{Scheme: Scheme{Light: &Palette{Text: "#003300"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			th := New(tt.opts)
			for _, surface := range []string{"panel", "selection"} {
				ink := th.ink(surface)
				if ink == nil {
					t.Fatalf("%s has none", surface)
				}
				if c := contrast(t, hex(ink), hex(th.colors[surface])); c < 4.5 {
					t.Errorf("%s: contrast %.1f", surface, c)
				}
			}
		})
	}
	if ink := New(Options{Depth: NoColor}).ink("panel"); ink != nil {
		t.Errorf("without colours there is ink: %v", ink)
	}
}
