package pxl

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// codesOf lists diagnostics as line:code.
func codesOf(ds []Diagnostic) string {
	var out []string
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%d:%s", d.Line, d.Code))
	}
	return strings.Join(out, " ")
}

// TestCheckFindsWhatTheFixturesName asserts code and line of everything wrong with the corpus's broken files.
func TestCheckFindsWhatTheFixturesName(t *testing.T) {
	dir := filepath.Join(realtest.Corpus(t), "corpus", "tests", "fixtures")
	for _, r := range []struct{ file, want string }{
		{"invalid/invalid_color.jsonl", "1:invalid_color"},
		{"invalid/invalid_json.jsonl", "1:json_syntax"},
		{"invalid/missing_name.jsonl", "1:json_syntax"},
		{"invalid/missing_type.jsonl", "1:missing_type"},
		{"invalid/unknown_palette_ref.jsonl", "1:missing_palette"},
		{"invalid/validate_errors.jsonl", "2:undefined_token"},
		{"invalid/validate_typo.jsonl", "2:undefined_token 2:undefined_token"},
		{"lenient/composition_size_not_divisible.jsonl", "3:cell_size_mismatch"},
		{"lenient/duplicate_name.jsonl", "2:duplicate_name"},
		{"lenient/row_too_short.jsonl", ""},
		{"runtime_errors/composition_cycle.jsonl", "3:composition_cycle"},
	} {
		for _, dialect := range []Dialect{Documented, Reference} {
			t.Run(dialect.String()+"/"+r.file, func(t *testing.T) {
				want := r.want
				if dialect == Reference && strings.Contains(r.file, "cycle") {
					want = "3:missing_sprite 4:missing_sprite" // it knows no nesting
				}
				ds := parseFile(t, filepath.Join(dir, r.file), dialect).Check()
				if got := codesOf(ds); got != want {
					t.Errorf("got %q, want %q\n%v", got, want, ds)
				}
			})
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range names {
		if d := filepath.Base(filepath.Dir(f)); d == "invalid" || d == "lenient" || d == "runtime_errors" {
			n++
		}
	}
	if n != 11 {
		t.Errorf("%d fixtures, 11 are asserted", n)
	}
}

// TestCheck has one row for every thing that checking tells.
func TestCheck(t *testing.T) {
	sp := func(region string) string { return sprite(4, 4, region) }
	for _, r := range []struct{ name, src, want, help string }{
		{"clean", sp(`a: {rect: [0, 0, 4, 4]}`), "", ""},
		{"empty", "", "", ""},
		{"syntax", "{type: 'sprite'", "1:json_syntax", ""},
		{"no type", "{name: 'x'}", "1:missing_type", ""},
		{"type near a real one", "{type: 'sprit', name: 'x'}", "1:unknown_type", "did you mean sprite?"},
		{"type in capitals", "{type: 'Sprite', name: 'x'}", "1:unknown_type", "did you mean sprite?"},
		{"two palettes", onePalette + "\n" + onePalette, "2:duplicate_name", ""},
		{"sprite and state rules", sp(``) + `{type: "state-rules", name: "s", rules: [{selector: ".x", apply: {}}]}`, "2:duplicate_name", ""},
		{"two spellings", `{type: "palette", name: "p", colors: {x: "red", "{x}": "blue"}}`, "1:duplicate_name", ""},
		{"colour name", `{type: "palette", name: "p", colors: {x: "gren"}}`, "1:invalid_color", "did you mean green?"},
		{"hex digits", `{type: "palette", name: "p", colors: {x: "#12345"}}`, "1:invalid_color", "expected 3, 4, 6 or 8 hex digits after #"},
		{"variable", `{type: "palette", name: "p", colors: {"--main": "red", x: "var(--man)"}}`, "1:invalid_color", "did you mean --main?"},
		{"variables in a circle", `{type: "palette", name: "p", colors: {"--a": "var(--b)", "--b": "var(--a)", x: "var(--a)"}}`, "1:invalid_color", ""},
		{"role", `{type: "palette", name: "p", colors: {x: "red"}, roles: {y: "fill"}}`, "1:invalid_role_token", ""},
		{"role that does not exist", `{type: "palette", name: "p", colors: {x: "red"}, roles: {x: "king"}}`, "1:json_syntax", ""},
		{"relationship", `{type: "palette", name: "p", colors: {x: "red"}, relationships: {x: {type: "derives-from", target: "y"}}}`, "1:invalid_relationship_target", ""},
		{"circle", `{type: "palette", name: "p", colors: {x: "red", y: "red", z: "red"}, relationships: {z: {type: "derives-from", target: "x"},` + "\n" +
			`x: {type: "derives-from", target: "y"}, y: {type: "derives-from", target: "x"}}}`, "2:circular_dependency", ""},
		{"no regions", `{type: "sprite", name: "s", size: [1, 1], palette: {}}`, "1:empty_grid", ""},
		{"no rules", `{type: "state-rules", name: "s", rules: []}`, "1:empty_grid", ""},
		{"palette", "{type: \"palette\", name: \"night\", colors: {}}\n{type: \"sprite\", name: \"s\", size: [1, 1],\n palette: \"nigt\", regions: {}}", "3:missing_palette", "did you mean night?"},
		{"built-in palette", `{type: "sprite", name: "s", size: [1, 1], palette: "@pico", regions: {}}`, "1:missing_palette", "did you mean @pico8?"},
		{"token", sp("\n\nq: {points: [[0, 0]]}"), "3:undefined_token", "did you mean a?"},
		{"particle", `{type: "particle", name: "p", sprite: "s", emitter: {lifetime: [9, 2]}}`, "1:missing_sprite 1:range_validation", ""},
		{"transform without frames", `{type: "transform", name: "t", frames: 0}`, "1:range_validation", ""},
		{"import", `{type: "import", from: "", as: "a:b", sprites: ["x/y"]}`, "1:range_validation 1:range_validation 1:range_validation", ""},
		{"alias", sp(``) + `{type: "import", from: "./x", as: "s"}`, "2:shadowed_import", ""},
		{"size missing", `{type: "sprite", name: "s", palette: {}, regions: {}}`, "1:missing_size", ""},
		{"size zero", `{type: "sprite", name: "s", size: [0, 1], palette: {}, regions: {}}`, "1:invalid_size", ""},
		{"size too large", `{type: "sprite", name: "s", size: [4096, 4097], palette: {}, regions: {}}`, "1:invalid_size", ""},
		{"bounds", sp(`a: {rect: [2, 0, 4, 1]}`), "1:out_of_bounds", ""},
		{"unknown region", sp(`abc: {}, a: {fill: "inside(abd)"}`), "1:undefined_token 1:unknown_region", "did you mean abc?"},
		{"later region", sp(`a: {rect: [0, 0, 1, 1], except: ["b"]}, b: {points: [[0, 0]]}`), "1:forward_reference", ""},
		{"within", sp(`a: {points: [[0, 0]], within: "q"}`), "1:invalid_within_ref", ""},
		{"adjacent-to", sp(`a: {points: [[0, 0]], "adjacent-to": "q"}`), "1:invalid_adjacent_ref", ""},
		{"constraint", sp(`a: {points: [[0, 0]], "adjacent-to": "b"}, b: {points: [[3, 3]]}`), "1:uncertain_constraint", ""},
		{"frame", sp(``) + `{type: "animation", name: "n", frames: ["s", "t"]}`, "2:missing_frame", "did you mean s?"},
		{"keyframe that is not sampled", sp(``) + `{type: "animation", name: "n", keyframes: {from: {sprite: "s"}, to: {sprite: "t"}}}`, "2:missing_frame", ""},
		{"nothing to animate", sp(``) + `{type: "animation", name: "n"}`, "2:missing_frame", ""},
		{"composition", sp(``) + `{type: "composition", name: "c", size: [4, 4], sprites: {x: "t"}, layers: [{map: ["y"]}]}`, "2:missing_sprite 2:undefined_symbol", ""},
		{"base", `{type: "variant", name: "v", base: "s", palette: {}}`, "1:missing_base", ""},
		{"source", `{type: "sprite", name: "s", size: [1, 1], palette: {}, source: "t"}`, "1:empty_grid 1:missing_source", ""},
		{"sources in a circle", `{type: "sprite", name: "s", palette: {}, source: "t"}` + "\n" + `{type: "sprite", name: "t", palette: {}, source: "s"}`, "1:missing_source 2:missing_source", ""},
		{"two shapes", sp(`a: {rect: [0, 0, 1, 1], circle: [1, 1, 1]}`), "1:conflicting_fields", ""},
		{"frames and keyframes", sp(``) + `{type: "animation", name: "n", frames: ["s"], keyframes: {from: {sprite: "s"}}}`, "2:conflicting_fields", ""},
		{"regions and source", sp(``) + `{type: "sprite", name: "t", palette: {}, source: "s", regions: {}}`, "2:conflicting_fields", ""},
		{"path", sp(`a: {path: "L1,1"}`), "1:invalid_shape", ""},
		{"fill", sp(`a: {points: [[0, 0]]}, b: {fill: "outside(a)"}`), "1:invalid_shape", ""},
		{"polygon", sp(`a: {polygon: [[0, 0], [1, 1]]}`), "1:invalid_shape", ""},
		{"line", sp(`a: {line: [[0, 0]]}`), "1:invalid_shape", ""},
		{"unknown key", sp(`a: {rect: [0, 0, 1, 1], raund: 2}`), "1:unknown_field", "did you mean round?"},
		{"key twice", sp(`a: {rect: [0, 0, 1, 1], z: 1,` + "\n" + `z: 2}`), "2:duplicate_key", ""},
		{"region twice", sp(`a: {rect: [0, 0, 1, 1]},` + "\n" + `a: {rect: [0, 0, 2, 1]}`), "2:duplicate_key", ""},
		{"modifier", sp(`a: {rect: [0, 0, 1, 1], antialias: {}}`), "1:unsupported_modifier", ""},
		{"transform", sprite(1, 1, `a: {points: [[0, 0]]}`, `transform: ["rotate:45"]`), "1:invalid_transform", ""},
		{"blend", sp(``) + `{type: "composition", name: "c", size: [4, 4], sprites: {}, layers: [{blend: "burn"}]}`, "2:invalid_blend", ""},
		{"selector", sp(``) + `{type: "state-rules", name: "r", rules: [{selector: "#x", apply: {}}]}`, "2:invalid_state_rule", ""},
		{"include", `{type: "sprite", name: "s", size: [1, 1], palette: "@include:p.pxl", regions: {}}`, "1:unresolved_include", ""},
	} {
		t.Run(r.name, func(t *testing.T) {
			ds := Parse([]byte(r.src), Options{}).Check()
			if got := codesOf(ds); got != r.want {
				t.Errorf("got  %q\nwant %q\n%v", got, r.want, ds)
			}
			found := r.help == ""
			for _, d := range ds {
				found = found || d.Help == r.help
			}
			if !found {
				t.Errorf("nobody says %q: %v", r.help, ds)
			}
		})
	}
}
