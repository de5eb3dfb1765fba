package pxl

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

const onePalette = `{type: "palette", name: "p", colors: {}}`

// TestSplitting holds which objects the reference finds in a text, and where it stops.
func TestSplitting(t *testing.T) {
	sp := func(region string) string {
		return `{type: "sprite", name: "s", size: [1, 1], palette: {}, regions: {a: {` + region + `}}}`
	}
	for _, r := range []struct {
		name, src               string
		reference, documented   int // objects
		referenceAt, documentAt string
	}{
		{"negative point", onePalette + "\n" + sp("points: [[-1, 0]]") + "\n" + sp(""), 1, 3, "2:json_syntax", "3:duplicate_name"},
		{"fraction", onePalette + "\n" + sp("rect: [0, 0, 2.0, 2]"), 1, 2, "2:json_syntax", ""},
		{"hexadecimal", sp("rect: [0, 0, 0x2, 2]"), 1, 1, "", ""},
		{"plus sign", sp("rect: [0, 0, +2, 2]"), 1, 1, "", ""},
		{"numeric axis", sp("symmetric: 3"), 0, 1, "1:json_syntax", ""},
		{"axis as text", sp(`symmetric: "3"`), 1, 1, "", ""},
		{"block comment over two lines", "/* one\ntwo */\n" + onePalette, 0, 1, "2:json_syntax", ""},
		{"block comment before an object", "/* hi */ " + onePalette + "\n" + sp(""), 1, 2, "", ""},
		{"trailing comment", onePalette + " // tail }\n" + sp(""), 2, 2, "", ""},
		{"brace in single quotes", "{type:'palette',name:'x}y',colors:{}}\n" + onePalette, 0, 2, "2:json_syntax", ""},
		{"brace in double quotes", `{type:"palette",name:"x}y{",colors:{}}` + "\n" + onePalette, 2, 2, "", ""},
		{"two on a line", onePalette + " " + sp(""), 0, 2, "1:json_syntax", ""},
		{"comma between", onePalette + ",\n" + sp(""), 0, 2, "1:json_syntax", ""},
		{"byte order mark and CRLF", "\uFEFF" + onePalette + "\r\n" + sp("") + "\r\n", 2, 2, "", ""},
		{"region twice", `{type: "sprite", name: "s", size: [1, 1], palette: {}, regions: {a: {}, a: {}}}`, 1, 1, "", ""},
		{"name twice", `{type: "sprite", name: "s", name: "t", size: [1, 1], palette: {}}`, 0, 1, "1:json_syntax", ""},
		{"z as a fraction", sp("z: 1.5"), 0, 1, "1:json_syntax", "1:json_syntax"},
		{"negative z", sp("z: -5"), 1, 1, "", ""},
		{"z null", sp("z: null"), 1, 1, "", ""},
		{"name null", `{type: "palette", name: "q"}` + "\n" + `{type: "sprite", name: null, palette: {}}`, 1, 1, "2:json_syntax", "2:json_syntax"},
		{"other spelling of a type", `{type: "Palette", name: "p"}`, 0, 0, "1:unknown_type", "1:unknown_type"},
		{"a list at the top", `[1]` + "\n" + onePalette, 0, 1, "1:json_syntax", "1:json_syntax"},
		{"stray closer", "}\n" + onePalette, 0, 1, "1:json_syntax", "1:json_syntax"},
		{"never closed, the next starts a line", "{type: 'palette', name: 'a', colors: {\n" + onePalette, 0, 1, "2:json_syntax", "1:json_syntax"},
		{"an integer beyond 64 bits", sp("z: 99999999999999999999"), 0, 1, "1:json_syntax", "1:range_validation"},
		{"a coordinate beyond 32 bits", sp("points: [[0, 3000000000]]"), 0, 1, "1:json_syntax", "1:range_validation"},
		{"not UTF-8", onePalette + "\n\xff\n" + onePalette, 1, 1, "", "2:json_syntax"},
		{"empty", "", 0, 0, "", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			for dialect, want := range map[Dialect]struct {
				n  int
				at string
			}{Reference: {r.reference, r.referenceAt}, Documented: {r.documented, r.documentAt}} {
				d := Parse([]byte(r.src), Options{Dialect: dialect})
				if got := codesOf(d.Diagnostics()); len(d.Objects()) != want.n || got != want.at {
					t.Errorf("%s: %d objects, %q; want %d, %q: %v", dialect, len(d.Objects()), got, want.n, want.at, d.Diagnostics())
				}
			}
		})
	}
}

