package pxl

import (
	"bytes"
	"compress/gzip"
	"os"
	"testing"
)

// seeds adds texts to start from: generated documents and one of each kind of object.
func seeds(f *testing.F) {
	f.Helper()
	file, err := os.Open("testdata/generated.jsonl.gz")
	if err != nil {
		f.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		f.Fatal(err)
	}
	for i, e := range readRows(f, z) {
		if i%20 == 0 {
			f.Add([]byte(e.Source))
		}
	}
	f.Add([]byte(sprite64()))
	f.Add([]byte(hostile()))
}

// hostile uses every feature that loops, recurses or allocates.
func hostile() string {
	return `{type: "palette", name: "p", colors: {a: "var(--x)", "--x": "var(--y, red)", b: "#fff"}, ramps: {r: {base: "#888", steps: 9}},
 relationships: {a: {type: "derives-from", target: "b"}, b: {type: "contained-within", target: "a"}}, roles: {a: "anchor"}, antialias: {enabled: true, algorithm: "hq4x"}}
{type: "sprite", name: "s", size: [9, 9], palette: "p", nine_slice: {left: 1, right: 1, top: 1, bottom: 1}, transform: ["pad:2", "outline:a,1", "skew-x:20", "dither:noise:a,b", "sel-out", "subpixel:0.3,0.4", "tile:2x2"],
 regions: {a: {rect: [0, 0, 9, 9], round: 3, repeat: [3, 3], transform: "rotate(33) scale(1.5) flip-x", jitter: {x: [-3, 3], y: [0, 2]}},
 b: {fill: "inside(a)", symmetric: 4}, c: {"auto-outline": "a", thickness: 3}, d: {path: "M1,1 L9,2 h3 v4 Z", within: "a", "adjacent-to": "b"}, _: "background"}}
{type: "variant", name: "v", base: "s", palette: {a: "blue"}}
{type: "composition", name: "c", size: [20, 20], cell_size: [4, 4], sprites: {x: "v", y: "c", z: null}, layers: [{fill: "x", map: ["xyz"], blend: "overlay", opacity: "0.3", transform: ["rotate:90"]}, {sprite: "s", x: -3}]}
{type: "animation", name: "n", keyframes: {from: {sprite: "s", transform: "rotate(10) scale(2)"}, to: {sprite: "c", opacity: 0}}, duration: "2s", timing_function: "steps(3)", transform: ["pingpong"]}
{type: "animation", name: "m", sprite: "s", palette_cycle: [{tokens: ["a", "b"], fps: 7}, {tokens: ["b", "a", "c"], duration: 33}], attachments: [{name: "t", anchor: [1, 1], chain: ["s", "v"]}]}
{type: "particle", name: "q", sprite: "v", emitter: {rate: 1e9, lifetime: [1, 99], velocity: {x: [-9, 9], y: [-9, 9]}, gravity: 1, fade: true, rotation: [0, 360], seed: 0}}
{type: "state-rules", name: "r", rules: {".on[token=a]": {filter: "sepia(0.4) hue-rotate(20deg)", "drop-shadow": "1 2 3 red", opacity: 0.4}}}`
}

func FuzzRender(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<14 {
			t.Skip("longer texts only cost time")
		}
		for _, dialect := range []Dialect{Documented, Reference} {
			d := Parse(bytes.Clone(text), Options{Dialect: dialect, Include: func(string) ([]byte, error) { return text, nil }})
			for _, x := range d.Check() {
				if x.Line < 1 || x.Column < 1 || x.Code == "" || x.Message == "" {
					t.Fatalf("incomplete diagnostic %+v", x)
				}
			}
			asked := []RenderOptions{}
			for _, k := range Drawable() {
				asked = append(asked, RenderOptions{Kind: k})
			}
			for _, o := range d.Objects() {
				if o.Kind == KindParticle {
					asked = append(asked, RenderOptions{Kind: KindAnimation, Name: o.Name})
				}
			}
			for _, one := range asked {
				res, err := d.Render(RenderOptions{Kind: one.Kind, Name: one.Name, AllStates: true, Tokens: true, Antialias: "xbr2x", Slice: [2]int{12, 12}, Scale: 2})
				if err != nil {
					continue
				}
				for _, fr := range res.Frames {
					if b := fr.Image.Bounds(); b.Dx() < 1 || b.Dy() < 1 || b.Dx() > MaxOutSide || b.Dy() > MaxOutSide || len(fr.Image.Pix) != 4*b.Dx()*b.Dy() {
						t.Fatalf("impossible frame %v", b)
					}
				}
			}
		}
	})
}
