package mcpserver

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/backendtest"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pixelsrc"
)

func TestEveryToolIsWhole(t *testing.T) {
	m := handling(pixelsrc.Options{})
	backendtest.EveryToolIsWhole(t, "../README.md", m.inDeck("1"))
	for _, tool := range tools() {
		t.Run(tool.name, func(t *testing.T) {
			for _, a := range tool.takes {
				if !strings.HasSuffix(a.Text, ".") {
					t.Errorf("%s: got the description %q, want sentences", a.Name, a.Text)
				}
				if a.Default != nil && a.Kind.Read(plain(t, a.Default)) != a.Default {
					t.Errorf("%s: the default %v is not %s", a.Name, a.Default, a.Kind.Want())
				}
			}
			if !strings.Contains(guideFull(), tool.name) {
				t.Error("guide/full.md does not name it")
			}
			example, ok := everyCall()[tool.name]
			if !ok {
				t.Fatal("everyCall has no call of it")
			}
			if res := said(m, t.Context(), pixelsrc.Caller{}, tool.name, plain(t, example)); res.IsError {
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
