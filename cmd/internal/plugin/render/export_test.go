package render

import (
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// walking has a sprite with metadata, a walk of two frames, and a button.
const walking = `{type: "palette", name: "p", colors: {a: "#f00", b: "#0f0"}}
{type: "sprite", name: "one", size: [4, 6], palette: "p", regions: {a: {rect: [0, 0, 4, 6]}}, metadata: {origin: [2, 6], boxes: {hit: {x: 1, y: 1, w: 2, h: 3}}}}
{type: "sprite", name: "two", size: [4, 6], palette: "p", regions: {b: {rect: [0, 0, 4, 6]}}}
{type: "sprite", name: "button", size: [9, 3], palette: "p", regions: {a: {rect: [0, 0, 9, 3]}}, nine_slice: {left: 1, right: 2, top: 1, bottom: 0}}
{type: "animation", name: "walk", frames: ["one", "two"], duration: 100, loop: false, tags: {step: {start: 1, end: 1}}}
`

func written(t *testing.T, flags ...string) (names []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile("hero.pxl", []byte(walking), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, err := call(t, append([]string{"hero.pxl"}, flags...)...); err != nil {
		t.Fatalf("%v: %s", err, errs)
	}
	err := filepath.WalkDir(".", func(path string, d os.DirEntry, _ error) error {
		if !d.IsDir() && path != "hero.pxl" {
			names = append(names, filepath.ToSlash(path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestAllObjectsAreWritten(t *testing.T) {
	names := written(t, "--all", "-o", "out/")
	want := []string{"out/hero-button.png", "out/hero-one.png", "out/hero-two.png", "out/hero-walk.gif"}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
}

func TestPicturesOfFewColoursAreIndexed(t *testing.T) {
	written(t, "--name", "one", "-o", "one.png")
	f, err := os.Open("one.png")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := m.(*image.Paletted); !ok {
		t.Errorf("got %T, want a picture with a palette", m)
	}
}

// TestAtlasesAreDescribedForEngines reads what each format says of the same page.
func TestAtlasesAreDescribedForEngines(t *testing.T) {
	lines := func(want ...string) func(t *testing.T, text string) {
		return func(t *testing.T, text string) {
			t.Helper()
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("no %q in\n%s", w, text)
				}
			}
		}
	}
	tests := []struct {
		format, file string
		check        func(t *testing.T, text string)
	}{
		{"json", "pack.json", lines(`"image": "pack.png"`, `"origin": [`)},
		{"godot", "pack.tres", lines(`[gd_resource type="SpriteFrames" load_steps=5 format=3]`, `path="pack.png"`, "region = Rect2(0, 0, 4, 6)", `"name": &"walk"`,
			`"speed": 10.0`, `"loop": false`, `"name": &"button"`)},
		{"unity", "pack.json", lines(`"texture": "pack.png"`, `"frameRate": 10`, `"w": 1`)},
		{"libgdx", "pack.atlas", lines("pack.png\nsize: ", "one\n  rotate: false\n  xy: 0, 0\n  size: 4, 6\n", "walk\n  rotate: false\n  xy: 0, 0\n", "index: 1\n", "split: 1, 2, 1, 0\n")},
		{"aseprite", "pack.json", func(t *testing.T, text string) {
			t.Helper()
			var out struct {
				Frames []struct {
					Filename string
					Frame    struct{ X, Y, W, H int }
					Duration int
				}
				Meta struct {
					Image string
					Tags  []struct {
						Name, Direction string
						From, To        int
					} `json:"frameTags"`
					Slices []struct{ Name string }
				}
			}
			if err := json.Unmarshal([]byte(text), &out); err != nil {
				t.Fatal(err)
			}
			var frames, tags []string
			for _, f := range out.Frames {
				frames = append(frames, f.Filename)
			}
			for _, g := range out.Meta.Tags {
				tags = append(tags, g.Name)
			}
			if !slices.Equal(frames, []string{"walk 0", "walk 1", "button"}) || !slices.Equal(tags, []string{"walk", "walk step"}) || out.Meta.Tags[0].To != 1 || len(out.Meta.Slices) != 2 {
				t.Errorf("frames %v, tags %+v, slices %v", frames, out.Meta.Tags, out.Meta.Slices)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.format, func(t *testing.T) {
			names := written(t, "--atlas="+tt.format, "--padding", "1", "--power-of-two", "-o", "pack.png")
			if !slices.Equal(names, []string{tt.file, "pack.png"}) && !slices.Equal(names, []string{"pack.png", tt.file}) {
				t.Fatalf("wrote %v", names)
			}
			text, err := os.ReadFile(tt.file)
			if err != nil {
				t.Fatal(err)
			}
			tt.check(t, string(text))
			f, err := os.Open("pack.png")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			c, err := png.DecodeConfig(f)
			if err != nil || c.Width&(c.Width-1) != 0 || c.Height&(c.Height-1) != 0 {
				t.Errorf("the page is %d×%d, %v", c.Width, c.Height, err)
			}
		})
	}
}

func TestPalettesAreConvertedBothWays(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("hero.pxl", []byte(`{type: "palette", name: "skin", colors: {"{_}": "transparent", "--x": "#f00", base: "var(--x)", glass: "#0008"}, ramps: {"r": {base: "#808080", steps: 3}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		c := PaletteCommand()
		var out strings.Builder
		c.SetOut(&out)
		c.SetErr(&out)
		c.SetArgs(args)
		if err := c.Execute(); err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return out.String()
	}
	if said := run("hero.pxl", "-o", "skin.gpl"); !strings.Contains(said, "1 colour: not opaque") {
		t.Errorf("said %q", said)
	}
	text, err := os.ReadFile("skin.gpl")
	if err != nil || !strings.Contains(string(text), "Name: skin\n") || !strings.Contains(string(text), "255   0   0\tbase\n") {
		t.Errorf("%v\n%s", err, text)
	}
	if object := run("skin.gpl"); !strings.HasPrefix(object, `{"type": "palette", "name": "skin", "colors": {"_": "#00000000", "base": "#FF0000", `) {
		t.Errorf("got %s", object)
	}
	run("@pico8", "-o", "pico8.hex")
	if text, err := os.ReadFile("pico8.hex"); err != nil || !strings.HasPrefix(string(text), "000000\n") {
		t.Errorf("%v: %s", err, text)
	}
	for _, wrong := range [][]string{{"hero.pxl"}, {"hero.pxl", "-o", "x.png"}, {"none.hex"}, {"hero.pxl", "--name", "other", "-o", "x.pal"}} {
		c := PaletteCommand()
		c.SetArgs(wrong)
		c.SilenceErrors, c.SilenceUsage = true, true
		if err := c.Execute(); err == nil {
			t.Errorf("%v: no error", wrong)
		}
	}
}
