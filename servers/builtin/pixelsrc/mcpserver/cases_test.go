package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
)

// The cases of the tool modules, over JSON-RPC.

func TestRenderReturnsAPictureAndASummary(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "dot.pxl"), []byte(dot1), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, root)
	r.initialize("2025-06-18")
	for _, row := range []struct {
		name string
		args args
		text string
	}{
		{"dot", args{"source": dot1}, "'dot' (1x1 px)"},
		{"named sprite", args{"source": two, "sprite": "green_dot"}, "'green_dot' (1x1 px)\nColors: 1 — g #00FF00 (1)"},
		{"scale 4", args{"source": dot1, "scale": 4}, "(4x4 px)"},
		{"scale 255", args{"source": dot1, "scale": 255}, "(16x16 px)"},
		{"scale 0", args{"source": dot1, "scale": 0}, "(1x1 px)"},
		{"scale -3", args{"source": dot1, "scale": -3}, "(1x1 px)"},
		{"scale 300", args{"source": dot1, "scale": 300}, "(16x16 px)"},
		{"path", args{"path": "dot.pxl"}, "'dot'"},
		{"absolute path", args{"path": filepath.Join(root, "dot.pxl")}, "'dot'"},
		{"null arguments", args{"source": dot1, "path": nil, "sprite": nil, "scale": nil, "antialias": nil}, "'dot'"},
		{"source wins", args{"source": dot1, "path": "/nonexistent.pxl"}, "'dot'"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			res := r.ok("pixelsrc_render", row.args)
			if !bytes.HasPrefix(res.Content[0].bytes(t), []byte("\x89PNG")) || !strings.Contains(res.Content[1].Text, row.text) {
				t.Error(res.text())
			}
		})
	}
	for _, row := range []struct {
		name  string
		args  args
		words []string
	}{
		{"unknown sprite", args{"source": dot1, "sprite": "dat"}, []string{"not found", "Did you mean 'dot'?"}},
		{"nothing", args{}, []string{"Either"}},
		{"palette only", args{"source": `{"type":"palette","name":"p","colors":{}}`}, []string{"No sprites"}},
		{"empty source", args{"source": "", "path": "dot.pxl"}, []string{"No sprites"}},
		{"missing path", args{"path": "/nonexistent/path.pxl"}, []string{"Failed to read file '/nonexistent/path.pxl'"}},
		{"two targets", args{"source": dot1, "sprite": "dot", "composition": "c"}, []string{"sprite", "composition"}},
		{"antialias", args{"source": dot1, "antialias": "hq3x"}, []string{"hq3x", "scale2x", "aa-blur"}},
		{"format", args{"source": dot1, "format": "jpeg"}, []string{"jpeg", "png"}},
		{"malformed", args{"source": "\n{type: sprite}"}, []string{"line 2"}},
		{"no size", args{"source": `{type:"sprite",name:"s",palette:"@pico8",regions:{red:{rect:[1,1,3,2]}}}`}, []string{"'s'", "size", "[4, 3]"}},
		{"zero side", args{"source": `{type:"sprite",name:"s",size:[0,4],palette:"@pico8",regions:{red:{rect:[1,1,3,2]}}}`}, []string{"'s'", "0x4"}},
		{"a side beyond the limit", args{"source": `{type:"sprite",name:"s",size:[5000,4],palette:"@pico8",regions:{red:{rect:[1,1,3,2]}}}`}, []string{`"s"`, "line 1", "5000×4"}},
		{"a composition beyond the limit", args{"source": dot1 + "\n" + `{type:"composition",name:"c",size:[99999,9],layers:[{sprite:"dot"}]}`, "composition": "c"}, []string{`"c"`, "line 2", "99999×9"}},
		{"a part beyond the limit", args{"source": `{type:"sprite",name:"s",size:[5000,4],palette:"@pico8",regions:{red:{rect:[1,1,3,2]}}}` + "\n" + `{type:"composition",name:"c",size:[9,9],layers:[{sprite:"s"}]}`, "composition": "c"}, []string{`"s"`, "line 1", "5000×4"}},
		{"no regions", args{"source": `{type:"sprite",name:"s",size:[4,4],palette:"@pico8"}`}, []string{"'s'", "regions"}},
		{"scale is no integer", args{"source": dot1, "scale": 1.5}, []string{"scale", "integer"}},
		{"scale is a word", args{"source": dot1, "scale": "two"}, []string{"scale", "integer"}},
		{"source is a number", args{"source": 7}, []string{"source", "string"}},
		{"too large", args{"source": `{type:"sprite",name:"s",size:[2048,2048],palette:"@pico8",regions:{red:{rect:[0,0,1,1]}}}`, "scale": 16}, []string{"8192", "The largest allowed scale is 2"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			r.bad("pixelsrc_render", row.args, row.words...)
		})
	}
}

