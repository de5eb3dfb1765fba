package acp

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// prompt is a request that the agent waits for.
type prompt struct {
	*approvals.Item
	in      *stream
	id      json.RawMessage
	session *session
	call    string             // of a tool, by its ID
	choices []approvals.Choice // of a permission; the results are those of the request

	// The stream's lock guards what follows.
	settled *settled
	taken   bool // the agent went on after the deck's answer
}

// request makes a prompt of what the agent asks. What cannot be read can still be shown.
func (s *stream) request(p *prompt, e *asked, large bool) ask.Request {
	x := p.session
	q := &ask.Prompt{Kind: ask.Permission, ID: string(e.ID), Door: ask.Shared}
	folder := cmp.Or(x.Folder, s.c.Hello.Directory)
	r := approvals.Request(&snapshot.Session{
		Agent: s.agent, ID: x.ID, Version: s.about.Version, PID: s.pid, Mode: x.Mode, Title: x.Title, Verified: s.verified, Folder: folder,
	}, q)
	r.Local = true // nothing is given later
	var err error
	switch {
	case large:
		approvals.InTerminal(&r, "It is too large to show; answer in "+s.editor()+".")
	case e.Method == elicitation:
		q.Kind, q.Tool = ask.ServerForm, s.agent
		var in struct {
			Mode, Message, URL string
			Schema             json.RawMessage `json:"requestedSchema"`
			Call               string          `json:"toolCallId"`
		}
		if err = json.Unmarshal(e.Params, &in); err == nil {
			p.call = in.Call
			r.Questions, err = approvals.ServerForm(s.agent, in.Mode, in.Message, in.URL, in.Schema)
		}
	default:
		if err = p.permission(q, e.Params, folder); err != nil {
			break
		}
		if s.a.opt.Rules.Now().OnceOnly {
			p.choices = approvals.OnceOnly(p.choices)
		}
		approvals.Permit(&r, p.choices)
	}
	if err != nil {
		approvals.InTerminal(&r, "mcpdeck cannot show it ("+err.Error()+"); answer in "+s.editor()+".")
	}
	return r
}

// editor is what the user knows the editor by.
func (s *stream) editor() string {
	name := sanitize.Line(s.about.Editor)
	if c, ok := clients.Of(name); ok {
		return c.Title
	}
	return cmp.Or(name, "its editor")
}

