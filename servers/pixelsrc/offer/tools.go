package offer

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/redact"
)

// tool is one tool: what clients see of it, and what it does.
type tool struct {
	name, title, text string
	arguments         []argument
	// work is Large for what draws or keeps a picture and its colours, Medium for what
	// only reads a source.
	work admission.Class
	// run answers a call. Its error is a sentence for the model.
	run func(*call) ([]mcp.Content, error)
}

// tools lists the tools by name.
func tools() []tool {
	return []tool{
		analyze(), diff(), explain(), format(), imported(), palettes(), prime(), render(), scaffold(), suggest(), validate(),
	}
}

// offered is a tool as the host takes it. None of them writes anything.
func (m *Module) offered(t tool) host.Tool {
	def := mcp.NewToolWithRawSchema(t.name, t.text, t.schema())
	def.Title = t.title
	def.Annotations = mcp.ToolAnnotation{
		Title: t.title, ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return host.Tool{Tool: def, Handler: m.handler(t), Work: t.work, Redact: redact.Kind{Colours: true}}
}

// fromSource are the arguments of a tool that works on one source, before its own.
func fromSource(own ...argument) []argument {
	return append([]argument{
		{name: "source", text: "The .pxl text; takes precedence over path."},
		{name: "path", text: "A .pxl or .jsonl file in the project."},
	}, own...)
}

// source reads the source that source and path name, or their variants for one side
// of a comparison.
func (c *call) source(side string) (*pixelsrc.Source, error) {
	text, path := "source"+side, "path"+side
	switch {
	case c.has(text):
		if n := len(get[string](c, text)); n > pxl.MaxSource {
			return nil, failf("%s is %d bytes; the limit is %d MiB. Split it into several files.", text, n, pxl.MaxSource>>20)
		}
		return c.server.Parse(c.ctx, c.who, get[string](c, text)), nil
	case c.has(path):
		return c.server.Open(c.ctx, c.who, get[string](c, path))
	}
	return nil, failf("Either %s (the text) or %s (a .pxl file) is needed.", text, path)
}

func analyze() tool {
	return tool{
		name: "pixelsrc_analyze", title: "Analyze pixel art sources", work: admission.Large,
		text: "Summarizes .pxl sources: sprites, palettes, tokens by visible pixels, tokens used together, sizes, token families. Takes a source, a file or a whole folder and returns JSON. Use it before adding to a project, to match its palettes and names.",
		arguments: []argument{
			{name: "source", text: "The .pxl text; takes precedence over path."},
			{name: "path", text: "A .pxl or .jsonl file, or a folder, in the project."},
			{name: "recursive", kind: flag, normal: true, text: "Include subfolders."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			if c.has("path") && !c.has("source") {
				k, err := c.server.AnalyzePath(c.ctx, c.who, get[string](c, "path"), get[bool](c, "recursive"))
				if err != nil {
					return nil, err
				}
				return document(k), nil
			}
			src, err := c.source("")
			if err != nil {
				return nil, err
			}
			return document(pixelsrc.Analyze(c.ctx, src)), nil
		},
	}
}

func diff() tool {
	return tool{
		name: "pixelsrc_diff", title: "Compare pixel art", work: admission.Large,
		text: "Compares the sprites of two sources: sizes, colours, regions, pixels, metadata. Returns a JSON array with one entry per sprite, so that you see what an edit changed. Render the changed sprites next.",
		arguments: []argument{
			{name: "source_a", text: "The old .pxl text."},
			{name: "source_b", text: "The new .pxl text."},
			{name: "path_a", text: "The old .pxl file, instead of source_a."},
			{name: "path_b", text: "The new .pxl file, instead of source_b."},
			{name: "sprite", text: "Compare only the sprite with this name."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			a, err := c.source("_a")
			if err != nil {
				return nil, err
			}
			b, err := c.source("_b")
			if err != nil {
				return nil, err
			}
			d, err := pixelsrc.Diff(c.ctx, a, b, get[string](c, "sprite"))
			if err != nil {
				return nil, err
			}
			answer := document(d.Sprites)
			if len(d.Partial) > 0 {
				answer = append(answer, say("Partial result:\n"+strings.Join(d.Partial, "\n"))...)
			}
			if len(d.Problems) > 0 {
				answer = append(answer, say("Problems:\n"+strings.Join(d.Problems, "\n"))...)
			}
			return answer, nil
		},
	}
}

func explain() tool {
	return tool{
		name: "pixelsrc_explain", title: "Explain pixel art", work: admission.Large,
		text: "Describes the objects of a source as JSON and as text: sizes, tokens with pixel counts and colours, regions with bounds and visible pixels, layers, timing. Use it to understand a file before editing; then pixelsrc_render to see it.",
		arguments: fromSource(
			argument{name: "name", text: "Only the object with this name; @gameboy and so on explain a built-in palette."},
			argument{name: "from", kind: whole, text: "The number of objects to skip, or with name the number of list entries to skip. Long answers are cut and say where to continue."},
		),
		run: func(c *call) ([]mcp.Content, error) {
			src, err := c.source("")
			if err != nil {
				return nil, err
			}
			var name *string
			if c.has("name") {
				n := get[string](c, "name")
				name = &n
			}
			e, err := src.Explain(c.ctx, name, get[int](c, "from"))
			if err != nil {
				return nil, err
			}
			answer := say(e.JSON, e.Text)
			if e.Note != "" {
				answer = append(answer, say("Partial result:\n"+e.Note)...)
			}
			return answer, nil
		},
	}
}

func format() tool {
	return tool{
		name: "pixelsrc_format", title: "Format a pixel art source", work: admission.Medium,
		text:      "Formats a source in the standard layout (one region per line, keys in a fixed order, strict JSON) and keeps everything in it, including comments. Returns the source text; write it back to the file.",
		arguments: fromSource(argument{name: "check", kind: flag, normal: false, text: "Only report whether formatting would change the source."}),
		run: func(c *call) ([]mcp.Content, error) {
			text := get[string](c, "source")
			switch {
			case c.has("source"):
			case c.has("path"):
				var err error
				if text, err = c.server.ReadText(c.who, get[string](c, "path")); err != nil {
					return nil, err
				}
			default:
				return nil, failf("source is missing: Either source (the text) or path (a .pxl file) is needed.")
			}
			if len(text) > pxl.MaxSource {
				return nil, failf("source is %d bytes; the limit is %d MiB. Split it into several files.", len(text), pxl.MaxSource>>20)
			}
			f, err := pixelsrc.Format(text)
			switch {
			case err != nil:
				return nil, failf("%v. Nothing was formatted; fix it and format again.", err)
			case !get[bool](c, "check"):
				answer := say(f.Text)
				if len(f.Dropped) > 0 {
					answer = append(answer, say(strings.Join(f.Dropped, "\n"))...)
				}
				return answer, nil
			case f.Text == text:
				return say("The source is formatted."), nil
			}
			return say("Formatting would change the source."), nil
		},
	}
}

func palettes() tool {
	return tool{
		name: "pixelsrc_palettes", title: "Built-in palettes", work: admission.Small,
		text: "Lists the built-in palettes (gameboy, nes, pico8, …) with their tokens, or shows one with all its colours, as JSON. Use one with \"palette\": \"@name\" in a sprite.",
		arguments: []argument{
			{name: "action", kind: word, more: `"enum": ["list", "show", null], "default": "list"`, text: "list all, or show the one given by name."},
			{name: "name", text: "The palette to show, with or without @."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			action, name := get[string](c, "action"), get[string](c, "name")
			switch {
			case action == "list", action == "" && !c.has("name"):
				details := pixelsrc.Palettes(true)
				for i := range details {
					details[i].Name = "@" + details[i].Name
				}
				return document(struct {
					Palettes []string                  `json:"palettes"`
					Details  []pixelsrc.PaletteSummary `json:"details"`
				}{pixelsrc.PaletteNames(), details}), nil
			case action != "show" && action != "":
				return nil, failf("Unknown action '%s': use list or show.", action)
			case strings.TrimSpace(name) == "":
				return nil, failf("To show a palette, give its name, one of: %s.", strings.Join(pixelsrc.PaletteNames(), ", "))
			}
			p, ok := pixelsrc.Palette(strings.TrimPrefix(name, "@"))
			if !ok {
				return nil, failf("%s", pixelsrc.NotFound("Palette", name, pixelsrc.PaletteNames()))
			}
			return document(p), nil
		},
	}
}

func prime() tool {
	return tool{
		name: "pixelsrc_prime", title: "Learn the pixel art format", work: admission.Small,
		text: "Returns the guide to the .pxl format as Markdown: objects, shapes, modifiers, animation, a complete example, advice. Read it (brief is enough to start) before writing a source; then render it with pixelsrc_render.",
		arguments: []argument{
			{name: "brief", kind: flag, normal: false, text: "The short guide."},
			{name: "section", kind: word, enum: []string{"format", "examples", "tips", "full"}, normal: "full", text: "One part of the full guide."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			if get[bool](c, "brief") {
				return say(guideBrief()), nil
			}
			return say(guideSection(get[string](c, "section"))), nil
		},
	}
}

func suggest() tool {
	return tool{
		name: "pixelsrc_suggest", title: "Suggest fixes", work: admission.Medium,
		text:      "Finds misspelt tokens, names, fields and colours, missing sizes and the like, and suggests a fix for each, with a confidence. Returns JSON; with apply also the fixed source. Use it after pixelsrc_validate has reported problems.",
		arguments: fromSource(argument{name: "apply", kind: flag, normal: false, text: "Also return the source with the fixes made."}),
		run: func(c *call) ([]mcp.Content, error) {
			src, err := c.source("")
			if err != nil {
				return nil, err
			}
			list, sprites, unread := src.Suggestions(c.ctx)
			shown, size := []json.RawMessage{}, 0
			for _, g := range list {
				if size > pixelsrc.MaxListed || len(shown) == pixelsrc.MaxEntries {
					break
				}
				shown = append(shown, json.RawMessage(pixelsrc.JSON(g)))
				size += len(shown[len(shown)-1])
			}
			answer := document(struct {
				Suggestions []json.RawMessage `json:"suggestions"`
				Sprites     int               `json:"sprites_analyzed"`
			}{shown, sprites})
			add := func(format string, args ...any) { answer = append(answer, say(fmt.Sprintf(format, args...))...) }
			if len(shown) < len(list) {
				add("Showing %d of %d suggestions; fix these, or pass apply=true, and call again for the rest.", len(shown), len(list))
			}
			if unread > 0 {
				add("%d parts of the source could not be read and were skipped; pixelsrc_validate says where.", unread)
			}
			if get[bool](c, "apply") {
				fixed, left := pixelsrc.Apply(src.Text, list)
				add("%s", fixed)
				if left > 0 {
					add("%d suggestions were not applied: they need your judgement.", left)
				}
			}
			return answer, nil
		},
	}
}

func validate() tool {
	return tool{
		name: "pixelsrc_validate", title: "Validate a pixel art source", work: admission.Large,
		text:      "Checks a source without drawing: syntax, colours, tokens, references, shapes off the canvas, misspelt fields. Returns JSON with line, code, message and suggestion for each problem. Use pixelsrc_suggest for fixes.",
		arguments: fromSource(argument{name: "strict", kind: flag, normal: false, text: "Treat warnings as errors."}),
		run: func(c *call) ([]mcp.Content, error) {
			src, err := c.source("")
			if err != nil {
				return nil, err
			}
			return document(src.Verdict(get[bool](c, "strict"))), nil
		},
	}
}

func scaffold() tool {
	return tool{
		name: "pixelsrc_scaffold", title: "Start a pixel art source", work: admission.Medium,
		text: "Writes a skeleton sprite, animation, palette or composition: valid source that already renders. Returns the text; replace the shapes with your own, then use pixelsrc_render.",
		arguments: []argument{
			{name: "asset_type", kind: word, required: true, more: `"enum": ["sprite", "animation", "anim", "palette", "composition"]`, text: "What to create."},
			{name: "name", required: true, more: `"pattern": "^[a-z][a-z0-9_]*$"`, text: "Its name: lower case letters, digits, underscores."},
			{name: "palette", text: "The palette to use: a built-in such as @pico8, or a name; for asset_type palette, a preset (forest, medieval, synthwave, ocean) or built-in to copy."},
			{name: "size", kind: pair, more: `"items": {"type": "integer", "minimum": 1, "maximum": 4096}`, normal: [2]int{16, 16}, text: "[width, height] in pixels."},
			{name: "width", kind: whole, text: "The width, instead of size."},
			{name: "height", kind: whole, text: "The height, instead of size."},
			{name: "cell_width", kind: whole, normal: 8, text: "The width of a composition's tiles."},
			{name: "cell_height", kind: whole, normal: 8, text: "The height of a composition's tiles."},
			{name: "tokens", text: "Token names for the palette, separated by commas."},
			{name: "colors", text: "Colours for the palette, separated by commas."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			s := pixelsrc.Sketch{
				Kind: get[string](c, "asset_type"), Name: get[string](c, "name"), Palette: get[string](c, "palette"),
				Size: get[[2]int](c, "size"), Cell: [2]int{get[int](c, "cell_width"), get[int](c, "cell_height")},
				Tokens: splitList(get[string](c, "tokens")), Colours: splitList(get[string](c, "colors")),
			}
			size := s.Size
			for i, name := range [...]string{"width", "height"} {
				if c.has(name) {
					size[i] = get[int](c, name)
				}
			}
			if c.has("size") && size != s.Size {
				return nil, failf("Cannot scaffold: size is %dx%d but width and height say %dx%d; give one of them.", s.Size[0], s.Size[1], size[0], size[1])
			}
			s.Size = size
			source, err := pixelsrc.Scaffold(s)
			if err != nil {
				return nil, err
			}
			return say(source), nil
		},
	}
}

// splitList splits at the commas outside parentheses; empty parts are dropped.
func splitList(text string) (list []string) {
	depth, from := 0, 0
	for i, r := range text + "," {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth > 0 && i < len(text) {
				continue
			}
			if t := strings.TrimSpace(text[from:i]); t != "" {
				list = append(list, t)
			}
			from = i + 1
		}
	}
	return list
}
