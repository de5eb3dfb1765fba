package claude

import (
	"cmp"
	"encoding/json"
	"path/filepath"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// asked is a prompt as Claude Code sends it, and what is needed to answer it.
type asked struct {
	event   string // that the answer is for
	tool    string
	input   rawjson.Object
	raw     json.RawMessage    // input as it came
	choices []approvals.Choice // of a permission or plan, by option
}

// request makes a prompt of a hook's event. What cannot be read can still be shown.
func (a *Adapter) request(s session, m hook.Message) (asked, ask.Request) {
	q := asked{event: m.Event, tool: m.Payload.Str("tool_name"), raw: m.Payload.Some("tool_input")}
	p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Subagent: a.twins.Name(s.ID, subagent(m.Payload), m.Payload.Str("agent_id")), Tool: q.tool, Door: ask.Shared}
	r := approvals.Request(&snapshot.Session{
		Agent: agent, ID: s.ID, Version: s.Version, PID: s.PID, Folder: s.Folder, Title: s.Name, Mode: m.Payload.Str("permission_mode"), Verified: true,
	}, p)
	r.Local, r.From.Session, p.Unconfirmed = true, "", !s.own
	if p.Subagent != "" || m.Event == "Elicitation" {
		p.Door = ask.Held
	}
	err := shapes().Err(m.Raw)
	switch {
	case m.TooLarge:
		err = nil
		approvals.InTerminal(&r, "too large to show; answer in its terminal")
	case err != nil:
	case m.Event == "Elicitation":
		r.Questions, err = q.elicitation(p, m.Payload)
	default:
		if q.input, err = rawjson.SplitObject(q.raw); err == nil {
			err = a.permission(&q, &r, s, m.Payload)
		}
	}
	if err != nil {
		approvals.Misread(&r, err)
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
		r.Questions, err = claudehooks.Questions(q.raw)
		return err
	case "ExitPlanMode":
		p.Kind = ask.Plan
	default:
		describe(p, q, s)
		if cwd := payload.Str("cwd"); cwd != s.Folder { // it follows cd
			p.Dir = cwd
		}
		if name, _ := s.shell(a.start(s.PID).Vars); q.tool == "Bash" && name == "zsh" {
			p.Shell = name
		}
		// What else an input has may have it run otherwise, as without its sandbox.
		plain := len(q.input.Only("command", "description", "timeout")) == len(q.input)
		known := q.tool == "Bash" && plain || p.Does != nil && (len(p.Does.Files) == 0 || p.Diff != "") // else it is not shown whole
		if mode := p.Mode; known && (mode == "default" || mode == "acceptEdits") && filepath.IsAbs(payload.Str("cwd")) && payload.Some("permission_suggestions") != nil {
			p.Runs = func(programs []string) string { return a.runs(&s, p.Shell, programs) } // else a rule of Claude Code's own, or its plan mode, has it asked
		}
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
	does := claudehooks.Other
	switch q.tool {
	case "Bash", "PowerShell":
		does = claudehooks.Command
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		does = claudehooks.Edit
	}
	claudehooks.Describe(p, does, q.input, s.Folder)
}
