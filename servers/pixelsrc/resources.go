package pixelsrc

import (
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc/pxl"
)

//go:embed guide/*.md examples/*.pxl
var files embed.FS

// text reads an embedded file; "" when there is none.
func text(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(b)
}

func guideFull() string  { return text("guide/full.md") }
func guideBrief() string { return text("guide/brief.md") }

// guideSection is a part of the full guide, by its short name.
func guideSection(name string) (string, bool) {
	heading, ok := map[string]string{
		"full": "", "format": "Format Quick Reference", "examples": "Complete Example", "tips": "Best Practices",
	}[name]
	full := guideFull()
	if !ok || heading == "" {
		return full, ok
	}
	_, rest, found := strings.Cut(full, "\n## "+heading+"\n")
	if !found {
		return full, true
	}
	if i := strings.Index(rest, "\n## "); i >= 0 {
		rest = rest[:i+1]
	}
	return "## " + heading + "\n" + rest, true
}

// Examples lists the names of the example sources.
func Examples() []string {
	entries, _ := fs.ReadDir(files, "examples")
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".pxl"))
	}
	return names
}

// Example is the source of an example, "" for an unknown name.
func Example(name string) string {
	if !slices.Contains(Examples(), name) {
		return ""
	}
	return text("examples/" + name + ".pxl")
}

// templateTypes lists the prompt templates.
func templateTypes() []string { return []string{"character", "item", "tileset", "animation"} }

// Resource is a document that clients may read.
type Resource struct {
	URI, Name, Title, Description, MIME string
}

// Resources lists the static documents.
func Resources() []Resource {
	return []Resource{
		{"pixelsrc://format-spec", "format-spec", "The pixelsrc format", "The full guide to the .pxl format, with examples and advice.", "text/markdown"},
		{"pixelsrc://format-brief", "format-brief", "The pixelsrc format in brief", "One page on the .pxl format: enough to start.", "text/markdown"},
		{"pixelsrc://palettes", "palettes", "Built-in palettes", "The names and sizes of the built-in palettes.", "application/json"},
	}
}

// Templates lists the documents whose address has a variable part.
func Templates() []Resource {
	return []Resource{
		{"pixelsrc://palette/{name}", "palette", "A built-in palette", "The tokens and colours of a built-in palette.", "application/json"},
		{"pixelsrc://example/{name}", "example", "An example", "A complete .pxl source: " + strings.Join(Examples(), ", ") + ".", "text/plain"},
		{"pixelsrc://template/{type}", "template", "A prompt template", "A prompt to fill in: " + strings.Join(templateTypes(), ", ") + ".", "text/markdown"},
	}
}

// Read gives the text of a resource. The error names the valid values.
func Read(uri string) (mime, body string, err error) {
	for _, r := range Resources() {
		if r.URI != uri {
			continue
		}
		switch r.Name {
		case "format-spec":
			return r.MIME, guideFull(), nil
		case "format-brief":
			return r.MIME, guideBrief(), nil
		}
		return r.MIME, pretty(catalogue(false)), nil
	}
	for _, t := range Templates() {
		prefix, _, _ := strings.Cut(t.URI, "{")
		raw, ok := strings.CutPrefix(uri, prefix)
		if !ok {
			continue
		}
		name, bad := url.PathUnescape(raw)
		if bad != nil || strings.Contains(name, "/") || strings.Contains(name, "..") {
			name = raw
		}
		body, err := readTemplate(t.Name, name)
		return t.MIME, body, err
	}
	return "", "", fmt.Errorf("unknown resource %q: there are pixelsrc://format-spec, pixelsrc://format-brief, pixelsrc://palettes, pixelsrc://palette/NAME, pixelsrc://example/NAME and pixelsrc://template/TYPE", uri)
}

func readTemplate(kind, name string) (string, error) {
	unknown := func(what string, valid []string) (string, error) {
		return "", sentencef("Unknown %s '%s'; there are %s", what, name, strings.Join(valid, ", "))
	}
	switch kind {
	case "palette":
		plain := strings.TrimPrefix(name, "@")
		c, ok := card(plain)
		if !ok {
			return unknown("palette", pxl.Builtins())
		}
		c.Name = name
		return pretty(c), nil
	case "example":
		if e := Example(name); e != "" {
			return e, nil
		}
		return unknown("example", Examples())
	}
	if slices.Contains(templateTypes(), name) {
		return text("guide/template_" + name + ".md"), nil
	}
	return unknown("template type", templateTypes())
}

// Complete lists the values of a variable part or prompt argument that start
// with what is typed so far. of is the URI of a template or the name of a prompt.
func Complete(of, argument, typed string) []string {
	var all []string
	switch {
	case strings.HasPrefix(of, "pixelsrc://palette/"):
		all = pxl.Builtins()
	case strings.HasPrefix(of, "pixelsrc://example/"):
		all = Examples()
	case strings.HasPrefix(of, "pixelsrc://template/"):
		all = templateTypes()
	case argument == "palette":
		all = append([]string{"custom"}, pxl.Builtins()...)
	case argument == "genre":
		for _, g := range genres() {
			all = append(all, g.name)
		}
	case argument == "style":
		all = []string{"retro", "modern", "minimal", "detailed", "cute", "dark"}
	case argument == "size":
		all = []string{"8x8", "16x16", "24x24", "32x32", "48x48", "64x64"}
	}
	list := []string{}
	plain, at := strings.CutPrefix(typed, "@") // what is completed must begin with what was typed
	for _, v := range all {
		if !strings.HasPrefix(strings.ToLower(v), strings.ToLower(plain)) || at && v == "custom" {
			continue
		}
		if at {
			v = "@" + v
		}
		list = append(list, v)
	}
	return list
}
