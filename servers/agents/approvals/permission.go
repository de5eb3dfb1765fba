package approvals

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
)

// Choice is one option of a permission or a plan, and what its agent is told for it.
type Choice struct {
	Label  string
	Grant  ask.Grant
	Result json.RawMessage // in the agent's own format; nil: the grant says all
}

// AllowOnce returns the option that allows one call.
func AllowOnce(result json.RawMessage) Choice {
	return Choice{"Allow once", ask.Grant{Allow: true, Scope: ask.Once}, result}
}

// Denials returns the options that deny one call, without and with a note.
func Denials(result json.RawMessage) []Choice {
	return []Choice{{"Deny", ask.Grant{Scope: ask.Once}, result}, {"Deny with a message", ask.Grant{Scope: ask.Once, Note: true}, result}}
}

// DenyAndStop returns the option that denies one call and ends the turn.
func DenyAndStop(result json.RawMessage) Choice {
	return Choice{"Deny and stop the turn", ask.Grant{Scope: ask.Once, Stop: true}, result}
}

// OnceOnly leaves out the options that allow or deny more than one call.
func OnceOnly(all []Choice) []Choice {
	return slices.DeleteFunc(all, func(c Choice) bool { return c.Grant.Scope != ask.Once })
}

// Retries returns the options for what an agent's program has refused already.
func Retries() []Choice {
	return []Choice{{"Let it try again", ask.Grant{Scope: ask.Once, Again: true}, nil}, {"Leave it denied", ask.Grant{Scope: ask.Once}, nil}}
}

// Permit makes choices the one question of a request. No two have the same label.
func Permit(r *ask.Request, all []Choice) {
	Distinct(all, func(c *Choice) *string { return &c.Label })
	one := ask.Question{ID: "permission", Header: "Permission", Question: "Allow " + r.Prompt.Tool + "?", Kind: ask.Choice, Required: true}
	for _, c := range all {
		one.Options = append(one.Options, ask.Option{Label: c.Label})
		r.Prompt.Grants = append(r.Prompt.Grants, c.Grant)
	}
	r.Questions = []ask.Question{one}
}

// Chosen returns what the user chose, and what was noted on a denial; false if it cannot be
// told, so that the terminal asks.
func Chosen(all []Choice, r ask.Reply) (c Choice, note string, ok bool) {
	fits := func(c Choice) bool { return c.Label == r.Results[0].SelectedOptions[0] }
	switch {
	case r.Status == ask.TimedOut:
		return Choice{}, "", false
	case r.Status == ask.Declined:
		fits = func(c Choice) bool { return !c.Grant.Allow && !c.Grant.Stop }
	case len(r.Results) != 1 || len(r.Results[0].SelectedOptions) != 1:
		return Choice{}, "", false
	}
	i := slices.IndexFunc(all, fits)
	switch {
	case i < 0:
		return Choice{}, "", false
	case r.Status == ask.Declined:
		note = r.Reason
	case !all[i].Grant.Allow:
		note = cmp.Or(Note(r.Results[0]), r.Results[0].CustomInput)
	}
	return all[i], strings.TrimSpace(note), true
}
