package rules

import (
	"slices"
	"strings"
)

// same reports whether an alias is its own program with options that are known.
func (r *reader) same(name, as string) bool {
	words := strings.Fields(as)
	w := table()[name]
	if w == nil || len(words) == 0 || words[0] != name {
		return false
	}
	for _, o := range words[1:] {
		if o, _, _ = strings.Cut(o, "="); w.options[o] != (option{kind: 't', value: '?'}) && w.options[o] != (option{kind: 't'}) {
			return false
		}
	}
	return true
}

// elsewhere judges a name whose program is not where programs are.
func (r *reader) elsewhere(name string) {
	if r.Find == nil || slices.Contains(builtins, name) {
		return
	}
	switch at := r.Find(name); {
	case at == "":
		r.fact(Opaque, name+", which is not where programs are")
	case within(r.Root, r.resolved(at)):
		r.fact(Opaque, name+", which is in the project")
	}
}

// builtins are the shell's own, wherever a program of that name is.
var builtins = slices.Concat(moves, runners, setters, strings.Fields(": [ alias bg break builtin command continue declare disown echo exec exit export false fc fg getopts hash jobs let local printf pwd return set shift shopt test times true type ulimit umask unalias"))

// Builtin reports whether a name is one of the shell's own, wherever a program of that name is.
func Builtin(name, shell string) bool {
	own := slices.Contains(builtins, name)
	if shell != "bash" && own { // what not every shell has is a program's
		own = !slices.Contains(strings.Fields("pushd popd source mapfile readarray typeset declare let bg fg jobs disown shopt type umask ulimit alias unalias hash builtin wait"), name)
	}
	return own
}