func TestIgnoredArguments(t *testing.T) {
	r := start(t)
	res := r.ok("pixelsrc_render", args{"source": dot1, "scal": 4, "zebra": true})
	if !strings.Contains(res.text(), "Ignored argument 'scal'. Did you mean 'scale'?") || !strings.Contains(res.text(), "Ignored argument 'zebra'.") {
		t.Error(res.text())
	}
}

func TestExplainCases(t *testing.T) {
	r := start(t)
	var sp pixelsrc.SpriteData
	r.data("pixelsrc_explain", args{"source": dot2}, &sp)
	if sp.Cells != 4 || sp.Clear != 2 || sp.Transparency != 50 || len(sp.Tokens) != 1 || sp.Tokens[0].Count != 2 || sp.Tokens[0].Color != "#FF0000" || *sp.Tokens[0].ColorName != "bright red" || sp.PaletteRef != "inline" {
		t.Errorf("got %+v", sp)
	}
	if len(sp.Regions) != 1 || sp.Regions[0].Shape != "points" || sp.Regions[0].Bounds != [4]int{0, 0, 2, 2} {
		t.Errorf("got %+v", sp.Regions)
	}
	r.bad("pixelsrc_explain", args{"source": ""}, "No objects")
	r.bad("pixelsrc_explain", args{"path": "missing.pxl"}, "Failed to read file")
	r.bad("pixelsrc_explain", args{"source": palspr, "name": "red_dog"}, "red_dog", "Did you mean 'red_dot'?")
	var p pixelsrc.PaletteData
	r.data("pixelsrc_explain", args{"source": `{type:"palette",name:"p",colors:{_:"#0000",r:"red",g:"green"}}`}, &p)
	if p.Type != "palette" || p.Count != 3 || p.Builtin || p.Colors[0].Token != "_" || *p.Colors[0].ColorName != "transparent" {
		t.Errorf("got %+v", p)
	}
	if r.data("pixelsrc_explain", args{"source": dot1, "name": "@gameboy"}, &p); !p.Builtin || p.Name != "@gameboy" || p.Count != 5 {
		t.Errorf("got %+v", p)
	}
	res := r.ok("pixelsrc_explain", args{"source": `{type:"sprite",name:"test",size:[8,8],palette:"hero",regions:{body:{rect:[0,0,4,4]}}} {type:"palette",name:"hero",colors:{body:"red"}}`, "name": "test"})
	for _, want := range []string{"Sprite: test", "Size: 8x8", "Palette: hero", "TOKENS USED", "body", "transparent"} {
		if !strings.Contains(res.Content[1].Text, want) {
			t.Errorf("%q lacks %q", res.Content[1].Text, want)
		}
	}
	var anim pixelsrc.AnimationData
	r.data("pixelsrc_explain", args{"source": two + `{type:"animation",name:"a",frames:["red_dot","green_dot","red_dot","green_dot"],duration:150,timing_function:"steps(4)"}`, "name": "a"}, &anim)
	if anim.Count != 4 || anim.Duration != 150 || !anim.Loops || anim.Total != 600 || anim.Timing.Curve != "stepped" || !strings.Contains(anim.Timing.Description, "4 discrete step") || !strings.Contains(anim.Timing.ASCII, "█") {
		t.Errorf("got %+v", anim)
	}
	var comp pixelsrc.CompositionData
	r.data("pixelsrc_explain", args{"source": two + `{type:"composition",name:"c",base:"red_dot",size:[2,1],sprites:{a:"red_dot",b:"green_dot"},layers:[{map:["ab"]}]}`, "name": "c"}, &comp)
	if *comp.Base != "red_dot" || *comp.Size != [2]int{2, 1} || comp.CellSize != [2]int{1, 1} || comp.Sprites != 2 || comp.LayerN != 1 || comp.Layers[0].Cells["red_dot"] != 1 {
		t.Errorf("got %+v", comp)
	}
}

