package mcpserver

import (
	"encoding/json"
	"fmt"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/internal/sample"
)

func TestInitialize(t *testing.T) {
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"} {
		r := newRig(t, t.TempDir())
		m := r.initialize(version)
		var res struct {
			ProtocolVersion, Instructions string
			ServerInfo                    struct{ Name, Version string }
			Capabilities                  map[string]any
		}
		if err := json.Unmarshal(m.Result, &res); err != nil {
			t.Fatal(err)
		}
		if res.ProtocolVersion != version || res.ServerInfo.Name != "pixelsrc-mcp" || res.ServerInfo.Version == "" || res.Instructions == "" {
			t.Errorf("got %+v", res)
		}
		for _, c := range []string{"tools", "resources", "prompts"} {
			if _, ok := res.Capabilities[c]; !ok {
				t.Errorf("no capability %s", c)
			}
		}
	}
}

func TestToolsList(t *testing.T) {
	r := start(t)
	var res struct {
		Tools []struct {
			Name, Title, Description string
			InputSchema              struct {
				Type       string
				Properties map[string]struct{ Description string }
			}
			Annotations map[string]any
		}
		NextCursor string
	}
	if err := json.Unmarshal(r.ask("tools/list", args{}).Result, &res); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range res.Tools {
		names = append(names, tool.Name)
		if tool.Title == "" || len(tool.Description) < 60 || tool.InputSchema.Type != "object" {
			t.Errorf("%s: %+v", tool.Name, tool)
		}
		for name, p := range tool.InputSchema.Properties {
			if !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s: %s has no sentence that describes it", tool.Name, name)
			}
		}
		for hint, want := range map[string]bool{"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false} {
			if tool.Annotations[hint] != want {
				t.Errorf("%s: %s is %v", tool.Name, hint, tool.Annotations[hint])
			}
		}
	}
	want := []string{"analyze", "diff", "explain", "format", "import", "palettes", "prime", "render", "scaffold", "suggest", "validate"}
	for i := range want {
		want[i] = "pixelsrc_" + want[i]
	}
	if !slices.Equal(names, want) { // sorted by name
		t.Errorf("got %v", names)
	}
	if res.NextCursor != "" {
		t.Error("the list goes on")
	}
}

func TestFormatToolAnswersWithTheSource(t *testing.T) {
	if res := start(t).ok("pixelsrc_format", args{"source": dot1}); !strings.Contains(res.Content[0].Text, "sprite") {
		t.Error(res.text())
	}
}

func TestRenderTool(t *testing.T) {
	res := start(t).ok("pixelsrc_render", args{"source": dot2, "scale": 2})
	if len(res.Content) < 2 || res.Content[0].Type != "image" || res.Content[0].MIMEType != "image/png" {
		t.Fatalf("got %+v", res)
	}
	img, err := png.Decode(strings.NewReader(string(res.Content[0].bytes(t))))
	if err != nil || img.Bounds().Dx() != 4 || img.Bounds().Dy() != 4 {
		t.Errorf("%v, %v", img, err)
	}
	text := res.Content[1].Text
	if !strings.HasPrefix(text, "Rendered sprite 'dot' (4x4 px)\nColors: 1 — x #FF0000 (2)") {
		t.Error(text)
	}
}

func TestRenderAndPrimeArguments(t *testing.T) {
	r := start(t)
	r.bad("pixelsrc_render", args{}, "Either", "source", "path")
	r.bad("pixelsrc_render", args{"source": dot1, "sprite": "nonexistent"}, "nonexistent", "Available: dot")
	if res := r.ok("pixelsrc_prime", args{"brief": true}); len(res.text()) <= 100 {
		t.Error("the brief guide is too short")
	}
	var list struct{ Palettes []string }
	if r.data("pixelsrc_palettes", args{"action": "list"}, &list); !slices.Contains(list.Palettes, "@gameboy") {
		t.Errorf("got %v", list.Palettes)
	}
	var show struct {
		Name   string
		Colors map[string]string
	}
	r.data("pixelsrc_palettes", args{"action": "show", "name": "gameboy"}, &show)
	if show.Name != "@gameboy" || show.Colors["{light}"] != "#8BAC0F" {
		t.Errorf("got %+v", show)
	}
}

