package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
)

// TestRulesAgentsAreNamedOnlyWhereTheyAreDescribed holds that an agent is one value: its ID
// stands in its own package, in the table of clients, in what plays agents, and nowhere else;
// and only the list imports its package.
func TestRulesAgentsAreNamedOnlyWhereTheyAreDescribed(t *testing.T) {
	free := []string{
		"servers/support/clients", "servers/agents/agents.go", "servers/agents/agenttest", "servers/agents/standin", "servers/support/realtest",
		"cmd/internal/demo", "cmd/internal/perf", "tui/internal/fake", "tui/internal/demo", "servers/builtin/logicstamp",
	}
	// These are to lose the names: the settings are one field an agent, the numbers of a
	// price list and a program's own lines have the same words, and a flag has a default.
	excepted := map[string]bool{
		"cmd/internal/config/prompts.go": true, "servers/agents/usage/internal/pricegen/main.go": true,
		"servers/agents/usage/gemini.go": true, "cmd/internal/plugin/ask/config.go": true,
	}
	var ids []string
	for _, a := range agents.All() {
		ids = append(ids, a.ID)
		free = append(free, "servers/agents/approvals/"+a.ID)
	}
	found := map[string]bool{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		name, err := filepath.Rel("../..", path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if slices.ContainsFunc(free, func(place string) bool { return under(name, place) }) {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if _, tag := n.(*ast.StructType); tag {
				return false
			}
			l, ok := n.(*ast.BasicLit)
			if !ok || l.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(l.Value)
			if err != nil {
				return true
			}
			_, last, _ := strings.Cut(text, "mcpdeck/servers/agents/approvals/")
			if id := text; slices.Contains(ids, id) || slices.Contains(ids, last) {
				if found[name] = true; !excepted[name] {
					t.Errorf("%s names %s: say what differs in its approvals.Agent or in the table of clients", name, text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range excepted {
		if !found[name] {
			t.Errorf("%s names no agent any more: take it off the exceptions", name)
		}
	}
}
