package mcpserver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// prompt is a prepared conversation.
type prompt struct {
	name, title, text string
	arguments         []promptArgument
	// fill makes the conversation; get gives an argument, or its default.
	fill func(ctx context.Context, h *handlers, get func(string) string) conversation
}

// promptArgument is one argument of a prompt.
type promptArgument struct {
	name, text string
	normal     string   // what an absent one counts as; "" for one that is required
	values     []string // those that completion offers
	asIs       bool     // white space at its ends counts
}

// conversation is a prompt with its arguments filled in: what the assistant is to know,
// and what the user asks for.
type conversation struct {
	description, assistant, user string
}

// prompts lists the prompts.
func prompts() []prompt {
	var names []string
	for _, g := range genres() {
		names = append(names, g.name)
	}
	return []prompt{
		{"create_sprite", "Create a sprite", "Draw a sprite from a description, with the format, guidelines and a palette included.", []promptArgument{
			{name: "description", text: "What to draw."},
			{name: "size", text: "Width x height in pixels, 16x16 by default.", normal: "16x16", values: []string{"8x8", "16x16", "24x24", "32x32", "48x48", "64x64"}},
			{name: "palette", text: "A built-in palette such as pico8, or custom.", normal: "custom", values: append([]string{"custom"}, pxl.Builtins()...)},
			{name: "style", text: "The style, retro by default.", normal: "retro", values: []string{"retro", "modern", "minimal", "detailed", "cute", "dark"}},
		}, createSprite},
		{"create_animation", "Create an animation", "Draw an animation from a description, with the format, timing advice and an example included.", []promptArgument{
			{name: "description", text: "What to animate."},
			{name: "frames", text: "How many frames, 4 by default.", normal: "4"},
			{name: "fps", text: "Frames per second, 8 by default.", normal: "8"},
		}, createAnimation},
		{"review_pxl", "Review a source", "Review a .pxl source, with its diagnostics and a checklist included.", []promptArgument{
			{name: "source", text: "The .pxl text.", asIs: true},
		}, review},
		{"pixel_art_guide", "Pixel art for a genre", "Advice on palettes and style for a genre of game.", []promptArgument{
			{name: "genre", text: "RPG, platformer, puzzle, horror, sci-fi, fantasy, …", values: names},
		}, guideForGenre},
	}
}

// definition is what clients see of the prompt.
func (p prompt) definition() mcp.Prompt {
	def := mcp.Prompt{Name: p.name, Title: p.title, Description: p.text}
	for _, a := range p.arguments {
		def.Arguments = append(def.Arguments, mcp.PromptArgument{Name: a.name, Description: a.text, Required: a.normal == ""})
	}
	return def
}

// prompt is the handler of a prompt.
func (h *handlers) prompt(p prompt) server.PromptHandlerFunc {
	return func(ctx context.Context, req mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		given := map[string]string{}
		for _, a := range p.arguments {
			v := req.Params.Arguments[a.name]
			if !a.asIs {
				v = strings.TrimSpace(v)
			}
			switch {
			case strings.TrimSpace(v) != "":
				given[a.name] = v
			case a.normal == "":
				return nil, &rpc.Error{Code: mcp.INVALID_PARAMS, Message: fmt.Sprintf("fill in prompt: the argument %q of %s is required", a.name, p.name)}
			default:
				given[a.name] = a.normal
			}
		}
		c := p.fill(ctx, h, func(name string) string { return given[name] })
		return mcp.NewGetPromptResult(c.description, []mcp.PromptMessage{
			mcp.NewPromptMessage(mcp.RoleAssistant, mcp.NewTextContent(c.assistant)),
			mcp.NewPromptMessage(mcp.RoleUser, mcp.NewTextContent(c.user)),
		}), nil
	}
}

