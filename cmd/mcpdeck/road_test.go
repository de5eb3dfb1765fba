package main

import (
	"go/ast"
	"go/printer"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestRulesOfTheRoad holds what lies between a client's bytes and a server: mcp-go serves the
// deck's own servers and compares headers, and carries nothing else; no message travels in the
// guise of another; params are split where a message is parsed, and nowhere after that.
func TestRulesOfTheRoad(t *testing.T) {
	t.Parallel()
	library := []string{ // the files that may know it; no more
		"servers/backend/inproc/alone.go", "servers/backend/inproc/inproc.go", "servers/backend/inproc/session.go",
		"servers/gateway/transport/http.go", // validates headers
	}
	disguise := regexp.MustCompile(`mcpdeck/(raw|id|to|message|receipt)\b|encoding/base64`)
	again := regexp.MustCompile(`^rawjson\.(Split|SplitObject|Parse)\((\w+\.)*(Message\.Params|Params|Params\.Get\("_meta"\))\)$`)
	fset := token.NewFileSet()
	for _, s := range shipped(t, fset) {
		if !under(s.path, "servers/gateway", "servers/backend", "servers/support") {
			continue
		}
		road := under(s.path, "servers/gateway/router", "servers/gateway/transport", "servers/backend") && !under(s.path, "servers/backend/upstream")
		for _, f := range s.files {
			name := s.path + "/" + filepath.Base(fset.Position(f.Pos()).Filename)
			ast.Inspect(f, func(n ast.Node) bool {
				at := fset.Position(token.NoPos)
				if n != nil {
					at = fset.Position(n.Pos())
				}
				switch n := n.(type) {
				case *ast.ImportSpec:
					if strings.Contains(n.Path.Value, "mark3labs/mcp-go") && !slices.Contains(library, name) {
						t.Errorf("%s:%d imports mcp-go", name, at.Line)
					}
				case *ast.BasicLit:
					if road && n.Kind == token.STRING && disguise.MatchString(n.Value) {
						t.Errorf("%s:%d: %s", name, at.Line, n.Value)
					}
				case *ast.KeyValueExpr:
					if road && text(t, fset, n) == "Method: http.MethodDelete" {
						t.Errorf("%s:%d makes a request to end a session", name, at.Line)
					}
				case *ast.CallExpr:
					if road && name != "servers/backend/backend.go" && again.MatchString(text(t, fset, n)) {
						t.Errorf("%s:%d: %s splits again what backend.Parse has split", name, at.Line, text(t, fset, n))
					}
				}
				return true
			})
		}
	}
}

// text is a piece of source.
func text(t *testing.T, fset *token.FileSet, n ast.Node) string {
	t.Helper()
	var b strings.Builder
	if err := printer.Fprint(&b, fset, n); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
