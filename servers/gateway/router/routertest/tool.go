// Package routertest starts hosts for tests, and checks what modules offer.
package routertest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// EveryToolIsWhole says what a newcomer's tool lacks, in a test by its name, of those
// that are offered to all. page is the README of its server, where tools are the first
// column of a table.
func EveryToolIsWhole(t *testing.T, page string, o router.Offer) {
	t.Helper()
	readme, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Tools) == 0 {
		t.Error("no tools are offered")
	}
	for _, tool := range o.Tools {
		t.Run(tool.Tool.Name, func(t *testing.T) {
			d := tool.Tool
			if tool.Raw != nil {
				if err := json.Unmarshal(tool.Raw, &d); err != nil {
					t.Fatal(err)
				}
				o, _ := rawjson.SplitObject(tool.Raw) // as above
				d.RawInputSchema = o.Get("inputSchema")
			}
			if a := d.Annotations; d.Title == "" || a.Title != d.Title || a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
				t.Errorf("title %q, hints %+v: want a title, the same in the hints, and all four of them", d.Title, a)
			}
			if !strings.HasSuffix(d.Description, ".") || len(d.Description) > 1500 {
				t.Errorf("description %q: want sentences, 1500 bytes at most", d.Description)
			}
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + regexp.QuoteMeta(d.Name) + "`").Match(readme) {
				t.Errorf("%s has no row for it", page)
			}
			takes := checkInput(t, d.RawInputSchema)
			if d.RawOutputSchema != nil && !json.Valid(d.RawOutputSchema) {
				t.Errorf("the schema of its results is not JSON: %s", d.RawOutputSchema)
			}
			if tool.Handler == nil {
				checkRouter(t, d.Name, takes, o.Router)
				return
			}
			list := mcp.CallToolParams{Name: d.Name, Arguments: []any{}, RawArguments: json.RawMessage("[]")}
			if r, err := tool.Handler(t.Context(), mcp.CallToolRequest{Params: list}); err != nil || !r.IsError && takes > 0 {
				t.Errorf("with a list for arguments: got %+v, %v, want a result that says what is wrong", r, err)
			}
		})
	}
}

// checkRouter calls a tool that has no handler.
func checkRouter(t *testing.T, name string, takes int, router router.Router) {
	t.Helper()
	if router == nil {
		t.Fatal("no handler")
	}
	params, _ := json.Marshal(map[string]any{"name": name, "arguments": []any{}})
	r := router.Serve(t.Context(), backend.Parse(nil, rpc.Message{Method: string(mcp.MethodToolsCall), Params: params}))
	var result struct{ IsError bool }
	if err := json.Unmarshal(r.Result, &result); err != nil || !result.IsError && takes > 0 {
		t.Errorf("with a list for arguments: got %s %s, want a result that says what is wrong", r.Result, r.Error)
	}
}

// checkInput checks the schema of a tool's arguments and counts them.
func checkInput(t *testing.T, raw json.RawMessage) (arguments int) {
	t.Helper()
	// Several clients drop or choke on other keywords.
	plain := []string{"type", "enum", "description", "default", "minimum", "maximum", "minItems", "items", "pattern", "properties", "required", "contentEncoding", "contentMediaType"}
	var schema struct {
		Type       string
		Properties map[string]map[string]any
		Required   []string
	}
	if err := json.Unmarshal(raw, &schema); err != nil || schema.Type != "object" || schema.Properties == nil {
		t.Fatalf("%v: schema %s: want an object with properties", err, raw)
	}
	for name, p := range schema.Properties {
		if text, ok := p["description"].(string); !ok || text == "" || p["type"] == nil {
			t.Errorf("argument %s: got %v, want a type and a description", name, p)
		}
		for inner := []any{p}; len(inner) > 0; inner = inner[1:] {
			p, _ := inner[0].(map[string]any)
			for word := range p {
				if !slices.Contains(plain, word) {
					t.Errorf("argument %s uses %s, which clients may not know", name, word)
				}
			}
			if p["items"] != nil {
				inner = append(inner, p["items"])
			}
			more, _ := p["properties"].(map[string]any)
			for _, p := range more {
				inner = append(inner, p)
			}
		}
	}
	for _, name := range schema.Required {
		if schema.Properties[name] == nil {
			t.Errorf("argument %s is required, and not among the properties", name)
		}
	}
	return len(schema.Properties)
}
