package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"image/gif"
	"image/png"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
)

// clean ends the test unless a source is valid under strict and every object of
// it renders without a warning.
func clean(t *testing.T, r *rig, text string) {
	t.Helper()
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": text, "strict": true}, &v); !v.Valid {
		t.Errorf("not valid: %+v", v)
	}
	for _, o := range pxl.Parse([]byte(text), pxl.Options{}).Objects() {
		field := string(o.Kind)
		switch o.Kind {
		case pxl.KindVariant:
			field = "sprite"
		case pxl.KindSprite, pxl.KindComposition, pxl.KindAnimation:
		default:
			continue
		}
		if res := r.ok("pixelsrc_render", args{"source": text, field: o.Name}); strings.Contains(res.text(), "Warnings:") {
			t.Errorf("%s %s: %s", o.Kind, o.Name, res.text())
		}
	}
}

// snippets are the fenced sources of a guide.
func snippets(text string) (list []string) {
	for _, m := range regexp.MustCompile("(?s)```pxl\n(.*?)```").FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

func TestExamplesAreClean(t *testing.T) {
	r := start(t)
	if len(pixelsrc.Examples()) < 16 {
		t.Errorf("only %d examples", len(pixelsrc.Examples()))
	}
	for _, name := range pixelsrc.Examples() {
		t.Run(name, func(t *testing.T) {
			r.t = t
			clean(t, r, pixelsrc.Example(name))
			if f, err := pixelsrc.Format(pixelsrc.Example(name)); err != nil || f.Text != pixelsrc.Example(name) {
				t.Errorf("it is not formatted: %v", err)
			}
		})
	}
}

// TestCatalogueKeepsItsPromises has what the catalogue promises of four examples.
func TestCatalogueKeepsItsPromises(t *testing.T) {
	find := func(name string, kind pxl.Kind, object string) pxl.Object {
		t.Helper()
		d := pxl.Parse([]byte(pixelsrc.Example(name)), pxl.Options{})
		o, ok := d.Find(kind, object)
		if !ok {
			t.Fatalf("%s has no %s %s", name, kind, object)
		}
		return o
	}
	if p := find("coin", pxl.KindPalette, "coin").Palette; len(p.Colors) != 5 || len(p.Roles) == 0 {
		t.Errorf("coin palette: %+v", p)
	}
	for _, row := range []struct {
		file, sprite string
		w, h         int
	}{{"coin", "coin", 8, 8}, {"heart", "heart", 7, 6}, {"hero", "hero", 16, 16}, {"walk_cycle", "step_1", 8, 8}, {"walk_cycle", "step_2", 8, 8}} {
		if s := find(row.file, pxl.KindSprite, row.sprite).Sprite.Size; *s != [2]int{row.w, row.h} {
			t.Errorf("%s: %v", row.sprite, *s)
		}
	}
	for _, row := range []struct {
		file, animation string
		keys, ms        int
	}{{"coin", "spin", 5, 600}, {"coin", "bounce", 3, 400}, {"heart", "beat", 5, 1000}, {"hero", "breathe", 3, 2000}, {"walk_cycle", "walk", 4, 600}, {"walk_cycle", "walk_bounce", 8, 800}} {
		if a := find(row.file, pxl.KindAnimation, row.animation).Animation; len(a.Keyframes) != row.keys || a.Duration != row.ms {
			t.Errorf("%s: %d keyframes, %d ms", row.animation, len(a.Keyframes), a.Duration)
		}
	}
	if p := find("hero", pxl.KindPalette, "hero").Palette; len(p.Colors) != 13 || len(p.Roles) == 0 {
		t.Errorf("hero palette has %d tokens", len(p.Colors))
	}
	find("hero", pxl.KindVariant, "hero_red")
}

func formatted(t *testing.T, text string) string {
	t.Helper()
	f, err := pixelsrc.Format(text)
	if err != nil {
		t.Fatal(err)
	}
	return f.Text
}

func TestSnippetsOfTheGuidesAreClean(t *testing.T) {
	r := start(t)
	n := 0
	for _, text := range []string{guideFull(), guideBrief()} {
		for _, s := range snippets(text) {
			n++
			clean(t, r, s)
			if once := formatted(t, s); formatted(t, once) != once {
				t.Errorf("formatting it twice is not once: %s", s)
			}
		}
	}
	if n < 7 {
		t.Errorf("only %d snippets", n)
	}
}

func TestScaffoldsAreClean(t *testing.T) {
	r := start(t)
	for _, a := range []args{
		{"asset_type": "sprite", "name": "a"},
		{"asset_type": "sprite", "name": "a", "size": []int{1, 1}},
		{"asset_type": "sprite", "name": "a", "size": []int{2, 3}, "tokens": "one"},
		{"asset_type": "sprite", "name": "a", "palette": "@pico8"},
		{"asset_type": "sprite", "name": "a", "palette": "forest", "tokens": "x,y,z", "colors": "red,hsl(10 20% 30%)"},
		{"asset_type": "animation", "name": "walk", "size": []int{8, 8}},
		{"asset_type": "animation", "name": "walk", "size": []int{1, 1}, "palette": "@1bit"},
		{"asset_type": "palette", "name": "p"},
		{"asset_type": "palette", "name": "p", "palette": "medieval"},
		{"asset_type": "palette", "name": "p", "palette": "dracula"},
		{"asset_type": "palette", "name": "p", "colors": "#123, red"},
		{"asset_type": "composition", "name": "map"},
		{"asset_type": "composition", "name": "map", "size": []int{31, 2}, "cell_width": 1, "cell_height": 1, "palette": "@nes"},
	} {
		t.Run(fmt.Sprint(a), func(t *testing.T) {
			r.t = t
			text := r.ok("pixelsrc_scaffold", a).Content[0].Text
			clean(t, r, text)
			if formatted(t, text) != text {
				t.Error("it is not formatted")
			}
			if strings.Contains(text, "FF00FF") {
				t.Error("it has magenta in it")
			}
		})
	}
}

func TestPromptTemplatesAreClean(t *testing.T) {
	r := start(t)
	for _, name := range templateTypes() {
		text := page("template_" + name)
		m := regexp.MustCompile("(?s)```json\n(.*?)```").FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("%s has no skeleton", name)
		}
		source := strings.NewReplacer("[WIDTH]", "16", "[HEIGHT]", "16", "[NAME]", "thing").Replace(m[1])
		clean(t, r, source)
		for _, want := range []string{"[SIZE]", "#00000000", "size"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", name, want)
			}
		}
	}
}

