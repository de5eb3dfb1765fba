package main

import (
	"go/ast"
	"path"
	"testing"
)

// methodsOfAType is how many methods a type may have: one with more is taken apart, into
// structs with fields of their own.
const methodsOfAType = 60

// TestRulesOfTypes holds that types, those of tests too, stay small enough to be understood.
func TestRulesOfTypes(t *testing.T) {
	t.Parallel()
	found := map[string]int{}
	for name, f := range sources(t).files {
		if ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			if of := receiver(d); of != "" {
				found[path.Dir(name)+"."+of]++
			}
		}
	}
	for name, n := range found {
		if n > methodsOfAType {
			t.Errorf("%s has %d methods, more than %d: take it apart", name, n, methodsOfAType)
		}
	}
}

// receiver is the type of which a declaration is a method; "" when it is none.
func receiver(d ast.Decl) string {
	fn, ok := d.(*ast.FuncDecl)
	if !ok || fn.Recv == nil {
		return ""
	}
	of := fn.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.IndexListExpr:
			of = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}

// TestRulesOfParts holds that no part of a page knows its page, nor an overlay the model, nor
// a part of the deck the deck: what they need is an argument or a small interface. What leads to
// a deck, or hosts one, is none of its parts.
func TestRulesOfParts(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t).shipped(t) {
		if !under(s.path, "tui", "cmd/internal/app") {
			continue
		}
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				spec, ok := n.(*ast.TypeSpec)
				if !ok {
					return true
				}
				around := s.path == "cmd/internal/app" && (spec.Name.Name == "listeners" || spec.Name.Name == "Hosting")
				if owner := held(spec); owner != "" && !around {
					t.Errorf("%s.%s holds a pointer to its %s", s.path, spec.Name.Name, owner)
				}
				return true
			})
		}
	}
}

// held is the page, model or deck that a struct type points to, "" for none.
func held(spec *ast.TypeSpec) string {
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		return ""
	}
	for _, field := range st.Fields.List {
		star, ok := field.Type.(*ast.StarExpr)
		if !ok {
			continue
		}
		if id, ok := star.X.(*ast.Ident); ok && (id.Name == "Page" || id.Name == "Model" || id.Name == "App") {
			return id.Name
		}
	}
	return ""
}