// TestExplainEveryKind has an object of each kind.
func TestExplainEveryKind(t *testing.T) {
	r := start(t)
	res := r.ok("pixelsrc_explain", args{"source": sample.AllFields})
	var list []map[string]any
	if err := json.Unmarshal([]byte(res.Content[0].Text), &list); err != nil || len(list) != 9 {
		t.Fatalf("%d objects, %v", len(list), err)
	}
	by := map[string]map[string]any{}
	for _, o := range list {
		by[o["type"].(string)] = o
	}
	for _, row := range []struct {
		kind, field string
		want        any
	}{
		{"variant", "override_count", 1.0},
		{"particle", "rate", 1.5},
		{"particle", "has_gravity", true},
		{"particle", "has_fade", true},
		{"transform", "is_parameterized", true},
		{"transform", "generates_animation", true},
		{"transform", "transform_type", "keyframe animation"},
		{"state-rules", "rule_count", 1.0},
		{"import", "from", "./x"},
		{"import", "alias", "x"},
		{"import", "is_relative", true},
	} {
		if got := by[row.kind][row.field]; got != row.want {
			t.Errorf("%s %s: got %v, want %v", row.kind, row.field, got, row.want)
		}
	}
}

func TestDiffReportsColoursRegionsAndPixels(t *testing.T) {
	r := start(t)
	diff := func(a, b string) (list []pixelsrc.SpriteDiff) {
		t.Helper()
		r.data("pixelsrc_diff", args{"source_a": a, "source_b": b}, &list)
		return list
	}
	if d := diff(sample.Hero("#F00", 2), strings.Replace(sample.Hero("#F00", 2), `"x":"#F00"`, `"x":"#F00","y":"#0F0"`, 1)); len(d[0].Palette) != 1 || d[0].Palette[0].Type != "added" || d[0].Palette[0].Token != "y" {
		t.Errorf("token added: %+v", d)
	}
	if d := diff(heroAndEnemy(), heroAndEnemy()); len(d) != 2 || d[0].Sprite != "enemy" || d[1].Sprite != "hero" {
		t.Errorf("two sprites: %+v", d)
	}
	if d := diff(sample.Hero("#F00", 2), heroAndEnemy()); d[0].Status != "added" || !strings.Contains(d[0].Summary, "added") {
		t.Errorf("sprite added: %+v", d)
	}
	if d := diff(heroAndEnemy(), sample.Hero("#F00", 2)); d[0].Status != "removed" || !strings.Contains(d[0].Summary, "removed") {
		t.Errorf("sprite removed: %+v", d)
	}
	if d := diff(palspr, strings.Replace(palspr, "#FF0000", "#00FF00", 1)); len(d[0].Palette) != 1 || d[0].Palette[0].Token != "r" || d[0].Palette[0].Type != "changed" {
		t.Errorf("shared palette: %+v", d)
	}
	pal := `{"type":"palette","name":"p","colors":{}}`
	r.bad("pixelsrc_diff", args{"source_a": pal, "source_b": pal}, "No sprites")
	r.bad("pixelsrc_diff", args{"source_a": dot1, "source_b": "{broken"}, "source_b", "line 1")
	r.bad("pixelsrc_diff", args{"source_a": dot1}, "Either", "source_b", "path_b")
	meta := strings.Replace(dot1, `"regions"`, `"metadata":{"origin":[1,2]},"regions"`, 1)
	if d := diff(dot1, meta); len(d[0].Metadata) != 1 || d[0].Metadata[0].Field != "origin" || *d[0].Metadata[0].New != "[1, 2]" || d[0].Status != "changed" {
		t.Errorf("metadata: %+v", d)
	}
}

