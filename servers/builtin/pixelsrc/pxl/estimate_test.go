package pxl

import (
	"fmt"
	"testing"
)

// TestPixelsAreTheSizesTimesTheFrames holds what is told before against what drawing counts
// as held: never less, and not many times as much.
func TestPixelsAreTheSizesTimesTheFrames(t *testing.T) {
	s := func(name string, w, h int, more string) string {
		return fmt.Sprintf(`{type: "sprite", name: %q, size: [%d, %d], palette: {a: "#f00", b: "#00f"}, regions: {a: {rect: [0, 0, %d, %d]}, b: {rect: [1, 1, 2, 2], z: 1}}%s}`+"\n", name, w, h, w, h, more)
	}
	film := repeat(300, func(i int) string { return s(fmt.Sprint("f", i), 16, 16, "") }) +
		`{type: "animation", name: "film", frames: [` + repeat(300, func(i int) string { return fmt.Sprintf("%q,", fmt.Sprint("f", i)) }) + `]}`
	for name, row := range map[string]struct {
		text string
		o    RenderOptions
		most int // times what is held
	}{
		"a sprite":            {s("s", 100, 50, ""), RenderOptions{}, 1},
		"one of many":         {film, RenderOptions{Name: "f7"}, 1},
		"an animation":        {film, RenderOptions{Kind: KindAnimation}, 2},
		"large frames":        {film, RenderOptions{Kind: KindAnimation, Antialias: "hq4x"}, 2},
		"smoothed":            {s("s", 100, 50, ""), RenderOptions{Antialias: "scale2x"}, 2},
		"transforms":          {s("s", 10, 10, `, transform: ["tile:4x4", "pad:3", "outline:2", "scale:2,3"]`), RenderOptions{}, 3},
		"a variant":           {s("s", 30, 30, "") + `{type: "variant", name: "v", base: "s", palette: {a: "#0f0"}}`, RenderOptions{Name: "v"}, 2},
		"colours that go on":  {s("s", 30, 30, "") + `{type: "animation", name: "c", sprite: "s", palette_cycle: [{tokens: ["a", "b"], fps: 7}]}`, RenderOptions{Kind: KindAnimation}, 1000},
		"frames that grow":    {s("s", 16, 16, "") + `{type: "animation", name: "c", frames: ["s", "s", "s"], transform: ["tile:3x3"]}`, RenderOptions{Kind: KindAnimation}, 1000},
		"a composition":       {s("s", 16, 16, "") + `{type: "composition", name: "c", size: [64, 64], cell_size: [16, 16], sprites: {x: "s"}, layers: [{map: ["xx", "xx"]}]}`, RenderOptions{Name: "c"}, 3},
		"one in another":      {s("s", 16, 16, "") + `{type: "composition", name: "i", size: [64, 64], cell_size: [16, 16], sprites: {x: "s"}, layers: [{map: ["xx", "xx"]}]}` + "\n" + `{type: "composition", name: "c", size: [128, 128], cell_size: [64, 64], sprites: {x: "i"}, layers: [{map: ["xx", "xx"]}]}`, RenderOptions{Name: "c"}, 3},
		"without a size":      {s("s", 16, 16, "") + `{type: "composition", name: "c", cell_size: [16, 16], sprites: {x: "s"}, layers: [{map: ["xxxxx"]}]}`, RenderOptions{Name: "c"}, 3},
		"what is there twice": {s("s", 16, 16, "") + `{type: "animation", name: "c", frames: ["s", "s", "s"]}`, RenderOptions{Kind: KindAnimation}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			d := Parse([]byte(row.text), Options{})
			obj, err := d.target(row.o)
			if err != nil {
				t.Fatal(err)
			}
			r := &renderer{doc: d, opt: row.o}
			r.opt.Scale = 1
			if err := r.object(&Result{}, obj); err != nil {
				t.Fatal(err)
			}
			told, held := d.Pixels(row.o), r.budget.held
			if told < held || told > row.most*held {
				t.Errorf("told %d, held %d", told, held)
			}
		})
	}
	huge := repeat(300, func(i int) string { return s(fmt.Sprint("f", i), 2048, 2048, "") }) + `{type: "animation", name: "film", frames: [` + repeat(300, func(i int) string { return fmt.Sprintf("%q,", fmt.Sprint("f", i)) }) + `]}`
	if told := Parse([]byte(huge), Options{}).Pixels(RenderOptions{Kind: KindAnimation}); told != maxHeld {
		t.Errorf("told %d pixels, of which a call holds %d", told, maxHeld)
	}
}