func TestAnalyzeTool(t *testing.T) {
	r := start(t)
	var k pixelsrc.Corpus
	if r.data("pixelsrc_analyze", args{"source": dot1}, &k); k.Sprites != 1 || k.Files != 1 {
		t.Errorf("got %+v", k)
	}
	res := r.ok("pixelsrc_scaffold", args{"asset_type": "sprite", "name": "test_sprite", "width": 8, "height": 8})
	if !strings.Contains(res.text(), "test_sprite") || !strings.Contains(res.text(), `"size": [8, 8]`) {
		t.Error(res.text())
	}
	res = r.ok("pixelsrc_import", args{"image": sample.PNG("A"), "name": "red_dot"})
	if !strings.Contains(res.text(), "red_dot") {
		t.Error(res.text())
	}
}

func TestValidateTool(t *testing.T) {
	r := start(t)
	braced := `{"type":"palette","name":"p","colors":{"{a}":"#FF0000"}}` + "\n" + `{"type":"sprite","name":"s","size":[2,2],"palette":"p","regions":{"a":{"rect":[0,0,2,2]}}}`
	var v pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": braced}, &v); !v.Valid || v.Errors != 0 || v.Warnings != 0 {
		t.Errorf("got %+v", v)
	}
	if r.data("pixelsrc_validate", args{"source": "{not valid json}"}, &v); v.Valid || v.Errors == 0 {
		t.Errorf("got %+v", v)
	}
	if i := v.ErrorsL[0]; i.Line != 1 || i.Code != "json_syntax" || i.Message == "" {
		t.Errorf("got %+v", i)
	}
	unknown := args{"source": `{"type":"unknown","name":"x"}`}
	if r.data("pixelsrc_validate", unknown, &v); !v.Valid || v.Warnings == 0 {
		t.Errorf("lenient: %+v", v)
	}
	unknown["strict"] = true
	if r.data("pixelsrc_validate", unknown, &v); v.Valid {
		t.Errorf("strict: %+v", v)
	}
	r.bad("pixelsrc_validate", args{}, "Either")
	var blank pixelsrc.Verdict
	if r.data("pixelsrc_validate", args{"source": ""}, &blank); !blank.Valid || blank.Errors+blank.Warnings != 0 {
		t.Errorf("blank: %+v", blank)
	}
}

type suggestions struct {
	Suggestions []pixelsrc.Suggestion
	Sprites     int `json:"sprites_analyzed"`
}

func TestSuggestTool(t *testing.T) {
	r := start(t)
	var s suggestions
	r.data("pixelsrc_suggest", args{"source": typo}, &s)
	if s.Sprites != 1 || len(s.Suggestions) != 1 {
		t.Fatalf("got %+v", s)
	}
	g := s.Suggestions[0]
	if g.Type != "missing_token" || g.Line != 2 || g.Message == "" || g.Fix.Action != "replace_token" || g.Fix.From != "skni" || g.Fix.To != "skin" || g.Confidence != 0.75 {
		t.Errorf("got %+v", g)
	}
	if r.data("pixelsrc_suggest", args{"source": palspr}, &s); len(s.Suggestions) != 0 {
		t.Errorf("got %+v", s)
	}
	r.bad("pixelsrc_suggest", args{}, "Either")
}

func TestExplainTool(t *testing.T) {
	r := start(t)
	var one struct {
		Type, Name    string
		Width, Height int
	}
	if r.data("pixelsrc_explain", args{"source": dot2}, &one); one.Type != "sprite" || one.Name != "dot" || one.Width != 2 || one.Height != 2 {
		t.Errorf("got %+v", one)
	}
	var both []struct{ Type string }
	if r.data("pixelsrc_explain", args{"source": palspr}, &both); len(both) != 2 || both[0].Type != "palette" || both[1].Type != "sprite" {
		t.Errorf("got %+v", both)
	}
	if r.data("pixelsrc_explain", args{"source": palspr, "name": "red_dot"}, &one); one.Type != "sprite" || one.Name != "red_dot" {
		t.Errorf("got %+v", one)
	}
	r.bad("pixelsrc_explain", args{}, "Either")
	r.bad("pixelsrc_explain", args{"source": dot1, "name": "nonexistent"}, "nonexistent")
}