func TestImportTakesPicturesHoweverTheyAreEncoded(t *testing.T) {
	root := t.TempDir()
	rgby, err := base64.StdEncoding.DecodeString(sample.PNG("AB CY"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "My Tile-2.png"), rgby, 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, root)
	r.initialize("2025-06-18")
	res := r.ok("pixelsrc_import", args{"image": sample.PNG("AB CY"), "name": "test_sprite"})
	for _, want := range []string{"test_sprite", `"type":"palette"`, `"type":"sprite"`, "2x2"} {
		if !strings.Contains(res.text(), want) {
			t.Errorf("%q lacks %q", res.text(), want)
		}
	}
	if res := r.ok("pixelsrc_import", args{"path": "My Tile-2.png", "max_colors": 8}); !strings.Contains(res.Content[0].Text, `"name":"my_tile_2"`) {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_import", args{"image": sample.PNG("AB CY"), "name": "test_sprite", "analyze": true}); !strings.Contains(res.text(), "test_sprite") || !strings.Contains(res.text(), `"z":`) {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_import", args{"image": sample.PNG("AB CY"), "max_colors": 2}); strings.Count(res.Content[0].Text, `":"#`) > 2 {
		t.Error(res.text())
	}
	std := sample.PNG("AB CY")
	for name, image := range map[string]string{
		"data URL": "data:image/png;base64," + std, "line breaks": std[:20] + "\n " + std[20:],
		"URL alphabet": strings.NewReplacer("+", "-", "/", "_").Replace(std), "no padding": strings.TrimRight(std, "="),
	} {
		if res := r.ok("pixelsrc_import", args{"image": image}); !strings.Contains(res.text(), "imported_sprite (2x2, 4 colors)") {
			t.Errorf("%s: %s", name, res.text())
		}
	}
	r.bad("pixelsrc_import", args{"image": "junk", "max_colors": 1}, "max_colors")
	r.bad("pixelsrc_import", args{"image": "junk", "max_colors": 257}, "max_colors")
	r.bad("pixelsrc_import", args{"image": "not-valid-base64!!!"}, "Invalid base64")
	r.bad("pixelsrc_import", args{"image": strings.Repeat("A", 12<<20)}, "image is too large")
	r.bad("pixelsrc_format", args{"source": strings.Repeat(" ", 1<<20+1)}, "the limit is")
	r.bad("pixelsrc_import", args{"image": base64.StdEncoding.EncodeToString([]byte("plain text"))}, "Failed to decode image")
	r.bad("pixelsrc_import", args{"path": "missing.png"}, "File not found")
	r.bad("pixelsrc_import", args{}, "Either")
}

func TestFormatTool(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "a.pxl"), []byte("{name:'a',type:'palette',colors:{}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, root)
	r.initialize("2025-06-18")
	want := `{"type": "palette", "name": "a", "colors": {}}` + "\n"
	if res := r.ok("pixelsrc_format", args{"path": "a.pxl"}); res.Content[0].Text != want {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_format", args{"source": ""}); res.Content[0].Text != "" {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_format", args{"source": want, "check": true}); !strings.Contains(res.text(), "is formatted") {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_format", args{"source": "{type:'palette',name:'a',colors:{}}", "check": true}); !strings.Contains(res.text(), "would change") {
		t.Error(res.text())
	}
	r.bad("pixelsrc_format", args{"source": dot1 + "\n{bad"}, "Parse error at line 2")
}

func TestPrimeTool(t *testing.T) {
	r := start(t)
	for section, markers := range map[string][]string{
		"full":     {"# Pixelsrc Primer", "## Format Quick Reference", "Object Types", "## Complete Example", "coin", "## Best Practices", "DO"},
		"format":   {"## Format Quick Reference", "Object Types"},
		"EXAMPLES": {"## Complete Example", "coin"},
		"Tips":     {"## Best Practices", "DO"},
	} {
		res := r.ok("pixelsrc_prime", args{"section": section})
		for _, m := range markers {
			if !strings.Contains(res.text(), m) {
				t.Errorf("%s lacks %q", section, m)
			}
		}
		if section != "full" && strings.Contains(res.text(), "# Pixelsrc Primer") {
			t.Errorf("%s is the whole guide", section)
		}
	}
	brief := r.ok("pixelsrc_prime", args{"brief": true, "section": "format"}).text()
	if !strings.HasPrefix(brief, "# Pixelsrc Quick Reference") || len(brief) >= 3500 {
		t.Errorf("the brief guide has %d bytes", len(brief))
	}
	r.bad("pixelsrc_prime", args{"brief": true, "section": "invalid"}, "invalid", "format, examples, tips, full")
}

