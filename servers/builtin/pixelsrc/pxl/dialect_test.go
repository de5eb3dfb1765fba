package pxl

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// colours is the palette the pictures are drawn with; each token is its letter in the picture.
const colours = `{a: "#f00", b: "#0f0", c: "#00f", k: "#000", w: "#fff", _: "transparent"}`

// legend names the colours of a picture: those of the palette, and magenta as m.
func legend(t *testing.T, extra string) map[uint32]byte {
	t.Helper()
	out := map[uint32]byte{}
	for _, pair := range strings.Fields("a=#f00 b=#0f0 c=#00f k=#000 w=#fff m=#f0f " + extra) {
		l, value, _ := strings.Cut(pair, "=")
		c, err := colour.Parse(value)
		if err != nil {
			t.Fatal(err)
		}
		out[pack(c)] = l[0]
	}
	return out
}

// sprite makes a sprite "s" of w by h.
func sprite(w, h int, regions string, more ...string) string {
	return fmt.Sprintf(`{type: "sprite", name: "s", size: [%d, %d], palette: %s, regions: {%s}%s}`+"\n",
		w, h, colours, regions, strings.Join(append([]string{""}, more...), ", "))
}

// picture is one rule drawn in both dialects. Frames of an animation are apart by an
// empty line, rows by " / ". An empty reference means that it draws the same.
type pictureRow struct {
	name       string
	src        string
	opt        RenderOptions
	legend     string
	documented string
	reference  string
	codes      string // diagnostics of the documented dialect
}

func (r *pictureRow) run(t *testing.T) {
	t.Helper()
	for _, dialect := range []Dialect{Documented, Reference} {
		d := Parse([]byte(r.src), Options{Dialect: dialect})
		want := r.documented
		if dialect == Reference && r.reference != "" {
			want = r.reference
		}
		res, err := d.Render(r.opt)
		if err != nil {
			if want != "error" {
				t.Errorf("%s: %v; %v", dialect, err, d.Diagnostics())
			}
			continue
		}
		var got []string
		for _, f := range res.Frames {
			got = append(got, strings.ReplaceAll(drawText(f.Image, legend(t, r.legend)), "\n", " / "))
		}
		if g := strings.Join(got, " // "); g != want {
			t.Errorf("%s:\n got %s\nwant %s\n%v", dialect, strings.ReplaceAll(g, " / ", "\n     "), strings.ReplaceAll(want, " / ", "\n     "), append(d.Diagnostics(), res.Diagnostics...))
		}
		if dialect == Documented {
			var codes []string
			for _, x := range append(d.Diagnostics(), res.Diagnostics...) {
				codes = append(codes, x.Code)
			}
			if c := strings.Join(codes, " "); c != r.codes {
				t.Errorf("diagnostics %q, want %q: %v", c, r.codes, append(d.Diagnostics(), res.Diagnostics...))
			}
		}
	}
}

