package rules

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Set is a variable that a start file sets. In its value, the elements of an array are separated as those of PATH, other
// variables are ${NAME}, and what is not known is ${?}.
type Set struct{ Name, Value string }

var (
	arrays = strings.Fields("path fpath manpath")
	kinds  = regexp.MustCompile(`^-[agUx]+$`) // of variables
	tilde  = regexp.MustCompile(`(^|:)~(/|$)`)
	more   = regexp.MustCompile(`[~*?[(){}=$]`)
)

// StartFile returns what a start file of zsh sets, and the files that it has read as well. It is known if it does
// nothing else.
func StartFile(text string) (sets []Set, files []string, known bool) {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangZsh)).Parse(strings.NewReader(text), "")
	if err != nil || len(text) > mostText || strings.ContainsFunc(text, hidden) {
		return nil, nil, false
	}
	known = true
	assign := func(all []*syntax.Assign) {
		for _, a := range all {
			switch {
			case a.Index != nil:
				known = false
			case a.Name == nil:
				known = known && kinds.MatchString(written(a.Value))
			case a.Array != nil:
				known = known && slices.Contains(arrays, a.Name.Value)
				var elements []string
				for _, e := range a.Array.Elems {
					known = known && e.Index == nil && e.Value != nil
					elements = append(elements, written(e.Value))
				}
				sets = append(sets, Set{a.Name.Value, strings.Join(elements, ":")})
			case a.Naked:
				sets = append(sets, Set{a.Name.Value, "${" + a.Name.Value + "}"})
			default:
				sets = append(sets, Set{a.Name.Value, written(a.Value)})
			}
			if a.Append {
				colon := map[bool]string{true: ":"}[a.Array != nil]
				sets[len(sets)-1].Value = "${" + a.Name.Value + "}" + colon + sets[len(sets)-1].Value
			}
		}
	}
	syntax.Walk(f, func(x syntax.Node) bool {
		switch x := x.(type) {
		case nil, *syntax.File, *syntax.Comment, *syntax.IfClause, *syntax.CaseClause, *syntax.CaseItem, *syntax.TestClause, *syntax.BinaryTest, *syntax.UnaryTest, *syntax.ParenTest,
			*syntax.Block, *syntax.Assign, *syntax.ArrayExpr, *syntax.ArrayElem, *syntax.Word, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.Stmt:
			known = known && len(x.Redirs) == 0 && !x.Background && !x.Coprocess && !x.Disown
		case *syntax.BinaryCmd:
			known = known && (x.Op == syntax.AndStmt || x.Op == syntax.OrStmt)
		case *syntax.ParamExp:
			known = known && x.Param != nil && !x.Excl && x.Flags == nil && x.Index == nil && x.Modifiers == nil && x.Slice == nil && x.Repl == nil && x.Names == 0
			known = known && (x.Exp == nil || x.Exp.Op != syntax.AssignUnset && x.Exp.Op != syntax.AssignUnsetOrNull && x.Exp.Op != syntax.OtherParamOps) && !hides(x)
		case *syntax.DeclClause:
			known = known && slices.Contains([]string{"export", "typeset", "declare"}, x.Variant.Value)
			assign(x.Args)
		case *syntax.CallExpr:
			assign(x.Assigns)
			switch {
			case len(x.Args) == 0:
			case len(x.Assigns) > 0:
				known = false
			case len(x.Args) == 2 && slices.Contains([]string{".", "source"}, x.Args[0].Lit()):
				files = append(files, written(x.Args[1]))
			default:
				known = known && slices.Contains([]string{"[", "test", "true", ":"}, x.Args[0].Lit())
			}
		default:
			known = false
		}
		return known
	})
	return sets, files, known
}

// written is the value of a word, as in [Set].
func written(w *syntax.Word) string {
	var b strings.Builder
	var add func(all []syntax.WordPart, quoted bool)
	add = func(all []syntax.WordPart, quoted bool) {
		for _, p := range all {
			switch p := p.(type) {
			case *syntax.DblQuoted:
				add(p.Parts, true)
				continue
			case *syntax.ParamExp:
				if p.Param != nil && p.Exp == nil && !p.Length && !p.Width && !p.IsSet {
					b.WriteString("${" + p.Param.Value + "}")
					continue
				}
			case *syntax.SglQuoted:
				if !p.Dollar && !strings.Contains(p.Value, "$") {
					b.WriteString(p.Value)
					continue
				}
			case *syntax.Lit:
				text := p.Value
				if !quoted {
					text = tilde.ReplaceAllString(text, "${1}$${HOME}$2")
				}
				if rest := strings.ReplaceAll(text, "${HOME}", ""); !strings.Contains(text, `\`) && (quoted || !more.MatchString(rest)) && !strings.Contains(rest, "$") {
					b.WriteString(text)
					continue
				}
			}
			b.WriteString("${?}")
		}
	}
	if w != nil {
		add(w.Parts, false)
	}
	return b.String()
}