func TestDiffTool(t *testing.T) {
	r := start(t)
	diff := func(a, b string) (list []pixelsrc.SpriteDiff) {
		r.data("pixelsrc_diff", args{"source_a": a, "source_b": b}, &list)
		return list
	}
	if d := diff(sample.Hero("#F00", 2), sample.Hero("#F00", 2)); len(d) != 1 || d[0].Sprite != "hero" || d[0].Summary != "No differences" {
		t.Errorf("got %+v", d)
	}
	if d := diff(sample.Hero("#F00", 2), sample.Hero("#0F0", 2)); len(d[0].Palette) != 1 || d[0].Palette[0].Type != "changed" || d[0].Palette[0].Token != "x" {
		t.Errorf("got %+v", d)
	}
	if d := diff(sample.Hero("#F00", 2), sample.Hero("#F00", 4)); d[0].Size == nil || d[0].Size.Old != [2]int{2, 2} || d[0].Size.New != [2]int{4, 4} {
		t.Errorf("got %+v", d)
	}
	var list []pixelsrc.SpriteDiff
	r.data("pixelsrc_diff", args{"source_a": heroAndEnemy(), "source_b": heroAndEnemy(), "sprite": "enemy"}, &list)
	if len(list) != 1 || list[0].Sprite != "enemy" {
		t.Errorf("got %+v", list)
	}
	r.bad("pixelsrc_diff", args{"source_a": sample.Hero("#F00", 2), "source_b": sample.Hero("#F00", 2), "sprite": "nonexistent"}, "nonexistent", "Available: hero")
}

func TestRefusals(t *testing.T) {
	r := start(t)
	if m := r.ask("tools/call", args{"name": "pixelsrc_nope", "arguments": args{}}); m.Error == nil || m.Error.Code != -32602 || !strings.Contains(m.Error.Message, "pixelsrc_nope") {
		t.Errorf("got %+v", m.Error)
	}
	r.bad("pixelsrc_format", args{}, "source")
	r.bad("pixelsrc_palettes", args{"action": "invalid_action"}, "invalid_action", "list", "show")
	r.bad("pixelsrc_palettes", args{"action": "show", "name": "gamebuoy"}, "gamebuoy", "Did you mean '@gameboy'?", "Available:")
	r.bad("pixelsrc_scaffold", args{"asset_type": "bogus", "name": "x"}, "bogus", "sprite, animation, palette, composition")
}

func (r *rig) resource(uri string) (mime, text string, err *rpcError) {
	r.t.Helper()
	m := r.ask("resources/read", args{"uri": uri})
	if m.Error != nil {
		return "", "", m.Error
	}
	var res struct {
		Contents []struct{ URI, MIMEType, Text string }
	}
	if e := json.Unmarshal(m.Result, &res); e != nil || len(res.Contents) != 1 || res.Contents[0].URI != uri {
		r.t.Fatalf("%s: %s", uri, m.Result)
	}
	return res.Contents[0].MIMEType, res.Contents[0].Text, nil
}

func TestResources(t *testing.T) {
	r := start(t)
	var list struct {
		Resources []struct{ URI, Name, Title, Description, MIMEType string }
	}
	if err := json.Unmarshal(r.ask("resources/list", args{}).Result, &list); err != nil || len(list.Resources) != 3 {
		t.Fatalf("got %+v, %v", list, err)
	}
	for _, x := range list.Resources {
		if x.Name == "" || x.Title == "" || x.Description == "" || x.MIMEType == "" {
			t.Errorf("got %+v", x)
		}
		if _, text, err := r.resource(x.URI); err != nil || text == "" {
			t.Errorf("%s: %+v", x.URI, err)
		}
	}
	if mime, text, _ := r.resource("pixelsrc://format-spec"); len(text) <= 500 || mime != "text/markdown" || !strings.Contains(text, "Pixelsrc Primer") || !strings.Contains(text, "Format Quick Reference") {
		t.Errorf("%s %d", mime, len(text))
	}
	if _, text, _ := r.resource("pixelsrc://format-brief"); len(text) >= 3500 || !strings.Contains(text, "Pixelsrc Quick Reference") {
		t.Errorf("brief has %d bytes", len(text))
	}
	_, text, _ := r.resource("pixelsrc://palettes")
	var palettes []pixelsrc.PaletteSummary
	if err := json.Unmarshal([]byte(text), &palettes); err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, p := range palettes {
		got += fmt.Sprintf("%s %d ", p.Name, p.Count)
	}
	if got != "gameboy 4 nes 12 pico8 16 grayscale 8 1bit 2 dracula 11 synthwave 7 " {
		t.Error(got)
	}
	for _, uri := range []string{"pixelsrc://nonexistent", "", "https://example.com/x", "pixelsrc://unknown/foo"} {
		if _, _, err := r.resource(uri); err == nil || err.Code != -32002 {
			t.Errorf("%q: %+v", uri, err)
		}
	}
}

