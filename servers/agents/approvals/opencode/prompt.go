package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// prompt is one that the program waits for.
type prompt struct {
	*approvals.Item
	in      *stream
	kind    string // "permission" or "question"
	id      string
	session *session
	arrived time.Time
	choices []approvals.Choice // of a permission; the results are the bodies of posts

	what string         // was posted: the last part of the path; "" if nothing was
	body map[string]any // of that

	early   chan struct{} // closed when it is settled
	settled *settlement   // by whomever, also by the deck's own post; the stream's lock guards it

	// call is the ID of the tool call that waits for the prompt, if the plugin says what
	// becomes of that: then the program's word that the prompt is settled is not enough. It is
	// where there is no call, and with a plugin of an older mcpdeck.
	call   string
	became fate // of the call, since the prompt was settled; the stream's lock guards it
}

// fate is what became of a tool call after its prompt was settled.
type fate int

const (
	unknown fate = iota
	went         // on: it runs, has ended, or asks for something else
	failed       // or was refused
	never        // its turn ended without
)

// settlement is how a prompt was settled.
type settlement struct {
	reply   string // of a permission, as the program has it; "reject" of a question that was rejected
	words   string
	answers json.RawMessage // to questions, compact; nil: not said
}

var errOther = errors.New("it was answered with what it does not offer")

// request makes a prompt of an event. What cannot be read can still be shown.
func (s *stream) request(p *prompt, m hook.Message) ask.Request {
	x := p.session
	root := s.root(x)
	q := &ask.Prompt{Kind: ask.Permission, ID: p.id, Door: ask.Shared}
	if root != x || x.Parent != "" {
		q.Subagent = s.a.twins.Name(root.ID, cmp.Or(x.Agent, "sub-agent"), x.ID)
	}
	r := approvals.Request(&snapshot.Session{
		Agent: s.a.of.id, ID: root.ID, Version: x.Version, PID: s.c.PID, Mode: x.Agent, Title: root.Title, Verified: s.verified,
		Folder: cmp.Or(x.Directory, s.c.Hello.Directory),
	}, q)
	r.Local = p.kind != "question" // a permission is never given later
	if !r.Local {
		q.Kind = ask.OwnQuestion
	}
	err := shapes().Err(approvals.Line("type", m.Event, "properties", m.Raw))
	switch {
	case m.TooLarge || m.Payload.Flag("large"):
		q.Tool, err = m.Payload.Str("permission"), nil
		approvals.InTerminal(&r, "It is too large to show; answer in its terminal.")
	case err != nil:
	case q.Kind == ask.OwnQuestion:
		r.Questions, err = questions(m.Payload.Get("questions"))
	default:
		p.choices = s.permission(q, m.Payload, r.From.Cwd)
		if q.Tool == "bash" && q.Command != "" {
			s.runsIn(q, m.Payload, r.From.Cwd)
		}
		if s.a.opt.Rules.Now().OnceOnly {
			p.choices = approvals.OnceOnly(p.choices)
		}
		approvals.Permit(&r, p.choices)
	}
	if err != nil {
		approvals.Misread(&r, err)
	}
	return r
}

// permission reads what is to be allowed, which has its shape.
func (s *stream) permission(q *ask.Prompt, o rawjson.Object, folder string) []approvals.Choice {
	q.Tool = o.Str("permission")
	meta, _ := rawjson.SplitObject(o.Some("metadata"))
	patterns, always := words(o.Get("patterns")), words(o.Get("always"))
	q.Command, q.Path, q.Diff = meta.Str("command"), meta.Str("filepath"), meta.Str("diff")
	if q.Command == "" && q.Diff == "" {
		shown := meta.Without("filepath")
		if len(shown) == 0 || q.Path == "" && len(patterns) > 0 {
			raw, _ := json.Marshal(patterns) // strings always encode
			shown = append(shown, rawjson.Member{Key: "patterns", Value: raw})
		}
		q.Args = shown.JSON()
	}
	if more := meta.Without("command", "description", "diff", "filepath"); q.Command != "" && len(more) > 0 {
		q.Args = more.JSON() // what else decides how it runs
	}
	switch {
	case q.Tool == "edit":
		_, err := os.Lstat(q.Path)
		q.Does = &ask.Does{Files: []ask.ChangedFile{{Path: q.Path, Make: errors.Is(err, fs.ErrNotExist)}}, Partial: q.Path == "" || len(patterns) != 1}
		s.edits(q, meta, folder)
	case q.Tool == "webfetch" && meta.Str("url") != "":
		q.Does = &ask.Does{Page: meta.Str("url")}
	}
	q.Marks = approvals.Marks(q.Command, folder)
	approvals.MarkPath(q, folder)
	all := []approvals.Choice{approvals.AllowOnce(json.RawMessage(`"once"`))}
	if len(always) > 0 {
		effect := q.Tool + ": " + strings.Join(always, ", ")
		if slices.Equal(always, []string{"*"}) {
			effect = q.Tool + ", whatever it is about"
		}
		all = append(all, approvals.Choice{Label: "Always allow", Grant: ask.Grant{Allow: true, Scope: ask.Always, Effect: effect + " (until " + s.a.of.title + " is restarted)"}, Result: json.RawMessage(`"always"`)})
	}
	reject := json.RawMessage(`"reject"`)
	return append(append(all, approvals.Denials(reject)...), approvals.DenyAndStop(reject))
}

