package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// sleepers are the rooms in which tests may sleep without saying why, with how many times
// at the most. The figures may only fall.
func sleepers() map[string]int {
	return map[string]int{"servers/gateway": 24, "servers/backend": 35}
}

// TestRulesOfSleepsInTests holds that a test which sleeps says why it cannot wait for what
// it sleeps for, or have the time pass in a bubble.
func TestRulesOfSleepsInTests(t *testing.T) {
	t.Parallel()
	left := sleepers()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		at, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		at = filepath.ToSlash(at)
		for _, where := range bareSleeps(t, path) {
			room := ""
			for r := range left {
				if under(at, r) {
					room = r
				}
			}
			if room == "" {
				t.Errorf("%s:%d: time.Sleep without a reason on its line or the one above; use testwait", at, where.Line)
				continue
			}
			left[room]--
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for room, n := range left {
		if n < 0 {
			t.Errorf("%s: %d sleeps without a reason, want at most %d; use testwait", room, sleepers()[room]-n, sleepers()[room])
		}
	}
}

// bareSleeps finds the sleeps in a file of tests that have no comment on their line or on
// the one above.
func bareSleeps(t *testing.T, path string) (found []token.Position) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	explained := map[int]bool{}
	for _, c := range f.Comments {
		for line := fset.Position(c.Pos()).Line; line <= fset.Position(c.End()).Line; line++ {
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
		if at := fset.Position(n.Pos()); !explained[at.Line] && !explained[at.Line-1] {
			found = append(found, at)
		}
		return true
	})
	return found
}
