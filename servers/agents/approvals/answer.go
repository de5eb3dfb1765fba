package approvals

import (
	"cmp"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
)

// Denied is what an agent is told of a denial for which the user gives no reason.
const Denied = "the user denied this"

// Note returns what the user noted on the options that were chosen.
func Note(r ask.Result) string {
	if r.Note != "" || len(r.Notes) == 0 {
		return r.Note
	}
	var all []string
	for _, label := range r.SelectedOptions {
		if note := r.Notes[label]; note != "" {
			if len(r.SelectedOptions) > 1 {
				note = label + ": " + note
			}
			all = append(all, note)
		}
	}
	return strings.Join(all, "; ")
}

// Misread has a prompt answered in its agent's terminal that is not as the program was known to write it, and
// its session say so.
func Misread(r *ask.Request, err error) {
	r.Prompt.Misread = err.Error()
	InTerminal(r, "mcpdeck cannot show it ("+err.Error()+"); answer in its terminal.")
}

// InTerminal makes a request one that is shown but answered in its terminal, and says
// why.
func InTerminal(r *ask.Request, why string) {
	p := r.Prompt
	p.Door, p.Grants = ask.InTerminal, nil
	r.Questions = []ask.Question{{
		ID: "prompt", Question: cmp.Or(p.Tool, "It asks something"), Description: why, Kind: ask.Choice, Required: true,
		Options: []ask.Option{{Label: "Answer in its terminal"}},
	}}
	if p.Kind == ask.Permission {
		p.Grants = []ask.Grant{{Scope: ask.Once}}
	}
}