func TestPalettesTool(t *testing.T) {
	r := start(t)
	var list struct {
		Palettes []string
		Details  []pixelsrc.PaletteSummary
	}
	r.data("pixelsrc_palettes", nil, &list)
	if strings.Join(list.Palettes, " ") != "@gameboy @nes @pico8 @grayscale @1bit @dracula @synthwave" {
		t.Errorf("got %v", list.Palettes)
	}
	if d := list.Details[0]; d.Name != "@gameboy" || d.Count != 4 || strings.Join(d.Tokens, " ") != "lightest light dark darkest" {
		t.Errorf("got %+v", d)
	}
	if res := r.ok("pixelsrc_palettes", args{"name": "@nes"}); !strings.Contains(res.text(), `"usage": "\"palette\": \"@nes\""`) {
		t.Error(res.text())
	}
	r.bad("pixelsrc_palettes", args{"action": "show"}, "name", "@gameboy")
	r.bad("pixelsrc_palettes", args{"action": "show", "name": "Gameboy"}, "Gameboy", "Available:")
}

func TestScaffoldCases(t *testing.T) {
	r := start(t)
	for _, name := range []string{"", "Hero", "1sprite", "_underscore", "my-sprite", "my sprite", `a"b`} {
		r.bad("pixelsrc_scaffold", args{"asset_type": "sprite", "name": name}, "name", "^[a-z]")
	}
	for _, row := range []struct {
		name  string
		args  args
		words []string
	}{
		{"colours", args{"asset_type": "palette", "name": "p", "colors": "red,#GGGGGG"}, []string{"#GGGGGG"}},
		{"preset", args{"asset_type": "palette", "name": "p", "palette": "forrest"}, []string{"forrest", "forest", "@pico8"}},
		{"not a multiple", args{"asset_type": "composition", "name": "p", "width": 20}, []string{"20x16", "8x8"}},
		{"tiles", args{"asset_type": "composition", "name": "p", "size": []int{64, 64}, "cell_width": 4, "cell_height": 4}, []string{"62"}},
		{"size differs", args{"asset_type": "sprite", "name": "p", "size": []int{8, 8}, "width": 9}, []string{"8x8", "9x8"}},
		{"size is words", args{"asset_type": "sprite", "name": "p", "size": "axb"}, []string{"size"}},
		{"built-in", args{"asset_type": "sprite", "name": "p", "palette": "@pica8"}, []string{"@pico8"}},
		{"type missing", args{"name": "p"}, []string{"asset_type"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			r.bad("pixelsrc_scaffold", row.args, row.words...)
		})
	}
	if res := r.ok("pixelsrc_scaffold", args{"asset_type": "ANIM", "name": "walk"}); !strings.Contains(res.text(), "walk_1") || !strings.Contains(res.text(), "walk_2") || !strings.Contains(res.text(), `"duration": 200`) {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_scaffold", args{"asset_type": "palette", "name": "p", "tokens": "a, b ,,c"}); !strings.Contains(res.text(), `"a": "#D92626", "b": "#26D926", "c": "#2626D9"`) {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_scaffold", args{"asset_type": "palette", "name": "p", "palette": "synthwave"}); !strings.Contains(res.text(), "neon_pink") {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_scaffold", args{"asset_type": "sprite", "name": "p", "size": "32x64", "colors": "rgb(1, 2, 3), red"}); !strings.Contains(res.text(), `"size": [32, 64]`) {
		t.Error(res.text())
	}
}

