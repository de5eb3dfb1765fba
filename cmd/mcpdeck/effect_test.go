package main

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// Calls by which tests answer what real agents ask, and by which they look at what became of it
// in the agent: what its tool did, and what its model is told next.
var (
	givesAnswer = []string{"answers", "answer", "reply", "presses", "Answer"}
	seesEffect  = []string{"told", "answered", "made", "Seen", "SeenOf", "Last", "Bodies", "Stat", "ReadFile", "Glob"}
)

// TestRulesOfAnswersToRealAgents holds that a test which answers what a real agent asks ends with what the agent
// itself does next, and not with what was sent to it: an agent may take an answer and do nothing of it.
func TestRulesOfAnswersToRealAgents(t *testing.T) {
	t.Parallel()
	real := map[*ast.FuncDecl]bool{}
	bodies := map[string]map[string][]*ast.FuncDecl{} // by package and name; methods of several types may have one name
	for name, f := range sources(t).files {
		if !strings.HasSuffix(name, "_test.go") {
			continue
		}
		of := bodies[path.Dir(name)]
		if of == nil {
			of = map[string][]*ast.FuncDecl{}
			bodies[path.Dir(name)] = of
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				of[fn.Name.Name] = append(of[fn.Name.Name], fn)
				real[fn] = strings.HasSuffix(name, "real_test.go")
			}
		}
	}
	answer, known := 0, map[*ast.FuncDecl]*effects{}
	for _, dir := range []string{"cmd/mcpdeck", "cmd/internal/setup"} {
		for name, fns := range bodies[dir] {
			if !strings.HasPrefix(name, "Test") {
				continue
			}
			e := read(bodies[dir], fns[0], known)
			if e.answer == 0 || !real[fns[0]] {
				continue
			}
			answer++
			if e.effect < e.answer {
				t.Errorf("%s in %s does not look at what the agent does after the last answer", name, dir)
			}
		}
	}
	if answer < 15 {
		t.Errorf("only %d tests answer real agents", answer)
	}
}

// effects are where in a function something is called last, counted in calls; 0 is nowhere.
type effects struct {
	answer, effect int
}

// read reads what a function calls, and what the functions of its package call that it calls.
func read(of map[string][]*ast.FuncDecl, fn *ast.FuncDecl, known map[*ast.FuncDecl]*effects) *effects {
	if e := known[fn]; e != nil {
		return e
	}
	e, calls := new(effects), 0
	known[fn] = e // if it calls itself
	var visit func(n ast.Node) bool
	visit = func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		for _, arg := range call.Args { // they come first
			ast.Inspect(arg, visit)
		}
		ast.Inspect(call.Fun, visit)
		_, name := member(call.Fun)
		method := name != ""
		if id, ok := call.Fun.(*ast.Ident); ok {
			name = id.Name
		}
		calls += 2
		switch {
		case slices.Contains(givesAnswer, name) && !(name == "answers" && len(call.Args) == 2): // which only waits for the prompt
			e.answer = calls
		case slices.Contains(seesEffect, name):
			e.effect = calls
		default:
			for _, f := range of[name] {
				if (f.Recv == nil) == method {
					continue
				}
				inner := read(of, f, known)
				if inner.answer > 0 {
					e.answer = calls
				}
				if inner.effect > 0 {
					e.effect = calls
				}
				if inner.effect > inner.answer && inner.answer > 0 {
					e.effect = calls + 1
				}
			}
		}
		return false
	}
	ast.Inspect(fn.Body, visit)
	return e
}
