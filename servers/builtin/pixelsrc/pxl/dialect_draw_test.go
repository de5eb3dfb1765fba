package pxl

import (
	"strings"
	"testing"
)

// two is a sprite of two pixels, red and green.
func two(more ...string) string {
	return sprite(2, 1, `a: {points: [[0, 0]]}, b: {points: [[1, 0]]}`, more...)
}

// named gives a sprite of sprite() another name.
func named(name, src string) string { return strings.Replace(src, `"s"`, `"`+name+`"`, 1) }

func TestSpriteRules(t *testing.T) {
	derived := two() + `{type: "sprite", name: "d", palette: ` + colours + `, source: "s", transform: ["mirror-h"]}` + "\n"
	rules := func(apply string) string {
		return two() + `{type: "state-rules", name: "r", rules: [{selector: ".hurt[token=a]", apply: {` + apply + `}}]}`
	}
	hurt := RenderOptions{Name: "s", States: []string{"hurt"}}
	rows := []pictureRow{
		{
			name: "transforms in compositions", src: derived + `{type: "composition", name: "c", size: [2, 1], cell_size: [2, 1], sprites: {x: "d"}, layers: [{map: ["x"]}]}`,
			opt: RenderOptions{Kind: KindComposition}, documented: "ba", reference: "ab",
		},
		{
			name: "transforms in animations", src: derived + `{type: "animation", name: "n", frames: ["d"]}`,
			opt: RenderOptions{Kind: KindAnimation}, documented: "ba", reference: ".",
		},
		{
			name: "variants in animations", src: two() + `{type: "variant", name: "v", base: "s", palette: {a: "#00f"}}` + "\n" + `{type: "animation", name: "n", frames: ["s", "v"]}`,
			opt: RenderOptions{Kind: KindAnimation}, documented: "ab // cb", reference: "ab",
		},
		{
			name: "variant of a derived sprite", src: derived + `{type: "variant", name: "v", base: "d", palette: {a: "#00f"}}`,
			opt: RenderOptions{Kind: KindVariant}, documented: "bc", reference: ".",
		},
		{
			name: "a derived sprite without a palette", src: two() + `{type: "sprite", name: "d", source: "s"}`,
			opt: RenderOptions{Name: "d"}, documented: "ab", reference: "error",
		},
		{
			name: "dither checker", src: sprite(4, 2, `a: {rect: [0, 0, 4, 2]}`, `transform: ["dither:checker:a,b"]`),
			documented: "abab / baba", reference: "aaaa / aaaa",
		},
		{
			name: "dither ordered-2x2", src: sprite(4, 2, `a: {rect: [0, 0, 4, 2]}`, `transform: ["dither:ordered-2x2:a,b:0.5"]`),
			documented: "abab / baba", reference: "aaaa / aaaa",
		},
		{
			name: "dither threshold", src: sprite(4, 2, `a: {rect: [0, 0, 4, 2]}`, `transform: ["dither:ordered-2x2:a,b:0.8"]`),
			documented: "aaaa / baba", reference: "aaaa / aaaa",
		},
		{
			name: "dither leaves other tokens", src: sprite(4, 1, `a: {rect: [0, 0, 2, 1]}, c: {rect: [2, 0, 2, 1]}`, `transform: ["dither:vertical:a,b"]`),
			documented: "abcc", reference: "aacc",
		},
		{
			name: "dither of tokens that do not occur", src: sprite(4, 1, `c: {rect: [0, 0, 3, 1]}`, `transform: [{op: "dither", pattern: "vertical", tokens: ["a", "b"]}]`),
			documented: "aba.", reference: "ccc.", codes: "invalid_transform",
		},
		{
			name: "dither diagonal", src: sprite(4, 2, `a: {rect: [0, 0, 4, 2]}`, `transform: ["dither:diagonal:a,b"]`),
			documented: "bbaa / baab", reference: "aaaa / aaaa",
		},
		{
			name: "dither-gradient", src: sprite(2, 4, `c: {rect: [0, 0, 2, 4]}`, `transform: ["dither-gradient:vertical:a,b:ordered-2x2"]`),
			documented: "aa / aa / bb / bb", reference: "cc / cc / cc / cc",
		},
		{
			name: "dither-gradient, horizontal over the opaque box", src: sprite(6, 1, `c: {rect: [1, 0, 3, 1]}`, `transform: [{op: "dither-gradient", direction: "horizontal", from: "a", to: "b", pattern: "checker"}]`),
			documented: ".aba..", reference: ".ccc..",
		},
		{
			name: "sel-out by mapping", src: sprite(5, 3, `a: {rect: [1, 0, 3, 3]}`, `transform: [{op: "sel-out", mapping: {a: "k"}}]`),
			documented: ".kkk. / .kak. / .kkk.", reference: ".aaa. / .aaa. / .aaa.",
		},
		{
			name: "sel-out by star", src: sprite(5, 1, `a: {rect: [0, 0, 2, 1]}, b: {rect: [2, 0, 2, 1]}`, `transform: [{op: "sel-out", mapping: {a: "c", "*": "k"}}]`),
			documented: "cckk.", reference: "aabb.",
		},
		{
			name: "sel-out darkens", src: sprite(1, 1, `w: {points: [[0, 0]]}`, `transform: ["sel-out"]`),
			legend: "d=#9e9e9e", documented: "d", reference: "w",
		},
		{
			name: "sel-out fallback for pixels of no token", src: sprite(3, 3, `a: {points: [[1, 1]]}`, `transform: ["outline:k", "crop:1,1,3,3", "sel-out:c"]`),
			documented: "ccc / cac / ccc", reference: "kkk / kak / kkk",
		},
		{
			name: "subpixel", src: sprite(3, 1, `w: {points: [[1, 0]]}`, `transform: ["subpixel:0.5,0"]`),
			legend: "h=#ffffff80", documented: ".hh", reference: ".w.",
		},
		{name: "subpixel of a whole pixel", src: sprite(3, 1, `w: {points: [[1, 0]]}`, `transform: [{op: "subpixel", x: -1, y: 0}]`), documented: "w..", reference: ".w."},
		{name: "no state", src: rules(`color: "#00f"`), opt: RenderOptions{Name: "s"}, documented: "ab"},
		{name: "state rule, color", src: rules(`color: "#00f"`), opt: hurt, documented: "cb", reference: "ab"},
		{name: "all states", src: rules(`color: "#00f"`), opt: RenderOptions{Name: "s", AllStates: true}, documented: "cb", reference: "ab"},
		{name: "state rule, visible", src: rules(`visible: false`), opt: hurt, documented: ".b", reference: "ab"},
		{name: "state rule, opacity", src: rules(`opacity: 0.5`), opt: hurt, legend: "h=#ff000080", documented: "hb", reference: "ab"},
		{name: "state rule, filter", src: rules(`filter: "invert(1)"`), opt: hurt, legend: "i=#0ff", documented: "ib", reference: "ab"},
		{name: "state rule, filters left to right", src: rules(`filter: "brightness(0.5) invert(1)"`), opt: hurt, legend: "i=#80ffff", documented: "ib", reference: "ab"},
		{name: "state rule, z", src: sprite(1, 1, `a: {points: [[0, 0]], z: 1}, b: {points: [[0, 0]], z: 2}`) +
			`{type: "state-rules", name: "r", rules: [{selector: ".hurt[token*=a]", apply: {z: 9}}]}`, opt: hurt, documented: "a", reference: "b"},
		{name: "state rule, role", src: sprite(2, 1, `a: {points: [[0, 0]], role: "fill"}, b: {points: [[1, 0]], role: "anchor"}`) +
			`{type: "state-rules", name: "r", rules: [{selector: ".hurt[role=anchor]", apply: {color: "#000"}}]}`, opt: hurt, documented: "ak", reference: "ab"},
		{
			name: "state rule, a later rule wins", src: two() + `{type: "state-rules", name: "r", rules: [{selector: ".hurt", apply: {color: "#000"}}, {selector: ".hurt[token={b}]", apply: {color: "#fff"}}]}`,
			opt: hurt, documented: "kw", reference: "ab",
		},
		{
			name: "state rule, map form and the other spelling", src: two() + `{type: "state_rules", name: "r", rules: {".hurt[token=a]": {color: "#00f"}}}`,
			opt: hurt, documented: "cb", reference: "ab",
		},
		{
			name: "state rule, named by the sprite", src: two(`"state-rules": "q"`) + `{type: "state-rules", name: "r", rules: [{selector: ".hurt", apply: {color: "#000"}}]}`,
			opt: hurt, documented: "ab",
		},
		{
			name: "state rule, drop-shadow", src: sprite(2, 2, `a: {points: [[0, 0]]}`) + `{type: "state-rules", name: "r", rules: [{selector: ".hurt", apply: {"drop-shadow": "1 1 black"}}]}`,
			opt: hurt, documented: "a.. / .k. / ...", reference: "a. / ..",
		},
		{
			name: "a rule for any token", src: two() + `{type: "state-rules", name: "r", rules: {".hurt [token]": {color: "#000"}}}`,
			opt: hurt, documented: "kk", reference: "ab",
		},
		{
			name: "a rule without a state always holds", src: two() + `{type: "state-rules", name: "r", rules: {"[token=b]": {color: "#000"}}}`,
			documented: "ak", reference: "ab",
		},
		{
			name: "a rule for a role that the palette gives", src: `{type: "palette", name: "p", colors: {a: "#f00", b: "#0f0"}, roles: {"{b}": "boundary"}}` + "\n" +
				`{type: "sprite", name: "s", size: [2, 1], palette: "p", regions: {a: {points: [[0, 0]]}, b: {points: [[1, 0]]}}}` + "\n" +
				`{type: "state-rules", name: "r", rules: {".hurt [role=boundary]": {color: "#000"}}}`,
			opt: hurt, documented: "ak", reference: "ab",
		},
		{
			name: "a drop-shadow among the filters", src: sprite(2, 2, `a: {points: [[0, 0]]}`) + `{type: "state-rules", name: "r", rules: {".hurt [token]": {filter: "invert(1) drop-shadow(1px 1px 0 rgba(0, 0, 0, 1))"}}}`,
			opt: hurt, legend: "i=#0ff", documented: "i.. / .k. / ...", reference: "a. / ..",
		},
		{
			name: "squash keeps the area", src: sprite(2, 4, `a: {rect: [0, 0, 2, 4]}`, `transform: [{op: "squash", amount: 0.5, anchor: "bottom"}]`),
			documented: ".... / .... / aaaa / aaaa", reference: "aa / aa / aa / aa",
		},
		{
			name: "squash about the centre", src: sprite(2, 4, `a: {rect: [0, 0, 2, 4]}`, `transform: ["squash:0.5"]`),
			documented: ".... / aaaa / aaaa / ....", reference: "aa / aa / aa / aa",
		},
		{
			name: "squash without keeping the area", src: sprite(2, 4, `a: {rect: [0, 0, 2, 4]}`, `transform: [{op: "squash", amount: 0.5, anchor: "top", preserve_area: false}]`),
			documented: "aaa / aaa / ... / ...", reference: "aa / aa / aa / aa",
		},
		{
			name: "stretch", src: sprite(3, 2, `a: {rect: [0, 0, 3, 2]}`, `transform: [{op: "stretch", amount: 0.5, anchor: [0, 2]}]`),
			documented: "aa. / aa. / aa.", reference: "aaa / aaa",
		},
		{name: "antialias of the call", src: sprite(1, 1, `a: {points: [[0, 0]]}`), opt: RenderOptions{Antialias: "scale2x"}, documented: "aa / aa"},
		{
			name: "antialias of the sprite", src: sprite(1, 1, `a: {points: [[0, 0]]}`, `antialias: {enabled: true, algorithm: "hq4x"}`),
			documented: "aaaa / aaaa / aaaa / aaaa", reference: "a",
		},
		{name: "antialias of the palette", src: `{type: "palette", name: "p", colors: {a: "#f00"}, antialias: {enabled: true, algorithm: "xbr2x"}}` + "\n" +
			`{type: "sprite", name: "s", size: [1, 1], palette: "p", regions: {a: {points: [[0, 0]]}}}`, documented: "aa / aa", reference: "a"},
		{
			name: "antialias switched off by the call", src: sprite(1, 1, `a: {points: [[0, 0]]}`, `antialias: {enabled: true, algorithm: "hq4x"}`),
			opt: RenderOptions{Antialias: "none"}, documented: "a",
		},
		{
			name: "antialias anchors stay", src: sprite(3, 1, `a: {rect: [0, 0, 3, 1], z: 0}, k: {points: [[1, 0]], role: "anchor", z: 1}`), opt: RenderOptions{Antialias: "aa-blur"},
			legend: "r=#dd0000 s=#c70000", documented: "?k?",
		},
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}

// Every published filter softens a diagonal, and leaves
// flat areas and straight edges as they are.
func TestStaircase(t *testing.T) {
	stairs := sprite(8, 8, `k: {rect: [0, 0, 8, 8], z: 0}, w: {polygon: [[0, 0], [7, 7], [0, 7]], z: 1}`)
	straight := sprite(8, 8, `k: {rect: [0, 0, 8, 8], z: 0}, w: {rect: [0, 0, 4, 8], z: 1}`)
	for _, a := range []string{"hq2x", "hq4x", "xbr2x", "xbr4x"} {
		t.Run(a, func(t *testing.T) {
			between := func(src string) int {
				res, err := Parse([]byte(src), Options{}).Render(RenderOptions{Antialias: a})
				if err != nil {
					t.Fatal(err)
				}
				n := 0
				for i := 0; i < len(res.Image().Pix); i += 4 {
					if v := res.Image().Pix[i]; v != 0 && v != 255 {
						n++
					}
				}
				return n
			}
			if n := between(stairs); n == 0 {
				t.Error("the staircase has no intermediate colours")
			}
			if n := between(straight); n != 0 {
				t.Errorf("a straight edge has %d intermediate pixels", n)
			}
		})
	}
}

func TestCompositionRules(t *testing.T) {
	dot := named("dot", sprite(1, 1, `a: {points: [[0, 0]]}`)) + named("sea", sprite(2, 2, `b: {rect: [0, 0, 2, 2]}`))
	comp := func(body string) string { return dot + `{type: "composition", name: "c", ` + body + "}\n" }
	opt := RenderOptions{Kind: KindComposition, Name: "c"}
	rows := []pictureRow{
		{
			name: "sprite at x and y", src: comp(`size: [3, 2], cell_size: [9, 9], layers: [{sprite: "dot", x: 2, y: 1}]`), opt: opt,
			documented: "... / ..a", reference: "error", codes: "cell_size_mismatch",
		},
		{name: "position, clipped", src: comp(`size: [2, 2], layers: [{sprite: "sea", position: [-1, -1]}]`), opt: opt, documented: "b. / ..", reference: "error"},
		{
			name: "both kinds mix", src: comp(`size: [3, 1], sprites: {x: "dot"}, layers: [{map: ["x.x"]}, {sprite: "sea", x: 1}]`), opt: opt,
			documented: "abb", reference: "a.a", codes: "undefined_symbol",
		},
		{name: "size from its layers", src: comp(`layers: [{sprite: "sea", x: 1}]`), opt: opt, documented: ".bb / .bb", reference: "error"},
		{name: "compositions nest", src: comp(`size: [2, 1], sprites: {x: "d"}, layers: [{map: ["x"]}]`) +
			`{type: "composition", name: "d", size: [2, 1], sprites: {x: "dot", ".": null}, layers: [{map: [".x"]}]}`, opt: opt, documented: ".a", reference: ".."},
		{
			name: "compositions in a circle", src: comp(`size: [2, 1], sprites: {x: "d", y: "dot"}, layers: [{map: ["x"]}, {map: [".y"]}], base: "dot"`) +
				`{type: "composition", name: "d", size: [2, 1], sprites: {x: "c", y: "dot"}, layers: [{map: ["x"]}, {map: [".y"]}]}`, opt: opt,
			documented: "aa", codes: "composition_cycle undefined_symbol undefined_symbol",
		},
		{
			name: "fill under the map", src: comp(`size: [4, 2], cell_size: [2, 2], sprites: {s: "sea", x: "dot", ".": null}, layers: [{fill: "s", map: [".x"]}]`), opt: opt,
			documented: "bbab / bbbb", reference: "..a. / ....",
		},
		{
			name: "transform of a layer", src: comp(`size: [2, 1], sprites: {x: "dot", ".": null}, layers: [{map: ["x."], transform: ["mirror-h"]}]`), opt: opt,
			documented: ".a", reference: "a.",
		},
		{
			name: "transform as a string", src: comp(`size: [2, 1], sprites: {}, layers: [{sprite: "dot", transform: "tile:2x1"}]`), opt: opt,
			documented: "aa", reference: "error",
		},
		{
			name: "var in opacity and blend", src: `{type: "palette", name: "p", colors: {"--o": "0.5", "--b": "add"}}` + "\n" +
				comp(`size: [1, 1], sprites: {x: "dot", y: "sea"}, layers: [{map: ["x"]}, {map: ["y"], blend: "var(--b)", opacity: "var(--o)"}]`), opt: opt,
			legend: "y=#ff8000", documented: "y", reference: "b",
		},
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}

func TestAnimationRules(t *testing.T) {
	anim := func(body string) string {
		return two() + named("u", two(`transform: ["mirror-h"]`)) + `{type: "animation", name: "n", ` + body + "}\n"
	}
	opt := RenderOptions{Kind: KindAnimation}
	cyc := func(body string) string {
		return named("s", sprite(3, 1, `a: {points: [[0, 0]]}, b: {points: [[1, 0]]}, c: {points: [[2, 0]]}`)) + `{type: "animation", name: "n", ` + body + "}\n"
	}
	rows := []pictureRow{
		{name: "keyframes, sprites hold", src: anim(`duration: 200, keyframes: {"0%": {sprite: "s"}, "50%": {sprite: "u"}}`), opt: opt, documented: "ab // ba", reference: "."},
		{
			name: "keyframes, numbers interpolate, the canvas holds all", src: anim(`duration: 150, keyframes: {from: {sprite: "s", transform: "translate(0, 0)"}, to: {transform: "translate(3, 0)"}}`), opt: opt,
			documented: "ab.. // .ab. // ..ab", reference: ".",
		},
		{
			name: "keyframes, without a loop the last key shows", src: anim(`duration: 100, loop: false, keyframes: {from: {sprite: "s", offset: [0, 0]}, to: {offset: [0, 1]}}`), opt: opt,
			documented: "ab / .. // .. / ab", reference: ".",
		},
		{
			name: "keyframes, steps", src: anim(`duration: 200, timing_function: "steps(2)", keyframes: {from: {sprite: "s", transform: "translate(0, 0)"}, to: {transform: "translate(2, 0)"}}`), opt: opt,
			documented: "ab. // .ab", reference: ".",
		},
		{name: "keyframes, rotation about the centre", src: anim(`duration: 100, keyframes: {from: {sprite: "s", transform: "rotate(90deg)"}}`), opt: opt, documented: "a / b", reference: "."},
		{
			name: "keyframes, the order written does not count", src: anim(`duration: 100, keyframes: {from: {sprite: "s", transform: "flip(x) scale(2, 1) translate(1, 0)"}}`), opt: opt,
			documented: "bbaa", reference: ".",
		},
		{name: "keyframes, negative scale flips", src: anim(`duration: 100, keyframes: {from: {sprite: "s", transform: "scale(-1, 1)"}}`), opt: opt, documented: "ba", reference: "."},
		{name: "keyframes, opacity", src: anim(`duration: 100, keyframes: {from: {sprite: "s", opacity: 0.5}}`), opt: opt, legend: "x=#ff000080 y=#00ff0080", documented: "xy", reference: "."},
		{name: "duration as text", src: anim(`duration: "0.1s", keyframes: {from: {sprite: "s"}, "50%": {sprite: "u"}}`), opt: opt, documented: "ab // ba", reference: "."},
		{name: "palette cycle, of a sprite", src: cyc(`sprite: "s", palette_cycle: {tokens: ["a", "b", "c"]}`), opt: opt, documented: "abc // bca // cab", reference: "error"},
		{name: "palette cycle, of one frame", src: cyc(`frames: ["s"], palette_cycle: [{tokens: ["a", "b"]}]`), opt: opt, documented: "abc // bac"},
		{name: "palette cycle, reverse", src: cyc(`frames: ["s"], palette_cycle: [{tokens: ["{a}", "b", "c"], direction: "reverse"}]`), opt: opt, documented: "abc // cab // bca", reference: "abc // acc // abb"},
		{
			name: "palette cycle, several paces", src: cyc(`sprite: "s", palette_cycle: [{tokens: ["a", "b"], duration: 100}, {tokens: ["c", "c"], duration: 200}]`), opt: opt,
			documented: "abc // bac // abc // bac", reference: ".",
		},
		{
			name: "compositions as frames, missing ones left out", src: anim(`frames: ["s", "none", "c"]`) +
				`{type: "composition", name: "c", size: [2, 1], cell_size: [2, 1], sprites: {x: "s"}, layers: [{map: ["x"], opacity: 1}]}`, opt: opt,
			documented: "ab // ab", codes: "missing_frame",
		},
		{name: "tag", src: anim(`frames: ["s", "u", "s"], tags: {mid: {start: 1, end: 1, fps: 5}}`), opt: RenderOptions{Kind: KindAnimation, Tag: "mid"}, documented: "ba", reference: "ab"},
		{name: "attachment over", src: anim(`frames: ["s"], attachments: [{name: "x", anchor: [1, 0], chain: ["s"]}]`), opt: opt, documented: "aa", reference: "ab"},
		{name: "attachment under", src: anim(`frames: ["s"], attachments: [{name: "x", anchor: [0, 0], chain: ["u"], z_index: -1}]`), opt: opt, documented: "ab"},
		{
			name: "attachment lag", src: named("s", sprite(3, 1, ``)) + named("d", sprite(1, 1, `a: {points: [[0, 0]]}`)) + named("e", sprite(1, 1, `b: {points: [[0, 0]]}`)) +
				`{type: "animation", name: "n", frames: ["s", "s", "s"], attachments: [{name: "x", anchor: [0, 0], chain: ["e", "d"], keyframes: {"0": {offset: [0, 0]}, "1": {offset: [1, 0]}, "2": {offset: [2, 0]}}}]}`, opt: opt,
			documented: "a.. // ab. // .ab", reference: "... // ... // ...",
		},
		{
			name: "attachment velocity is drawn as position", src: anim(`frames: ["s"], attachments: [{name: "x", anchor: [1, 0], chain: ["s"], follow: "velocity"}]`), opt: opt,
			documented: "aa", reference: "ab", codes: "unsupported_modifier",
		},
		{name: "effects without a definition", src: anim(`frames: ["s"], squash: 0.5`), opt: opt, documented: "ab", codes: "unsupported_modifier"},
	}
	for _, r := range rows {
		t.Run(r.name, r.run)
	}
}