// everyCall has a call of each tool.
func everyCall() map[string]args {
	return map[string]args{
		"pixelsrc_analyze":  {"source": pixelsrc.Example("hero")},
		"pixelsrc_diff":     {"source_a": pixelsrc.Example("hero"), "source_b": sample.Hero("red", 4)},
		"pixelsrc_explain":  {"source": pixelsrc.Example("hero")},
		"pixelsrc_format":   {"source": pixelsrc.Example("campfire")},
		"pixelsrc_import":   {"image": sample.PNG("AB.C CYKW hhAB RDRD"), "analyze": true},
		"pixelsrc_palettes": {},
		"pixelsrc_prime":    {},
		"pixelsrc_render":   {"source": pixelsrc.Example("campfire"), "animation": "burning", "scale": 2},
		"pixelsrc_scaffold": {"asset_type": "composition", "name": "x"},
		"pixelsrc_suggest":  {"source": typo + pixelsrc.Example("hero"), "apply": true, "b": 1, "a": 2},
		"pixelsrc_validate": {"source": typo + "{bad" + pixelsrc.Example("hero")},
	}
}

// answers is everything that the tools say to everyCall.
func answers() string {
	s := handling(pixelsrc.Options{})
	var b strings.Builder
	for _, tool := range tools() {
		raw, _ := json.Marshal(everyCall()[tool.name])
		var a any
		_ = json.Unmarshal(raw, &a)
		fmt.Fprintf(&b, "%s %q\n", tool.name, fmt.Sprint(said(s, context.Background(), pixelsrc.Caller{}, tool.name, a)))
	}
	return b.String()
}

