package main

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// TestRulesOfServers holds that the deck knows its own servers by their rows alone: elsewhere
// nothing imports their packages or has one of their names as a text. Of "ask" the imports
// count: its name is also that of the queue, and of a verdict on a tool.
func TestRulesOfServers(t *testing.T) {
	t.Parallel()
	allowed := []string{ // no more than twelve: what plays a session, or measures one
		"cmd/internal/demo", "cmd/internal/perf", "cmd/internal/shoot", "tui/internal",
	}
	pages := map[string]string{}
	for _, p := range plugin.All() {
		if p.Page != "" {
			pages[p.Page] = p.Name()
		}
	}
	fset := token.NewFileSet()
	for _, s := range shipped(t, fset) {
		if under(s.path, append(allowed, "cmd/internal/plugin")...) {
			continue
		}
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				text, ok := n.(*ast.BasicLit)
				if !ok || text.Kind != token.STRING {
					return true
				}
				value, err := strconv.Unquote(text.Value)
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range plugin.Names() {
					own := under(s.path, "servers/builtin/"+name, "tui/page/"+name) || name == pages[strings.TrimPrefix(s.path, "tui/page/")]
					if !own && namesServer(value, name) {
						at := fset.Position(n.Pos())
						t.Errorf("%s/%s:%d: %s; only its row in cmd/internal/plugin knows %s", s.path, filepath.Base(at.Filename), at.Line, text.Value, name)
					}
				}
				return true
			})
		}
	}
}

// namesServer reports whether a text imports a package of a server, or is its name.
func namesServer(text, name string) bool {
	if path, ours := strings.CutPrefix(text, module); ours {
		return under(path, "servers/builtin/"+name)
	}
	return name != "ask" && (text == name || strings.HasPrefix(text, name+".") || text == `toml:"`+name+`"`)
}

func TestWhatNamesAServer(t *testing.T) {
	for text, want := range map[string]bool{
		"clippy": true, "clippy.muted": true, `toml:"clippy"`: true, module + "servers/builtin/clippy/mcpserver": true,
		"clippyish": false, "Clippy": false, module + "servers/builtin/pencil": false, module + "tui/page/clippy": false, "a clippy": false,
	} {
		if got := namesServer(text, "clippy"); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if namesServer("ask", "ask") || !namesServer(module+"servers/builtin/ask", "ask") {
		t.Error("ask is not told from the queue")
	}
}

// TestEveryServerIsWhole says what a newcomer's server lacks.
func TestEveryServerIsWhole(t *testing.T) {
	h := built(t, false)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := h.Host.Snapshot().Servers
	if len(all) != len(plugin.All()) {
		t.Fatalf("%d servers are hosted, %d in the table", len(all), len(plugin.All()))
	}
	for i, s := range all {
		name := plugin.Names()[i]
		if s.Name != name || s.Title == "" {
			t.Errorf("row %q makes the server %q with title %q: want the same name, and a title", name, s.Name, s.Title)
		}
		page := "servers/builtin/" + name + "/README.md"
		if _, err := os.Stat("../../" + page); err != nil || !strings.Contains(string(readme), "("+page+")") {
			t.Errorf("server %s: the README has no link to its page %s, or there is none", name, page)
		}
	}
}
