package main

import (
	"go/ast"
	"go/token"
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
	var ids []string
	for _, a := range agents.All() {
		ids = append(ids, a.ID)
		free = append(free, "servers/agents/approvals/"+a.ID)
	}
	for name, file := range sources(t).files {
		if strings.HasSuffix(name, "_test.go") || under(name, free...) {
			continue
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
				t.Errorf("%s names %s: say what differs in its approvals.Agent or in the table of clients", name, text)
			}
			return true
		})
	}
}

// TestRulesWhatIsMeasuredOfAnAgentIsRunByATest holds that each cell that is said to be measured
// names a test with real programs, in a file about the agent.
func TestRulesWhatIsMeasuredOfAnAgentIsRunByATest(t *testing.T) {
	files := map[string]*ast.File{} // with real programs, by the names of their tests
	for name, file := range sources(t).files {
		runs := slices.ContainsFunc(file.Imports, func(i *ast.ImportSpec) bool { return strings.HasSuffix(i.Path.Value, `/support/realtest"`) })
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && runs && strings.HasSuffix(name, "_test.go") {
				files[fn.Name.Name] = file
			}
		}
	}
	for _, a := range agents.All() {
		for _, c := range a.Cells.Columns() {
			file, about := files[c.Test], false
			if c.Test == "" {
				continue
			}
			if file != nil {
				ast.Inspect(file, func(n ast.Node) bool {
					l, ok := n.(*ast.BasicLit)
					about = about || ok && l.Value == strconv.Quote(a.ID)
					return !about
				})
			}
			if !about {
				t.Errorf("%s: %s counts as measured, but no test %q runs the program", a.ID, c.Name, c.Test)
			}
		}
	}
}
