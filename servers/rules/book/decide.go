package book

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules"
)

// Request is what an agent wants to do: one of a command, edits, a page and a call.
type Request struct {
	Agent   string         // ID in the table of clients
	Project string         // absolute; "" if there is none
	Home    string         // of the user
	Now     time.Time      // by which rules have ended
	Reading *rules.Reading // of the command
	Edits   *Edits         // of its file tools
	Fetch   string         // the address of a page
	Call    *Called        // of a tool of an MCP server
	Explain bool           // why each rule that is not about it is not
}

// Decision is what the rules say of a request.
type Decision struct {
	Verdict Verdict // "" if no rule is about it; then, it is asked
	Rule    *Rule   // that has it; nil without a verdict
	Also    []*Rule // that allow other parts of the command
	// Why says why it is asked, as a clause: "`tee` writes outside the project: /tmp/t".
	Why     string
	Changed *Changed // if that is why
	Passed  []Passed // if that was to be explained
}

// Says is the words of the rules that decide.
func (d *Decision) Says() string {
	say := d.Rule.Words()
	for _, r := range d.Also {
		say += ". " + r.Words()
	}
	return say
}

// Passed is a rule that does not decide, and why.
type Passed struct {
	Rule *Rule
	Why  string
}

// NoRule is why it is asked what no rule is about.
const NoRule = "no rule is about it"

// aboutOther begins why a rule is not about something that it could not be about.
const aboutOther = "it is about "

// fit is how far a rule is about a command.
type fit int

const (
	not   fit = iota
	maybe     // if a word that is known only when it runs is that one
	sure
)

// Decide returns what the rules say: a deny before an ask before an allow, whatever their order.
func (b *Book) Decide(q Request) (d Decision) {
	var asks, allows *Rule
	var parts []*Rule // that may allow parts of a command
	near := ""        // why an allow does not cover it
	for i := range b.Rules {
		r := &b.Rules[i]
		fits, why := r.fits(&q)
		switch {
		case fits == maybe && r.Verdict == Allow && r.Command != nil:
			parts = append(parts, r)
		case fits == not, r.Verdict == Allow && fits != sure:
			if r.Verdict == Allow && why != "" && !strings.HasPrefix(why, aboutOther) && r.applies(&q) == "" {
				near = why
			}
			if q.Explain {
				d.Passed = append(d.Passed, Passed{r, why})
			}
		case r.Verdict == Deny && fits == sure && d.Verdict != Deny:
			d.Verdict, d.Rule = Deny, r
		case r.Verdict == Allow:
			allows = cmp.Or(allows, r)
		case asks == nil:
			asks = r
			d.Why = "rule " + r.ID + " has it asked"
			if fits == maybe {
				d.Why = "it may be what rule " + r.ID + " is about: " + why
			}
		}
	}
	if len(parts) > 0 {
		d.parts(&q, parts, &allows, &near)
	}
	switch {
	case d.Verdict == Deny:
		d.Why = ""
	case asks != nil:
		d.Verdict, d.Rule = Ask, asks
	case allows != nil:
		d.Verdict, d.Rule = Allow, allows
	default:
		d.Why = cmp.Or(near, NoRule)
	}
	if d.Verdict != Allow {
		d.Also = nil
	}
	if d.Verdict != "" {
		d.Changed = nil
	}
	return d
}

// fits reports how far a rule is about a request, and why not, or why it is not sure.
func (r *Rule) fits(q *Request) (fit, string) {
	if why := r.applies(q); why != "" {
		return not, why
	}
	switch {
	case r.Edit != nil && q.Edits != nil:
		return r.Edit.fits(r.Verdict, q.Edits, q.Home)
	case r.Fetch != nil && q.Fetch != "":
		return r.Fetch.fits(r.Verdict, q.Fetch)
	case r.MCP != nil && q.Call != nil:
		return r.MCP.fits(q.Call, q.Home)
	case r.Command == nil || q.Reading == nil:
		return not, aboutOther + "something else"
	case r.Verdict == Allow: // with others, in [Book.covers]
		return maybe, ""
	}
	best, why := not, ""
	for i := range q.Reading.Segments {
		s := &q.Reading.Segments[i]
		if f := r.Command.of(s.Words); f > best {
			best, why = f, "`"+s.Text+"`"
		}
	}
	if best == not && q.Explain {
		if why = "no part of it is `" + strings.Join(r.Command.Words, " ") + "`"; len(r.Command.With)+len(r.Command.Without) > 0 {
			why += " with these options"
		}
	}
	return best, why
}

// applies says why a rule is not for the asker; "" if it is.
func (r *Rule) applies(q *Request) string {
	project := expand(r.Project, q.Home)
	switch {
	case len(r.Agent) > 0 && !slices.Contains(r.Agent, q.Agent):
		return "it is for " + listed(r.Agent)
	case !r.Until.IsZero() && !q.Now.Before(r.Until):
		return "it has ended"
	case project != "" && path.Clean(project) != path.Clean(q.Project):
		return "it is for " + r.Project
	}
	return ""
}

// of reports how far a command is one of those that are meant: the words of the one that runs.
func (c *Command) of(words []string) fit {
	if len(words) == 0 || words[0] != "" && words[0][strings.LastIndexByte(words[0], '/')+1:] != c.Words[0] {
		return not
	}
	best := c.begins(words)
	if best == not {
		return not
	}
	for _, o := range c.Without {
		switch has(words[1:], o) {
		case sure:
			return not
		case maybe:
			best = min(best, maybe)
		case not:
		}
	}
	if len(c.With) > 0 {
		with := not
		for _, o := range c.With {
			with = max(with, has(words[1:], o))
		}
		best = min(best, with)
	}
	return best
}

// begins compares the first words after the program, between which options may be. What may be the value of an
// option leaves it open which word is the next.
func (c *Command) begins(words []string) fit {
	if words[0] == "" {
		return maybe
	}
	found, open, value := 1, false, false
	for i, w := range words[1:] {
		switch {
		case c.Words[0] == "git" && slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, words[i]) && value:
			value = false // its value
		case found == len(c.Words):
			return either(open)
		case w == "": // it may be several
			return maybe
		case w == c.Words[found]:
			found, value = found+1, false
		case len(w) > 1 && w[0] == '-':
			value = !strings.Contains(w, "=")
		case value: // of the option before it, or another command
			open, value = true, false
		default:
			return not
		}
	}
	if found < len(c.Words) {
		return not
	}
	return either(open)
}

func either(open bool) fit {
	if open {
		return maybe
	}
	return sure
}

// has reports whether words have an option: as it is, with a value, with other letters, or shortened.
func has(words []string, option string) (found fit) {
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		long := strings.HasPrefix(option, "--")
		switch {
		case w == "--":
			return found
		case name == option:
			return sure
		case w == "":
			found = maybe
		case long && len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(option, name):
			found = maybe // if no other option begins so
		case !long && len(option) == 2 && len(w) > 2 && w[0] == '-' && w[1] != '-' && strings.Contains(w[1:], option[1:]):
			found = sure
		}
	}
	return found
}
