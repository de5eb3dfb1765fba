package main

import (
	"go/ast"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestEveryPromiseNamesATestThatHoldsIt reads SECURITY.md: each item of the
// promises names a test. Every test that any page names exists.
func TestEveryPromiseNamesATestThatHoldsIt(t *testing.T) {
	b, err := os.ReadFile("../../.github/SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	tests := testFunctions(t)
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]*)`")
	for page, text := range documents(t) {
		for _, m := range named.FindAllStringSubmatch(text, -1) {
			if !tests[m[1]] {
				t.Errorf("%s names %s, and there is no such test", page, m[1])
			}
		}
	}
	_, rest, found := strings.Cut(string(b), "\n## Promises\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	items := strings.Split(section, "\n- ")[1:]
	if !found || len(items) < 10 {
		t.Fatalf("SECURITY.md has %d promises", len(items))
	}
	for _, item := range items {
		if !named.MatchString(item) {
			first, _, _ := strings.Cut(item, "\n")
			t.Errorf("no test is named for: %s", first)
		}
	}
}

// testFunctions are the names of all tests and fuzz targets, whatever system they are for.
func testFunctions(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for name, f := range sources(t).files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}