// TestAnswersAreTheSameInEveryProcess compares the answers of fresh processes byte for byte.
func TestAnswersAreTheSameInEveryProcess(t *testing.T) {
	if os.Getenv("PIXELSRC_ANSWERS") != "" {
		fmt.Print("BEGIN" + answers() + "END")
		return
	}
	want := answers()
	for range 20 {
		if answers() != want {
			t.Fatal("one process gives two answers")
		}
	}
	for range 5 {
		cmd := exec.Command(os.Args[0], "-test.run=TestAnswersAreTheSameInEveryProcess")
		cmd.Env = append(os.Environ(), "PIXELSRC_ANSWERS=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(string(out), "BEGIN")
		got, _, _ = strings.Cut(got, "END")
		if got != want {
			t.Fatalf("a fresh process answers differently:\n%.2000s", got)
		}
	}
}

func TestBracedAndBareTokens(t *testing.T) {
	r := start(t)
	for _, token := range []string{"light", "{light}"} {
		src := `{type:"sprite",name:"s",size:[1,1],palette:"@gameboy",regions:{"` + token + `":{points:[[0,0]]}}}`
		clean(t, r, src)
		if res := r.ok("pixelsrc_render", args{"source": src}); !strings.Contains(res.text(), "light #8BAC0F (1)") {
			t.Error(res.text())
		}
	}
}

// multiline has comments and objects over several lines.
const multiline = `// first line
/* a comment
   of two lines */
{
  type: "palette", name: "p", // its name
  colors: {
    skin: "#FFCC99",
  },
}

{ type: "sprite", name: "s", size: [2, 2],
  palette: "p",
  regions: {
    skni: { rect: [0, 0, 2, 2] },
  },
} { type: "sprite", name: "t", size: [1, 1], palette: "p", regions: { skin: { points: [[0, 0]] } } }
`

func TestMultiLineSources(t *testing.T) {
	r := start(t)
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": multiline}, &v); v.Errors != 0 || v.Warnings != 1 || v.WarnL[0].Line != 14 || v.WarnL[0].Code != "undefined_token" {
		t.Errorf("validate: %+v", v)
	}
	var s suggestions
	if r.data("pixelsrc_suggest", args{"source": multiline}, &s); s.Sprites != 2 || len(s.Suggestions) != 1 || s.Suggestions[0].Line != 14 {
		t.Errorf("suggest: %+v", s)
	}
	out := r.ok("pixelsrc_format", args{"source": multiline}).Content[0].Text
	sample.SameValues(t, multiline, out)
	var k pixelsrc.Corpus
	if r.data("pixelsrc_analyze", args{"source": multiline}, &k); k.Sprites != 2 || k.Palettes != 1 {
		t.Errorf("analyze: %+v", k)
	}
	var list []map[string]any
	if r.data("pixelsrc_explain", args{"source": multiline}, &list); len(list) != 3 {
		t.Errorf("explain: %d objects", len(list))
	}
	var diffs []pixelsrc.SpriteDiff
	if r.data("pixelsrc_diff", args{"source_a": multiline, "source_b": out}, &diffs); len(diffs) != 2 || diffs[0].Summary != "No differences" || diffs[1].Summary != "No differences" {
		t.Errorf("diff: %+v", diffs)
	}
}

func TestBrokenObjectSpoilsNoOther(t *testing.T) {
	src := dot1 + "\n{type:\"palette\", name: oops oops}\n" + palspr
	r := start(t)
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": src}, &v); v.Errors != 1 || v.ErrorsL[0].Code != "json_syntax" || v.ErrorsL[0].Line != 2 {
		t.Errorf("got %+v", v)
	}
	if res := r.ok("pixelsrc_render", args{"source": src, "sprite": "red_dot"}); !strings.Contains(res.text(), "r #FF0000 (1)") || !strings.Contains(res.text(), "Warnings:\nline 2") {
		t.Error(res.text())
	}
	var k pixelsrc.Corpus
	if r.data("pixelsrc_analyze", args{"source": src}, &k); k.Sprites != 2 {
		t.Errorf("got %+v", k)
	}
	var line3 pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": dot1 + "\n" + strings.ReplaceAll(dot1, "dot", "b") + "\n{bad json\n" + strings.ReplaceAll(dot1, "dot", "c")}, &line3); line3.Errors != 1 || line3.ErrorsL[0].Line != 3 {
		t.Errorf("got %+v", line3)
	}
}

func TestParallelAnalyze(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := handling(pixelsrc.Options{})
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			a := said(s, context.Background(), pixelsrc.Caller{}, "pixelsrc_analyze", map[string]any{"source": strings.Repeat(dot1+"\n", i+1)})
			var k pixelsrc.Corpus
			if err := json.Unmarshal([]byte(a.Content[0].Text), &k); err != nil || k.Sprites != i+1 {
				t.Errorf("call %d: %d sprites, %v", i, k.Sprites, err)
			}
		}()
	}
	wg.Wait()
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left in the temp folder: %v", left)
	}
}

