package book

import (
	"cmp"
	"path"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
)

// KindOf is the kind of things that a prompt is about; "" if rules know none of it.
func KindOf(p *ask.Prompt) Kind {
	switch d := p.Does; {
	case p.Kind != ask.Permission:
		return ""
	case d == nil && p.Command != "":
		return OfCommands
	case d == nil:
		return ""
	case d.Page != "":
		return OfPages
	case d.Tool != "":
		return OfCalls
	case len(d.Files) > 0:
		return OfEdits
	}
	return ""
}

// Asks fills in what a prompt is about, which is asked in a place.
func (q *Request) Asks(p *ask.Prompt, in rules.Place) {
	q.Agent, q.Project, q.Home = p.Agent, in.Root, in.Home
	switch d := p.Does; {
	case d == nil:
		q.Reading = rules.Read(p.Command, in)
	case d.Page != "":
		q.Fetch = d.Page
	case d.Tool != "":
		q.Call = &Called{Server: d.Server, Tool: d.Tool, Args: d.Args, In: in}
	default:
		q.Edits = &Edits{In: in, Partial: d.Partial}
		for _, f := range d.Files {
			at := filepath.ToSlash(f.Path)
			if !path.IsAbs(at) && !filepath.IsAbs(f.Path) {
				at = path.Join(in.Cwd, at)
			}
			q.Edits.Files = append(q.Edits.Files, rules.Edit{Path: at, Delete: f.Delete, Make: f.Make})
		}
	}
}

// Place is where an agent's prompt is asked, for a user with this home.
func (s *Standing) Place(r *ask.Request, home string) rules.Place {
	in := rules.At(cmp.Or(r.Prompt.Dir, r.Cwd()), r.Cwd(), home)
	in.Shell, in.Programs = r.Prompt.Shell, s.Programs()
	return in
}

// Asked is a prompt as the rules see it, but for what only its agent knows; false if they see nothing of it, or it is
// of another machine.
func (s *Standing) Asked(r *ask.Request, home string) (q Request, is bool) {
	p := r.Prompt
	if p == nil || KindOf(p) == "" || p.Agent == "" || r.Cwd() == "" || r.Peer.Host+r.Peer.Machine != "" {
		return q, false
	}
	q.Now = time.Now()
	q.Asks(p, s.Place(r, home))
	return q, true
}

// Answered is what the user has answered of some prompts, of some agents and kinds. What a rule answered, or auto mode
// denied, is not among it.
func (s *Standing) Answered(all []ask.Record, of func(agent string, k Kind) bool, home string) (out []Past) {
	for i := range all {
		r := &all[i]
		p, end := r.Request.Prompt, r.End()
		if p == nil || r.Rule != nil || r.Refused != nil || end != ask.EndAllowed && end != ask.EndDenied || !of(p.Agent, KindOf(p)) {
			continue
		}
		if q, is := s.Asked(&r.Request, home); is {
			out = append(out, Past{Request: q, Allowed: end == ask.EndAllowed, Cut: Cut(p)})
		}
	}
	return out
}

// Cut reports whether not all that a kept prompt was about was kept.
func Cut(p *ask.Prompt) bool {
	return !redact.Whole([]byte(p.Command)) || KindOf(p) == OfCalls && !redact.Whole(p.Args)
}