func TestDialectsReadObjects(t *testing.T) {
	rows := []pictureRow{
		{
			name: "braces of a built-in palette", src: `{type: "sprite", name: "s", size: [2, 1], palette: "@1bit", regions: {black: {points: [[0, 0]]}, "{white}": {points: [[1, 0]]}}}`,
			documented: "kw", reference: "mw",
		},
		{
			name: "exact spelling first", src: `{type: "sprite", name: "s", size: [2, 1], palette: {"{x}": "#f00", x: "#00f"}, regions: {x: {points: [[0, 0]]}, "{x}": {points: [[1, 0]]}}}`,
			documented: "ca",
		},
		{
			name: "references between regions", src: sprite(3, 1, `a: {rect: [0, 0, 2, 1]}, b: {rect: [0, 0, 3, 1], except: ["{a}"], z: -1}`),
			documented: "aab", reference: "aab", codes: "",
		},
		{
			name: "transform of a token", src: sprite(1, 1, `a: {points: [[0, 0]]}`, `transform: ["pad:1", "outline:{b}"]`),
			documented: "..... / .bbb. / .bab. / .bbb. / .....",
		},
		{
			name: "recovery", src: "{type: 'sprite', name: ]}\n" + sprite(1, 1, `a: {points: [[0, 0]]}`),
			documented: "a", reference: "error", codes: "json_syntax",
		},
		{
			name: "several on a line", src: strings.TrimSpace(sprite(1, 1, `a: {points: [[0, 0]]}`)) + `, /* two */ {type: "palette", name: "p", colors: {}}` + "/*\n*/",
			documented: "a", reference: "error",
		},
		{
			name: "negative coordinates", src: sprite(3, 3, `a: {rect: [-1, -1, 3, 3]}`),
			documented: "aa. / aa. / ...", reference: "error", codes: "out_of_bounds",
		},
		{name: "whole fractions", src: sprite(2, 1, `a: {rect: [0, 0, 2.0, 1]}`), documented: "aa", reference: "error"},
		{
			name: "a bad region is skipped", src: sprite(2, 1, `a: {rect: [0, 0, 1.5, 1]}, b: {points: [[1, 0]]}`),
			documented: ".b", reference: "error", codes: "json_syntax",
		},
		{
			name: "variant with a named palette", src: sprite(2, 1, `a: {points: [[0, 0]]}, b: {points: [[1, 0]]}`) +
				`{type: "palette", name: "p", colors: {a: "#00f"}} {type: "variant", name: "v", base: "s", palette: "p"}`,
			opt: RenderOptions{Kind: KindVariant}, documented: "cb", reference: "error",
		},
		{
			name: "variant of a variant", src: sprite(2, 1, `a: {points: [[0, 0]]}, b: {points: [[1, 0]]}`) +
				`{type: "variant", name: "v", base: "s", palette: {a: "#00f"}}` + "\n" + `{type: "variant", name: "w", base: "v", palette: {b: "#fff"}}`,
			opt: RenderOptions{Name: "w"}, documented: "cw", reference: ".",
		},
		{
			name: "var in a variant", src: sprite(1, 1, `a: {points: [[0, 0]]}`) + `{type: "variant", name: "v", base: "s", palette: {"--x": "#00f", a: "var(--x)"}}`,
			opt: RenderOptions{Kind: KindVariant}, documented: "c", reference: "m",
		},
		{
			name: "variants in a circle", src: `{type: "variant", name: "v", base: "w", palette: {}}` + "\n" + `{type: "variant", name: "w", base: "v", palette: {}}`,
			opt: RenderOptions{Name: "v"}, documented: ".", codes: "missing_base",
		},
		{
			name: "missing palette", src: `{type: "sprite", name: "s", size: [1, 1], palette: "none", regions: {a: {points: [[0, 0]]}}}`,
			documented: "m", codes: "missing_palette",
		},
		{name: "leaving the canvas", src: sprite(2, 2, `a: {rect: [1, 1, 5, 1]}`), documented: ".. / .a", codes: "out_of_bounds"},
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}

func TestRegionModifiers(t *testing.T) {
	rows := []pictureRow{
		{
			name: "rounded rect", src: sprite(6, 6, `a: {rect: [0, 0, 6, 6], round: 2}`),
			documented: ".aaaa. / aaaaaa / aaaaaa / aaaaaa / aaaaaa / .aaaa.", reference: "aaaaaa / aaaaaa / aaaaaa / aaaaaa / aaaaaa / aaaaaa",
		},
		{
			name: "radius is at most half", src: sprite(6, 4, `a: {rect: [0, 0, 6, 4], round: 9}`),
			documented: ".aaaa. / aaaaaa / aaaaaa / .aaaa.", reference: "aaaaaa / aaaaaa / aaaaaa / aaaaaa",
		},
		{
			name: "rounded stroke", src: sprite(6, 6, `a: {stroke: [0, 0, 6, 6], round: 2}`),
			documented: ".aaaa. / a....a / a....a / a....a / a....a / .aaaa.", reference: "aaaaaa / a....a / a....a / a....a / a....a / aaaaaa",
		},
		{
			name: "thick line", src: sprite(6, 5, `a: {line: [[1, 2], [4, 2]], thickness: 3}`),
			documented: "...... / aaaaaa / aaaaaa / aaaaaa / ......", reference: "...... / ...... / .aaaa. / ...... / ......",
		},
		{
			name: "even thickness leans right and down", src: sprite(4, 4, `a: {line: [[1, 1], [1, 1]], thickness: 2}`),
			documented: ".... / .aa. / .aa. / ....", reference: ".... / .a.. / .... / ....",
		},
		{name: "thickness 0 counts as 1", src: sprite(3, 1, `a: {line: [[0, 0], [2, 0]], thickness: 0}`), documented: "aaa"},
		{
			name: "ranges", src: sprite(5, 3, `a: {rect: [0, 0, 5, 3], x: [1, 3], y: [1, 1]}`),
			documented: "..... / .aaa. / .....", reference: "aaaaa / aaaaa / aaaaa",
		},
		{
			name: "reversed range", src: sprite(5, 1, `a: {rect: [0, 0, 5, 1], x: [3, 1]}`),
			documented: ".aaa.", reference: "aaaaa", codes: "invalid_shape",
		},
		{
			name: "repeat", src: sprite(7, 4, `a: {points: [[0, 0], [1, 0]], repeat: [3, 2], spacing: [1, 1]}`),
			documented: "aa.aa.a / ....... / aa.aa.a / .......", reference: "aa..... / ....... / ....... / .......", codes: "out_of_bounds",
		},
		{
			name: "offset-alternate", src: sprite(6, 2, `a: {points: [[0, 0]], repeat: [2, 2], spacing: [1, 0], "offset-alternate": true}`),
			documented: "a.a... / .a.a..", reference: "a..... / ......",
		},
		{name: "a huge repeat", src: sprite(4, 1, `a: {points: [[0, 0]], repeat: [2000000000, 2000000000]}`), documented: "aaaa", reference: "a..."},
		{
			name: "rotate, then translate", src: sprite(4, 4, `a: {points: [[0, 0], [1, 0], [2, 0]], transform: "rotate(90deg) translate(3, 1)"}`),
			documented: ".... / ...a / ...a / ...a", reference: "aaa. / .... / .... / ....",
		},
		{
			name: "radians", src: sprite(3, 3, `a: {line: [[0, 0], [2, 0]], transform: "rotate(1.5707963267948966rad)"}`),
			documented: "a.. / a.. / a..", reference: "aaa / ... / ...",
		},
		{
			name: "scale", src: sprite(4, 4, `a: {points: [[0, 0], [1, 1]], transform: "scale(2)"}`),
			documented: "aa.. / aa.. / ..aa / ..aa", reference: "a... / .a.. / .... / ....",
		},
		{
			name: "flips about the own box", src: sprite(4, 2, `a: {points: [[1, 0], [2, 0], [3, 0], [1, 1]], transform: "flip-x"}`),
			documented: ".aaa / ...a", reference: ".aaa / .a..",
		},
		{
			name: "jitter", src: sprite(4, 3, `a: {points: [[1, 1], [2, 1]], jitter: {x: [0, 1], y: [-1, 1]}, seed: 1}`),
			documented: jitterPicture(4, 3, [][2]int{{1, 1}, {2, 1}}, 1), reference: ".... / .aa. / ....",
		},
		{
			name: "auto-outline", src: sprite(5, 4, `a: {points: [[2, 1]]}, b: {"auto-outline": "a"}`),
			documented: ".bbb. / .bab. / .bbb. / .....", reference: "..... / ..a.. / ..... / .....",
		},
		{
			name: "auto-outline thickness", src: sprite(5, 5, `a: {points: [[2, 2]]}, b: {"auto-outline": "a", thickness: 2}`),
			documented: "bbbbb / bbbbb / bbabb / bbbbb / bbbbb", reference: "..... / ..... / ..a.. / ..... / .....",
		},
		{name: "background word", src: sprite(3, 1, `a: {points: [[1, 0]], z: -5}, b: "background"`), documented: "bab", reference: "error"},
		{name: "background key", src: sprite(3, 1, `a: {points: [[1, 0]], z: -5}`, `background: "b"`), documented: "bab", reference: ".a."},
		{name: "the region wins", src: sprite(3, 1, `c: "background", a: {points: [[1, 0]]}`, `background: "b"`), documented: "cac", reference: "error"},
		{name: "symmetry on a numeric axis", src: sprite(6, 1, `a: {points: [[0, 0]], symmetric: 2}`), documented: "a..a..", reference: "error"},
		{name: "symmetry at the middle is that of x", src: sprite(6, 1, `a: {points: [[0, 0]], symmetric: 3}`), documented: "a....a", reference: "error"},
		{name: "symmetry in x", src: sprite(6, 1, `a: {points: [[0, 0]], symmetric: "x"}`), documented: "a....a"},
		{
			name: "within holds inside an outline", src: sprite(5, 5, `a: {stroke: [0, 0, 5, 5]}, b: {points: [[2, 2]], within: "a"}`),
			documented: "aaaaa / a...a / a.b.a / a...a / aaaaa",
		},
		{
			name: "within fails", src: sprite(4, 3, `a: {stroke: [0, 0, 3, 3]}, b: {points: [[3, 1]], within: "a"}`),
			documented: "aaa. / a.ab / aaa.", codes: "uncertain_constraint",
		},
		{name: "adjacent-to holds", src: sprite(3, 1, `a: {points: [[0, 0]]}, b: {points: [[1, 0]], "adjacent-to": "a"}`), documented: "ab."},
		{
			name: "adjacent-to fails", src: sprite(3, 1, `a: {points: [[0, 0]]}, b: {points: [[2, 0]], "adjacent-to": "a"}`),
			documented: "a.b", codes: "uncertain_constraint",
		},
		{name: "fill seed", src: sprite(5, 1, `a: {points: [[2, 0]]}, b: {fill: "inside(a)", seed: [4, 0]}`), documented: "..abb", reference: "error"},
		{
			name: "seed on the boundary", src: sprite(5, 3, `a: {stroke: [0, 0, 5, 3]}, b: {fill: "inside(a)", seed: [0, 0]}`),
			documented: "aaaaa / abbba / aaaaa", reference: "error", codes: "invalid_shape",
		},
		{name: "auto-shadow", src: sprite(3, 2, `a: {points: [[0, 0]]}, b: {"auto-shadow": "a", offset: [2, 1]}`), documented: "a.. / ..b"},
		{
			name: "union of rounded parts", src: sprite(6, 4, `a: {union: [{rect: [0, 0, 4, 4], round: 2}, {points: [[5, 0]]}]}`),
			documented: ".aa..a / aaaa.. / aaaa.. / .aa...", reference: "aaaa.a / aaaa.. / aaaa.. / aaaa..",
		},
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}

// jitterPicture works the displacements out the long way, one pixel after the other.
func jitterPicture(w, h int, pts [][2]int, seed uint64) string {
	rows := make([][]byte, h)
	for y := range rows {
		rows[y] = []byte(strings.Repeat(".", w))
	}
	for _, p := range pts {
		state := seed + uint64(p[0]) + uint64(p[1])
		state = state*1103515245 + 12345
		x := p[0] + 0 + int(state%(1<<31))%2
		state = state*1103515245 + 12345
		y := p[1] - 1 + int(state%(1<<31))%3
		rows[y][x] = 'a'
	}
	out := make([]string, h)
	for y := range rows {
		out[y] = string(rows[y])
	}
	return strings.Join(out, " / ")
}