// TestShapesAreDrawnAsThePublishedVectors holds the shapes that both dialects share, as pictures.
func TestShapesAreDrawnAsThePublishedVectors(t *testing.T) {
	shape := func(w, h int, r string) string { return sprite(w, h, "a: {"+r+"}") }
	rows := []pictureRow{
		{name: "flat line", src: shape(8, 4, `line: [[0, 0], [7, 3]]`), documented: "aa...... / ..aa.... / ....aa.. / ......aa"},
		{name: "steep line", src: shape(3, 8, `line: [[0, 0], [2, 7]]`), documented: "a.. / a.. / .a. / .a. / .a. / .a. / ..a / ..a"},
		{name: "stroke", src: shape(6, 5, `stroke: [0, 0, 6, 5], thickness: 2`), documented: "aaaaaa / aaaaaa / aa..aa / aaaaaa / aaaaaa"},
		{name: "circle of 2", src: shape(7, 5, `circle: [3, 2, 2]`), documented: "..aaa.. / .aaaaa. / aaaaaaa / .aaaaa. / ..aaa.."},
		{name: "polygon", src: shape(5, 4, `polygon: [[0, 0], [4, 0], [2, 3]]`), documented: "aaaaa / .aaaa / ..aa. / ..a.."},
		{name: "polygon the other way round", src: shape(5, 4, `polygon: [[2, 3], [4, 0], [0, 0]]`), documented: "aaaaa / aaaa. / .aa.. / ..a.."},
		{name: "triangle", src: shape(6, 7, `polygon: [[2, 0], [5, 6], [0, 6]]`), documented: "..a... / .aa... / .aaa.. / .aaa.. / aaaaa. / aaaaa. / aaaaaa"},
		{
			name: "hourglass", src: shape(7, 7, `polygon: [[0, 0], [6, 6], [0, 6], [6, 0]]`),
			documented: "aaaaaaa / .aaaaa. / ..aaa.. / ...a... / ..aaa.. / .aaaaa. / aaaaaaa",
		},
		{name: "path", src: shape(6, 6, `path: "M-1,-1 L4,-1 L4,4 Z"`), documented: "aaaa.. / .aaa.. / ..aa.. / ...a.. / ....a. / ......", reference: "aaaaa. / .aaaa. / ..aaa. / ...aa. / ....a. / ......"},
		{
			name: "fill of a solid leaks", src: sprite(6, 6, `a: {rect: [2, 2, 2, 2], z: 1}, b: {fill: "inside(a)", z: 0}`),
			documented: "bbbbbb / bbbbbb / bbaabb / bbaabb / bbbbbb / bbbbbb",
		},
		{name: "a transparent token erases", src: sprite(4, 2, `a: {rect: [0, 0, 4, 2]}, _: {rect: [1, 0, 2, 1]}`), documented: "a..a / aaaa"},
		{name: "symmetry of an odd width", src: shape(5, 1, `points: [[0, 0]], symmetric: "x"`), documented: "a..a."},
		{name: "order of equal z", src: sprite(1, 1, `a: {points: [[0, 0]]}, b: {points: [[0, 0]]}`), documented: "b"},
		{name: "roles give z", src: sprite(1, 1, `a: {points: [[0, 0]], role: "anchor"}, b: {points: [[0, 0]], role: "fill"}, c: {points: [[0, 0]]}`), documented: "a"},
	}
	for i := range rows {
		if rows[i].name == "path" {
			rows[i].documented, rows[i].reference, rows[i].codes = rows[i].reference, "", "out_of_bounds"
		}
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}

// TestTransforms holds the transforms of the picture A.B / .C.
func TestTransforms(t *testing.T) {
	for _, r := range []struct{ op, want string }{
		{"mirror-h", "b.a / .c."},
		{"mirror-v", ".c. / a.b"},
		{"rotate:90", ".a / c. / .b"},
		{"rotate:270", "b. / .c / a."},
		{"scale:1.5,0.5", "..c.."},
		{"scale:0.7,2", "ab / ab / .. / .."},
		{"skew-x:30", ".a.b. / ..c.."},
		{"skew-x:-30", "a.b.. / ..c.."},
		{"skew-y:45", "... / ..b / ... / ac. / ..."},
		{"outline:k", "kkkkk / kakbk / kkckk / .kkk."},
		{"shadow:1,-1,k", ".k.k / a.b. / .c.."},
		{"crop:1,0,5,1", ".b"},
		{"shift:1,1", "... / .a."},
	} {
		t.Run(r.op, func(t *testing.T) {
			row := pictureRow{src: sprite(3, 2, `a: {points: [[0, 0]]}, b: {points: [[2, 0]]}, c: {points: [[1, 1]]}`, `transform: ["`+r.op+`"]`), documented: r.want}
			row.run(t)
		})
	}
	row := pictureRow{name: "shadow with a colon", src: sprite(1, 1, `a: {points: [[0, 0]]}`, `transform: ["shadow:1,0:k"]`), documented: "ak", reference: "a"}
	row.run(t)
}

func TestNineSlice(t *testing.T) {
	src := sprite(3, 3, `a: {rect: [0, 0, 3, 3]}, b: {points: [[1, 0], [0, 1], [2, 1], [1, 2]]}, c: {points: [[1, 1]]}`, `nine_slice: {left: 1, right: 1, top: 1, bottom: 1}`)
	for _, r := range []pictureRow{
		{name: "larger", src: src, opt: RenderOptions{Slice: [2]int{5, 4}}, documented: "abbba / bcccb / bcccb / abbba"},
		{name: "borders only", src: src, opt: RenderOptions{Slice: [2]int{2, 2}}, documented: "aa / aa"},
		{name: "too small", src: src, opt: RenderOptions{Slice: [2]int{1, 4}}, documented: "aba / bcb / aba", codes: "invalid_nine_slice"},
		{name: "without borders", src: sprite(1, 1, `a: {points: [[0, 0]]}`), opt: RenderOptions{Slice: [2]int{4, 4}}, documented: "a", codes: "invalid_nine_slice"},
	} {
		t.Run(r.name, r.run)
	}
}

// TestPalettes holds ramps, variables and built-in palettes by the colours they give.
func TestPalettes(t *testing.T) {
	for _, r := range []struct{ name, palette, want string }{
		{"ramp", `colors: {}, ramps: {s: {base: "#E8B89D", steps: 5}}`, "{s_2}=#CB9721 {s_1}=#DEA05A {s}=#E8B89D {s+1}=#F1DAD2 {s+2}=#FFFFFF"},
		{
			"ramp with shifts", `colors: {}, ramps: {s: {base: "hsl(200 50% 40%)", steps: 4, shadow_shift: {lightness: -5}, highlight_shift: {hue: 400, lightness: 90}}}`,
			"{s_1}=#2D6886 {s}=#337799 {s+1}=#FFFFFF {s+2}=#FFFFFF",
		},
		{"ramp with alpha", `colors: {}, ramps: {s: {base: "#80808080", steps: 2}}`, "{s}=#80808080 {s+1}=#9F9F9F80"},
		{"variables", `colors: {"--a": "red", "--b": "var(--a)", x: "var(--b)", y: "var(--zz, var(a))", z: "rgb(var(--n, 1, 2, 3))"}`, "x=#FF0000 y=#FF0000 z=#010203"},
		{"undefined variable", `colors: {x: "var(--zz)"}`, "x=#FF00FF"},
		{"variables in a circle", `colors: {"--a": "var(--b)", "--b": "var(--a)", x: "var(--a, red)"}`, "x=#FF00FF"},
		{"unclosed", `colors: {x: "var(--a"}`, "x=#FF00FF"},
		{"twice", `colors: {x: "red", x: "blue"}`, "x=#0000FF"},
	} {
		t.Run(r.name, func(t *testing.T) {
			d := Parse([]byte(`{type: "palette", name: "p", `+r.palette+`}`), Options{})
			colors, _ := d.Colours(&PaletteRef{Name: "p"})
			var got []string
			for _, c := range colors {
				got = append(got, fmt.Sprintf("%s=%s", c.Token, colour.Hex(c.Color)))
			}
			if g := strings.Join(got, " "); g != r.want {
				t.Errorf("got %s\nwant %s\n%v", g, r.want, d.Diagnostics())
			}
		})
	}
	if got := strings.Join(Builtins(), " "); got != "gameboy nes pico8 grayscale 1bit dracula synthwave" {
		t.Error(got)
	}
	d := Parse(nil, Options{})
	if c, _ := d.Colours(&PaletteRef{Name: "@pico8"}); len(c) != 17 || c[0].Token != "{_}" || colour.Hex(c[3].Color) != "#7E2553" {
		t.Errorf("pico8 is %v", c)
	}
	if _, ok := d.Colours(&PaletteRef{Name: "@none"}); ok {
		t.Error("a palette that does not exist has colours")
	}
}

func TestPaletteCycles(t *testing.T) {
	src := func(tokens string) string {
		return `{type: "sprite", name: "s", size: [5, 1], palette: {t0: "#000001", t1: "#000002", t2: "#000003", d0: "#000004", d1: "#000005"}, regions: {
 t0: {points: [[0, 0]]}, t1: {points: [[1, 0]]}, t2: {points: [[2, 0]]}, d0: {points: [[3, 0]]}, d1: {points: [[4, 0]]}}}
{type: "animation", name: "n", frames: ["s"], palette_cycle: [{tokens: ["t0", "t1", "t2"]}, {tokens: [` + tokens + `]}]}`
	}
	legend := "1=#000001 2=#000002 3=#000003 4=#000004 5=#000005"
	for _, r := range []pictureRow{
		{name: "two lengths", src: src(`"d0", "d1"`), legend: legend, opt: RenderOptions{Kind: KindAnimation}, documented: "12345 // 23154 // 31245 // 12354 // 23145 // 31254"},
		{name: "a token without a colour", src: src(`"d0", "d1", "zz"`), legend: legend, opt: RenderOptions{Kind: KindAnimation}, documented: "12345 // 23155 // 31244"},
	} {
		t.Run(r.name, func(t *testing.T) {
			r.src = strings.NewReplacer("t0", "c0", "t1", "c1", "t2", "c2").Replace(r.src)
			r.run(t)
		})
	}
}

func TestTiming(t *testing.T) {
	for _, r := range []struct {
		name    string
		dialect Dialect
		t, want float64
	}{
		{"linear", Documented, 0.3, 0.3},
		{"steps(4)", Documented, 0.25, 0.25},
		{"steps(4, jump-both)", Documented, 0, 0.2},
		{"steps(3,jump-none)", Documented, 0.5, 0.5},
		{"step-start", Documented, 0.1, 1},
		{"step-end", Documented, 0.9, 0},
		{"cubic-bezier(0.25,0.1,0.25,1)", Documented, 0.05, 0.0329515413},
		{"ease", Documented, 0.25, 0.4085105914},
		{"ease", Reference, 0.25, 0.125},
		{"ease-in", Reference, 0.5, 0.25},
		{"ease-out", Reference, 0.5, 0.75},
		{"ease-in", Documented, 0.5, 0.3153568},
		{"elastic", Documented, 1, 1},
		{"bounce", Documented, 0, 0},
		{"EASE-IN-OUT ", Documented, 0.5, 0.5},
		{"linear", Documented, 7, 1},
	} {
		f, err := Timing(r.name, r.dialect)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		if got := f(r.t); math.Abs(got-r.want) > 1e-6 {
			t.Errorf("%s (%s) at %v is %v, want %v", r.name, r.dialect, r.t, got, r.want)
		}
	}
	for _, name := range []string{"", "fast", "steps(0)", "steps(1, jump-none)", "cubic-bezier(2,0,0,0)", "cubic-bezier(0,0,0)", "steps()"} {
		if _, err := Timing(name, Documented); err == nil {
			t.Errorf("%q is taken for a timing function", name)
		}
	}
}

func TestTokens(t *testing.T) {
	d := Parse([]byte(sprite(2, 1, `a: {points: [[0, 0]]}, b: {rect: [0, 0, 2, 1], z: -1}`, `transform: ["mirror-h", "pad:1"]`)), Options{})
	res, err := d.Render(RenderOptions{Tokens: true, Scale: 3})
	if err != nil {
		t.Fatal(err)
	}
	m := res.Tokens
	if m == nil || m.Width != 12 || m.At(0, 0) != -1 || m.Names[m.At(3, 4)] != "b" || m.Names[m.At(8, 5)] != "a" || m.At(12, 0) != -1 {
		t.Errorf("got %+v", m)
	}
	regions, err := d.Regions("s")
	if err != nil {
		t.Fatal(err)
	}
	if len(regions) != 2 || regions[1].Pixels != 2 || regions[1].Visible != 1 || regions[1].Z != -1 || regions[0].Bounds.Dx() != 1 {
		t.Errorf("got %+v", regions)
	}
}

// TestConcurrentRenders draws one document from many goroutines.
func TestConcurrentRenders(t *testing.T) {
	d := Parse([]byte(hostile()), Options{})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for _, k := range Drawable() {
				if _, err := d.Render(RenderOptions{Kind: k, AllStates: true}); err != nil {
					t.Error(err)
				}
			}
			d.Check()
		})
	}
	wg.Wait()
}

