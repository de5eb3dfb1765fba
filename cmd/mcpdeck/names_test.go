package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// TestRulesOfServers holds that the deck knows its own servers by their rows alone: elsewhere
// nothing imports their packages or their pages, or has one of their names as a text. Of "ask"
// the imports count: its name is also that of the queue, and of a verdict on a tool. What plays a
// session or measures one may, on a few lines; tui/internal is made-up data.
func TestRulesOfServers(t *testing.T) {
	t.Parallel()
	const most = 12
	excepted := map[string]bool{}
	owner := map[string]string{} // of a package of a page: the server
	for _, p := range plugin.All() {
		owner["tui/page/"+p.Name()] = p.Name()
		if p.Page != "" {
			owner["tui/page/"+p.Page] = p.Name()
		}
	}
	c, names := sources(t), plugin.Names()
	for _, s := range c.packages() {
		if under(s.path, "cmd/internal/plugin", "tui/internal") {
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
				for _, name := range names {
					if under(s.path, "servers/builtin/"+name) || owner[s.path] == name {
						continue
					}
					if path, ours := strings.CutPrefix(value, module); !namesServer(value, name) && (!ours || owner[path] != name) {
						continue
					}
					line := fmt.Sprintf("%s:%d", c.at(n).Filename, c.at(n).Line)
					if under(s.path, "cmd/internal/demo", "cmd/internal/perf", "cmd/internal/shoot") {
						excepted[line] = true
						continue
					}
					t.Errorf("%s: %s; only its row in cmd/internal/plugin knows %s", line, text.Value, name)
				}
				return true
			})
		}
	}
	if len(excepted) > most {
		t.Errorf("%d lines name a server where that is excepted, more than %d: %q", len(excepted), most, slices.Sorted(maps.Keys(excepted)))
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