// words reads a list of strings; one that is missing is empty.
func words(raw json.RawMessage) (all []string) {
	_ = json.Unmarshal(raw, &all) // as above
	return all
}

// questions reads the program's own questions.
func questions(raw json.RawMessage) ([]ask.Question, error) {
	var in []struct {
		Question, Header string
		Options          []ask.Option
		Multiple         bool
		Custom           *bool
	}
	if json.Unmarshal(raw, &in) != nil {
		return nil, approvals.ErrShape
	}
	var out []ask.Question
	for _, one := range in {
		out = append(out, ask.Question{
			Question: one.Question, Header: one.Header, Options: one.Options, Multi: one.Multiple, AllowOther: one.Custom == nil || *one.Custom,
		})
	}
	return approvals.OwnQuestions(out)
}

// follow shows a prompt until it is settled, and posts the user's answer.
func (p *prompt) follow() {
	s := p.in
	if s.wait > 0 {
		select {
		case <-time.After(s.wait):
		case <-p.early:
			return
		case <-s.ctx.Done():
			return
		}
	}
	if p.Open(s.a.opt.Queue, p) == nil { // else it stays in its terminal
		p.Follow(s.ctx)
	}
}

// Answer implements [approvals.Door]: it posts the user's answer.
func (p *prompt) Answer(r ask.Reply) bool {
	what, body, err := p.answer(r)
	if err == nil {
		err = p.in.c.Post("/"+p.kind+"/"+p.id+"/"+what, body)
	}
	if err != nil {
		p.in.a.opt.Log.Info("an answer was not sent", "agent", p.in.a.of.id, "error", err)
		return false
	}
	p.what, p.body = what, body
	return true
}

// Look implements [approvals.Door]: the program says what a prompt was answered with, by whomever,
// and what its tool call does then.
func (p *prompt) Look() approvals.Fate {
	s := p.in
	s.mu.Lock()
	defer s.mu.Unlock()
	how := p.settled
	ours := how != nil && p.what != "" && how.is(p.what, p.body)
	switch {
	case how != nil && !ours:
		return approvals.Fate{Is: approvals.Elsewhere, How: "answered in its terminal: " + how.words, Last: true}
	case ours && (p.call == "" || p.became == went || p.became == failed):
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case p.became == never:
		return approvals.Fate{Is: approvals.Gone, How: s.a.of.title + "'s turn has ended", Last: true}
	case s.ctx.Err() != nil && s.deck.Err() == nil:
		return approvals.Fate{Is: approvals.Left, How: s.a.of.title + " has ended", Last: true}
	}
	return approvals.Fate{}
}

// is reports whether the settlement is that of an answer that was posted.
func (s settlement) is(what string, body map[string]any) bool {
	reply, permission := body["reply"]
	switch {
	case permission:
		return s.reply == reply
	case what == "reject":
		return s.reply == "reject"
	case s.reply != "":
		return false
	}
	raw, err := json.Marshal(body["answers"])
	return err == nil && (s.answers == nil || bytes.Equal(raw, s.answers)) // some versions do not say them
}

// answer returns what is posted for the user's reply: the last part of the path, and the
// body.
func (p *prompt) answer(r ask.Reply) (what string, body map[string]any, err error) {
	if p.Request.InTerminal() || r.Status == ask.TimedOut {
		return "", nil, errOther
	}
	if p.kind == "question" {
		if r.Status == ask.Declined {
			return "reject", map[string]any{}, nil
		}
		answers, err := p.answers(r.Results)
		return "reply", map[string]any{"answers": answers}, err
	}
	c, note, ok := approvals.Chosen(p.choices, r)
	if !ok {
		return "", nil, errOther
	}
	word, err := rawjson.Text(c.Result)
	body = map[string]any{"reply": word}
	if !c.Grant.Allow && !c.Grant.Stop {
		body["message"] = cmp.Or(note, approvals.Denied)
	}
	return "reply", body, err
}

// answers are those to the program's own questions: for each its labels, or free text.
func (p *prompt) answers(results []ask.Result) ([][]string, error) {
	if len(results) != len(p.Request.Questions) || !approvals.Offered(p.Request.Questions, results) {
		return nil, errOther
	}
	out := make([][]string, len(results))
	for i, r := range results {
		out[i] = []string{}
		if r.Skipped {
			continue
		}
		for _, label := range r.SelectedOptions {
			note := r.Notes[label]
			if r.Note != "" && len(r.SelectedOptions) == 1 {
				note = r.Note
			}
			if note != "" {
				label += " - " + note
			}
			out[i] = append(out[i], label)
		}
		for _, text := range []string{r.CustomInput, r.Clarify} {
			if text != "" {
				out[i] = append(out[i], text)
			}
		}
	}
	return out, nil
}
