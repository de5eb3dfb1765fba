package mcpserver

import (
	"context"
	"embed"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc/pxl"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

//go:embed guide/*.md
var guide embed.FS

// page is a page of the guide; "" when there is none.
func page(name string) string {
	b, _ := guide.ReadFile("guide/" + name + ".md") // unknown: nil
	return string(b)
}

func guideFull() string  { return page("full") }
func guideBrief() string { return page("brief") }

// guideSection is a part of the full guide by its short name, else all of it.
func guideSection(name string) string {
	heading := map[string]string{"format": "Format Quick Reference", "examples": "Complete Example", "tips": "Best Practices"}[name]
	full := guideFull()
	_, rest, found := strings.Cut(full, "\n## "+heading+"\n")
	if !found {
		return full
	}
	if i := strings.Index(rest, "\n## "); i >= 0 {
		rest = rest[:i+1]
	}
	return "## " + heading + "\n" + rest
}

// templateTypes lists the prompt templates.
func templateTypes() []string { return []string{"character", "item", "tileset", "animation"} }

// resource is a document that clients may read.
type resource struct {
	uri, name, title, text, mime string
	// read gives the document, of a template that of the value of its variable part.
	read func(value string) (string, error)
	// values are those that the variable part can have; nil without one.
	values func() []string
}

func constant(f func() string) func(string) (string, error) {
	return func(string) (string, error) { return f(), nil }
}

// resources lists the static documents.
func resources() []resource {
	list := func() string { return pixelsrc.JSON(pixelsrc.Palettes(false)) }
	return []resource{
		{"pixelsrc://format-spec", "format-spec", "The pixelsrc format", "The full guide to the .pxl format, with examples and advice.", "text/markdown", constant(guideFull), nil},
		{"pixelsrc://format-brief", "format-brief", "The pixelsrc format in brief", "One page on the .pxl format: enough to get started.", "text/markdown", constant(guideBrief), nil},
		{"pixelsrc://palettes", "palettes", "Built-in palettes", "The names and sizes of the built-in palettes.", "application/json", constant(list), nil},
	}
}

// templates lists the documents whose address has a variable part.
func templates() []resource {
	return []resource{
		{"pixelsrc://palette/{name}", "palette", "A built-in palette", "The tokens and colours of a built-in palette.", "application/json", readPalette, pxl.Builtins},
		{"pixelsrc://example/{name}", "example", "An example", "A complete .pxl source: " + strings.Join(pixelsrc.Examples(), ", ") + ".", "text/plain", readExample, pixelsrc.Examples},
		{"pixelsrc://template/{type}", "template", "A prompt template", "A prompt to fill in: " + strings.Join(templateTypes(), ", ") + ".", "text/markdown", readPromptTemplate, templateTypes},
	}
}

// readResource gives the text of a resource. The error names the valid values.
func readResource(uri string) (mime, body string, err error) {
	for _, r := range append(resources(), templates()...) {
		prefix, _, variable := strings.Cut(r.uri, "{")
		raw, ok := strings.CutPrefix(uri, prefix)
		if !ok || !variable && raw != "" {
			continue
		}
		value, bad := url.PathUnescape(raw)
		if bad != nil || strings.Contains(value, "/") || strings.Contains(value, "..") {
			value = raw
		}
		body, err := r.read(value)
		return r.mime, body, err
	}
	return "", "", fmt.Errorf("unknown resource %q: use pixelsrc://format-spec, pixelsrc://format-brief, pixelsrc://palettes, pixelsrc://palette/NAME, pixelsrc://example/NAME and pixelsrc://template/TYPE", uri)
}

func unknown(what, name string, valid []string) (string, error) {
	return "", pixelsrc.Failf("Unknown %s '%s'; use one of %s", what, name, strings.Join(valid, ", "))
}

func readPalette(name string) (string, error) {
	c, ok := pixelsrc.Palette(strings.TrimPrefix(name, "@"))
	if !ok {
		return unknown("palette", name, pxl.Builtins())
	}
	c.Name = name
	return pixelsrc.JSON(c), nil
}

func readExample(name string) (string, error) {
	if e := pixelsrc.Example(name); e != "" {
		return e, nil
	}
	return unknown("example", name, pixelsrc.Examples())
}

func readPromptTemplate(name string) (string, error) {
	if slices.Contains(templateTypes(), name) {
		return page("template_" + name), nil
	}
	return unknown("template type", name, templateTypes())
}

// read answers a request for a resource.
func read(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	mime, text, err := readResource(req.Params.URI)
	if err != nil {
		code := mcp.RESOURCE_NOT_FOUND
		if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
			code = mcp.INVALID_PARAMS
		}
		return nil, &rpc.Error{Code: code, Message: err.Error()}
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: req.Params.URI, MIMEType: mime, Text: text}}, nil
}

// CompletePromptArgument implements [server.PromptCompletionProvider].
func (h *handlers) CompletePromptArgument(_ context.Context, prompt string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(prompt, a), nil
}

// CompleteResourceArgument implements [server.ResourceCompletionProvider].
func (h *handlers) CompleteResourceArgument(_ context.Context, uri string, a mcp.CompleteArgument, _ mcp.CompleteContext) (*mcp.Completion, error) {
	return completion(uri, a), nil
}

func completion(of string, a mcp.CompleteArgument) *mcp.Completion {
	values := complete(of, a.Name, a.Value)
	return &mcp.Completion{Values: values, Total: len(values)}
}

// complete lists the values of a variable part or prompt argument that start with
// what is typed so far. of is the URI of a template or the name of a prompt.
func complete(of, argument, typed string) []string {
	var all []string
	for _, t := range templates() {
		if prefix, _, _ := strings.Cut(t.uri, "{"); strings.HasPrefix(of, prefix) {
			all = t.values()
		}
	}
	for _, p := range prompts() {
		for _, a := range p.arguments {
			if p.name == of && a.name == argument {
				all = a.values
			}
		}
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