func TestExtremes(t *testing.T) {
	r := start(t)
	deep := strings.Repeat(`{union:[`, 5000) + strings.Repeat(`]}`, 5000)
	sprite := func(region string) string {
		return `{type:"sprite",name:"s",size:[4,4],palette:"@pico8",regions:{red:` + region + `}}`
	}
	for name, call := range map[string]struct {
		tool string
		args args
	}{
		"cell 0":        {"pixelsrc_scaffold", args{"asset_type": "composition", "name": "x", "cell_width": 0}},
		"cell negative": {"pixelsrc_scaffold", args{"asset_type": "composition", "name": "x", "cell_height": -8}},
		"size 0":        {"pixelsrc_scaffold", args{"asset_type": "sprite", "name": "x", "size": []int{0, 4}}},
		"size huge":     {"pixelsrc_scaffold", args{"asset_type": "sprite", "name": "x", "size": []int{1e9, 1e9}}},
		"canvas huge":   {"pixelsrc_render", args{"source": strings.Replace(dot1, "[1,1]", "[100000,100000]", 1)}},
		"deep":          {"pixelsrc_validate", args{"source": deep}},
		"deep region":   {"pixelsrc_render", args{"source": sprite(deep)}},
		"cell 0 0":      {"pixelsrc_render", args{"source": dot1 + `{type:"composition",name:"c",size:[4,4],cell_size:[0,0],sprites:{a:"dot"},layers:[{map:["aaaa"]}]}`, "composition": "c"}},
		"empty lists":   {"pixelsrc_validate", args{"source": `{type:"sprite",name:"s",size:[],palette:[],regions:[]} {type:"composition",name:"c",sprites:[],layers:{}} {type:"animation",name:"a",frames:{},keyframes:[]}`}},
		"source huge":   {"pixelsrc_validate", args{"source": strings.Repeat(" ", 1<<20+1)}},
	} {
		res := r.call(call.tool, call.args)
		if len(res.Content) == 0 {
			t.Errorf("%s: no answer", name)
		}
	}
	if res := r.ok("pixelsrc_render", args{"source": sprite(`{rect:[0,0,30000,30000]}`)}); !strings.Contains(res.text(), "(16)") {
		t.Error(res.text())
	}
	r.ok("pixelsrc_render", args{"source": dot1}) // still alive
}

func TestEveryTarget(t *testing.T) {
	r := start(t)
	for _, row := range []struct {
		file, field, name, text string
		kinds                   string
	}{
		{"hero", "sprite", "hero_red", "Rendered variant 'hero_red' (16x16 px)", "image/png"},
		{"sunset", "composition", "sunset", "Rendered composition 'sunset' (64x40 px)", "image/png"},
		{"campfire", "animation", "burning", "Rendered animation 'burning' (16x16 px)\nFrames: 4, 520 ms in total, looping", "image/gif image/png"},
		{"coin", "animation", "spin", "Rendered animation 'spin' (8x8 px)", "image/gif image/png"},
		{"waterfall", "animation", "falling", "Frames: 4, 480 ms", "image/gif image/png"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r.t = t
			res := r.ok("pixelsrc_render", args{"source": pixelsrc.Example(row.file), row.field: row.name})
			var kinds []string
			for _, c := range res.Content {
				if c.Type == "image" {
					kinds = append(kinds, c.MIMEType)
				}
			}
			if strings.Join(kinds, " ") != row.kinds || !strings.Contains(res.text(), row.text) {
				t.Errorf("%v: %s", kinds, res.text())
			}
			if row.field != "animation" {
				return
			}
			g, err := gif.DecodeAll(strings.NewReader(string(res.Content[0].bytes(t))))
			if err != nil || len(g.Image) < 2 || g.LoopCount != 0 {
				t.Errorf("%v", err)
			}
			sheet := r.ok("pixelsrc_render", args{"source": pixelsrc.Example(row.file), row.field: row.name, "format": "sheet"})
			if len(sheet.Content) != 2 || sheet.Content[0].MIMEType != "image/png" {
				t.Errorf("sheet: %+v", sheet.Content)
			}
		})
	}
	if res := r.ok("pixelsrc_render", args{"source": dot1, "format": "ansi"}); len(res.Content) != 1 || res.Content[0].Text != "\x1b[48;5;236m\x1b[38;2;255;0;0m▀\x1b[0m\n" {
		t.Errorf("%q", res.text())
	}
}

