package claude

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const twoQuestions = `{"questions":[{"question":"Which db?","header":"DB","multiSelect":false,"options":[{"label":"SQLite","description":"small","preview":"x"},{"label":"PG","description":"big"}]},` +
	`{"question":"Which?","header":"Of","multiSelect":true,"options":[{"label":"A, b","description":"1"},{"label":"C","description":"2"}]}]}`

func TestClaudesOwnQuestionsAreAnsweredInItsWords(t *testing.T) {
	allow := func(more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":` + strings.TrimSuffix(twoQuestions, "}") + more + `}}}}`
	}
	deny := func(message string) string {
		b, _ := json.Marshal(message) // always encodes
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":` + string(b) + `}}}`
	}
	skipped := ask.Result{Skipped: true}
	for _, tt := range []struct {
		name string
		a, b ask.Result
		want string
	}{
		{"one and one", chosen("PG"), chosen("C"), allow(`,"answers":{"Which db?":"PG","Which?":"C"}`)},
		{"several, one with a comma", chosen("PG"), chosen("A, b", "C"), allow(`,"answers":{"Which db?":"PG","Which?":"\"A, b\", \"C\""}`)},
		{"free text", ask.Result{CustomInput: "DuckDB"}, ask.Result{SelectedOptions: []string{"C"}, CustomInput: "D"}, allow(`,"answers":{"Which db?":"DuckDB","Which?":"C, D"}`)},
		{
			"notes",
			ask.Result{SelectedOptions: []string{"PG"}, Note: "v17"},
			ask.Result{SelectedOptions: []string{"A, b", "C"}, Notes: map[string]string{"C": "later"}},
			allow(`,"answers":{"Which db?":"PG","Which?":"\"A, b\", \"C\""},"annotations":{"Which db?":{"notes":"v17"},"Which?":{"notes":"C: later"}}`),
		},
		{"one skipped", skipped, chosen("C"), allow(`,"answers":{"Which?":"C"}`)},
		{"all skipped", skipped, skipped, deny("the user skipped this")},
		{"asked back", ask.Result{Clarify: "why?"}, chosen("C"), deny("The user asks back on \"Which db?\": why?\nThe answer to \"Which?\" is: C")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.hook("PermissionRequest", map[string]any{"tool_name": "AskUserQuestion", "tool_input": json.RawMessage(twoQuestions)})
				it := d.only()
				if qs := it.Request.Questions; it.Request.Prompt.Kind != ask.OwnQuestion || len(qs) != 2 || !qs[1].Multi || qs[0].Options[0].Preview != "x" || !qs[0].AllowOther {
					t.Errorf("the questions are %+v", qs)
				}
				d.chooses(it, tt.a, tt.b)
				d.prints(h, tt.want)
			})
		})
	}
}

func TestADeclinedQuestionIsDenied(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.hook("PermissionRequest", map[string]any{"tool_name": "AskUserQuestion", "tool_input": json.RawMessage(twoQuestions)})
		if err := d.q.Decline(d.only().ID, "not now"); err != nil {
			t.Fatal(err)
		}
		d.prints(h, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"the user declined to answer: not now"}}}`)
	})
}

// TestAnAnswerThatIsNotAmongTheOptionsIsNotSent gives replies that no queue should make.
func TestAnAnswerThatIsNotAmongTheOptionsIsNotSent(t *testing.T) {
	q := asked{event: "PermissionRequest", choices: []approvals.Choice{{Label: "Allow once", Grant: ask.Grant{Allow: true}}}}
	permission := &ask.Request{Prompt: &ask.Prompt{Kind: ask.Permission}, Questions: make([]ask.Question, 1)}
	own := asked{event: "PermissionRequest", raw: json.RawMessage(twoQuestions)}
	qs, err := claudehooks.Questions(own.raw)
	if err != nil {
		t.Fatal(err)
	}
	question := &ask.Request{Prompt: &ask.Prompt{Kind: ask.OwnQuestion}, Questions: qs}
	for name, got := range map[string]string{
		"another option":     q.answer(permission, ask.Reply{Results: []ask.Result{chosen("Allow all")}}),
		"two options":        q.answer(permission, ask.Reply{Results: []ask.Result{chosen("Allow once", "Allow once")}}),
		"no option":          q.answer(permission, ask.Reply{Results: []ask.Result{{CustomInput: "Allow once"}}}),
		"too many results":   q.answer(permission, ask.Reply{Results: make([]ask.Result, 2)}),
		"timed out":          q.answer(permission, ask.Reply{Status: ask.TimedOut}),
		"a question's other": own.answer(question, ask.Reply{Results: []ask.Result{chosen("MySQL"), {}}}),
	} {
		if got != "" {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestQuestionsThatCouldBeMixedUpStayInTheTerminal(t *testing.T) {
	for name, input := range map[string]string{
		"two options of a name": `{"questions":[{"question":"a","options":[{"label":"x"},{"label":"x"}]}]}`,
		"two equal questions":   `{"questions":[{"question":"a","options":[]},{"question":"a","options":[]}]}`,
		"no question":           `{"questions":[]}`,
		"questions in words":    `{"questions":"a"}`,
		"no name":               `{"questions":[{"question":"a","options":[{"description":"x"}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.hook("PermissionRequest", map[string]any{"tool_name": "AskUserQuestion", "tool_input": json.RawMessage(input)})
				if it := d.only(); !inTerminal(it) {
					t.Errorf("it can be answered: %+v", it.Request)
				}
				d.prints(h, "")
			})
		})
	}
}

