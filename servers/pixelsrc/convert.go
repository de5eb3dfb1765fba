package pixelsrc

import (
	"path"
	"strings"
)

func runFormat(c *call) Answer {
	check := c.args.Flag("check", false)
	if !c.args.Has("source") && !c.args.Has("path") {
		return fail("source is missing: Either source (the text) or path (a .pxl file) is needed.")
	}
	text, _ := c.args.Text("source")
	if !c.args.Has("source") {
		given, _ := c.args.Text("path")
		if c.args.problem != "" {
			return fail("%s", c.args.problem)
		}
		f, err := c.read(given, maxSource, sourceExtensions()...)
		if err != nil {
			return fail("Failed to read file '%s': %v.", given, err)
		}
		text = string(f.data)
	}
	if len(text) > maxSource {
		return fail("source is %d bytes; the limit is %d MiB. Split it into several files.", len(text), maxSource>>20)
	}
	f, err := Format(text)
	if err != nil {
		return fail("%v. Nothing was formatted; fix it and format again.", err)
	}
	if check {
		if f.Text == text {
			return say("The source is formatted.")
		}
		return say("The source would change.")
	}
	a := say(f.Text)
	if len(f.Dropped) > 0 {
		a.Blocks = append(a.Blocks, Block{Text: strings.Join(f.Dropped, "\n")})
	}
	return a
}

func runImport(c *call) Answer {
	o := ImportOptions{MaxColors: c.args.Int("max_colors", 16)}
	o.Analyze, o.Points = c.args.Flag("analyze", false), !c.args.Flag("shapes", true)
	o.Name, _ = c.args.Text("name")
	text, inline := c.args.Text("image")
	given, byPath := c.args.Text("path")
	if c.args.problem != "" {
		return fail("%s", c.args.problem)
	}
	if o.MaxColors < 2 || o.MaxColors > 256 {
		return fail("max_colors is %d; it must be 2 to 256 (the transparent colour counts).", o.MaxColors)
	}
	var data []byte
	switch {
	case inline:
		var err error
		if data, err = decodeBase64(text); err != nil {
			return fail("%v.", err)
		}
	case byPath:
		f, err := c.read(given, maxImageBytes, ".png")
		if err != nil {
			return fail("File not found: %s: %v.", given, err)
		}
		data = f.data
		if o.Name == "" {
			o.Name = strings.TrimSuffix(path.Base(f.rel), path.Ext(f.rel))
		}
	default:
		return fail("Either image (a PNG, base64 encoded) or path (a .png file) is needed.")
	}
	img, err := DecodePNG(data)
	if err != nil {
		return fail("%v.", err)
	}
	im, err := Import(c.ctx, img, o)
	if err != nil {
		return fail("Cannot %v.", err)
	}
	return say(im.Source, im.summary())
}

func runPrime(c *call) Answer {
	brief := c.args.Flag("brief", false)
	section := c.args.Word("section", "full")
	text, ok := guideSection(section)
	if !ok {
		return fail("Unknown section '%s': use one of format, examples, tips, full.", section)
	}
	if brief {
		text = guideBrief()
	}
	return say(text)
}
