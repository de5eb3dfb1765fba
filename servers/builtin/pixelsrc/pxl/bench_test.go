package pxl

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// BenchmarkCorpus parses every file of the corpus and renders every object in it.
func BenchmarkCorpus(b *testing.B) {
	dir := filepath.Join(realtest.Corpus(b), "corpus")
	type file struct {
		text    []byte
		include func(string) ([]byte, error)
	}
	var list []file
	objects := 0
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if ext := filepath.Ext(p); err != nil || (ext != ".pxl" && ext != ".jsonl") {
			return err
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		root, err := os.OpenRoot(filepath.Dir(p))
		if err != nil {
			return err
		}
		b.Cleanup(func() { root.Close() })
		list = append(list, file{text, includeFrom(root, ".")})
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	for _, dialect := range []Dialect{Documented, Reference} {
		b.Run(dialect.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				objects = 0
				for _, f := range list {
					d := Parse(f.text, Options{Dialect: dialect, Include: f.include})
					for _, o := range d.Objects() {
						switch o.Kind {
						case KindSprite, KindVariant, KindComposition, KindAnimation:
							if _, err := d.Render(RenderOptions{Kind: o.Kind, Name: o.Name}); err != nil {
								b.Fatal(err)
							}
							objects++
						default:
						}
					}
				}
			}
			b.ReportMetric(float64(objects), "objects")
		})
	}
}

// sprite64 is a sprite of 64×64 pixels and twelve regions of every common shape.
func sprite64() string {
	return `{type: "palette", name: "p", colors: {a: "#102030", b: "#405060", c: "#708090", d: "#a0b0c0", e: "#d0e0f0",
 f: "#112233", g: "#445566", h: "#778899", i: "#aabbcc", j: "#ddeeff", k: "rgb(10 20 30)", l: "hsl(200 50% 50%)"}}
{type: "sprite", name: "s", size: [64, 64], palette: "p", regions: {
 a: {rect: [0, 0, 64, 64], z: 0}, b: {ellipse: [32, 32, 20, 24], z: 1}, c: {circle: [20, 20, 8], symmetric: "x", z: 2},
 d: {polygon: [[10, 50], [32, 20], [54, 50]], z: 3}, e: {stroke: [4, 4, 56, 56], thickness: 2, z: 4},
 f: {line: [[0, 0], [63, 40], [10, 63]], z: 5}, g: {points: [[1, 1], [2, 2], [3, 3], [4, 4]], symmetric: "xy", z: 6},
 h: {union: [{rect: [30, 5, 6, 6]}, {circle: [33, 12, 4]}], z: 7}, i: {base: {rect: [8, 40, 20, 12]}, subtract: [{circle: [18, 46, 3]}], z: 8},
 j: {path: "M40,40 L60,44 L50,60 Z", z: 9}, k: {fill: "inside(e)", except: ["b", "d"], z: 10}, l: {"auto-shadow": "h", offset: [2, 2], z: 11}}}`
}

func BenchmarkSprite64(b *testing.B) {
	src := []byte(sprite64())
	b.Run("render", func(b *testing.B) {
		d := Parse(src, Options{})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Render(RenderOptions{Name: "s"}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("parse", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if d := Parse(src, Options{}); len(d.Objects()) != 2 {
				b.Fatal(d.Diagnostics())
			}
		}
	})
}

func BenchmarkComposition1024(b *testing.B) {
	row := strings.Repeat("AB", 32)
	src := fmt.Sprintf(`{type: "sprite", name: "a", size: [16, 16], palette: {x: "#f00"}, regions: {x: {rect: [0, 0, 16, 16]}}}
{type: "sprite", name: "b", size: [16, 16], palette: {x: "#0f08"}, regions: {x: {circle: [8, 8, 5]}}}
{type: "composition", name: "c", size: [1024, 1024], cell_size: [16, 16], sprites: {A: "a", B: "b"}, layers: [{map: [%s]}]}`,
		strings.Repeat(`"`+row+`",`, 64))
	d := Parse([]byte(src), Options{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.Render(RenderOptions{Kind: KindComposition}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkGIF64(b *testing.B) {
	src := strings.Replace(sprite64(), `name: "s"`, `name: "s0"`, 1) + `
{type: "animation", name: "w", loop: true, duration: 6400, keyframes: {"0%": {sprite: "s0", transform: "translate(0,0)"}, "100%": {transform: "translate(64,0)"}}, fps: 10}`
	d := Parse([]byte(src), Options{})
	res, err := d.Render(RenderOptions{Kind: KindAnimation})
	if err != nil || len(res.Frames) != 64 {
		b.Fatal(err, len(res.Frames))
	}
	list := res.Frames
	b.Run("render", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := d.Render(RenderOptions{Kind: KindAnimation}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		var out bytes.Buffer
		for b.Loop() {
			out.Reset()
			if err := frames.GIF(b.Context(), io.Writer(&out), list, 1, true); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkAntialias256(b *testing.B) {
	src := strings.NewReplacer("[64, 64]", "[256, 256]", "[0, 0, 64, 64]", "[0, 0, 256, 256]", "[32, 32, 20, 24]", "[128, 128, 90, 100]").Replace(sprite64())
	for _, dialect := range []Dialect{Documented, Reference} {
		d := Parse([]byte(src), Options{Dialect: dialect})
		for _, a := range Algorithms()[1:] {
			b.Run(dialect.String()+"/"+a, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := d.Render(RenderOptions{Name: "s", Antialias: a}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
