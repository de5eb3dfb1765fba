package rules

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// quote writes a text as one word of a shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// mutations are ways to write a command so that it does at least the same.
func mutations() map[string]func(string, *rand.Rand) string {
	plain := func(before, after string) func(string, *rand.Rand) string {
		return func(s string, _ *rand.Rand) string { return before + s + after }
	}
	quoted := func(before, after string) func(string, *rand.Rand) string {
		return func(s string, _ *rand.Rand) string { return before + quote(s) + after }
	}
	first := func(change func(word string, r *rand.Rand) string) func(string, *rand.Rand) string {
		return func(s string, r *rand.Rand) string {
			word, rest, _ := strings.Cut(s, " ")
			if word == "" || !plainName.MatchString(word) || slices.Contains(strings.Fields("if case while for time coproc exec export"), word) {
				return s
			}
			return change(word, r) + " " + rest
		}
	}
	return map[string]func(string, *rand.Rand) string{
		"sh -c":        quoted("bash -c ", ""),
		"env sh -c":    quoted("env bash -c ", ""),
		"sudo sh -c":   quoted("sudo bash -c ", ""),
		"timeout":      quoted("timeout 9 bash -c ", ""),
		"nohup":        quoted("nohup nice -n 5 bash -c ", " &"),
		"eval":         quoted("eval ", ""),
		"trap":         quoted("trap ", " EXIT"),
		"xargs":        quoted("echo a | xargs bash -c ", ""),
		"find -exec":   quoted("find . -name a -exec bash -c ", ` \;`),
		"substitution": plain("echo $(", "\n)"),
		"quoted":       plain(`echo "a $(`, "\n)\""),
		"default":      plain("echo ${x:-$(", "\n)}"),
		"process":      plain("cat <(", "\n)"),
		"subshell":     plain("(", "\n)"),
		"group":        plain("{ ", "\n}"),
		"and":          plain("true && ", ""),
		"or":           plain("false || ", ""),
		"after":        plain("ls; ", ""),
		"lines":        plain("ls\n", "\nls"),
		"before":       plain("", "\nls -l"),
		"background":   plain("{ ", "\n} &"),
		"negated":      plain("! { ", "\n}"),
		"piped":        plain("{ ", "\n} | cat"),
		"pipe":         plain("echo a | { ", "\n}"),
		"if":           plain("if ", "\nthen ls; fi"),
		"then":         plain("if true; then\n", "\nfi"),
		"while":        plain("while false; do\n", "\ndone"),
		"for":          plain("for i in 1 2; do\n", "\ndone"),
		"case":         plain("case a in a)\n", "\n;; esac"),
		"function":     plain("f() { ", "\n}; f"),
		"heredoc":      plain("cat <<END_OF_TEXT\n$(\n", "\n)\nEND_OF_TEXT\n"),
		"redirected":   plain("{ ", "\n} 2>&1"),
		"cd":           plain("cd . && ", ""),
		"empty quotes": first(func(w string, r *rand.Rand) string { i := r.IntN(len(w)); return w[:i] + "''" + w[i:] }),
		"quotes": first(func(w string, r *rand.Rand) string {
			i := r.IntN(len(w))
			return w[:i] + `"` + w[i:i+1] + `"` + w[i+1:]
		}),
		"backslash":   first(func(w string, r *rand.Rand) string { i := r.IntN(len(w)); return w[:i] + `\` + w[i:] }),
		"broken line": first(func(w string, r *rand.Rand) string { i := r.IntN(len(w)); return w[:i] + "\\\n" + w[i:] }),
		"variable":    first(func(w string, _ *rand.Rand) string { return "p=" + w + "; $p" }),
		"ansi quotes": first(func(w string, _ *rand.Rand) string { return fmt.Sprintf(`$'\x%02x'%s`, w[0], w[1:]) }),
		"braces":      first(func(w string, _ *rand.Rand) string { return "{" + w + ",-v}" }),
		"command":     first(func(w string, _ *rand.Rand) string { return "command " + w }),
	}
}

// lenient says what a reading lacks of what another has, "" if nothing.
func lenient(got, want *Reading) string {
	class := []string{"starter", "rule", "never"}
	if slices.Index(class, got.Class()) < slices.Index(class, want.Class()) {
		return "class " + got.Class() + ", not " + want.Class()
	}
	have := got.Effects()
	if slices.Contains(have, Opaque) {
		return ""
	}
	for _, e := range want.Effects() {
		if e == WriteIn && slices.Contains(have, WriteOut) { // it may be anywhere, also in the project
			continue
		}
		if e != Reads && !slices.Contains(have, e) {
			return "no " + string(e)
		}
	}
	return ""
}

// TestNoWayToWriteACommandMakesItHarmless reads 10,000 commands that are one of the corpus in
// other words.
func TestNoWayToWriteACommandMakesItHarmless(t *testing.T) {
	t.Parallel()
	ways := mutations()
	var names []string
	for name := range ways {
		names = append(names, name)
	}
	slices.Sort(names)
	rows, r, n := corpus(t), rand.New(rand.NewPCG(1, 2)), 0
	for n < 10_000 {
		for _, row := range rows {
			text, by := row.Command, []string{}
			for range 1 + r.IntN(3) {
				name := names[r.IntN(len(names))]
				text, by = ways[name](text, r), append(by, name)
			}
			n++
			want := Read(row.Command, shop(row.Shell))
			if lack := lenient(Read(text, shop(row.Shell)), want); lack != "" {
				t.Errorf("%v of %q: %s\n%s", by, row.Command, lack, text)
			}
		}
	}
}
