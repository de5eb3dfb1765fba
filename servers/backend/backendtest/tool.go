package backendtest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Definition is what clients see of a tool.
type Definition struct {
	Name, Title, Description  string
	InputSchema, OutputSchema json.RawMessage
	Annotations               struct {
		Title                                                        string
		ReadOnlyHint, DestructiveHint, IdempotentHint, OpenWorldHint *bool
	}
	Meta map[string]any `json:"_meta"`
}

// Definitions are the tools that a server offers, to whomever.
func Definitions(t testing.TB, s backend.Server) (all []Definition) {
	t.Helper()
	c := s.Catalogue()
	for _, tool := range slices.Concat(c.Tools, c.Fallback, c.Gateway) {
		var d Definition
		if err := json.Unmarshal(tool.Raw, &d); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(all, func(o Definition) bool { return o.Name == d.Name }) {
			continue
		}
		all = append(all, d)
	}
	return all
}

// EveryToolIsWhole says what a newcomer's tool lacks, in a test by its name. page is the README
// of its server, where tools are the first column of a table.
func EveryToolIsWhole(t *testing.T, page string, s backend.Server) {
	t.Helper()
	readme, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	all := Definitions(t, s)
	if len(all) == 0 {
		t.Error("no tools are offered")
	}
	for _, d := range all {
		t.Run(d.Name, func(t *testing.T) {
			if a := d.Annotations; d.Title == "" || a.Title != d.Title || a.ReadOnlyHint == nil || a.DestructiveHint == nil || a.IdempotentHint == nil || a.OpenWorldHint == nil {
				t.Errorf("title %q, hints %+v: want a title, the same in the hints, and all four of them", d.Title, a)
			}
			if !strings.HasSuffix(d.Description, ".") || len(d.Description) > 1500 {
				t.Errorf("description %q: want sentences, 1500 bytes at most", d.Description)
			}
			if !regexp.MustCompile("(?m)^\\| [^|]*`" + regexp.QuoteMeta(d.Name) + "`").Match(readme) {
				t.Errorf("%s has no row for it", page)
			}
			takes := checkInput(t, d.InputSchema)
			params, _ := json.Marshal(map[string]any{"name": d.Name, "arguments": []any{}})
			r := s.Serve(t.Context(), backend.New(rpc.Message{ID: json.RawMessage("1"), Method: "tools/call", Params: params}))
			var result struct{ IsError bool }
			if err := json.Unmarshal(r.Result, &result); err != nil || !result.IsError && takes > 0 {
				t.Errorf("with a list for arguments: got %s %s, want a result that says what is wrong", r.Result, r.Error)
			}
		})
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
