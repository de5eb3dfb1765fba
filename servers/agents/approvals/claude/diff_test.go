package claude

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

func TestTheLongestArgumentOfAToolComesFirst(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.hook("PermissionRequest", map[string]any{"tool_name": "mcp__paint__draw", "tool_input": json.RawMessage(`{"a":1,"text":"a long one","b":"xy"}`)})
		p := d.only().Request.Prompt
		if p.Kind != ask.Permission || p.Tool != "mcp__paint__draw" || string(p.Args) != `{"text":"a long one","b":"xy","a":1}` {
			t.Errorf("the prompt is %+v, with %s", p, p.Args)
		}
	})
}

// FuzzRequest has an agent ask anything: it can always be shown, and an option of it is
// answered with what the agent itself offered.
func FuzzRequest(f *testing.F) {
	f.Add("PermissionRequest", "Bash", `{"command":"x"}`, suggested)
	f.Add("PermissionRequest", "AskUserQuestion", twoQuestions, "")
	f.Add("PermissionRequest", "ExitPlanMode", `{"plan":"x"}`, `[]`)
	f.Add("PermissionRequest", "Edit", `{"file_path":"/p/a","old_string":"a","new_string":"b"}`, "")
	f.Add("Elicitation", "", oneField, "")
	a := Agent().New(approvals.Deps{}).(*Adapter)
	f.Fuzz(func(t *testing.T, event, tool, input, suggestions string) {
		payload := rawjson.Object{{Key: "tool_name", Value: rawjson.Quote(tool)}}
		for key, raw := range map[string]string{"tool_input": input, "requested_schema": input, "permission_suggestions": suggestions} {
			if json.Valid([]byte(raw)) {
				payload = append(payload, rawjson.Member{Key: key, Value: json.RawMessage(raw)})
			}
		}
		q, r := a.request(session{ID: "s", Folder: "/p", own: true}, hook.Message{Event: event, Payload: payload})
		if r.Prompt == nil || len(r.Questions) == 0 {
			t.Fatalf("nothing is shown: %+v", r)
		}
		if r.Prompt.Kind == ask.Permission && len(r.Prompt.Grants) != len(r.Questions[0].Options) {
			t.Fatalf("%d grants for %d options", len(r.Prompt.Grants), len(r.Questions[0].Options))
		}
		for _, o := range r.Questions[0].Options {
			said := q.answer(&r, ask.Reply{Status: ask.Answered, Results: []ask.Result{chosen(o.Label)}})
			if said != "" && !json.Valid([]byte(said)) {
				t.Errorf("it prints %s", said)
			}
			g, ok := r.Granted([]ask.Result{chosen(o.Label)})
			if ok && g.Allow != strings.Contains(said, `"behavior":"allow"`) && !inTerminal(ask.Item{Request: r}) {
				t.Errorf("%+v prints %s", g, said)
			}
		}
		labels := map[string]bool{}
		for _, c := range q.choices {
			if labels[c.Label] {
				t.Errorf("two options are %q", c.Label)
			}
			labels[c.Label] = true
		}
	})
}