func TestAnAnswerOfTheModelsOwnIsNotPassedOn(t *testing.T) {
	q := asked{raw: json.RawMessage(`{"questions":[{"question":"a","options":[{"label":"x"}]}],"answers":{"a":"y"}}`)}
	qs, err := claudehooks.Questions(q.raw)
	if err != nil {
		t.Fatal(err)
	}
	if q.input, err = rawjson.SplitObject(q.raw); err != nil {
		t.Fatal(err)
	}
	if raw, ok := q.answers(qs, []ask.Result{chosen("x")}); ok {
		t.Errorf("sent is %s", raw)
	}
}

// plan is one as the deck gets it, with what encoders like to change.
const plan = `{"plan":"# Plan <b> & \u00e9\n\n1. a","planFilePath":"/p","z":1.0,"a":[]}`

func TestAPlanIsAcceptedOrNot(t *testing.T) {
	for label, want := range map[string]string{
		"Accept the plan": `{"behavior":"allow","updatedInput":` + plan + `}`, "Keep planning": `{"behavior":"deny","message":"the user denied this"}`,
		"Accept the plan. Allow all edits in this session": `{"behavior":"allow","updatedInput":` + plan + `,"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}`,
	} {
		t.Run(label, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.hook("PermissionRequest", map[string]any{
					"tool_name": "ExitPlanMode", "tool_input": json.RawMessage(plan),
					"permission_suggestions": json.RawMessage(`[{"type":"setMode","mode":"acceptEdits","destination":"session"}]`),
				})
				it := d.only()
				if it.Request.Prompt.Kind != ask.Plan || it.Request.Questions[0].Description != "# Plan <b> & é\n\n1. a" {
					t.Errorf("the plan is %+v", it.Request)
				}
				d.chooses(it, chosen(label))
				d.prints(h, `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":`+want+`}}`)
			})
		})
	}
}

// TestAnAcceptedPlanGoesBackToTheByte since Claude Code drops an allow without the plan, and
// takes another plan for the user's.
func TestAnAcceptedPlanGoesBackToTheByte(t *testing.T) {
	q := asked{event: "PermissionRequest", raw: json.RawMessage(plan), choices: []approvals.Choice{{Label: "Accept the plan", Grant: ask.Grant{Allow: true}}}}
	req := &ask.Request{Prompt: &ask.Prompt{Kind: ask.Plan}, Questions: make([]ask.Question, 1)}
	if got := q.answer(req, ask.Reply{Results: []ask.Result{chosen("Accept the plan")}}); !strings.Contains(got, `"updatedInput":`+plan) {
		t.Errorf("it prints %s", got)
	}
}

const oneField = `{"type":"object","properties":{"colour":{"type":"string"}},"required":["colour"]}`

func (d *desk) form() *hooked {
	return d.hook("Elicitation", map[string]any{"mcp_server_name": "paint", "message": "Your colour?", "mode": "form", "requested_schema": json.RawMessage(oneField)})
}

func TestAServersFormIsAcceptedDeclinedOrCancelled(t *testing.T) {
	output := func(more string) string {
		return `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":` + more + `}}`
	}
	for name, tt := range map[string]struct {
		do   func(d *desk, it ask.Item)
		want string
	}{
		"accepted": {func(d *desk, it ask.Item) {
			d.chooses(it, ask.Result{Content: json.RawMessage(`{"colour":"red"}`)})
		}, output(`"accept","content":{"colour":"red"}`)},
		"declined": {func(d *desk, it ask.Item) { _ = d.q.Decline(it.ID, "") }, output(`"decline"`)},
		"cancelled": {func(d *desk, it ask.Item) {
			d.q.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Skipped: true}}})
			if err := d.q.Send(it.ID); err != nil {
				d.t.Fatal(err)
			}
			testwait.Pass(time.Minute) // it can be undone for a moment
		}, output(`"cancel"`)},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.form()
				it := d.only()
				if p := it.Request.Prompt; p.Kind != ask.ServerForm || p.Door != ask.Held || p.Tool != "paint" {
					t.Errorf("the form is %+v", p)
				}
				tt.do(d, it)
				d.prints(h, tt.want)
			})
		})
	}
}

func TestAPageThatAServerWantsOpenedIsNamedAndNotOpened(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.hook("Elicitation", map[string]any{"mcp_server_name": "paint", "message": "Sign in", "mode": "url", "url": "https://evil.example/paint.example"})
		it := d.only()
		if text := it.Request.Questions[0].Description; !strings.Contains(text, "a page of evil.example:") {
			t.Errorf("it says %q", text)
		}
		d.chooses(it, chosen("Yes"))
		d.prints(h, `{"hookSpecificOutput":{"hookEventName":"Elicitation","action":"accept","content":{}}}`)
	})
}
