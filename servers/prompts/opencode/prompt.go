package opencode

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/prompts/hook"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// prompt is one that OpenCode waits for.
type prompt struct {
	kind    string // "permission" or "question"
	id      string
	session *session
	arrived time.Time
	req     ask.Request

	elsewhere chan settlement // of one slot: how it was settled, also by the deck's own post
}

// settlement is how a prompt was settled.
type settlement struct {
	reply   string // of a permission, as OpenCode has it; "reject" of a question that was rejected
	words   string
	answers json.RawMessage // to questions, compact; nil: not said
}

var (
	errShape = errors.New("its format is not known")
	errOther = errors.New("it was answered with what it does not offer")
)

// request makes a prompt of an event. What cannot be read can still be shown.
func (s *stream) request(p *prompt, m hook.Message) ask.Request {
	x := p.session
	root := s.root(x)
	q := &ask.Prompt{Kind: ask.Permission, ID: p.id, Agent: "opencode", Session: root.ID, Mode: x.Agent, Door: ask.Shared, Unconfirmed: !s.verified}
	if root != x || x.Parent != "" {
		q.Subagent = s.a.twins.Name(root.ID, cmp.Or(x.Agent, "sub-agent"), x.ID)
	}
	folder := cmp.Or(x.Directory, s.c.Hello.Directory)
	r := ask.Request{
		From: ask.From{Client: "opencode", ClientVersion: x.Version, Agent: q.Subagent, Session: root.ID, Cwd: folder, Title: root.Title},
		Peer: ask.Peer{PID: s.c.PID, Cwd: folder, Key: "opencode " + root.ID, Agent: s.c.PID}, Prompt: q,
	}
	if s.verified {
		r.Peer.Program = "opencode"
	}
	if p.kind == "question" {
		q.Kind = ask.OwnQuestion
	} else {
		r.Local = true // its answer is never given later
	}
	var err error
	switch {
	case m.TooLarge || m.Payload.Flag("large"):
		q.Tool = m.Payload.Str("permission")
		prompts.InTerminal(&r, "It is too large to show; answer in its terminal.")
	case p.kind == "question":
		r.Questions, err = questions(m.Payload.Get("questions"))
	default:
		r.Questions, err = permission(q, m.Payload, folder, s.a.opt.Rules.Now().OnceOnly)
	}
	if err != nil {
		prompts.InTerminal(&r, "mcpdeck cannot show it ("+err.Error()+"); answer in its terminal.")
	}
	return r
}

// other returns an object's members but for some.
func other(o rawjson.Object, names ...string) rawjson.Object {
	return slices.DeleteFunc(slices.Clone(o), func(m rawjson.Member) bool { return slices.Contains(names, m.Key) })
}

// permission reads what is to be allowed.
func permission(q *ask.Prompt, o rawjson.Object, folder string, onceOnly bool) ([]ask.Question, error) {
	q.Tool = o.Str("permission")
	var patterns, always []string
	meta, err := rawjson.SplitObject(o.Some("metadata"))
	if err != nil || q.Tool == "" || !words(o.Get("patterns"), &patterns) || !words(o.Get("always"), &always) {
		return nil, errShape
	}
	q.Command, q.Path, q.Diff = meta.Str("command"), meta.Str("filepath"), meta.Str("diff")
	if q.Command == "" && q.Diff == "" {
		shown := slices.DeleteFunc(slices.Clone(meta), func(m rawjson.Member) bool { return m.Key == "filepath" })
		if len(shown) == 0 || q.Path == "" && len(patterns) > 0 {
			raw, _ := json.Marshal(patterns) // strings always encode
			shown = append(shown, rawjson.Member{Key: "patterns", Value: raw})
		}
		q.Args = shown.JSON()
	}
	if more := other(meta, "command", "description", "diff", "filepath"); q.Command != "" && len(more) > 0 {
		q.Args = more.JSON() // what else decides how it runs
	}
	q.Marks = prompts.Marks(q.Command, folder)
	if filepath.IsAbs(q.Path) && !prompts.Within(folder, q.Path) {
		q.Marks = append(q.Marks, prompts.Outside)
	}
	one := ask.Question{ID: "permission", Header: "Permission", Question: "Allow " + q.Tool + "?", Kind: ask.Choice, Required: true}
	add := func(label string, g ask.Grant) {
		one.Options = append(one.Options, ask.Option{Label: label})
		q.Grants = append(q.Grants, g)
	}
	add("Allow once", ask.Grant{Allow: true, Scope: ask.Once})
	if len(always) > 0 && !onceOnly {
		effect := q.Tool + ": " + strings.Join(always, ", ")
		if slices.Equal(always, []string{"*"}) {
			effect = q.Tool + ", whatever it is about"
		}
		add("Always allow", ask.Grant{Allow: true, Scope: ask.Always, Effect: effect + " (until OpenCode is restarted)"})
	}
	add("Deny", ask.Grant{Scope: ask.Once})
	add("Deny with a note", ask.Grant{Scope: ask.Once, Note: true})
	add("Deny and stop the turn", ask.Grant{Scope: ask.Once, Stop: true})
	return []ask.Question{one}, nil
}