func TestTemplates(t *testing.T) {
	r := start(t)
	var list struct {
		ResourceTemplates []struct{ URITemplate, Name, Title, Description, MIMEType string }
	}
	if err := json.Unmarshal(r.ask("resources/templates/list", args{}).Result, &list); err != nil || len(list.ResourceTemplates) != 3 {
		t.Fatalf("got %+v, %v", list, err)
	}
	for _, x := range list.ResourceTemplates {
		if x.Name == "" || x.Title == "" || x.Description == "" || x.MIMEType == "" {
			t.Errorf("got %+v", x)
		}
	}
	for _, name := range append(pixelsrc.PaletteNames(), "gameboy", "nes", "pico8", "grayscale", "1bit", "dracula", "synthwave") {
		mime, text, err := r.resource("pixelsrc://palette/" + name)
		var p struct {
			Name   string
			Colors map[string]string
			Tokens map[string]string
		}
		if err != nil || json.Unmarshal([]byte(text), &p) != nil || p.Name != name || p.Colors["{_}"] != "#00000000" || mime != "application/json" {
			t.Errorf("%s: %+v %+v", name, p, err)
		}
	}
	for _, name := range pixelsrc.Examples() {
		if mime, text, err := r.resource("pixelsrc://example/" + name); err != nil || mime != "text/plain" || !strings.Contains(text, `"type"`) {
			t.Errorf("%s: %+v", name, err)
		}
	}
	for _, name := range templateTypes() {
		if mime, text, err := r.resource("pixelsrc://template/" + name); err != nil || mime != "text/markdown" || len(text) < 100 {
			t.Errorf("%s: %+v", name, err)
		}
	}
	for uri, want := range map[string]string{
		"pixelsrc://palette/nonexistent":  "Unknown palette 'nonexistent'; use one of gameboy",
		"pixelsrc://example/nonexistent":  "Unknown example 'nonexistent'",
		"pixelsrc://template/nonexistent": "Unknown template type 'nonexistent'; use one of character",
		"pixelsrc://palette/Gameboy":      "Unknown palette 'Gameboy'",
		"pixelsrc://example/..%2Fcoin":    "Unknown example",
		"pixelsrc://palette/":             "",
	} {
		if _, _, err := r.resource(uri); err == nil || err.Code != -32002 || !strings.Contains(err.Message, want) {
			t.Errorf("%s: %+v", uri, err)
		}
	}
	if _, text, err := r.resource("pixelsrc://palette/%40nes"); err != nil || !strings.Contains(text, `"@nes"`) {
		t.Errorf("an escaped name: %+v", err)
	}
	if _, text, err := r.resource("pixelsrc://palette/game%62oy"); err != nil || !strings.Contains(text, "gameboy") {
		t.Errorf("percent-encoding: %+v", err)
	}
}

func TestCompletion(t *testing.T) {
	r := start(t)
	complete := func(ref args, argument, value string) []string {
		var res struct{ Completion struct{ Values []string } }
		m := r.ask("completion/complete", args{"ref": ref, "argument": args{"name": argument, "value": value}})
		if m.Error != nil || json.Unmarshal(m.Result, &res) != nil {
			t.Fatalf("%v: %+v", ref, m.Error)
		}
		return res.Completion.Values
	}
	for _, row := range []struct {
		ref                   args
		argument, value, want string
	}{
		{args{"type": "ref/resource", "uri": "pixelsrc://palette/{name}"}, "name", "g", "gameboy grayscale"},
		{args{"type": "ref/resource", "uri": "pixelsrc://example/{name}"}, "name", "he", "heart hero"},
		{args{"type": "ref/resource", "uri": "pixelsrc://template/{type}"}, "type", "", "character item tileset animation"},
		{args{"type": "ref/resource", "uri": "pixelsrc://palette/{name}"}, "name", "@n", "@nes"},
		{args{"type": "ref/prompt", "name": "create_sprite"}, "palette", "@", "@gameboy @nes @pico8 @grayscale @1bit @dracula @synthwave"},
		{args{"type": "ref/prompt", "name": "create_sprite"}, "palette", "p", "pico8"},
		{args{"type": "ref/prompt", "name": "pixel_art_guide"}, "genre", "PU", "puzzle"},
	} {
		if got := strings.Join(complete(row.ref, row.argument, row.value), " "); got != row.want {
			t.Errorf("%v: got %s, want %s", row.ref, got, row.want)
		}
	}
}

