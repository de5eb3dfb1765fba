package main

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestRulesOfSleepsInTests holds that a test which sleeps says why it cannot wait for what
// it sleeps for, or have the time pass in a bubble.
func TestRulesOfSleepsInTests(t *testing.T) {
	t.Parallel()
	c := sources(t)
	for name, f := range c.files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, at := range bareSleeps(c, f) {
			t.Errorf("%s: time.Sleep without a reason on its line or the one above; use testwait", at)
		}
	}
}

// bareSleeps finds the sleeps in a file of tests that have no comment on their line or on
// the one above.
func bareSleeps(c code, f *ast.File) (found []token.Position) {
	explained := map[int]bool{}
	for _, text := range f.Comments {
		for line := c.at(text).Line; line <= c.fset.Position(text.End()).Line; line++ {
			explained[line] = true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if x, name := member(call.Fun); x != "time" || name != "Sleep" {
			return true
		}
		if at := c.at(n); !explained[at.Line] && !explained[at.Line-1] {
			found = append(found, at)
		}
		return true
	})
	return found
}
