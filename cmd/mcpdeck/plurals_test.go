package main

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Numbers of things are written by humanize.Count, sizes and limits of them by humanize.Bytes: "1 call", "2 calls",
// never "1 calls" or "1 call(s)". A limit is a constant, and more than one.
func TestRulesOfPlurals(t *testing.T) {
	t.Parallel()
	c := sources(t)
	protocol := map[string]string{" token(s)": "pixelsrc", " color(s)": "pixelsrc"} // the reference writes these
	seen := map[string]bool{}
	for _, s := range c.shipped(t) {
		if s.path == "servers/support/humanize" {
			continue
		}
		for _, f := range s.files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					text := stringOf(n)
					switch {
					case protocol[text] != "" && strings.HasSuffix(s.path, protocol[text]):
						seen[text] = true
					case regexp.MustCompile(`[a-z]\(e?s\)|(%d|%s|%\.\df) ?[kKMG]i?B\b|\b[KMG]iB\b`).MatchString(text):
						t.Errorf("%s: %q; use humanize", c.at(n), text)
					}
				case *ast.BinaryExpr:
					if text := stringOf(n.Y); n.Op == token.ADD && strings.HasPrefix(text, " ") && many(strings.Fields(text + " .")[0]) && number(n.X) {
						t.Errorf("%s: a number and %q; use humanize.Count", c.at(n), text)
					}
				case *ast.CallExpr:
					for i, arg := range n.Args {
						for _, noun := range counted(stringOf(arg), n.Args[i+1:]) {
							t.Errorf("%s: %q of %q; use humanize.Count", c.at(arg), noun, stringOf(arg))
						}
					}
				}
				return true
			})
		}
	}
	for text := range protocol {
		if !seen[text] {
			t.Errorf("no source has %q, which is an exception", text)
		}
	}
}

// stringOf is the text of a string literal, "" of anything else.
func stringOf(n ast.Node) string {
	if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		text, _ := strconv.Unquote(lit.Value)
		return text
	}
	return ""
}

// number reports whether an expression ends as strconv.Itoa(n).
func number(n ast.Expr) bool {
	if sum, ok := n.(*ast.BinaryExpr); ok {
		n = sum.Y
	}
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	x, _ := member(call.Fun)
	return x == "strconv"
}

// counted are the plurals in a format that follow a number which may be one.
func counted(format string, args []ast.Expr) (nouns []string) {
	verbs := regexp.MustCompile(`%(\[\d\])?[-+# 0]*[\d*]*(\.\d+)?[a-zA-Z]`).FindAllStringIndex(strings.ReplaceAll(format, "%%", "--"), -1)
	for i, at := range verbs {
		words := strings.Fields(format[at[1]:] + " .")
		if format[at[1]-1] != 'd' || i >= len(args) || strings.HasSuffix(format[:at[0]], "x") || strings.HasSuffix(format[:at[0]], "×") || !strings.HasPrefix(format[at[1]:], " ") || limit(args[i]) {
			continue
		}
		for _, w := range words[:min(2, len(words))] {
			if w = strings.TrimRight(w, ",;:.)]"); many(w) {
				nouns = append(nouns, w)
			}
		}
	}
	return nouns
}

// many reports whether a word looks like a plural.
func many(word string) bool {
	return regexp.MustCompile(`^[a-z]{2,}s$`).MatchString(word) && !strings.Contains(" is was has as this its does less always ms fps ", " "+word+" ")
}

// limit reports whether an expression is a constant that bounds something.
func limit(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return true
	case *ast.BinaryExpr:
		return limit(e.X) || limit(e.Y) && e.Op == token.MUL
	case *ast.Ident:
		return regexp.MustCompile(`^(max|most|limit|min)([A-Z]|$)|Max|Most`).MatchString(e.Name)
	case *ast.SelectorExpr:
		return limit(e.Sel)
	}
	return false
}
