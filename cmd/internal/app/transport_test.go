package app

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/plugin"
)

// What carries calls treats all tools alike: what is special about one, the tool says.
func TestTheTransportNamesNoTool(t *testing.T) {
	h := built(t, false)
	h.Host.Start()
	names := slices.Concat(plugin.Names(), listedTools(t, h))
	if len(names) < 20 {
		t.Fatalf("%d names: %q", len(names), names)
	}
	files := slices.Concat(goFiles(t, "../../../servers/gateway/transport"), goFiles(t, "../../../servers/support/rpc"))
	for fset := token.NewFileSet(); len(files) > 0; files = files[1:] {
		f, err := parser.ParseFile(fset, files[0], nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && slices.ContainsFunc(names, func(name string) bool {
				return strings.HasPrefix(text.Value, `"`+name+`"`) || strings.HasPrefix(text.Value, `"`+name+"_")
			}) {
				t.Errorf("%s names %s", fset.Position(n.Pos()), text.Value)
			}
			return true
		})
	}
}

// goFiles are those of a folder that are no tests.
func goFiles(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s, error %v", dir, err)
	}
	return slices.DeleteFunc(files, func(f string) bool { return strings.HasSuffix(f, "_test.go") })
}