func TestAnalyzeCases(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a.pxl": two, "sub/b.JSONL": palspr, "sub/broken.pxl": "{nope", "c.txt": two, ".git/d.pxl": two,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := newRig(t, root)
	r.initialize("2025-06-18")
	var k pixelsrc.Corpus
	r.data("pixelsrc_analyze", args{"path": "."}, &k)
	if k.Files != 2 || k.Failed != 1 || k.FailedFiles[0].Path != "sub/broken.pxl" || k.Sprites != 3 || k.Palettes != 2 || k.PaletteSize != 2.5 {
		t.Errorf("got %+v", k)
	}
	if k.Unique != 2 || k.Occurrences != 3 || k.Top[0] != (pixelsrc.TokenCount{Token: "r", Count: 2, Percentage: 66.7, Sprites: 2}) || k.Dimensions[0] != (pixelsrc.SizeCount{Size: [2]int{1, 1}, Count: 3}) {
		t.Errorf("got %+v", k)
	}
	k = pixelsrc.Corpus{}
	if r.data("pixelsrc_analyze", args{"path": root, "recursive": false}, &k); k.Files != 1 || k.Failed != 0 {
		t.Errorf("got %+v", k)
	}
	r.bad("pixelsrc_analyze", args{"path": "nowhere"}, "Path not found")
	r.bad("pixelsrc_analyze", args{}, "Either")
	families := `{type:"sprite",name:"s",size:[18,10],palette:{skin:"red",skin_light:"blue",skin_shadow:"green",hair:"brown"},regions:{skin:{rect:[0,0,10,10]},skin_light:{rect:[10,0,5,10]},skin_shadow:{rect:[15,0,3,10]},hair:{points:[[0,0]]}}}`
	k = pixelsrc.Corpus{}
	r.data("pixelsrc_analyze", args{"source": families}, &k)
	if len(k.Families) != 1 || k.Families[0].Prefix != "skin" || len(k.Families[0].Tokens) != 3 || k.Families[0].Total != 179 {
		t.Errorf("got %+v", k.Families)
	}
	if len(k.Pairs) != 6 || k.Pairs[0] != (pixelsrc.PairCount{Pair: [2]string{"hair", "skin"}, Count: 1}) {
		t.Errorf("got %+v", k.Pairs)
	}
}

func TestRenderVariations(t *testing.T) {
	r := start(t)
	picture := func(a args) string {
		t.Helper()
		return r.ok("pixelsrc_render", a).Content[0].Data
	}
	robot := args{"source": pixelsrc.Example("robot"), "sprite": "robot"}
	plain := picture(robot)
	robot["states"] = []string{"angry"}
	if picture(robot) == plain {
		t.Error("the state changes nothing")
	}
	robot["states"] = "damaged, angry"
	both := picture(robot)
	delete(robot, "states")
	robot["all_states"] = true
	if picture(robot) != both {
		t.Error("all states are not those two")
	}
	if res := r.ok("pixelsrc_render", args{"source": pixelsrc.Example("panel"), "slice": []int{40, 24}}); !strings.Contains(res.text(), "(40x24 px)") || strings.Contains(res.text(), "Warnings") {
		t.Error(res.text())
	}
	if res := r.ok("pixelsrc_render", args{"source": pixelsrc.Example("spaceship"), "animation": "flight", "tag": "thrust"}); !strings.Contains(res.text(), "Frames: 4") {
		t.Error(res.text())
	}
	if a, b := picture(args{"source": pixelsrc.Example("sword"), "antialias": "xbr2x", "strength": 1}), picture(args{"source": pixelsrc.Example("sword"), "antialias": "xbr2x", "strength": 0}); a == b {
		t.Error("strength changes nothing")
	}
	r.bad("pixelsrc_render", args{"source": pixelsrc.Example("panel"), "slice": []int{0, 5}}, "slice")
	r.bad("pixelsrc_render", args{"source": dot1, "states": 7}, "states", "list of strings")
	if res := r.ok("pixelsrc_render", args{"source": pixelsrc.Example("coin"), "animation": "spin", "format": "png"}); len(res.Content) != 2 || res.Content[0].MIMEType != "image/png" {
		t.Errorf("%+v", res)
	}
}
