package main

import (
	"go/ast"
	"go/printer"
	"go/token"
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
	c := sources(t)
	for _, s := range c.shipped(t) {
		if !under(s.path, "servers/gateway", "servers/backend", "servers/support") {
			continue
		}
		road := under(s.path, "servers/gateway/router", "servers/gateway/transport", "servers/backend") && !under(s.path, "servers/backend/upstream")
		for _, f := range s.files {
			name := c.at(f).Filename
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ImportSpec:
					if strings.Contains(n.Path.Value, "mark3labs/mcp-go") && !slices.Contains(library, name) {
						t.Errorf("%s imports mcp-go", c.at(n))
					}
				case *ast.BasicLit:
					if road && n.Kind == token.STRING && disguise.MatchString(n.Value) {
						t.Errorf("%s: %s", c.at(n), n.Value)
					}
				case *ast.KeyValueExpr:
					if x, method := member(n.Value); road && x+"."+method == "http.MethodDelete" && text(t, c.fset, n.Key) == "Method" {
						t.Errorf("%s makes a request to end a session", c.at(n))
					}
				case *ast.CallExpr:
					if x, _ := member(n.Fun); road && x == "rawjson" && name != "servers/backend/backend.go" && again.MatchString(text(t, c.fset, n)) {
						t.Errorf("%s: %s splits again what backend.Parse has split", c.at(n), text(t, c.fset, n))
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