func TestAntialiasSizes(t *testing.T) {
	r := start(t)
	for name, side := range map[string]int{"nearest": 16, "scale2x": 32, "hq2x": 32, "hq4x": 64, "xbr2x": 32, "xbr4x": 64, "aa-blur": 16} {
		res := r.ok("pixelsrc_render", args{"source": pixelsrc.Example("coin"), "sprite": "coin", "scale": 2, "antialias": name})
		img, err := png.Decode(strings.NewReader(string(res.Content[0].bytes(t))))
		if err != nil || img.Bounds().Dx() != side || img.Bounds().Dy() != side {
			t.Errorf("%s: %v, want %d: %v", name, img.Bounds(), side, err)
		}
		if !strings.Contains(res.text(), fmt.Sprintf("(%dx%d px)", side, side)) {
			t.Error(res.text())
		}
	}
}

func TestDiffSaysWhatChanged(t *testing.T) {
	r := start(t)
	diff := func(a, b string) pixelsrc.SpriteDiff {
		var list []pixelsrc.SpriteDiff
		r.data("pixelsrc_diff", args{"source_a": a, "source_b": b}, &list)
		return list[0]
	}
	moved := strings.Replace(dot2, "[[0,0],[1,1]]", "[[0,1],[1,0]]", 1)
	if d := diff(dot2, moved); d.Status != "changed" || len(d.Regions) != 1 || d.Regions[0].Type != "changed" || d.Pixels == nil || d.Pixels.Changed != 4 || d.Pixels.Bounds != [4]int{0, 0, 2, 2} {
		t.Errorf("region only: %+v", d)
	}
	if d := diff(sample.Hero("#f00", 2), sample.Hero("red", 2)); d.Status != "unchanged" {
		t.Errorf("respelling: %+v", d)
	}
	gameboy := `{type:"sprite",name:"s",size:[1,1],palette:"@gameboy",regions:{light:{points:[[0,0]]}}}`
	if d := diff(gameboy, strings.Replace(gameboy, "@gameboy", "@pico8", 1)); d.Status != "changed" || len(d.Palette) == 0 {
		t.Errorf("built-in swap: %+v", d)
	}
	rewritten := strings.Replace(sample.Hero("red", 2), `{"rect":[0,0,2,2]}`, `{"points":[[0,0],[1,0],[0,1],[1,1]]}`, 1)
	if d := diff(sample.Hero("red", 2), rewritten); d.Status != "unchanged" {
		t.Errorf("another shape, the same pixels: %+v", d)
	}
	res := r.ok("pixelsrc_diff", args{"source_a": dot1, "source_b": dot1 + "{bad"})
	if len(res.Content) != 2 || !strings.Contains(res.Content[1].Text, "source_b line 1") {
		t.Errorf("problems: %+v", res)
	}
}

func TestCancelledRenderEnds(t *testing.T) {
	r := start(t)
	slow := `{type:"sprite",name:"s",size:[2048,2048],palette:"@pico8",regions:{red:{rect:[0,0,2048,2048]}}}`
	p, _ := json.Marshal(args{"name": "pixelsrc_render", "arguments": args{"source": slow, "antialias": "hq2x"}})
	r.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"slow","method":"tools/call","params":%s}`, p))
	r.write(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow"}}`)
	// Whatever comes next is the answer to the next request, never to the cancelled one.
	r.ok("pixelsrc_render", args{"source": dot1})
	r.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":"later","method":"tools/call","params":%s}`, p))
	// The rig's cleanup closes the connection in the middle and expects a clean end.
}

// A particle is drawn as the animation that it becomes, by that argument.
func TestParticleAsAnimation(t *testing.T) {
	r := start(t)
	a := r.call("pixelsrc_render", args{"source": pixelsrc.Example("campfire"), "animation": "sparks", "scale": 2})
	if a.IsError || len(a.Content) < 2 || a.Content[0].MIMEType != "image/gif" {
		t.Fatalf("%+v", a)
	}
	for _, want := range []string{"sparks", "(64x64 px)", "Frames: 32"} {
		if text := a.Content[len(a.Content)-1].Text; !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
