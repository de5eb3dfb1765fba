package offer

import (
	"encoding/base64"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
)

func render() tool {
	return tool{
		name: "pixelsrc_render", title: "Render pixel art", work: admission.Large,
		text: "Draws a sprite, variant, composition or animation and returns the picture (PNG; an animation as GIF and contact sheet) with a summary of size, colours and warnings. Look at the result, improve the source, render again. Use a scale of about 8 for small sprites.",
		arguments: fromSource([]argument{
			{name: "sprite", text: "The sprite or variant to draw; the first sprite by default."},
			{name: "composition", text: "The composition to draw, instead of a sprite."},
			{name: "animation", text: "The animation or particle to draw, instead of a sprite."},
			{name: "scale", kind: whole, more: `"minimum": 1, "maximum": 16`, normal: 1, text: "Scale factor, without smoothing."},
			{name: "antialias", kind: word, enum: append([]string{"none"}, pxl.Algorithms()...), text: "A filter that smooths before scaling; those named 2x and 4x also scale up."},
			{name: "strength", kind: number, more: `"minimum": 0, "maximum": 1`, text: "How strongly the filter smooths."},
			{name: "format", kind: word, enum: pixelsrc.Formats(), normal: "auto", text: "auto: PNG, or GIF and sheet for an animation; png: the first frame; ansi: coloured half blocks as text."},
			{name: "states", kind: words, more: `"items": {"type": "string"}`, text: "States to make active for state rules, such as [\"damaged\"]."},
			{name: "all_states", kind: flag, normal: false, text: "Make every state active."},
			{name: "slice", kind: pair, more: `"items": {"type": "integer"}`, text: "[width, height] to stretch a sprite with nine_slice to."},
			{name: "tag", text: "For an animation, only the frames of this tag."},
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
	o.Scale, o.Format = get[int](c, "scale"), get[string](c, "format")
	var named []string
	for _, k := range [...]pxl.Kind{pxl.KindSprite, pxl.KindComposition, pxl.KindAnimation} {
		if name := get[string](c, string(k)); name != "" {
			named = append(named, string(k))
			o.Kind, o.Name = k, name
		}
	}
	if len(named) > 1 {
		return o, failf("Give only one of %s.", strings.Join(named, " and "))
	}
	o.Antialias = get[string](c, "antialias")
	if c.has("strength") {
		v := min(max(get[float64](c, "strength"), 0), 1)
		o.Strength = &v
	}
	o.States, o.AllStates, o.Tag = get[[]string](c, "states"), get[bool](c, "all_states"), get[string](c, "tag")
	o.Slice = get[[2]int](c, "slice")
	if c.has("slice") && (min(o.Slice[0], o.Slice[1]) < 1 || max(o.Slice[0], o.Slice[1]) > pxl.MaxSide) {
		return o, failf("slice must be the size of a nine-slice sprite in pixels: two integers from 1 to %d.", pxl.MaxSide)
	}
	return o, nil
}

func imported() tool {
	return tool{
		name: "pixelsrc_import", title: "Import a PNG", work: admission.Large,
		text: "Turns a PNG into .pxl source that renders to the same pixels, built from rectangles, lines, ellipses and other shapes. Returns the source, ready to render or edit, and a summary. Rename the tokens c1, c2, … to what they show.",
		arguments: []argument{
			{name: "image", more: `"contentEncoding": "base64", "contentMediaType": "image/png"`, text: "The PNG, base64 encoded; takes precedence over path."},
			{name: "path", text: "A .png file in the project."},
			{name: "max_colors", kind: whole, more: `"minimum": 2, "maximum": 256`, normal: 16, text: "The maximum number of colours, including the transparent one."},
			{name: "name", text: "The sprite's name; the file's name by default."},
			{name: "analyze", kind: flag, normal: false, text: "Find roles, relationships and stacking order too."},
			{name: "shapes", kind: flag, normal: true, text: "Find shapes; if false, list single pixels."},
		},
		run: func(c *call) ([]mcp.Content, error) {
			o := pixelsrc.ImportOptions{
				MaxColors: get[int](c, "max_colors"), Analyze: get[bool](c, "analyze"), Points: !get[bool](c, "shapes"), Name: get[string](c, "name"),
			}
			if o.MaxColors < 2 || o.MaxColors > 256 {
				return nil, failf("max_colors is %d; it must be 2 to 256 (including the transparent colour).", o.MaxColors)
			}
			var data []byte
			var file string
			var err error
			switch {
			case c.has("image"):
				data, err = decodeBase64(get[string](c, "image"))
			case c.has("path"):
				data, file, err = c.server.ReadPicture(c.who, get[string](c, "path"))
			default:
				err = failf("Either image (a PNG, base64 encoded) or path (a .png file) is needed.")
			}
			if err != nil {
				return nil, err
			}
			if o.Name == "" {
				o.Name = file
			}
			img, err := pixelsrc.DecodePNG(data)
			if err != nil {
				return nil, failf("%v.", err)
			}
			im, err := pixelsrc.Import(c.ctx, img, o)
			if err != nil {
				return nil, failf("Cannot %v.", err)
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
		return nil, failf("image is too large: at most %d MiB.", pixelsrc.MaxImageBytes>>20)
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
		return nil, failf("Invalid base64 in image: send the bytes of a PNG file, base64 encoded.")
	}
	if len(data) > pixelsrc.MaxImageBytes {
		return nil, failf("image is too large: at most %d MiB.", pixelsrc.MaxImageBytes>>20)
	}
	return data, nil
}
