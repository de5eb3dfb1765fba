package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// decision is what a PermissionRequest hook prints.
type decision struct {
	Behavior    string            `json:"behavior"`
	Message     string            `json:"message,omitempty"`
	Interrupt   bool              `json:"interrupt,omitempty"`
	Input       json.RawMessage   `json:"updatedInput,omitempty"`
	Permissions []json.RawMessage `json:"updatedPermissions,omitempty"`
}

// answer returns what the hook prints for the user's reply: nothing if it cannot be told
// what was meant, so that the terminal asks.
func (q *asked) answer(req *ask.Request, r ask.Reply) string {
	if q.unreadable != "" || r.Status == ask.TimedOut || len(r.Results) > len(req.Questions) {
		return ""
	}
	switch req.Prompt.Kind {
	case ask.OwnQuestion:
		return q.answerQuestions(req, r)
	case ask.ServerForm:
		return q.answerForm(r)
	case ask.Permission, ask.Plan:
	}
	if r.Status == ask.Declined {
		return printed(decision{Behavior: "deny", Message: orDenied(r.Reason)})
	}
	if len(r.Results) != 1 || len(r.Results[0].SelectedOptions) != 1 {
		return ""
	}
	res := r.Results[0]
	i := slices.IndexFunc(q.choices, func(c choice) bool { return c.label == res.SelectedOptions[0] })
	if i < 0 {
		return ""
	}
	c := q.choices[i]
	if c.grant.Allow {
		d := decision{Behavior: "allow", Permissions: c.updates}
		if req.Prompt.Kind == ask.Plan {
			d.Input = q.raw // without it, an allow is dropped from 2.1.199 on, and the terminal goes on asking
		}
		return printed(d)
	}
	note := prompts.Note(res)
	if note == "" {
		note = res.CustomInput
	}
	return printed(decision{Behavior: "deny", Message: orDenied(note), Interrupt: c.grant.Stop})
}

// allows reports whether a reply has the agent go on with what it asks for.
func (q *asked) allows(req *ask.Request, r ask.Reply) bool {
	switch req.Prompt.Kind {
	case ask.OwnQuestion:
		return strings.Contains(q.answer(req, r), `"behavior":"allow"`)
	case ask.ServerForm:
		return true // its server goes on with any
	case ask.Permission, ask.Plan:
	}
	g, ok := req.Granted(r.Results)
	return ok && g.Allow
}

func orDenied(reason string) string {
	if reason = strings.TrimSpace(reason); reason == "" {
		return prompts.Denied
	}
	return reason
}

func (q *asked) answerQuestions(req *ask.Request, r ask.Reply) string {
	if r.Status == ask.Declined {
		return printed(decision{Behavior: "deny", Message: strings.TrimSuffix("the user declined to answer: "+r.Reason, ": ")})
	}
	var back []string
	for i, res := range r.Results {
		if res.Clarify != "" {
			back = append(back, fmt.Sprintf("The user asks back on %q: %s", req.Questions[i].Question, res.Clarify))
		}
	}
	if len(back) > 0 {
		for i, res := range r.Results {
			if chosen := append(slices.Clone(res.SelectedOptions), res.CustomInput); res.Clarify == "" && strings.Join(chosen, "") != "" {
				back = append(back, fmt.Sprintf("The answer to %q is: %s", req.Questions[i].Question, joined(slices.DeleteFunc(chosen, func(s string) bool { return s == "" }))))
			}
		}
		return printed(decision{Behavior: "deny", Message: strings.Join(back, "\n")})
	}
	input, ok := q.answers(req.Questions, r.Results)
	if ok {
		return printed(decision{Behavior: "allow", Input: input})
	}
	if !slices.ContainsFunc(r.Results, func(res ask.Result) bool { return !res.Skipped }) {
		return printed(decision{Behavior: "deny", Message: "the user skipped this"})
	}
	return ""
}

// answerForm returns what the hook prints for a reply to a server's form.
func (q *asked) answerForm(r ask.Reply) string {
	e, ok := r.Elicited()
	if !ok {
		return ""
	}
	return output(struct {
		Event string `json:"hookEventName"`
		ask.Elicited
	}{q.event, e})
}

func printed(d decision) string {
	return output(struct {
		Event    string   `json:"hookEventName"`
		Decision decision `json:"decision"`
	}{"PermissionRequest", d})
}

// output is what a hook prints. Members that came as JSON keep their bytes.
func output(v any) string {
	b, err := rpc.Raw(map[string]any{"hookSpecificOutput": v})
	if err != nil {
		return ""
	}
	return string(b)
}
