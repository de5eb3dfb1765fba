package rules

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// hidden reports whether a rune is not for the eye, or not what it seems.
func hidden(c rune) bool {
	return c != '\n' && c != '\t' && c != ' ' && (unicode.In(c, unicode.Cc, unicode.Cf, unicode.Z) || c == 0xfffd)
}

// longComment goes on for the parser, and ends with the line for shells.
var longComment = regexp.MustCompile("(^|[\\s;&|()<>`])#[^\\n]*\\\\\\n")

// comments reports whether a text has a comment that is none for a shell, or a shorter one: in parentheses
// the parser takes the last character of ”# for the beginning of one.
func comments(f *syntax.File, text string) (wrong bool) {
	syntax.Walk(f, func(x syntax.Node) bool {
		if c, ok := x.(*syntax.Comment); ok {
			at := int(c.Hash.Offset())
			wrong = wrong || at >= len(text) || at > 0 && !strings.ContainsRune(" \t\n;&|(<>", rune(text[at-1]))
		}
		return true
	})
	return wrong || longComment.MatchString(text)
}

// joins reports whether a here-document has lines that are its end once shells have joined them, at a backslash: what
// follows runs. The parser looks for the end before it joins them.
func joins(f *syntax.File) (ends bool) {
	syntax.Walk(f, func(x syntax.Node) bool {
		d, ok := x.(*syntax.Redirect)
		if !ok || d.Hdoc == nil {
			return true
		}
		var body strings.Builder
		for _, part := range d.Hdoc.Parts {
			if l, ok := part.(*syntax.Lit); ok {
				body.WriteString(l.Value) // joined
			} else {
				body.WriteByte(0)
			}
		}
		for line := range strings.SplitSeq(body.String(), "\n") {
			if d.Op == syntax.DashHdoc {
				line = strings.TrimLeft(line, "\t")
			}
			ends = ends || line != "" && line == static(d.Word)
		}
		return true
	})
	return ends
}

var zshOnly = regexp.MustCompile(`[*?+@!\])\w]\(|(^|\s)=\w|\$\w+\[`)

// dialects are the languages that a shell may read.
func dialects(shell string) []string {
	if shell == "sh" {
		return []string{"bash", "dash"}
	}
	return []string{shell}
}

// inShell reads a text that a shell of its own runs. What one that may be bash or dash does is what either does.
func (r *reader) inShell(shell, text string) {
	for i, s := range dialects(shell) {
		read := func() {
			r.Shell, r.vars, r.funcs, r.sets = s, map[string][]value{}, map[string][]body{}, nil
			r.text(text)
		}
		was, sets := r.Shell, r.sets
		r.apart(func() {
			if i == 0 {
				read()
			} else {
				r.also(read)
			}
		})
		r.Shell, r.sets = was, sets
	}
}

// also adds the facts that come with another reading of what has been read.
func (r *reader) also(read func()) {
	out, at, quiet := r.out, r.at, r.quiet
	r.out, r.at, r.quiet = &Reading{}, -1, false
	read()
	more := r.out
	r.out, r.at, r.quiet = out, at, quiet
	have := out.Facts()
	for _, f := range more.Facts() {
		if !slices.Contains(have, f) {
			r.factAt(f.Effect, f.What, f.At)
		}
	}
	out.Downloads = out.Downloads || more.Downloads
}

