package approvals

import (
	"cmp"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// Noting returns a queue in which each command says what it may do. It only informs: nothing is answered
// by it.
func Noting(q Queue, home string) Queue { return noting{q, home} }

type noting struct {
	Queue
	home string
}

func (n noting) Open(r ask.Request) (*ask.Call, error) {
	if p := r.Prompt; p != nil && p.Kind == ask.Permission && p.Command != "" {
		noted := *p
		note(&noted, r.Cwd(), n.home)
		r.Prompt = &noted
	}
	return n.Queue.Open(r)
}

// note says of a command what leaves the project or gives power, in place of the mark that a word of it
// names a path elsewhere; that stays where the command is not understood.
func note(p *ask.Prompt, folder, home string) {
	in := rules.At(cmp.Or(p.Dir, folder), folder, home)
	in.Shell = p.Shell
	r := rules.Read(p.Command, in)
	marks, notes := r.Notable()
	known := r.Effects()[0] != rules.Opaque || slices.ContainsFunc(r.Facts(), func(f rules.Fact) bool {
		return f.Effect == rules.WriteOut || f.Effect == rules.ReadOut
	})
	others := slices.DeleteFunc(slices.Clone(p.Marks), func(m string) bool { return m == Outside && known })
	p.Notes = slices.DeleteFunc(notes, func(n string) bool { // which is a mark already
		return slices.ContainsFunc(others, func(m string) bool { return n == rules.Fact{Effect: rules.Opaque, What: m}.String() })
	})
	p.Marks = append(marks, others...)
}
