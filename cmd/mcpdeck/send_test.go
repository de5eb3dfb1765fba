package main

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestRulesOnlyTheFieldOnTheScreenSendsPrompts holds that no command, hook, rule, socket or agent can
// have the deck send a prompt to a session: there is one way to a program, and two to that, which begin at the
// key of the field: here, and in a deck that may answer here, which signs it.
func TestRulesOnlyTheFieldOnTheScreenSendsPrompts(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for name, file := range sources(t).files {
		if strings.HasSuffix(name, "_test.go") || under(name, "servers/gateway", "cmd/internal/decktest") { // which send other things
			continue
		}
		for _, i := range file.Imports {
			for _, room := range []string{"servers/agents/reply", "tui/reply"} {
				if strings.HasSuffix(i.Path.Value, "mcpdeck/"+room+`"`) {
					found[room+" in "+name[:strings.LastIndex(name, "/")]]++
				}
			}
		}
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				call, called := n.(*ast.CallExpr)
				switch {
				case ok && sel.Sel.Name == "Outbox":
					found["Outbox in "+name+" "+fn.Name.Name]++
				case called && (len(call.Args) == 3 || len(call.Args) == 4):
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Send" {
						found["Send in "+name+" "+fn.Name.Name]++
					}
				case called && name == "tui/reply/reply.go":
					if sel, ok := call.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "send" {
						found["send in "+fn.Name.Name]++
					}
				}
				return true
			})
		}
	}
	want := []string{
		"Outbox in cmd/internal/app/machines.go newMachines", // gives it to decks that may answer here
		"Outbox in cmd/internal/app/machines.go send",        // from the field
		"Outbox in cmd/internal/app/machines.go takeBack",    // likewise
		"Outbox in cmd/internal/sessions/programs.go New",    // makes it
		"Outbox in cmd/internal/sessions/prompts.go Serve",   // runs it
		"Send in cmd/internal/app/machines.go send",          // to the outbox
		"Send in servers/agents/reply/reply.go follow",       // to the program
		"Send in servers/machines/host/host.go prompt",       // to the outbox, of a deck that may answer here
		"Send in tui/reply/reply.go send",                    // to that of its machine
		"send in Actions",                                    // the key
		"servers/agents/reply in cmd/internal/sessions",
		"tui/reply in cmd/internal/app",
		"tui/reply in tui/page/agents",
		"tui/reply in tui/page/inbox",
	}
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("prompts can be sent by\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if n := found["send in Actions"]; n != 1 {
		t.Errorf("%d keys send", n)
	}
}