// text reads a text of the present shell.
func (r *reader) text(text string) {
	r.spend(16 + len(text)/64)
	marks := func(any string) (n int) {
		for _, c := range any {
			n += strings.Count(text, string(c))
		}
		return n
	}
	if r.shells++; r.shells > mostShells || len(text) > mostText || marks("({") > mostBrackets || marks(";|&") > mostMarks {
		r.shells--
		r.fact(Opaque, "a text that is too long or too deep")
		return
	}
	defer func() { r.shells-- }()
	if strings.ContainsFunc(text, hidden) {
		r.fact(Opaque, "invisible characters")
		return
	}
	if (len(text)-len(strings.TrimRight(text, `\`)))%2 != 0 { // zsh drops it
		r.fact(Opaque, "a backslash at the end")
		return
	}
	parse := func(lang syntax.LangVariant) *syntax.File {
		f, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil {
			return nil
		}
		return f
	}
	lang, known := map[string]syntax.LangVariant{"bash": syntax.LangBash, "dash": syntax.LangPOSIX, "zsh": syntax.LangZsh}[r.Shell]
	if !known {
		r.fact(Opaque, "the shell "+r.Shell)
		return
	}
	f := parse(lang)
	switch {
	case f == nil:
		r.fact(Opaque, "a text that is no "+r.Shell)
		return
	case r.Shell == "zsh" && (parse(syntax.LangBash) == nil || zshOnly.MatchString(text)):
		r.fact(Opaque, "what only zsh knows")
		return
	}
	if joins(f) {
		r.fact(Opaque, "a here-document that may end before")
		return
	}
	if comments(f, text) {
		r.fact(Opaque, "a comment that may be none")
		return
	}
	sets := r.sets
	r.sets = settings(f)
	for _, all := range []string{"*", "/cd", "/unset"} {
		r.sets[all] += sets[all]
	}
	r.stmts(f.Stmts)
	r.sets = sets
}

// settings counts how often a text may set each variable: one that is set once has one value. It counts
// under "*" what may set any, under "/cd" what changes the folder, under "/unset" what may drop a function.
func settings(f *syntax.File) map[string]int {
	n := map[string]int{}
	syntax.Walk(f, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.Assign:
			if x.Name != nil {
				n[x.Name.Value]++
			}
		case *syntax.WordIter:
			n[x.Name.Value]++
		case *syntax.ParamExp:
			if x.Exp != nil && x.Param != nil { // ${x:=a} sets x
				n[x.Param.Value] += 2
			}
		case *syntax.CallExpr:
			setter := false
			for _, t := range called(x) {
				if setter {
					name, _, _ := strings.Cut(strings.TrimLeft(t, "-"), "=")
					n[strings.TrimSuffix(name, "+")] += 2
				}
				switch {
				case slices.Contains(moves, t):
					n["/cd"]++
				case slices.Contains(runners, t):
					n["*"]++
				case slices.Contains(setters, t):
					setter = true
				}
				if t == "unset" {
					n["/unset"]++
				}
			}
		}
		return true
	})
	return n
}

// called are the words of a command, but for a folder "." among them.
func called(x *syntax.CallExpr) (all []string) {
	for i, w := range x.Args {
		if t := static(w); t != "." || i == 0 || slices.Contains([]string{"command", "builtin", "-p", "--", "exec"}, all[i-1]) {
			all = append(all, t)
		} else {
			all = append(all, "")
		}
	}
	return all
}

// Builtins that change what other commands mean. A text is searched for their names, so they have to be
// written there.
var (
	moves   = []string{"cd", "pushd", "popd"}
	runners = []string{"eval", "trap", "source", "."}
	setters = strings.Fields("read unset getopts mapfile readarray printf wait local export typeset declare readonly let")
)

// changes reports whether a word is the name of such a builtin, and not written as such.
func changes(w *syntax.Word, v value) bool {
	return !v.unknown && static(w) != v.text && (slices.Contains(moves, v.text) || slices.Contains(runners, v.text) || slices.Contains(setters, v.text))
}

// static is the text of a word without its quotes, as far as it is written there.
func static(w *syntax.Word) string {
	var b strings.Builder
	syntax.Walk(w, func(x syntax.Node) bool {
		switch x := x.(type) {
		case *syntax.Lit:
			text, _ := unquoted(x.Value)
			b.WriteString(text)
		case *syntax.SglQuoted:
			b.WriteString(x.Value)
		}
		return true
	})
	return b.String()
}