// TestNumbersBeyondTheirRange draws numbers that JSON5 has and JSON does not.
func TestNumbersBeyondTheirRange(t *testing.T) {
	for _, v := range []string{"NaN", "Infinity", "-Infinity", "1e400", "-0", "1e-400"} {
		t.Run(v, func(t *testing.T) {
			src := sprite(2, 2, `a: {rect: [0, 0, 2, 2]}`, `transform: [{op: "subpixel", x: `+v+`, y: 0.5}, {op: "sel-out", auto_darken: `+v+`},
 {op: "scale", x: `+v+`, y: 1}, {op: "skew-x", degrees: `+v+`}, {op: "dither", pattern: "noise", tokens: ["a", "b"], threshold: `+v+`}]`, `antialias: {enabled: true, algorithm: "aa-blur", strength: `+v+`}`) +
				`{type: "palette", name: "p", colors: {}, ramps: {r: {base: "#123", shadow_shift: {hue: ` + v + `, lightness: ` + v + `}}}}
{type: "composition", name: "c", size: [2, 2], sprites: {}, layers: [{sprite: "s", opacity: ` + v + `, blend: "add"}]}
{type: "animation", name: "n", fps: ` + v + `, keyframes: {from: {sprite: "s", opacity: ` + v + `}}}`
			for _, dialect := range []Dialect{Documented, Reference} {
				d := Parse([]byte(src), Options{Dialect: dialect})
				d.Check()
				d.Colours(&PaletteRef{Name: "p"})
				for _, o := range d.Objects() {
					if _, err := d.Render(RenderOptions{Kind: o.Kind, Name: o.Name}); err != nil && o.Kind != KindPalette {
						t.Error(err)
					}
				}
			}
		})
	}
}
