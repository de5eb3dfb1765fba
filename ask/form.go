package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mcpdeck/mcpdeck/servers/support/form"
)

// Elicited is the result of a form. Content is a JSON object, nil unless Action is
// "accept".
type Elicited struct {
	Action  string          `json:"action"` // "accept", "decline" or "cancel"
	Content json.RawMessage `json:"content,omitempty"`
}

// Elicited returns what the reply to a form means to the server that asks: skipping it is
// neither accepting nor declining. It returns false for a reply that answers nothing.
func (r *Reply) Elicited() (Elicited, bool) {
	switch {
	case r.Status == Declined:
		return Elicited{Action: "decline"}, true
	case r.Status == TimedOut, len(r.Results) != 1:
		return Elicited{Action: "cancel"}, false
	case r.Results[0].Skipped:
		return Elicited{Action: "cancel"}, true
	case r.Results[0].Content != nil:
		return Elicited{Action: "accept", Content: r.Results[0].Content}, true
	case slices.Equal(r.Results[0].SelectedOptions, []string{"Yes"}):
		return Elicited{Action: "accept", Content: json.RawMessage("{}")}, true
	}
	return Elicited{Action: "decline"}, true
}

// FormQuestions is a form that a server asks the user to fill in (MCP's elicitation in
// form mode). Without fields it is whether the user agrees. The error says why the user
// cannot be asked it.
func FormQuestions(message string, schema json.RawMessage) ([]Question, error) {
	message = cutBytes(strings.TrimSpace(message), maxQuestion)
	q := Question{ID: "form", Question: cmp.Or(message, "Fill in the form."), Kind: Form, Required: true, Schema: schema}
	f, err := q.Form()
	switch {
	case err != nil:
		return nil, err
	case len(f.Fields(f.New())) == 0:
		q = Question{ID: "agree", Question: cmp.Or(message, "Go on?"), Kind: Confirm, Required: true, Options: []Option{{Label: "Yes"}, {Label: "No"}}}
	}
	return []Question{q}, nil
}

// Elicit puts questions of [FormQuestions] to the user and waits until they are
// answered, or not. A cancelled ctx withdraws them; the error is that of [Queue.Ask],
// and the form is then cancelled. Without one, the call is to be told what was seen of the
// answer.
func (q *Queue) Elicit(ctx context.Context, req Request) (Elicited, *Call, error) {
	c, r, err := q.put(ctx, req)
	e, _ := r.Elicited() // what is not answered is cancelled
	return e, c, err
}

// Form reads the schema of a question of kind Form. Its defaults are the first values
// of its fields, as MCP has it.
func (q *Question) Form() (*form.Form, error) {
	return form.Parse(q.Schema, form.Options{Prefill: true})
}

// FormDraft is what was entered in a form.
type FormDraft struct {
	Value  *form.Value `json:"value,omitempty"`  // nil: nothing yet
	JSON   string      `json:"json,omitempty"`   // typed in the place of fields
	AsJSON bool        `json:"asJSON,omitempty"` // JSON is what counts
}

// Clone returns a copy that shares nothing with d.
func (d *FormDraft) Clone() *FormDraft {
	if d == nil {
		return nil
	}
	c := *d
	c.Value = d.Value.Clone()
	return &c
}

// Empty tells whether nothing was entered.
func (d *FormDraft) Empty() bool { return d == nil || !d.AsJSON && d.Value.Empty() }

// Content is the object that a draft stands for, on one line.
func (d *FormDraft) Content(f *form.Form) json.RawMessage {
	switch {
	case d == nil || !d.AsJSON && d.Value == nil:
		return f.JSON(f.New())
	case d.AsJSON:
		return form.Compact(json.RawMessage(d.JSON))
	}
	return f.JSON(d.Value)
}

// Problems are what keeps a draft from being sent, and what may be wrong with it.
// Where the server's schema cannot be held against it, there are only those that need
// none.
func (d *FormDraft) Problems(f *form.Form) []form.Problem {
	var out []form.Problem
	if d != nil && !d.AsJSON && d.Value != nil {
		out, _ = f.Check(d.Value)
	} else {
		out, _ = f.CheckJSON(d.Content(f))
	}
	return out
}

// openForm says what keeps a form from being sent.
func (a AnswerDraft) openForm(q Question) string {
	f, err := q.Form()
	if err != nil {
		return err.Error()
	}
	for _, p := range a.Form.Problems(f) {
		if p.Soft {
			continue
		}
		return strings.TrimPrefix(nameAt(f, a.Form, p.Path)+": ", ": ") + p.Text
	}
	return ""
}

// nameAt is the name of the field at a path, "" for none.
func nameAt(f *form.Form, d *FormDraft, path string) string {
	v := f.New()
	if d != nil && !d.AsJSON && d.Value != nil {
		v = d.Value
	}
	for _, field := range f.Fields(v) {
		if field.Path == path && path != "" {
			return field.Name
		}
	}
	return strings.TrimPrefix(path, "/")
}

func (a AnswerDraft) formResult(q Question) Result {
	r := Result{ID: q.ID, SelectedOptions: []string{}}
	if f, err := q.Form(); err == nil { // else it was never put to the user
		r.Content = a.Form.Content(f)
	}
	return r
}

// formAnswer reads an answer from outside the interface.
func formAnswer(r Result) (AnswerDraft, error) {
	a := AnswerDraft{Accepted: true, Seen: true, Skipped: r.Skipped}
	switch {
	case r.Skipped:
		return a, nil
	case r.Clarify != "":
		return a, errors.New("you cannot ask back here; answer or decline")
	case r.Content == nil:
		return a, errors.New("give the values of the form in content, skip it or decline")
	}
	a.Form = &FormDraft{JSON: string(r.Content), AsJSON: true}
	return a, nil
}

func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