// words reads a list of strings; one that is missing is empty.
func words(raw json.RawMessage, to *[]string) bool {
	return raw == nil || json.Unmarshal(raw, to) == nil
}

// questions reads OpenCode's own questions.
func questions(raw json.RawMessage) ([]ask.Question, error) {
	var in []struct {
		Question, Header string
		Options          []ask.Option
		Multiple         bool
		Custom           *bool
	}
	if json.Unmarshal(raw, &in) != nil || len(in) == 0 || len(in) > ask.MaxQuestions {
		return nil, errShape
	}
	var out []ask.Question
	for i, one := range in {
		if one.Question == "" || !prompts.Answerable(one.Options) {
			return nil, errShape
		}
		q := ask.Question{
			ID: "q" + strconv.Itoa(i+1), Question: one.Question, Header: one.Header, Kind: ask.Choice, Options: one.Options,
			Multi: one.Multiple, AllowOther: one.Custom == nil || *one.Custom, Required: true,
		}
		if len(one.Options) == 0 {
			q.Kind, q.AllowOther, q.Multi = ask.Text, false, false
		}
		out = append(out, q)
	}
	return out, nil
}

// follow shows a prompt until it is settled, and posts the user's answer.
func (s *stream) follow(p *prompt) {
	if s.wait > 0 {
		select {
		case <-time.After(s.wait):
		case <-p.elsewhere:
			return
		case <-s.ctx.Done():
			return
		}
	}
	call, err := s.a.opt.Queue.Open(p.req)
	if err != nil {
		return // it stays in its terminal
	}
	select {
	case how := <-p.elsewhere:
		call.Settled("answered in its terminal: " + how.words)
		return
	case <-s.ctx.Done():
		if s.deck.Err() == nil {
			call.Leave(ended)
		}
		return
	case <-call.Done():
	}
	reply, err := call.Reply()
	if err != nil {
		return
	}
	s.post(p, call, reply)
}

// post sends the user's answer and waits for OpenCode to say what the prompt was answered
// with, by whomever.
func (s *stream) post(p *prompt, call *ask.Call, reply ask.Reply) {
	what, body, err := p.answer(reply)
	if err == nil {
		_, err = s.c.Post("/"+p.kind+"/"+p.id+"/"+what, body)
	}
	if err != nil {
		s.a.opt.Log.Info("an answer for OpenCode was not sent", "error", err)
		call.Delivered(ask.NotTaken)
	}
	select {
	case how := <-p.elsewhere:
		if err == nil && how.is(what, body) {
			call.Delivered(ask.Delivered)
			return
		}
		call.Settled("answered in its terminal: " + how.words)
	case <-s.ctx.Done():
		if s.deck.Err() == nil {
			call.Gone(ended)
		}
	}
}

// ended is why nobody asks any more when the process is gone.
const ended = "OpenCode has ended"

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
	if p.req.InTerminal() || r.Status == ask.TimedOut {
		return "", nil, errOther
	}
	if p.kind == "question" {
		if r.Status == ask.Declined {
			return "reject", map[string]any{}, nil
		}
		answers, err := p.answers(r.Results)
		return "reply", map[string]any{"answers": answers}, err
	}
	reject := func(reason string) (string, map[string]any, error) {
		return "reply", map[string]any{"reply": "reject", "message": cmp.Or(strings.TrimSpace(reason), prompts.Denied)}, nil
	}
	if r.Status == ask.Declined {
		return reject(r.Reason)
	}
	g, ok := p.req.Granted(r.Results)
	switch {
	case !ok:
		return "", nil, errOther
	case g.Allow && g.Scope == ask.Once:
		return "reply", map[string]any{"reply": "once"}, nil
	case g.Allow:
		return "reply", map[string]any{"reply": "always"}, nil
	case g.Stop:
		return "reply", map[string]any{"reply": "reject"}, nil
	}
	return reject(cmp.Or(prompts.Note(r.Results[0]), r.Results[0].CustomInput))
}

// answers are those to OpenCode's own questions: for each its labels, or free text.
func (p *prompt) answers(results []ask.Result) ([][]string, error) {
	if len(results) != len(p.req.Questions) {
		return nil, errOther
	}
	out := make([][]string, len(results))
	for i, r := range results {
		out[i] = []string{}
		if r.Skipped {
			continue
		}
		for _, label := range r.SelectedOptions {
			if !slices.ContainsFunc(p.req.Questions[i].Options, func(o ask.Option) bool { return o.Label == label }) {
				return nil, errOther
			}
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
