package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// asked is a prompt as Claude Code sends it, and what is needed to answer it.
type asked struct {
	event   string // that the answer is for
	tool    string
	input   rawjson.Object
	raw     json.RawMessage // input as it came
	session string
	choices []approvals.Choice // of a permission or plan, by option

	unreadable string // why it can only be answered in its terminal; "" if it can be here
}

// request makes a prompt of a hook's event. What cannot be read can still be shown.
func (a *Adapter) request(s session, m hook.Message) (asked, ask.Request) {
	q := asked{event: m.Event, tool: m.Payload.Str("tool_name"), raw: m.Payload.Some("tool_input"), session: s.ID}
	p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Subagent: a.twins.Name(s.ID, subagent(m.Payload), m.Payload.Str("agent_id")), Tool: q.tool, Door: ask.Shared}
	r := approvals.Request(&snapshot.Session{
		Agent: agent, ID: s.ID, Version: s.Version, PID: s.PID, Folder: s.Folder, Title: s.Name, Mode: m.Payload.Str("permission_mode"), Verified: true,
	}, p)
	r.Local, r.From.Session, p.Unconfirmed = true, "", !s.own
	if p.Subagent != "" || m.Event == "Elicitation" {
		p.Door = ask.Held
	}
	var err error
	switch {
	case m.TooLarge:
		q.unreadable = "too large to show; answer in its terminal"
	case m.Event == "Elicitation":
		r.Questions, err = q.elicitation(p, m.Payload)
	default:
		if q.input, err = rawjson.SplitObject(q.raw); err == nil && q.tool != "" {
			err = a.permission(&q, &r, s, m.Payload)
		} else {
			err = approvals.ErrShape
		}
	}
	if err != nil {
		q.unreadable = "mcpdeck cannot show it (" + err.Error() + "); answer in its terminal"
	}
	if q.unreadable != "" {
		approvals.InTerminal(&r, q.unreadable)
	}
	return q, r
}

// subagent names the sub-agent that asks; "" is the session itself.
func subagent(o rawjson.Object) string {
	if o.Str("agent_id") == "" {
		return ""
	}
	return cmp.Or(o.Str("agent_type"), "sub-agent")
}

// permission makes the questions of a PermissionRequest, which also carries Claude Code's
// own questions and plans.
func (a *Adapter) permission(q *asked, r *ask.Request, s session, payload rawjson.Object) (err error) {
	p := r.Prompt
	switch q.tool {
	case "AskUserQuestion":
		p.Kind = ask.OwnQuestion
		r.Questions, err = q.questions()
		return err
	case "ExitPlanMode":
		p.Kind = ask.Plan
	default:
		describe(p, q, s)
	}
	if q.choices, err = choicesOf(payload.Some("permission_suggestions"), p.Kind == ask.Plan, a.opt.Home); err != nil {
		return err
	}
	if a.opt.Rules.Now().OnceOnly || p.Unconfirmed {
		q.choices = approvals.OnceOnly(q.choices)
	}
	approvals.Permit(r, q.choices)
	if one := &r.Questions[0]; p.Kind == ask.Plan {
		one.Header, one.Question, one.Description = "Plan", "Accept this plan?", cmp.Or(q.input.Str("plan"), "The agent has written no plan.")
	}
	return nil
}

// describe fills in what a tool is about to do.
func describe(p *ask.Prompt, q *asked, s session) {
	p.Words = q.input.Str("description")
	switch q.tool {
	case "Bash", "PowerShell":
		p.Command = q.input.Str("command")
		p.Marks = approvals.Marks(p.Command, s.Folder)
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		p.Path = cmp.Or(q.input.Str("file_path"), q.input.Str("notebook_path"))
		p.Diff, p.Marks = preview(q, s.Folder)
	}
	switch {
	case p.Command != "": // what else decides how it runs: dangerouslyDisableSandbox, run_in_background, timeout
		if more := approvals.Without(q.input, "command", "description"); len(more) > 0 {
			p.Args = largestFirst(more)
		}
	case p.Diff == "":
		p.Args = largestFirst(q.input)
	}
}

// largestFirst returns an object with its longest values first.
func largestFirst(o rawjson.Object) json.RawMessage {
	sorted := slices.Clone(o)
	slices.SortStableFunc(sorted, func(a, b rawjson.Member) int { return cmp.Compare(len(b.Value), len(a.Value)) })
	return sorted.JSON()
}

// sameInput reports whether what the model wrote as a tool's input is in what a hook is
// told, to which defaults are added.
func sameInput(wrote, told json.RawMessage) bool {
	var a, b any
	if decode(wrote, &a) != nil || decode(told, &b) != nil {
		return false
	}
	return holds(b, a)
}

func decode(raw json.RawMessage, v any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(v)
}

// holds reports whether a value is another one, apart from further members of objects.
func holds(whole, part any) bool {
	switch part := part.(type) {
	case map[string]any:
		w, ok := whole.(map[string]any)
		for k, v := range part {
			if other, has := w[k]; !ok || !has || !holds(other, v) {
				return false
			}
		}
		return ok
	case []any:
		w, ok := whole.([]any)
		if !ok || len(w) != len(part) {
			return false
		}
		for i := range part {
			if !holds(w[i], part[i]) {
				return false
			}
		}
		return true
	}
	return whole == part
}
