package ask

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// maxSubject is the longest part of a prompt that the history keeps, in bytes.
const maxSubject = 4 << 10

// mostBegins is how much of a longer command the history keeps beside that, in characters: what a user knows it by.
const mostBegins = 400

// kept returns what the history keeps of a prompt of an agent's program and of the reply:
// no secrets, and of long texts only their size and hash, of commands how they begin, too. Other requests are kept as they
// are.
func (h *history) kept(r Request, reply Reply) (Request, Reply) {
	if r.Prompt == nil {
		return r, reply
	}
	p := *r.Prompt
	if len(p.Command) > maxSubject && !h.redact.ShapeOnly {
		p.Begins = sanitize.First(h.redact.Text(p.Command[:maxSubject]), mostBegins)
	}
	for _, s := range []*string{&p.Words, &p.Command, &p.Path, &p.Diff} {
		*s = h.keptText(*s)
	}
	if p.Args != nil {
		p.Args = h.keptArgs(p.Args)
	}
	p.Does = h.keptDoes(p.Does, p.Args)
	if p.Refused != nil {
		why := *p.Refused
		why.Reason, p.Refused = h.keptText(why.Reason), &why
	}
	if r.permission() != nil { // options and answers quote the commands that are allowed
		r.Questions = slices.Clone(r.Questions)
		for i := range r.Questions {
			opts := slices.Clone(r.Questions[i].Options)
			for j := range opts {
				opts[j].Label, opts[j].Description = h.redact.Text(opts[j].Label), h.keptText(opts[j].Description)
			}
			r.Questions[i].Options = opts
		}
		p.Grants = slices.Clone(p.Grants)
		for i := range p.Grants {
			p.Grants[i].Effect = h.keptText(p.Grants[i].Effect)
		}
		reply.Results = slices.Clone(reply.Results)
		for i := range reply.Results {
			labels := slices.Clone(reply.Results[i].SelectedOptions)
			for j := range labels {
				labels[j] = h.redact.Text(labels[j])
			}
			reply.Results[i].SelectedOptions = labels
		}
	}
	r.Prompt = &p
	return r, reply
}

// mostFiles is how many files of one change the history keeps for rules.
const mostFiles = 16

// keptDoes is what a tool was about to do, with the arguments as they are kept; nil if not all of it is kept as it was.
func (h *history) keptDoes(d *Does, args json.RawMessage) *Does {
	if d == nil || len(d.Files) > mostFiles {
		return nil
	}
	as := func(s string) bool { return h.keptText(s) == s }
	if !as(d.Page) || !as(d.Server) || !as(d.Tool) || slices.ContainsFunc(d.Files, func(f ChangedFile) bool { return !as(f.Path) }) {
		return nil
	}
	out := *d
	out.Args = args
	return &out
}

func (h *history) keptText(s string) string {
	switch {
	case s == "", h.redact.ShapeOnly:
		return ""
	case len(s) > maxSubject:
		return sizeAndHash([]byte(s))
	}
	return h.redact.Text(s)
}

func (h *history) keptArgs(raw json.RawMessage) json.RawMessage {
	switch {
	case h.redact.ShapeOnly:
		return nil
	case len(raw) > maxSubject:
		return rawjson.Quote(sizeAndHash(raw))
	}
	return h.redact.Body(redact.Kind{}, false, raw)
}

func sizeAndHash(b []byte) string {
	sum := sha256.Sum256(b)
	return fmt.Sprintf("[%s, sha256 %x]", humanize.Count(len(b), "byte"), sum)
}
