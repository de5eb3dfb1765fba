package offer

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/pixelsrc"
)

// TestEveryToolIsWhole looks for all that a tool needs beside its function.
func TestEveryToolIsWhole(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools() {
		t.Run(tool.name, func(t *testing.T) {
			if tool.title == "" || !strings.HasSuffix(tool.text, ".") || tool.run == nil {
				t.Errorf("title %q, description %q: want a title, sentences, and what it does", tool.title, tool.text)
			}
			var schema struct {
				Properties map[string]struct{ Description string }
			}
			if err := json.Unmarshal(tool.schema(), &schema); err != nil {
				t.Fatalf("%v: %s", err, tool.schema())
			}
			for _, a := range tool.arguments {
				if p, ok := schema.Properties[a.name]; !ok || !strings.HasSuffix(p.Description, ".") {
					t.Errorf("%s: got the description %q, want sentences", a.name, p.Description)
				}
				if a.normal != nil && a.kind.read(plain(t, a.normal)) != a.normal {
					t.Errorf("%s: the default %v is not %s", a.name, a.normal, a.kind.want())
				}
			}
			if !strings.Contains(string(page), "| `"+tool.name+"` |") {
				t.Error("README.md does not list it")
			}
			if !strings.Contains(guideFull(), tool.name) {
				t.Error("guide/full.md does not name it")
			}
			example, ok := everyCall()[tool.name]
			if !ok {
				t.Fatal("everyCall has no call of it")
			}
			if res := said(module(pixelsrc.Options{}), t.Context(), pixelsrc.Caller{}, tool.name, plain(t, example)); res.IsError {
				t.Errorf("everyCall: %s", res.text())
			}
		})
	}
}

// TestTheReadmeListsResourcesAndPrompts compares the page with what is offered.
func TestTheReadmeListsResourcesAndPrompts(t *testing.T) {
	page, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range append(resources(), templates()...) {
		want = append(want, r.uri)
	}
	for _, p := range prompts() {
		want = append(want, p.name)
	}
	for _, w := range want {
		if !strings.Contains(string(page), "`"+w+"`") {
			t.Errorf("README.md does not list %s", w)
		}
	}
}

// plain is a value as encoding/json reads it.
func plain(t *testing.T, v any) (out any) {
	t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}