// permission reads what is to be allowed.
func (p *prompt) permission(q *ask.Prompt, params json.RawMessage, folder string) error {
	var in struct {
		Call    toolCall `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Name string
			Kind string
		}
	}
	if err := json.Unmarshal(params, &in); err != nil || len(in.Options) == 0 || len(in.Options) > ask.MaxOptions {
		return approvals.ErrShape
	}
	c := &in.Call
	p.call, q.Tool, q.Words = c.ID, c.what(), c.Title
	input, err := rawjson.SplitObject(c.Input)
	if err != nil {
		input = nil // it is another kind of value, or none
	}
	q.Command = command(input.Get("command"))
	var texts []string
	for _, part := range c.Content {
		switch part.Type {
		case "diff":
			q.Path = cmp.Or(q.Path, part.Path)
			q.Diff += approvals.Unified(record.Within(folder, part.Path), part.Old, part.New)
		case "content":
			if part.Content.Text != "" {
				texts = append(texts, part.Content.Text)
			}
		}
	}
	if q.Path == "" && q.Command == "" && len(c.Locations) > 0 {
		q.Path = c.Locations[0].Path
	}
	switch more := input.Without("command", "description"); {
	case q.Command != "" && len(more) > 0: // what else decides how it runs
		q.Args = more.JSON()
	case q.Command != "" || q.Diff != "":
	case len(input) > 0:
		q.Args = input.JSON()
	default: // its words are all that there is
		q.Args = rawjson.Object{{Key: "title", Value: rawjson.Quote(c.Title)}, {Key: "content", Value: rawjson.Quote(strings.Join(texts, "\n"))}}.JSON()
		texts = append(texts, c.Title)
	}
	q.Marks = approvals.Marks(cmp.Or(q.Command, strings.NewReplacer("[", " ", "]", " ").Replace(strings.Join(texts, "\n"))), folder)
	approvals.MarkPath(q, folder)
	for _, o := range in.Options {
		if o.ID == "" {
			return approvals.ErrShape
		}
		name := cmp.Or(strings.TrimSpace(o.Name), o.ID)
		g := ask.Grant{Allow: true, Scope: ask.Always, Effect: "for as long as its agent has it"} // also of an unknown kind
		switch o.Kind {
		case "allow_once":
			g = ask.Grant{Allow: true, Scope: ask.Once}
		case "reject_once":
			g = ask.Grant{Scope: ask.Once}
		case "reject_always":
			g.Allow = false
		}
		p.choices = append(p.choices, approvals.Choice{Label: name, Grant: g, Result: selected(o.ID)})
	}
	return nil
}

// selected is the result that chooses an option.
func selected(id string) json.RawMessage {
	return json.RawMessage(`{"outcome":{"optionId":` + string(rawjson.Quote(id)) + `,"outcome":"selected"}}`)
}

// command reads a command, which some agents write as a list of words.
func command(raw json.RawMessage) string {
	var text string
	var words []string
	if json.Unmarshal(raw, &text) != nil && json.Unmarshal(raw, &words) == nil {
		text = strings.Join(words, " ")
	}
	return text
}

// Answer implements [approvals.Door]: it gives the user's answer to the proxy.
func (p *prompt) Answer(r ask.Reply) bool {
	result, ok := p.result(r)
	if !ok {
		return false
	}
	err := p.in.c.Post("/answer", map[string]json.RawMessage{"id": p.id, "result": result})
	if err != nil {
		p.in.a.opt.Log.Info("an answer for an agent in an editor was not sent", "error", err)
	}
	return err == nil
}

// result is the agent's result for the user's reply. It is false if it cannot be told what
// was meant, so that the editor asks.
func (p *prompt) result(r ask.Reply) (json.RawMessage, bool) {
	switch {
	case p.Request.InTerminal() || r.Status == ask.TimedOut:
		return nil, false
	case p.Request.Prompt.Kind == ask.ServerForm:
		e, ok := r.Elicited()
		raw, err := rpc.Raw(e)
		return raw, ok && err == nil
	}
	all := p.choices
	if r.Status == ask.Declined {
		all = approvals.OnceOnly(slices.Clone(all)) // nothing that lasts
	}
	c, _, ok := approvals.Chosen(all, r)
	return c.Result, ok
}

// Look implements [approvals.Door]: the proxy says who answered.
func (p *prompt) Look() approvals.Fate {
	s := p.in
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case p.taken:
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case p.settled != nil && p.settled.By == byEditor:
		return approvals.Fate{Is: approvals.Elsewhere, How: "answered in " + s.editor() + p.words(), Last: true}
	case p.settled != nil && p.settled.By == byAgent:
		return approvals.Fate{Is: approvals.Gone, How: "it asks no more", Last: true}
	case s.ctx.Err() != nil && s.deck.Err() == nil:
		return approvals.Fate{Is: approvals.Left, How: "its agent has ended", Last: true}
	}
	return approvals.Fate{}
}

// words say what the editor answered.
func (p *prompt) words() string {
	var how struct {
		Outcome struct {
			Outcome string
			ID      string `json:"optionId"`
		}
		Action string
	}
	if json.Unmarshal(p.settled.Result, &how) != nil {
		return ""
	}
	for _, c := range p.choices {
		if string(c.Result) == string(selected(how.Outcome.ID)) {
			return ": " + c.Label
		}
	}
	if word := cmp.Or(how.Action, how.Outcome.Outcome); slices.Contains([]string{"accept", "decline", "cancel", "cancelled"}, word) {
		return ": " + word
	}
	return ""
}
