package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// tool is one tool: what clients see of it, and what it does.
type tool struct {
	name, title, text string
	takes             arguments.List
	// work is Large for what draws or keeps pictures and their colours, Medium for what only
	// reads a source. What draws one object says what that takes once the source is read.
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

// definition is what clients see of the tool. None of them writes anything.
func (t tool) definition() mcp.Tool {
	def := mcp.NewToolWithRawSchema(t.name, t.text, t.takes.Schema(arguments.Style{Nullable: true}))
	def.Title = t.title
	def.Annotations = mcp.ToolAnnotation{
		Title: t.title, ReadOnlyHint: mcp.ToBoolPtr(true), DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint: mcp.ToBoolPtr(true), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return def
}

// fromSource are the arguments of a tool that works on one source, before its own.
func fromSource(own ...arguments.Argument) arguments.List {
	return append(arguments.List{
		{Name: "source", Text: "The .pxl text; takes precedence over path."},
		{Name: "path", Text: "A .pxl or .jsonl file in the project."},
	}, own...)
}

// source reads the source that source and path name, or their variants for one side
// of a comparison.
func (c *call) source(side string) (*pixelsrc.Source, error) {
	text, path := "source"+side, "path"+side
	switch {
	case c.Has(text):
		if n := len(c.String(text)); n > pxl.MaxSource {
			return nil, pixelsrc.Failf("%s is %s; the limit is %d. Split it into several files.", text, humanize.Count(n, "byte"), pxl.MaxSource)
		}
		return c.server.Parse(c.ctx, c.who, c.String(text)), nil
	case c.Has(path):
		return c.server.Open(c.ctx, c.who, c.String(path))
	}
	return nil, pixelsrc.Failf("Either %s (the text) or %s (a .pxl file) is needed.", text, path)
}

// onSource runs a tool that works on one source.
func onSource(run func(*call, *pixelsrc.Source) ([]mcp.Content, error)) func(*call) ([]mcp.Content, error) {
	return func(c *call) ([]mcp.Content, error) {
		src, err := c.source("")
		if err != nil {
			return nil, err
		}
		return run(c, src)
	}
}

func analyze() tool {
	return tool{
		name: "pixelsrc_analyze", title: "Analyze pixel art sources", work: admission.Large,
		text: "Summarizes .pxl sources: sprites, palettes, tokens by visible pixels, tokens used together, sizes, token families. Takes a source, a file or a whole folder and returns JSON. Use it before adding to a project, to match its palettes and names.",
		takes: arguments.List{
			{Name: "source", Text: "The .pxl text; takes precedence over path."},
			{Name: "path", Text: "A .pxl or .jsonl file, or a folder, in the project."},
			{Name: "recursive", Kind: arguments.Flag, Default: true, Text: "Include subfolders."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			if !c.Has("path") || c.Has("source") {
				return onSource(func(c *call, src *pixelsrc.Source) ([]mcp.Content, error) {
					return document(pixelsrc.Analyze(c.ctx, src)), nil
				})(c)
			}
			k, err := c.server.AnalyzePath(c.ctx, c.who, c.String("path"), c.Bool("recursive"))
			if err != nil {
				return nil, err
			}
			return document(k), nil
		},
	}
}

func diff() tool {
	return tool{
		name: "pixelsrc_diff", title: "Compare pixel art", work: admission.Large,
		text: "Compares the sprites of two sources: sizes, colours, regions, pixels, metadata. Returns a JSON array with one entry per sprite, so that you see what an edit changed. Render the changed sprites next.",
		takes: arguments.List{
			{Name: "source_a", Text: "The old .pxl text."},
			{Name: "source_b", Text: "The new .pxl text."},
			{Name: "path_a", Text: "The old .pxl file, instead of source_a."},
			{Name: "path_b", Text: "The new .pxl file, instead of source_b."},
			{Name: "sprite", Text: "Compare only the sprite with this name."},
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
			d, err := pixelsrc.Diff(c.ctx, a, b, c.String("sprite"))
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
		takes: fromSource(
			arguments.Argument{Name: "name", Text: "Only the object with this name; @gameboy and so on explain a built-in palette."},
			arguments.Argument{Name: "from", Kind: arguments.Whole, Text: "The number of objects to skip, or with name the number of list entries to skip. Long answers are cut and say where to continue."},
		),
		run: onSource(func(c *call, src *pixelsrc.Source) ([]mcp.Content, error) {
			var name *string
			if c.Has("name") {
				n := c.String("name")
				name = &n
			}
			e, err := src.Explain(c.ctx, name, c.Int("from"))
			if err != nil {
				return nil, err
			}
			answer := say(e.JSON, e.Text)
			if e.Note != "" {
				answer = append(answer, say("Partial result:\n"+e.Note)...)
			}
			return answer, nil
		}),
	}
}

func format() tool {
	return tool{
		name: "pixelsrc_format", title: "Format a pixel art source", work: admission.Medium,
		text:  "Formats a source in the standard layout (one region per line, keys in a fixed order, strict JSON) and keeps everything in it, including comments. Returns the source text; write it back to the file.",
		takes: fromSource(arguments.Argument{Name: "check", Kind: arguments.Flag, Default: false, Text: "Only report whether formatting would change the source."}),
		run: func(c *call) ([]mcp.Content, error) {
			text := c.String("source")
			switch {
			case c.Has("source"):
			case c.Has("path"):
				var err error
				if text, err = c.server.ReadText(c.who, c.String("path")); err != nil {
					return nil, err
				}
			default:
				return nil, pixelsrc.Failf("source is missing: Either source (the text) or path (a .pxl file) is needed.")
			}
			if len(text) > pxl.MaxSource {
				return nil, pixelsrc.Failf("source is %s; the limit is %d. Split it into several files.", humanize.Count(len(text), "byte"), pxl.MaxSource)
			}
			f, err := pixelsrc.Format(text)
			switch {
			case err != nil:
				return nil, pixelsrc.Failf("%v. Nothing was formatted; fix it and format again.", err)
			case !c.Bool("check"):
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
		takes: arguments.List{
			{Name: "action", Kind: arguments.Word, More: `"enum": ["list", "show", null], "default": "list"`, Text: "list all, or show the one given by name."},
			{Name: "name", Text: "The palette to show, with or without @."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			action, name := c.String("action"), c.String("name")
			switch {
			case action == "list", action == "" && !c.Has("name"):
				details := pixelsrc.Palettes(true)
				for i := range details {
					details[i].Name = "@" + details[i].Name
				}
				return document(struct {
					Palettes []string                  `json:"palettes"`
					Details  []pixelsrc.PaletteSummary `json:"details"`
				}{pixelsrc.PaletteNames(), details}), nil
			case action != "show" && action != "":
				return nil, pixelsrc.Failf("Unknown action '%s': use list or show.", action)
			case strings.TrimSpace(name) == "":
				return nil, pixelsrc.Failf("To show a palette, give its name, one of: %s.", strings.Join(pixelsrc.PaletteNames(), ", "))
			}
			p, ok := pixelsrc.Palette(strings.TrimPrefix(name, "@"))
			if !ok {
				return nil, pixelsrc.Failf("%s", pixelsrc.NotFound("Palette", name, pixelsrc.PaletteNames()))
			}
			return document(p), nil
		},
	}
}

func prime() tool {
	return tool{
		name: "pixelsrc_prime", title: "Learn the pixel art format", work: admission.Small,
		text: "Returns the guide to the .pxl format as Markdown: objects, shapes, modifiers, animation, a complete example, advice. Read it (brief is enough to start) before writing a source; then render it with pixelsrc_render.",
		takes: arguments.List{
			{Name: "brief", Kind: arguments.Flag, Default: false, Text: "The short guide."},
			{Name: "section", Kind: arguments.Word, Enum: []string{"format", "examples", "tips", "full"}, Default: "full", Text: "One part of the full guide."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			if c.Bool("brief") {
				return say(guideBrief()), nil
			}
			return say(guideSection(c.String("section"))), nil
		},
	}
}

func suggest() tool {
	return tool{
		name: "pixelsrc_suggest", title: "Suggest fixes", work: admission.Medium,
		text:  "Finds misspelt tokens, names, fields and colours, missing sizes and the like, and suggests a fix for each, with a confidence. Returns JSON; with apply also the fixed source. Use it after pixelsrc_validate has reported problems.",
		takes: fromSource(arguments.Argument{Name: "apply", Kind: arguments.Flag, Default: false, Text: "Also return the source with the fixes made."}),
		run: onSource(func(c *call, src *pixelsrc.Source) ([]mcp.Content, error) {
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
				add("Showing %d of %s; fix these, or pass apply=true, and call again for the rest.", len(shown), humanize.Count(len(list), "suggestion"))
			}
			if unread > 0 {
				add("Skipped %s of the source that could not be read; pixelsrc_validate says where.", humanize.Count(unread, "part"))
			}
			if c.Bool("apply") {
				fixed, left := pixelsrc.Apply(src.Text, list)
				add("%s", fixed)
				if left > 0 {
					add("Not applied: %s, which needs your judgement.", humanize.Count(left, "suggestion"))
				}
			}
			return answer, nil
		}),
	}
}

func validate() tool {
	return tool{
		name: "pixelsrc_validate", title: "Validate a pixel art source", work: admission.Large,
		text:  "Checks a source without drawing: syntax, colours, tokens, references, shapes off the canvas, misspelt fields. Returns JSON with line, code, message and suggestion for each problem. Use pixelsrc_suggest for fixes.",
		takes: fromSource(arguments.Argument{Name: "strict", Kind: arguments.Flag, Default: false, Text: "Treat warnings as errors."}),
		run: onSource(func(c *call, src *pixelsrc.Source) ([]mcp.Content, error) {
			return document(src.Verdict(c.Bool("strict"))), nil
		}),
	}
}

func scaffold() tool {
	return tool{
		name: "pixelsrc_scaffold", title: "Start a pixel art source", work: admission.Medium,
		text: "Writes a skeleton sprite, animation, palette or composition: valid source that already renders. Returns the text; replace the shapes with your own, then use pixelsrc_render.",
		takes: arguments.List{
			{Name: "asset_type", Kind: arguments.Word, Required: true, More: `"enum": ["sprite", "animation", "anim", "palette", "composition"]`, Text: "What to create."},
			{Name: "name", Required: true, More: `"pattern": "^[a-z][a-z0-9_]*$"`, Text: "Its name: lower case letters, digits, underscores."},
			{Name: "palette", Text: "The palette to use: a built-in such as @pico8, or a name; for asset_type palette, a preset (forest, medieval, synthwave, ocean) or built-in to copy."},
			{Name: "size", Kind: arguments.Pair, More: `"items": {"type": "integer", "minimum": 1, "maximum": 4096}`, Default: [2]int{16, 16}, Text: "[width, height] in pixels."},
			{Name: "width", Kind: arguments.Whole, Text: "The width, instead of size."},
			{Name: "height", Kind: arguments.Whole, Text: "The height, instead of size."},
			{Name: "cell_width", Kind: arguments.Whole, Default: 8, Text: "The width of a composition's tiles."},
			{Name: "cell_height", Kind: arguments.Whole, Default: 8, Text: "The height of a composition's tiles."},
			{Name: "tokens", Text: "Token names for the palette, separated by commas."},
			{Name: "colors", Text: "Colours for the palette, separated by commas."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			s := pixelsrc.Sketch{
				Kind: c.String("asset_type"), Name: c.String("name"), Palette: c.String("palette"),
				Size: arguments.Get[[2]int](c.Values, "size"), Cell: [2]int{c.Int("cell_width"), c.Int("cell_height")},
				Tokens: splitList(c.String("tokens")), Colours: splitList(c.String("colors")),
			}
			size := s.Size
			for i, name := range [...]string{"width", "height"} {
				if c.Has(name) {
					size[i] = c.Int(name)
				}
			}
			if c.Has("size") && size != s.Size {
				return nil, pixelsrc.Failf("Cannot scaffold: size is %dx%d but width and height say %dx%d; give one of them.", s.Size[0], s.Size[1], size[0], size[1])
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
