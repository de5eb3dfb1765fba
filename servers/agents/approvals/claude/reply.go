package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
)

// answer returns what the hook prints for the user's reply: nothing if it cannot be told
// what was meant, so that the terminal asks.
func (q *asked) answer(req *ask.Request, r ask.Reply) string {
	if req.InTerminal() || r.Status == ask.TimedOut || len(r.Results) > len(req.Questions) {
		return ""
	}
	switch req.Prompt.Kind {
	case ask.OwnQuestion:
		return q.answerQuestions(req, r)
	case ask.ServerForm:
		return q.answerForm(r)
	case ask.Permission, ask.Plan:
	}
	d, c, ok := claudehooks.Answer(q.choices, r)
	if !ok {
		return ""
	}
	d.Interrupt = c.Grant.Stop
	if c.Result != nil {
		d.Permissions = []json.RawMessage{c.Result}
	}
	if c.Grant.Allow && req.Prompt.Kind == ask.Plan {
		d.Input = q.raw // without it, an allow is dropped from 2.1.199 on, and the terminal goes on asking
	}
	return d.Printed()
}

// allows reports whether what the hook prints has the agent go on with what it asks for. A
// server goes on with any answer to its form.
func (q *asked) allows(prints string) bool {
	return q.event == "Elicitation" || strings.Contains(prints, `"decision":{"behavior":"allow"`)
}

func (q *asked) answerQuestions(req *ask.Request, r ask.Reply) string {
	if r.Status == ask.Declined {
		return claudehooks.Deny(strings.TrimSuffix("the user declined to answer: "+r.Reason, ": ")).Printed()
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
		return claudehooks.Deny(strings.Join(back, "\n")).Printed()
	}
	input, ok := q.answers(req.Questions, r.Results)
	if ok {
		return claudehooks.Decision{Behavior: "allow", Input: input}.Printed()
	}
	if !slices.ContainsFunc(r.Results, func(res ask.Result) bool { return !res.Skipped }) {
		return claudehooks.Deny("the user skipped this").Printed()
	}
	return ""
}

// answerForm returns what the hook prints for a reply to a server's form.
func (q *asked) answerForm(r ask.Reply) string {
	e, ok := r.Elicited()
	if !ok {
		return ""
	}
	return claudehooks.HookOutput(struct {
		Event string `json:"hookEventName"`
		ask.Elicited
	}{q.event, e})
}
