package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/cli"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/fuzzy"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// toolInfo is what the commands need of a tool's definition.
type toolInfo struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	InputSchema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Additional any                 `json:"additionalProperties"`
	} `json:"inputSchema"`
	Annotations struct {
		Title string `json:"title"`
	} `json:"annotations"`
}

type property struct {
	Type        any    `json:"type"`
	Description string `json:"description"`
	Enum        []any  `json:"enum"`
	Default     any    `json:"default"`
}

// kinds are the property's types; null, which says as much as to leave it out,
// is none of them.
func (p property) kinds() []string {
	all, ok := p.Type.([]any)
	if !ok {
		all = []any{p.Type}
	}
	var out []string
	for _, t := range all {
		if s, ok := t.(string); ok && s != "null" {
			out = append(out, s)
		}
	}
	return out
}

// kind is the property's type in a word; "" when it may have several.
func (p property) kind() string {
	if kinds := p.kinds(); len(kinds) == 1 {
		return kinds[0]
	}
	return ""
}

// values are those the property is limited to, null apart.
func (p property) values() []any {
	return slices.DeleteFunc(slices.Clone(p.Enum), func(v any) bool { return v == nil })
}

// short is a tool in some words.
func (t *toolInfo) short() string {
	first, _, _ := strings.Cut(strings.TrimSpace(t.Description), "\n")
	return sanitize.Cut(sanitize.Line(cmp.Or(t.Title, t.Annotations.Title, first)), 90)
}

// parameters are the names of the arguments, the required ones first.
func (t *toolInfo) parameters() []string {
	return slices.SortedFunc(maps.Keys(t.InputSchema.Properties), func(a, b string) int {
		ra, rb := slices.Index(t.InputSchema.Required, a), slices.Index(t.InputSchema.Required, b)
		switch {
		case ra >= 0 && rb >= 0:
			return ra - rb
		case ra >= 0:
			return -1
		case rb >= 0:
			return 1
		}
		return cmp.Compare(a, b)
	})
}

// listTools asks for the tools of a connection.
func listTools(ctx context.Context, client *transport.Client) ([]toolInfo, error) {
	var list struct{ Tools []toolInfo }
	err := client.Call(ctx, "tools/list", map[string]any{}, &list)
	return list.Tools, err
}

// findTool returns a tool's definition, nil if there is none: the call says so
// better.
func findTool(ctx context.Context, client *transport.Client, name string) (*toolInfo, error) {
	tools, err := listTools(ctx, client)
	if err != nil {
		return nil, err
	}
	for i := range tools {
		if tools[i].Name == name {
			return &tools[i], nil
		}
	}
	return nil, nil
}

// arguments builds a call's arguments from the command line.
func arguments(c *cobra.Command, tool *toolInfo, text string, pairs []string) (json.RawMessage, error) {
	if len(pairs) == 1 && pairs[0] == "-" {
		b, err := io.ReadAll(c.InOrStdin())
		if err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}
		text, pairs = string(b), nil
	}
	args := map[string]json.RawMessage{}
	if text != "" {
		if err := json.Unmarshal([]byte(text), &args); err != nil || args == nil {
			return nil, exit.Usagef("the arguments are not a JSON object: %v", cmp.Or(err, errors.New("null")))
		}
	}
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found {
			return nil, exit.Usagef("%q is not KEY=VALUE", pair)
		}
		if _, twice := args[key]; twice {
			return nil, exit.Usagef("duplicate argument %q", key)
		}
		kind := ""
		if tool != nil {
			kind = tool.InputSchema.Properties[key].kind()
		}
		var err error
		if args[key], err = asJSON(value, kind); err != nil {
			return nil, exit.Usagef("%s: %v", key, err)
		}
	}
	if err := tool.check(args); err != nil {
		return nil, err
	}
	return json.Marshal(args)
}

// check refuses arguments that the tool does not know: most servers ignore them
// without a word. A schema that names none, or allows others, says nothing.
func (t *toolInfo) check(args map[string]json.RawMessage) error {
	if t == nil || len(t.InputSchema.Properties) == 0 {
		return nil
	}
	if other := t.InputSchema.Additional; other != nil && other != false {
		return nil
	}
	for _, key := range slices.Sorted(maps.Keys(args)) {
		if _, known := t.InputSchema.Properties[key]; known {
			continue
		}
		names := t.parameters()
		if meant := fuzzy.Meant(key, names); meant != "" {
			return exit.Usagef("unknown argument %q of %s; did you mean %q?", key, t.Name, meant)
		}
		return exit.Usagef("unknown argument %q; %s takes %s", key, t.Name, strings.Join(names, ", "))
	}
	return nil
}

// asJSON is a value from the command line as its type wants it.
func asJSON(value, kind string) (json.RawMessage, error) {
	switch {
	case kind == "string":
		return json.Marshal(value)
	case json.Valid([]byte(value)):
		return json.RawMessage(value), nil
	case kind == "":
		return json.Marshal(value)
	}
	return nil, fmt.Errorf("%q is not valid JSON of type %s", value, kind)
}

// toolHelp prints what a tool does and takes.
func toolHelp(c *cobra.Command, a *cli.Globals, name string) error {
	cfg, err := a.Load()
	if err != nil {
		return err
	}
	client, err := connect(c.Context(), cfg, nil, false)
	if err != nil {
		return err
	}
	defer client.end()
	tool, err := findTool(c.Context(), client.Client, name)
	if err != nil || tool == nil {
		return errors.Join(err, fmt.Errorf("unknown tool %q", name))
	}
	c.Printf("%s\n\nUsage:\n  mcpdeck call %s", strings.TrimSpace(cmp.Or(tool.Description, tool.Title, tool.Annotations.Title)), tool.Name)
	names := tool.parameters()
	for _, n := range tool.InputSchema.Required {
		c.Printf(" %s=%s", n, strings.ToUpper(cmp.Or(tool.InputSchema.Properties[n].kind(), "value")))
	}
	if len(names) > len(tool.InputSchema.Required) {
		c.Print(" [KEY=VALUE...]")
	}
	c.Println()
	if len(names) == 0 {
		c.Println("\nIt takes no parameters.")
		return nil
	}
	c.Println("\nParameters:")
	for _, n := range names {
		p := tool.InputSchema.Properties[n]
		line := fmt.Sprintf("  %-20s %s", n, cmp.Or(strings.Join(p.kinds(), " or "), "any"))
		if slices.Contains(tool.InputSchema.Required, n) {
			line += ", required"
		}
		if values := p.values(); len(values) > 0 {
			line += ", one of " + inJSON(values...)
		}
		if p.Default != nil {
			line += ", default " + inJSON(p.Default)
		}
		c.Println(sanitize.Line(line))
		if text := strings.TrimSpace(p.Description); text != "" {
			c.Println("      " + strings.ReplaceAll(text, "\n", "\n      "))
		}
	}
	return nil
}

func inJSON(values ...any) string {
	words := make([]string, len(values))
	for i, v := range values {
		b, _ := json.Marshal(v) // it came from JSON
		words[i] = string(b)
	}
	return strings.Join(words, ", ")
}