// fence puts text that is not ours between fences that it cannot close.
func fence(kind, body string) string {
	run, longest := 0, 2
	for _, r := range body {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	mark := strings.Repeat("`", longest+1)
	return mark + kind + "\n" + strings.TrimSuffix(body, "\n") + "\n" + mark
}

func createSprite(_ context.Context, _ *handlers, get func(string) string) conversation {
	description, size, palette, style := get("description"), get("size"), get("palette"), get("style")
	var b strings.Builder
	b.WriteString(guideBrief())
	b.WriteString("\n" + page("create_sprite") + "\n")
	b.WriteString(paletteAdvice(palette))
	fmt.Fprintf(&b, "\n## Style\n\nThe requested style is quoted in the request. Let it decide the number of colours, the strength of outlines and the amount of detail.\n")
	if arguments.Pair.Read(size) == nil {
		b.WriteString("\nThe requested size is not in the form WIDTHxHEIGHT; choose a suitable one such as 16x16 and say so.\n")
	}
	user := fmt.Sprintf("Create a pixel art sprite.\n\nDescription:\n%s\n\nSize: %s\nPalette: %s\nStyle: %s\n\nAnswer with valid .pxl source: the palette object first, then the sprite.",
		fence("", description), oneLine(size), oneLine(palette), oneLine(style))
	return conversation{"Create a sprite: " + oneLine(description), b.String(), user}
}

// oneLine keeps what the user typed on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

func paletteAdvice(palette string) string {
	name := strings.TrimPrefix(palette, "@")
	if name == "custom" {
		return "## Palette\n\nMake your own palette: `\"_\": \"#00000000\"` first, then a dark outline, and two or three shades of each main colour.\n"
	}
	c, ok := pixelsrc.Palette(name)
	if !ok {
		return "## Palette\n\nThe requested palette is not built in; the valid names are " + strings.Join(pixelsrc.PaletteNames(), ", ") + ". Make your own in the same spirit, with `\"_\": \"#00000000\"`.\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "## Palette\n\nUse the built-in palette @%s (`%s`), no palette object is needed. Its tokens:\n\n| token | colour |\n|---|---|\n", name, c.Usage)
	for _, t := range c.Tokens {
		fmt.Fprintf(&b, "| %s | %s |\n", t[0], t[1])
	}
	return b.String()
}

func createAnimation(_ context.Context, _ *handlers, get func(string) string) conversation {
	description, frames, fps := get("description"), get("frames"), get("fps")
	var notes []string
	n, err := strconv.Atoi(frames)
	if err != nil || n < 1 || n > 256 {
		n = 4
		notes = append(notes, "The requested number of frames is not between 1 and 256; using 4.")
	}
	rate, duration := 8, 125
	if f, err := strconv.Atoi(fps); err == nil && f > 0 {
		rate, duration = f, max(1000/f, 1)
	} else {
		notes = append(notes, "The requested frame rate is not a positive number; using 8 fps.")
	}
	if duration == 1 && rate > 1000 {
		notes = append(notes, "The requested frame rate is too high; using 1ms per frame.")
	}
	var b strings.Builder
	b.WriteString(guideBrief())
	fmt.Fprintf(&b, `
## Animation Guidelines

- One palette, shared by all frames; the same size for all.
- Name the frames NAME_1, NAME_2, … and the animation NAME.
- Timing: %d fps, so each frame lasts %dms.
- Frames: walk 4 or more, idle 2 to 4, attack 3 to 5, spin 4 to 8, effects 4 to 6. For a movement of the whole sprite use keyframes instead.
- Change as little as possible from frame to frame; keep the feet or the centre in place.

The animation object:

%s

A complete animation:

%s
`, rate, duration, fence("json", fmt.Sprintf(`{"type": "animation", "name": "NAME", "frames": ["NAME_1", "NAME_2"], "duration": %d}`, duration)), fence("", pixelsrc.Example("walk_cycle")))
	for _, n := range notes {
		b.WriteString("\n" + n + "\n")
	}
	user := fmt.Sprintf("Create a %d-frame pixel art animation at %d fps (%dms per frame).\n\nDescription:\n%s\n\nAnswer with valid .pxl source: the palette, the frames, the animation last. Render it with pixelsrc_render and look at the contact sheet.",
		n, rate, duration, fence("", description))
	return conversation{"Create an animation: " + oneLine(description), b.String(), user}
}

// review prepares the review of a source with what validation finds in it.
func review(ctx context.Context, h *handlers, get func(string) string) conversation {
	text := get("source")
	var b strings.Builder
	b.WriteString(guideBrief())
	b.WriteString("\n" + page("review_pxl"))
	b.WriteString("\n## Diagnostics of the source\n\n")
	if len(text) > pxl.MaxSource {
		b.WriteString("The source is larger than " + humanize.Bytes(pxl.MaxSource) + " and was not checked.\n")
	} else {
		issues := h.server.Parse(ctx, caller(ctx), text).Issues()
		if len(issues) == 0 {
			b.WriteString("None: the source is valid.\n")
		}
		for i, is := range issues {
			if i == 50 {
				fmt.Fprintf(&b, "- … and %d more\n", len(issues)-50)
				break
			}
			line := fmt.Sprintf("- line %d: %s: %s: %s", is.Line, is.Severity, is.Code, is.Message)
			if is.Suggestion != "" {
				line += " (" + is.Suggestion + ")"
			}
			b.WriteString(oneLine(line) + "\n")
		}
	}
	user := "Review this .pxl source. Name the problems by line, most important first, and answer with an improved source.\n\n" + fence("json5", text)
	return conversation{"Review a .pxl source", b.String(), user}
}

// genre is what suits a kind of game.
type genre struct{ name, advice string }

func genres() []genre {
	return []genre{
		{"RPG", "16 to 32 colours, @nes or @pico8; warm skin tones, clear classes by colour; 16x16 or 24x24 characters, tiles of the same size."},
		{"platformer", "bright colours and high contrast between platforms and background, @pico8 or @nes; silhouettes readable in motion."},
		{"puzzle", "clean shapes and clearly distinct colours, @gameboy or @1bit; shape as well as colour tells pieces apart."},
		{"horror", "desaturated colours, the dark half of @gameboy, or @grayscale with one accent; hide more than you show."},
		{"sci-fi", "cool colours with neon accents, @pico8 or custom; straight edges, panels, small lights."},
		{"fantasy", "warm earth colours with magical accents, @nes or custom; organic outlines, gold for valuables."},
	}
}

func guideForGenre(_ context.Context, _ *handlers, get func(string) string) conversation {
	name := get("genre")
	var b strings.Builder
	b.WriteString("# Pixel art guide\n\n## Built-in palettes\n\n")
	for _, p := range pixelsrc.Palettes(false) {
		fmt.Fprintf(&b, "- @%s: %s\n", p.Name, humanize.Count(p.Count, "color"))
	}
	b.WriteString("\n" + page("pixel_art") + "\n")
	list := genres()
	at := slices.IndexFunc(list, func(g genre) bool { return strings.EqualFold(g.name, name) })
	if at > 0 {
		g := list[at]
		list = append([]genre{g}, slices.Delete(list, at, at+1)...)
	}
	if at < 0 {
		b.WriteString("- For any other genre: choose the mood first, then 8 to 16 colours that carry it; let one accent colour mark what matters.\n")
	}
	for _, g := range list {
		fmt.Fprintf(&b, "- %s: %s\n", g.name, g.advice)
	}
	user := fmt.Sprintf("Give me advice on pixel art for this genre: %s\n\nWhich palette, sizes, outlines and animation speeds suit it? Show one small sprite as valid .pxl source.", oneLine(name))
	return conversation{"Pixel art for " + oneLine(name), b.String(), user}
}
