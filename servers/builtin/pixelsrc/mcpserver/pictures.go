package mcpserver

import (
	"cmp"
	"encoding/base64"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

func render() tool {
	return tool{
		name: "pixelsrc_render", title: "Render pixel art", work: admission.Medium,
		text: "Draws a sprite, variant, composition or animation and returns the picture (PNG; an animation as GIF and contact sheet) with a summary of size, colours and warnings. Look at the result, improve the source, render again. Use a scale of about 8 for small sprites.",
		takes: fromSource([]arguments.Argument{
			{Name: "sprite", Text: "The sprite or variant to draw; the first sprite by default."},
			{Name: "composition", Text: "The composition to draw, instead of a sprite."},
			{Name: "animation", Text: "The animation or particle to draw, instead of a sprite."},
			{Name: "scale", Kind: arguments.Whole, More: `"minimum": 1, "maximum": 16`, Default: 1, Text: "Scale factor, without smoothing."},
			{Name: "antialias", Kind: arguments.Word, Enum: append([]string{"none"}, pxl.Algorithms()...), Text: "A filter that smooths before scaling; those named 2x and 4x also scale up."},
			{Name: "strength", Kind: arguments.Number, More: `"minimum": 0, "maximum": 1`, Text: "How strongly the filter smooths."},
			{Name: "format", Kind: arguments.Word, Enum: pixelsrc.Formats(), Default: "auto", Text: "auto: PNG, or GIF and sheet for an animation; png: the first frame; ansi: coloured half blocks as text."},
			{Name: "states", Kind: arguments.Words, Text: "States to make active for state rules, such as [\"damaged\"]."},
			{Name: "all_states", Kind: arguments.Flag, Default: false, Text: "Make every state active."},
			{Name: "slice", Kind: arguments.Pair, Text: "[width, height] to stretch a sprite with nine_slice to."},
			{Name: "tag", Text: "For an animation, only the frames of this tag."},
		}...),
		run: func(c *call) ([]mcp.Content, error) {
			o, err := c.order()
			if err != nil {
				return nil, err
			}
			src, err := c.source("")
			if err != nil {
				return nil, err
			}
			if err := c.needs(admission.Medium.Need() + src.Need(o)); err != nil {
				return nil, err
			}
			d, err := c.server.Render(c.ctx, c.who, src, o)
			if err != nil {
				return nil, err
			}
			var answer []mcp.Content
			for _, p := range d.Pictures {
				answer = append(answer, mcp.NewImageContent(base64.StdEncoding.EncodeToString(p.Data), p.MIME))
			}
			return append(answer, say(d.Text)...), nil
		},
	}
}

// order checks the arguments of a render call.
func (c *call) order() (o pixelsrc.Order, err error) {
	o.Scale, o.Format = c.Int("scale"), c.String("format")
	var named []string
	for _, k := range [...]pxl.Kind{pxl.KindSprite, pxl.KindComposition, pxl.KindAnimation} {
		if name := c.String(string(k)); name != "" {
			named = append(named, string(k))
			o.Kind, o.Name = k, name
		}
	}
	if len(named) > 1 {
		return o, pixelsrc.Failf("Give only one of %s.", strings.Join(named, " and "))
	}
	o.Antialias = c.String("antialias")
	if c.Has("strength") {
		v := min(max(arguments.Get[float64](c.Values, "strength"), 0), 1)
		o.Strength = &v
	}
	o.States, o.AllStates, o.Tag = c.Strings("states"), c.Bool("all_states"), c.String("tag")
	o.Slice = arguments.Get[[2]int](c.Values, "slice")
	if c.Has("slice") && (min(o.Slice[0], o.Slice[1]) < 1 || max(o.Slice[0], o.Slice[1]) > pxl.MaxSide) {
		return o, pixelsrc.Failf("slice must be the size of a nine-slice sprite in pixels: two integers from 1 to %d.", pxl.MaxSide)
	}
	return o, nil
}

func imported() tool {
	return tool{
		name: "pixelsrc_import", title: "Import a PNG", work: admission.Large,
		text: "Turns a PNG into .pxl source that renders to the same pixels, built from rectangles, lines, ellipses and other shapes. Returns the source, ready to render or edit, and a summary. Rename the tokens c1, c2, … to what they show.",
		takes: arguments.List{
			{Name: "image", More: `"contentEncoding": "base64", "contentMediaType": "image/png"`, Text: "The PNG, base64 encoded; takes precedence over path."},
			{Name: "path", Text: "A .png file in the project."},
			{Name: "max_colors", Kind: arguments.Whole, More: `"minimum": 2, "maximum": 256`, Default: 16, Text: "The maximum number of colours, including the transparent one."},
			{Name: "name", Text: "The sprite's name; the file's name by default."},
			{Name: "analyze", Kind: arguments.Flag, Default: false, Text: "Find roles, relationships and stacking order too."},
			{Name: "shapes", Kind: arguments.Flag, Default: true, Text: "Find shapes; if false, list single pixels."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			o := pixelsrc.ImportOptions{
				MaxColors: c.Int("max_colors"), Analyze: c.Bool("analyze"), Points: !c.Bool("shapes"), Name: c.String("name"),
			}
			if o.MaxColors < 2 || o.MaxColors > 256 {
				return nil, pixelsrc.Failf("max_colors is %d; it must be 2 to 256 (including the transparent colour).", o.MaxColors)
			}
			var data []byte
			var file string
			var err error
			switch {
			case c.Has("image"):
				data, err = decodeBase64(c.String("image"))
			case c.Has("path"):
				data, file, err = c.server.ReadPicture(c.who, c.String("path"))
			default:
				err = pixelsrc.Failf("Either image (a PNG, base64 encoded) or path (a .png file) is needed.")
			}
			if err != nil {
				return nil, err
			}
			o.Name = cmp.Or(o.Name, file)
			img, err := pixelsrc.DecodePNG(data)
			if err != nil {
				return nil, pixelsrc.Failf("%v.", err)
			}
			im, err := pixelsrc.Import(c.ctx, img, o)
			if err != nil {
				return nil, pixelsrc.Failf("Cannot %v.", err)
			}
			return say(im.Source, im.Summary()), nil
		},
	}
}

// decodeBase64 reads base64 in the standard or the URL-safe alphabet, with or
// without padding, white space and a data: prefix.
func decodeBase64(s string) ([]byte, error) {
	if i := strings.Index(s, ";base64,"); strings.HasPrefix(s, "data:") && i > 0 {
		s = s[i+len(";base64,"):]
	}
	if len(s) > pixelsrc.MaxImageBytes/3*4+1<<16 {
		return nil, pixelsrc.Failf("image is too large: at most %s.", humanize.Bytes(pixelsrc.MaxImageBytes))
	}
	s = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\r', '\t', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, s)
	data, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, pixelsrc.Failf("Invalid base64 in image: send the bytes of a PNG file, base64 encoded.")
	}
	if len(data) > pixelsrc.MaxImageBytes {
		return nil, pixelsrc.Failf("image is too large: at most %s.", humanize.Bytes(pixelsrc.MaxImageBytes))
	}
	return data, nil
}
