package pixelsrc

import (
	"fmt"
	"image"
	"image/color"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl/colour"
)

// issuesOf lists the codes of what is wrong with a source, warnings in lower
// case, errors with a bang, each with its line.
func issuesOf(text string) string {
	src := New(Options{}).Parse(noContext(), Caller{}, text)
	var list []string
	for _, i := range src.Issues() {
		mark := ""
		if i.Severity == pxl.Error {
			mark = "!"
		}
		list = append(list, fmt.Sprintf("%d:%s%s", i.Line, i.Code, mark))
	}
	return strings.Join(list, " ")
}

// TestValidator has the cases of the validator.
func TestValidator(t *testing.T) {
	pal := `{type:"palette",name:"p",colors:{a:"#FF0000",b:"#00FF00"}}` + "\n"
	sprite := func(region string) string {
		return pal + `{type:"sprite",name:"s",size:[4,4],palette:"p",regions:{` + region + `}}`
	}
	for _, row := range []struct{ name, in, want string }{
		{"good palette", pal, ""},
		{"not JSON", "{not valid json}", "1:json_syntax!"},
		{"no type", "{}", "1:missing_type!"},
		{"unknown type", `{type:"unknown"}`, "1:unknown_type"},
		{"bad colour", `{type:"palette",name:"p",colors:{a:"#GGG"}}`, "1:invalid_color!"},
		{"no regions", pal + `{type:"sprite",name:"s",size:[1,1],palette:"p"}`, "2:empty_grid"},
		{"unknown token", sprite(`c:{rect:[0,0,1,1]}`), "2:undefined_token"},
		{"name twice", pal + pal, "2:duplicate_name"},
		{"no palette", `{type:"sprite",name:"s",size:[1,1],palette:"nonexistent",regions:{a:{rect:[0,0,1,1]}}}`, "1:missing_palette"},
		{"palette behind the sprite", `{type:"sprite",name:"s",size:[1,1],palette:"p",regions:{a:{rect:[0,0,1,1]}}}` + "\n" + pal, ""},
		{"inline palette", `{type:"sprite",name:"s",size:[1,1],palette:{a:"red"},regions:{a:{rect:[0,0,1,1]}}}`, ""},
		{"bad inline colour", `{type:"sprite",name:"s",size:[1,1],palette:{a:"#INVALID"},regions:{a:{rect:[0,0,1,1]}}}`, "1:invalid_color!"},
		{"var in color-mix", `{type:"palette",name:"p",colors:{"--c":"red",a:"color-mix(in srgb, var(--c), blue)"}}`, ""},
		{"undefined var", `{type:"palette",name:"p",colors:{a:"var(--zz)"}}`, "1:invalid_color"},
		{"all roles", `{type:"palette",name:"p",colors:{a:"red",b:"red",c:"red",d:"red",e:"red"},roles:{a:"boundary",b:"anchor",c:"fill",d:"shadow",e:"highlight"}}`, ""},
		{"roles of unknown tokens", `{type:"palette",name:"p",colors:{a:"red"},roles:{x:"fill",y:"fill"}}`, "1:invalid_role_token! 1:invalid_role_token!"},
		{"all relationships", `{type:"palette",name:"p",colors:{a:"red",b:"red",c:"red",d:"red",e:"red"},relationships:{a:{type:"derives-from",target:"b"},b:{type:"contained-within",target:"c"},c:{type:"adjacent-to",target:"d"},d:{type:"paired-with",target:"e"}}}`, ""},
		{"chain", `{type:"palette",name:"p",colors:{a:"red",b:"red",c:"red"},relationships:{a:{type:"derives-from",target:"b"},b:{type:"derives-from",target:"c"}}}`, ""},
		{"relationship of unknown tokens", `{type:"palette",name:"p",colors:{a:"red"},relationships:{a:{type:"derives-from",target:"x"}}}`, "1:invalid_relationship_target!"},
		{"relationship from an unknown token", `{type:"palette",name:"p",colors:{a:"red"},relationships:{x:{type:"derives-from",target:"a"}}}`, "1:invalid_relationship_target!"},
		{"cycle of three with a tail", `{type:"palette",name:"p",colors:{a:"red",b:"red",c:"red",d:"red"},relationships:{a:{type:"derives-from",target:"b"},b:{type:"derives-from",target:"c"},c:{type:"derives-from",target:"a"},d:{type:"derives-from",target:"a"}}}`, "1:circular_dependency!"},
		{"derives from itself", `{type:"palette",name:"p",colors:{a:"red"},relationships:{a:{type:"derives-from",target:"a"}}}`, "1:circular_dependency!"},
		{"bad relationship", `{type:"palette",name:"p",colors:{a:"red"},relationships:{a:{type:"loves",target:"a"}}}`, "1:json_syntax!"},
		{"no name", `{type:"variant",base:"x",palette:{}}`, "1:json_syntax!"},
		{"blank lines", "\n\n" + pal + "\n\n", ""},
		{"import", `{type:"import",from:"./x"}`, "1:unresolved_import"},
		{"unknown field", `{type:"palette",name:"p",colours:{a:"red"}}`, "1:unknown_field"},
		{"key twice", `{type:"sprite",name:"s",size:[4,4],palette:{a:"red"},regions:{a:{rect:[0,0,1,1]},a:{rect:[1,1,1,1]}}}`, "1:duplicate_key"},
		{"off the canvas", sprite(`a:{rect:[2,2,4,4]}`), "2:out_of_bounds"},
		{"fill of nothing", sprite(`a:{fill:"inside(zz)"}`), "2:unknown_region"},
		{"no size", pal + `{type:"sprite",name:"s",palette:"p",regions:{a:{rect:[0,0,1,1]}}}`, "2:missing_size!"},
		{"size 0", pal + `{type:"sprite",name:"s",size:[0,1],palette:"p",regions:{a:{rect:[0,0,1,1]}}}`, "2:invalid_size!"},
		{"frame missing", sprite(`a:{rect:[0,0,1,1]}`) + "\n" + `{type:"animation",name:"an",frames:["s","zz"]}`, "3:missing_frame"},
		{"sprite missing", sprite(`a:{rect:[0,0,1,1]}`) + "\n" + `{type:"composition",name:"c",size:[4,4],cell_size:[4,4],sprites:{x:"zz"},layers:[{map:["x"]}]}`, "3:missing_sprite"},
		{"symbol missing", sprite(`a:{rect:[0,0,1,1]}`) + "\n" + `{type:"composition",name:"c",size:[4,4],cell_size:[4,4],sprites:{x:"s"},layers:[{map:["y"]}]}`, "3:undefined_symbol"},
		{"base missing", `{type:"variant",name:"v",base:"zz",palette:{}}`, "1:missing_base!"},
		{"source missing", pal + `{type:"sprite",name:"s",size:[1,1],palette:"p",source:"zz"}`, "2:empty_grid 2:missing_source!"},
		{"ramp tokens", `{type:"palette",name:"p",colors:{},ramps:{r:{base:"red",steps:3}}}` + "\n" + `{type:"sprite",name:"s",size:[2,2],palette:"p",regions:{"r_1":{points:[[0,0]]},r:{points:[[1,0]]},"r+1":{points:[[0,1]]}}}`, ""},
		{"two shapes", sprite(`a:{rect:[0,0,1,1],points:[[2,2]]}`), "2:conflicting_fields"},
		{"three malformed lines", "{a b}\n{c d}\n{e f}", "1:json_syntax! 2:json_syntax! 3:json_syntax!"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := issuesOf(row.in); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

// suggested lists what is suggested for a source.
func suggested(text string) (src *Source, list []Suggestion) {
	src = New(Options{}).Parse(noContext(), Caller{}, text)
	list, _, _ = src.Suggestions(noContext())
	return src, list
}

func TestSuggester(t *testing.T) {
	on := func(palette, regions string) string {
		return `{type:"palette",name:"p",colors:` + palette + `}` + "\n" + `{type:"sprite",name:"s",size:[4,4],palette:"p",regions:` + regions + `}`
	}
	rect := `{rect:[0,0,1,1]}`
	for _, row := range []struct{ name, in, want string }{
		{"typo", on(`{skin:"red",hair:"blue"}`, `{skni:`+rect+`}`), "2 replace_token skni→skin 0.75"},
		{"two typos", on(`{"{skin}":"red","{hair}":"blue"}`, `{skni:`+rect+`,hiar:`+rect+`,xyz123456:`+rect+`}`), "2 replace_token skni→skin 0.75|2 replace_token hiar→hair 0.75|2 add_to_palette xyz123456 #FF00FF 0.3"},
		{"new token", on(`{_:"#0000",x:"red"}`, `{unknown_color:`+rect+`}`), "2 add_to_palette unknown_color #FF00FF 0.3"},
		{"one letter is no typo", on(`{a:"red",b:"blue"}`, `{c:`+rect+`}`), "2 add_to_palette c #FF00FF 0.3"},
		{"colour by name", on(`{x:"red"}`, `{dark_crimson:`+rect+`}`), "2 add_to_palette dark_crimson #DC143C 0.3"},
		{"shade of a stem", on(`{skin:"#FF0000"}`, `{skin_shadow:`+rect+`}`), "2 add_to_palette skin_shadow #B30000 0.3"},
		{"clean", on(`{"{x}":"red"}`, `{x:`+rect+`}`), ""},
		{"include", `{type:"sprite",name:"s",size:[1,1],palette:"@include:../palettes/brand.pxl",regions:{zz:` + rect + `}}`, `1 use_import {"type": "import", "from": "../palettes/brand"} 0.9`},
		{"include with a name", `{type:"sprite",name:"s",size:[1,1],palette:"@include:palettes.pxl#gameboy",regions:{}}`, `1 use_import {"type": "import", "from": "palettes", "palettes": ["gameboy"]} 0.9`},
		{"palette name", `{type:"sprite",name:"s",size:[1,1],palette:"@gamebuoy",regions:{}}`, "1 replace_value /palette @gamebuoy→@gameboy 0.89"},
		{"type", `{type:"palete",name:"p",colors:{}}`, "1 replace_value /type palete→palette 0.86"},
		{"field", `{type:"palette",name:"p",colros:{a:"red"}}`, "1 rename_field /colros colros→colors 0.83"},
		{"colour word", `{type:"palette",name:"p",colors:{a:"crimsn"}}`, "1 replace_value /colors/a crimsn→crimson 0.86"},
		{"hash", `{type:"palette",name:"p",colors:{a:"FF8800"}}`, "1 replace_value /colors/a FF8800→#FF8800 0.95"},
		{"size", `{type:"sprite",name:"s",palette:{a:"red"},regions:{a:{rect:[1,1,3,4]}}}`, "1 add_field /size [4, 5] 0.9"},
		{"frame", on(`{a:"red"}`, `{a:`+rect+`}`) + "\n" + `{type:"animation",name:"an",frames:["s","walk_1"]}` + "\n" + `{type:"sprite",name:"walk1",size:[1,1],palette:"p",regions:{a:` + rect + `}}`, "3 replace_value /frames/1 walk_1→walk1 0.83"},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, list := suggested(row.in)
			var got []string
			for _, g := range list {
				f := g.Fix
				what := f.Action
				switch f.Action {
				case "replace_token":
					what += " " + f.From + "→" + f.To
				case "add_to_palette":
					what += " " + f.Token + " " + f.Color
				case "use_import":
					what += " " + f.ImportJSON
				case "add_field":
					what += " " + f.Pointer + " " + string(f.Value)
				default:
					what += " " + f.Pointer + " " + f.From + "→" + f.To
				}
				got = append(got, fmt.Sprintf("%d %s %v", g.Line, what, g.Confidence))
			}
			if s := strings.Join(got, "|"); s != row.want {
				t.Errorf("got  %s\nwant %s", s, row.want)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, row := range []struct {
		a, b string
		want int
	}{
		{"", "hello", 5},
		{"hello", "hallo", 1},
		{"hello", "helllo", 1},
		{"hello", "helo", 1},
		{"kitten", "sitting", 3},
		{"saturday", "sunday", 3},
		{"{skni}", "{skin}", 1},
		{"{skinx}", "{skin}", 1},
		{"SKIN", "skin", 0},
	} {
		if got := distance(row.a, row.b); got != row.want {
			t.Errorf("%s %s: got %d, want %d", row.a, row.b, got, row.want)
		}
	}
	for n, want := range map[int]string{0: "", 1: "Did you mean 'a'?", 2: "Did you mean 'a' or 'b'?", 3: "Did you mean 'a', 'b', or 'c'?"} {
		if got := DidYouMean([]string{"a", "b", "c"}[:n]); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := NearNames("charakter", []string{"item", "character", "tileset"}, 3); len(got) != 1 || got[0] != "character" {
		t.Errorf("got %v", got)
	}
}

// TestSuggestionsApplied mends broken copies of the examples: what is certain is
// applied, and then nothing is suggested any more.
func TestSuggestionsApplied(t *testing.T) {
	for _, name := range Examples() {
		text := Example(name)
		for _, damage := range [][2]string{
			{`"outline": {`, `"outlien": {`},
			{`"regions"`, `"regoins"`},
			{`"colors"`, `"colours"`},
			{`"palette": "`, `"palette": "x`},
			{`"#00000000"`, `"00000000"`},
			{`"frames": ["`, `"frames": ["q`},
			{`"type": "palette"`, `"type": "palete"`},
			{`"rect"`, `"rct"`},
		} {
			broken := strings.Replace(text, damage[0], damage[1], 1)
			if broken == text {
				continue
			}
			_, list := suggested(broken)
			if len(list) == 0 {
				t.Errorf("%s: nothing is suggested for %s", name, damage[1])
				continue
			}
			fixed, _ := Apply(broken, list)
			if again, _ := Apply(fixed, second(suggested(fixed))); issuesOf(again) != "" {
				t.Errorf("%s: %s: after the fixes: %s", name, damage[1], issuesOf(again))
			}
		}
	}
}

func second[A, B any](_ A, b B) B { return b }

func TestExplainCounts(t *testing.T) {
	src := New(Options{}).Parse(noContext(), Caller{}, Example("hero"))
	o, _ := src.Find(pxl.KindSprite, "hero")
	data, _ := src.explainSprite(&o, &excerpt{})
	d := data.(*SpriteData)
	sum := 0
	for _, tok := range d.Tokens {
		sum += tok.Count
	}
	if d.Cells != 256 || sum+d.Clear != 256 || sum < 100 {
		t.Errorf("%d cells, %d in tokens, %d clear", d.Cells, sum, d.Clear)
	}
}

func TestHeroHasAFace(t *testing.T) {
	d := pxl.Parse([]byte(Example("hero")), pxl.Options{})
	regions, err := d.Regions("hero")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range regions {
		if r.Visible == 0 {
			t.Errorf("nothing is seen of %s", r.Token)
		}
	}
}

func TestAnalyzeCounts(t *testing.T) {
	k := newCorpus(noContext())
	src := New(Options{}).Parse(noContext(), Caller{}, Example("hero"))
	k.add(src)
	if k.finish(); k.Unique != 12 || k.Occurrences < 100 || len(k.Pairs) != 10 {
		t.Errorf("%+v", k)
	}
}

// TestModifiersAreDrawn renders what the reference ignores.
func TestModifiersAreDrawn(t *testing.T) {
	for name, region := range map[string]string{
		"round": `{rect:[0,0,8,8],round:4}`, "range": `{rect:[0,0,8,8],y:[0,3]}`, "repeat": `{rect:[0,0,1,1],repeat:[3,3],spacing:[1,1]}`,
		"jitter": `{rect:[2,2,4,4],jitter:{x:[-1,1],y:[-1,1]}}`, "transform": `{rect:[0,0,4,2],transform:"translate(2,2)"}`,
	} {
		text := `{type:"sprite",name:"s",size:[8,8],palette:{a:"red"},regions:{a:` + region + `}}`
		d := pxl.Parse([]byte(text), pxl.Options{})
		res, err := d.Render(pxl.RenderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		ref := pxl.Parse([]byte(text), pxl.Options{Dialect: pxl.Reference})
		plain, err := ref.Render(pxl.RenderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diffPixels(res.Image(), plain.Image()) == nil {
			t.Errorf("%s changes nothing", name)
		}
	}
}

func renderOf(t *testing.T, text string) *image.NRGBA {
	t.Helper()
	d := pxl.Parse([]byte(text), pxl.Options{})
	res, err := d.Render(pxl.RenderOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if ds := d.Check(); len(ds) > 0 {
		t.Errorf("%v\n%.500s", ds[0], text)
	}
	return res.Image()
}

// TestImportOfEveryExample imports what the examples render.
func TestImportOfEveryExample(t *testing.T) {
	for _, name := range Examples() {
		d := pxl.Parse([]byte(Example(name)), pxl.Options{})
		for _, o := range d.Objects() {
			if o.Kind != pxl.KindSprite && o.Kind != pxl.KindComposition {
				continue
			}
			res, err := d.Render(pxl.RenderOptions{Kind: o.Kind, Name: o.Name})
			if err != nil {
				t.Fatal(err)
			}
			for _, op := range []ImportOptions{{MaxColors: 256}, {MaxColors: 256, Analyze: true}, {MaxColors: 256, Points: true}} {
				im, err := Import(t.Context(), res.Image(), op)
				if err != nil {
					t.Fatal(err)
				}
				samePixels(t, renderOf(t, im.Source), res.Image())
			}
		}
	}
}

// TestImportKeepsRandomPictures imports random pictures; with few colours nothing is
// lost, with many the reduced picture is kept.
func TestImportKeepsRandomPictures(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 300 {
		w, h := 1+rng.IntN(20), 1+rng.IntN(20)
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		colours := make([]color.NRGBA, 1+rng.IntN(12))
		for k := range colours {
			colours[k] = color.NRGBA{uint8(rng.IntN(3) * 100), uint8(rng.IntN(3) * 100), uint8(rng.IntN(3) * 100), uint8(rng.IntN(3) * 127)}
		}
		for range 1 + rng.IntN(12) { // boxes, so that there are shapes to find
			c := colours[rng.IntN(len(colours))]
			x0, y0 := rng.IntN(w), rng.IntN(h)
			for y := y0; y < min(h, y0+1+rng.IntN(8)); y++ {
				for x := x0; x < min(w, x0+1+rng.IntN(8)); x++ {
					img.SetNRGBA(x, y, c)
					if i%3 == 0 {
						img.SetNRGBA(w-1-x, y, c)
					}
				}
			}
		}
		im, err := Import(t.Context(), img, ImportOptions{MaxColors: 16, Analyze: i%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		samePixels(t, renderOf(t, im.Source), img)
		few, err := Import(t.Context(), img, ImportOptions{MaxColors: 2})
		if err != nil {
			t.Fatal(err)
		}
		again, err := Import(t.Context(), renderOf(t, few.Source), ImportOptions{MaxColors: 2})
		if err != nil || again.Colours > 2 {
			t.Fatalf("%d colours, %v", again.Colours, err)
		}
	}
}

func TestImportKeepsAlphaApart(t *testing.T) {
	im, err := Import(t.Context(), sample.Drawn("Ah.. hA.."), ImportOptions{MaxColors: 16, Analyze: true})
	if err != nil || im.Colours != 3 || !strings.Contains(im.Source, "#FF000080") || !strings.Contains(im.Source, `"_":"#00000000"`) {
		t.Errorf("%+v, %v", im, err)
	}
	if strings.Contains(im.Source[strings.Index(im.Source, "regions"):], `"_"`) {
		t.Error("the transparent token has a region")
	}
}

// TestAnalysisVector is the picture with a frame, a shadow and a light.
func TestAnalysisVector(t *testing.T) {
	im, err := Import(t.Context(), sample.Drawn("KKKKKK KRRRRK KRRRRK KRRRRK KDDDDK KKKKKK"), ImportOptions{MaxColors: 16, Analyze: true, Name: "v"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"roles":{"c1":"boundary","c2":"highlight","c3":"fill"}`, `"c1":{"stroke":[0,0,6,6],"z":0}`, `"c2":{"rect":[1,1,4,3],"z":1}`, `"c3":{"rect":[1,4,4,1],"z":1}`} {
		if !strings.Contains(im.Source, want) {
			t.Errorf("%s lacks %s", im.Source, want)
		}
	}
	if !strings.Contains(im.Summary(), "Symmetry: x (left and right).") {
		t.Error(im.Summary())
	}
}

func TestContainmentIsTopological(t *testing.T) {
	im, err := Import(t.Context(), sample.Drawn("AB BA"), ImportOptions{MaxColors: 16, Analyze: true})
	if err != nil || strings.Contains(im.Source, "contained-within") {
		t.Errorf("%s, %v", im.Source, err)
	}
	im, err = Import(t.Context(), sample.Drawn("AAA ABA AAA"), ImportOptions{MaxColors: 16, Analyze: true})
	if err != nil || !strings.Contains(im.Source, `"c2":{"type":"contained-within","target":"c1"}`) {
		t.Errorf("%s, %v", im.Source, err)
	}
}

func TestShapesFound(t *testing.T) {
	for _, row := range []struct{ name, picture, want string }{
		{"rect", "..... .AAA. .AAA. .....", `"rect":[1,1,3,2]`},
		{"stroke", "AAAA A..A A..A AAAA", `"stroke":[0,0,4,4]`},
		{"line", "A...... .A..... ..A.... ...A... ....A.. .....A. ......A", `"line":[[0,0],[6,6]]`},
		{"points", "A.A ... ..A", `"points":[[0,0],[2,0],[2,2]]`},
		{"symmetry", ".A....A. A..AA..A ..A..A.. A.A..A.A", `"symmetric":"x"`},
	} {
		im, err := Import(t.Context(), sample.Drawn(row.picture), ImportOptions{MaxColors: 16})
		if err != nil || !strings.Contains(im.Source, row.want) {
			t.Errorf("%s: %s, %v", row.name, im.Source, err)
		}
	}
	text := `{type:"sprite",name:"s",size:[21,17],palette:{a:"red"},regions:{a:{ellipse:[10,8,7,6]}}}`
	im, err := Import(t.Context(), renderOf(t, text), ImportOptions{MaxColors: 16})
	if err != nil || !strings.Contains(im.Source, `"ellipse":[10,8,7,6]`) {
		t.Errorf("%s, %v", im.Source, err)
	}
}

func TestUpscaledNote(t *testing.T) {
	im, err := Import(t.Context(), sample.Drawn("AABBAABB AABBAABB CCAABBCC CCAABBCC AABBAABB AABBAABB KKKKWWWW KKKKWWWW"), ImportOptions{MaxColors: 16})
	if err != nil || !strings.Contains(im.Summary(), "scaled up 2 times") {
		t.Errorf("%s, %v", im.Summary(), err)
	}
}

func TestColourNames(t *testing.T) {
	for hex, want := range map[string]string{
		"#000000": "black", "#3F3F3F": "dark gray", "#404040": "gray", "#808080": "light gray", "#C0C0C0": "very light gray", "#FFFFFF": "white",
		"#FF0000": "bright red", "#FFA500": "bright orange", "#FFFF00": "bright yellow", "#00FF00": "bright green", "#00FFFF": "bright cyan",
		"#0000FF": "bright blue", "#800080": "magenta", "#FF00FF": "bright magenta", "#FFC0CB": "light red", "#FFD700": "bright yellow",
		"#2C1810": "dark orange", "#8B4513": "orange", "#A0522D": "orange", "#123": "dark blue", "#00000000": "transparent", "#FF000080": "bright red",
	} {
		c, err := colour.Parse(hex)
		if got := colourName(c); err != nil || got != want {
			t.Errorf("%s: got %s, want %s", hex, got, want)
		}
	}
}

// TestRegionsAreDrawn: a sprite of regions is not transparent.
func TestRegionsAreDrawn(t *testing.T) {
	samePixels(t, renderOf(t, sample.Hero("#FF0000", 2)), sample.Drawn("AA AA"))
}

// TestImportObjects has the checks of import objects.
func TestImportObjects(t *testing.T) {
	local := `{type:"palette",name:"gameboy",colors:{a:"red"}}` + "\n"
	for _, row := range []struct{ name, in, want string }{
		{"alias equals a local palette", local + `{type:"import",from:"./x",as:"gameboy"}`, "2:unresolved_import 2:shadowed_import"},
		{"alias is its own", local + `{type:"import",from:"./x",as:"other"}`, "2:unresolved_import"},
		{"no from", `{type:"import",from:""}`, "1:range_validation!"},
		{"alias with a colon", `{type:"import",from:"./x",as:"a:b"}`, "1:unresolved_import 1:range_validation!"},
		{"item with a slash", `{type:"import",from:"./x",sprites:["a/b"]}`, "1:unresolved_import 1:range_validation!"},
		{"lifetime reversed", `{type:"particle",name:"p",sprite:"s",emitter:{lifetime:[5,1]}}` + sample.Dot, "1:missing_sprite 1:range_validation"},
		{"transform without frames", `{type:"transform",name:"t",frames:0}`, "1:range_validation"},
		{"rules without rules", `{type:"state-rules",name:"r",rules:[]}`, "1:empty_grid"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := issuesOf(row.in); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}