func (r *rig) prompt(name string, a map[string]string) (description, assistant, user string, err *rpcError) {
	r.t.Helper()
	m := r.ask("prompts/get", args{"name": name, "arguments": a})
	if m.Error != nil {
		return "", "", "", m.Error
	}
	var res struct {
		Description string
		Messages    []struct {
			Role    string
			Content struct{ Type, Text string }
		}
	}
	if e := json.Unmarshal(m.Result, &res); e != nil || len(res.Messages) != 2 || res.Messages[0].Role != "assistant" || res.Messages[1].Role != "user" {
		r.t.Fatalf("%s: %s", name, m.Result)
	}
	return res.Description, res.Messages[0].Content.Text, res.Messages[1].Content.Text, nil
}

func TestPrompts(t *testing.T) {
	r := start(t)
	var list struct {
		Prompts []struct {
			Name, Title, Description string
			Arguments                []struct {
				Name     string
				Required bool
			}
		}
	}
	if err := json.Unmarshal(r.ask("prompts/list", args{}).Result, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range list.Prompts {
		names = append(names, p.Name)
		if p.Title == "" || p.Description == "" || len(p.Arguments) == 0 || !p.Arguments[0].Required {
			t.Errorf("got %+v", p)
		}
		if _, _, _, err := r.prompt(p.Name, map[string]string{p.Arguments[0].Name: "  "}); err == nil || err.Code != -32602 || !strings.Contains(err.Message, p.Arguments[0].Name) {
			t.Errorf("%s without its argument: %+v", p.Name, err)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"create_animation", "create_sprite", "pixel_art_guide", "review_pxl"}) {
		t.Errorf("got %v", names)
	}
	for _, row := range []struct {
		id, prompt            string
		args                  map[string]string
		assistant, user, desc []string
	}{
		{"create_sprite", "create_sprite", map[string]string{"description": "a brave knight", "size": "16x16", "palette": "pico8", "style": "cute"}, []string{"Pixelsrc", "@pico8", "| dark_blue | #1D2B53 |"}, []string{"a brave knight", "16x16", "pico8", "cute", "valid .pxl"}, nil},
		{"default", "create_sprite", map[string]string{"description": "a cat"}, []string{"#00000000"}, []string{"a cat", "16x16"}, nil},
		{"unknown palette", "create_sprite", map[string]string{"description": "a cat", "palette": "nope"}, []string{"palette is not built in", "@gameboy"}, []string{"nope"}, nil},
		{"create_animation", "create_animation", map[string]string{"description": "a walk", "frames": "6", "fps": "10"}, []string{"100ms", `"type": "animation"`, "step_1"}, []string{"6-frame", "10 fps", "a walk"}, nil},
		{"fps 12", "create_animation", map[string]string{"description": "a walk", "fps": "12"}, []string{"83ms"}, []string{"4-frame", "12 fps"}, nil},
		{"fps bad", "create_animation", map[string]string{"description": "a walk", "fps": "x", "frames": "900"}, []string{"125ms", "not between 1 and 256"}, []string{"4-frame", "8 fps"}, nil},
		{"fps high", "create_animation", map[string]string{"description": "a walk", "fps": "5000"}, []string{"1ms"}, nil, nil},
		{"review_pxl", "review_pxl", map[string]string{"source": dot1}, []string{"Review Checklist", "Common Mistakes"}, []string{dot1}, nil},
		{"diagnostics", "review_pxl", map[string]string{"source": typo}, []string{"undefined_token", "line 2"}, []string{typo}, nil},
		{"fences", "review_pxl", map[string]string{"source": "````\nx"}, nil, []string{"`````json5\n````\nx\n`````"}, nil},
		{"pixel_art_guide", "pixel_art_guide", map[string]string{"genre": "RPG"}, []string{"@gameboy: 4 colors", "@pico8: 16 colors"}, []string{"RPG"}, []string{"RPG"}},
		{"platformer", "pixel_art_guide", map[string]string{"genre": "platformer"}, []string{"## Advice by genre\n\n- platformer:"}, []string{"platformer"}, []string{"platformer"}},
	} {
		t.Run(row.id, func(t *testing.T) {
			desc, assistant, user, err := r.prompt(row.prompt, row.args)
			if err != nil {
				t.Fatalf("%+v", err)
			}
			for what, pair := range map[string][2]any{"assistant": {assistant, row.assistant}, "user": {user, row.user}, "description": {desc, row.desc}} {
				for _, want := range pair[1].([]string) {
					if !strings.Contains(pair[0].(string), want) {
						t.Errorf("%s lacks %q: %s", what, want, pair[0])
					}
				}
			}
		})
	}
	if _, _, _, err := r.prompt("nope", nil); err == nil || err.Code != -32602 {
		t.Errorf("got %+v", err)
	}
}
