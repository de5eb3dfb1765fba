package main

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// TestImportsGoOneWay holds the direction of imports between the rooms.
func TestImportsGoOneWay(t *testing.T) {
	t.Parallel()
	charm := []string{"charm.land", "github.com/charmbracelet"}
	mcp := []string{"github.com/mark3labs/mcp-go"}
	rules := []struct {
		name  string
		rooms []string
		never []string
		deep  bool // whatever is imported, too
	}{
		{"the screen knows neither the protocol nor HTTP", []string{"tui", "theme"}, append([]string{"net/http"}, mcp...), false},
		{"questions and plain data have no screen", []string{"ask", "servers/support/snapshot", "servers/gateway/calllog", "servers/support/query"}, charm, true},
		{"the engine needs the standard library, the names of colours and words, and plurals", []string{"servers/builtin/pixelsrc/pxl", "servers/support/fuzzy", "servers/support/humanize", "golang.org/x/image/colornames"}, []string{"github.com", "golang.org", "charm.land", "modernc.org"}, true},
		{"servers do not know the screen", []string{"servers"}, append([]string{module + "tui", module + "theme"}, charm...), false},
		{"nothing imports the commands", []string{"servers", "ask", "tui", "theme"}, []string{module + "cmd"}, true},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			checked := 0
			for _, p := range packages(t) {
				if !under(p.ImportPath, r.rooms...) {
					continue
				}
				checked++
				imports := p.Imports
				if r.deep {
					imports = p.Deps
				}
				for _, i := range imports {
					if under(i, r.never...) && !under(strings.TrimPrefix(i, module), r.rooms...) {
						t.Errorf("%s imports %s", p.ImportPath, i)
					}
				}
			}
			if checked == 0 {
				t.Error("no package was checked")
			}
		})
	}
}

// TestImportsOfTheProtocol holds which packages link mcp-go or net/http, by whatever
// they import: those that carry servers or offer them, and the client of nats-server. All others, also new ones, are
// plain: the questions, the data of the deck, the screen.
func TestImportsOfTheProtocol(t *testing.T) {
	carry := []string{"servers/gateway/relay", "servers/gateway/transport", "servers/gateway/transport/transporttest", "servers/backend/inproc", "servers/backend/upstream/child/streamable", "servers/support/rpc/frames", "servers/backend/upstream/fake", "servers/agents/standin", "servers/builtin/pencil/internal/standin", "servers/builtin/pencil/internal/standin/fakepencil", "servers/machines/hub"}
	for _, p := range packages(t) {
		if under(p.ImportPath, "cmd") || strings.HasPrefix(p.ImportPath, "servers/builtin/") && strings.HasSuffix(p.ImportPath, "/mcpserver") {
			continue
		}
		links := slices.ContainsFunc(p.Deps, func(d string) bool { return d == "net/http" || under(d, "github.com/mark3labs/mcp-go") })
		if links && !slices.Contains(carry, p.ImportPath) {
			t.Errorf("%s links mcp-go or net/http", p.ImportPath)
		}
	}
}

// What serves any server of somebody else's knows none by name.
func TestNothingOfACardNamesAServer(t *testing.T) {
	err := filepath.WalkDir("../../servers/backend/upstream", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(bytes.ToLower(b), []byte("pencil")) {
			t.Errorf("%s names Pencil", strings.TrimPrefix(path, "../../"))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// built is the deck without a configuration, in a home of its own.
func built(t *testing.T, screen bool) *app.App {
	t.Helper()
	t.Setenv("HOME", t.TempDir())
	cfg, err := config.Load(config.Flags{Sections: plugin.Sections(), Port: -1, State: filepath.Join(t.TempDir(), "state")})
	if err != nil {
		t.Fatal(err)
	}
	h, err := app.New(cfg, screen, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.Stop)
	return h
}

func TestEveryPackageSaysWhatItIs(t *testing.T) {
	for _, p := range packages(t) {
		if strings.TrimSpace(p.Doc) == "" {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
}
