package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/support/form"
)

func formRequest(t *testing.T, schema string) Request {
	t.Helper()
	qs, err := FormQuestions("Fill in", json.RawMessage(schema))
	if err != nil {
		t.Fatal(err)
	}
	return Request{Questions: qs, From: From{Client: "Pencil"}, Local: true}
}

// elicited puts a form in a queue and gives what the server gets.
func elicited(t *testing.T, schema string, answer func(q *Queue, it Item)) Elicited {
	t.Helper()
	var got Elicited
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Hold: -1})
		defer q.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			var err error
			if got, _, err = q.Elicit(t.Context(), formRequest(t, schema)); err != nil {
				t.Error(err)
			}
		}()
		synctest.Wait()
		answer(q, q.Pending().Items[0])
		<-done
	})
	return got
}

const place = `{"type":"object","properties":{"town":{"type":"string","minLength":2},"nights":{"type":"integer","default":3}},"required":["town"]}`

func TestForm_IsSentOnceItFitsItsSchema(t *testing.T) {
	got := elicited(t, place, func(q *Queue, it Item) {
		question := it.Request.Questions[0]
		if question.Kind != Form || question.Question != "Fill in" {
			t.Errorf("asked: %+v", question)
		}
		var missing *Incomplete
		if err := q.Send(it.ID); !errors.As(err, &missing) || missing.Why != "town: an answer is required" {
			t.Errorf("untouched: %v", err)
		}
		f, err := question.Form()
		if err != nil {
			t.Fatal(err)
		}
		d := it.Draft.Clone()
		d.Answers[0].Form = &FormDraft{Value: f.New()}
		town := f.Fields(d.Answers[0].Form.Value)[0]
		town.SetText("R")
		q.SetDraft(it.ID, d)
		if err := q.Send(it.ID); !errors.As(err, &missing) || !strings.Contains(missing.Why, "at least 2 are required") {
			t.Errorf("too short: %v", err)
		}
		town.SetText("Rome")
		q.SetDraft(it.ID, d)
		if err := q.Send(it.ID); err != nil {
			t.Error(err)
		}
	})
	if got.Action != "accept" || string(got.Content) != `{"town":"Rome","nights":3}` {
		t.Errorf("got %s %s", got.Action, got.Content)
	}
}

func TestForm_IsAnsweredWithAnObjectFromOutside(t *testing.T) {
	got := elicited(t, place, func(q *Queue, it Item) {
		for _, tt := range []struct {
			r    Result
			want string
		}{
			{Result{ID: "form"}, "give the values of the form in content, skip it or decline"},
			{Result{ID: "form", Clarify: "why?"}, "cannot ask back"},
			{Result{ID: "form", Content: json.RawMessage(`{"town":7}`)}, "town: must be string"},
			{Result{ID: "form", Content: json.RawMessage(`[]`)}, "not a JSON object"},
		} {
			if err := q.Answer(it.ID, []Result{tt.r}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%+v: got %v, want %q", tt.r, err, tt.want)
			}
		}
		if err := q.Answer(it.ID, []Result{{ID: "form", Content: json.RawMessage(`{"nights":1e400,"town":"Oslo"}`)}}); err != nil {
			t.Error(err)
		}
	})
	if got.Action != "accept" || string(got.Content) != `{"nights":1e400,"town":"Oslo"}` {
		t.Errorf("got %s %s", got.Action, got.Content)
	}
}

func TestForm_WithoutFieldsIsYesOrNo(t *testing.T) {
	for answer, want := range map[string]Elicited{"Yes": {"accept", json.RawMessage("{}")}, "No": {"decline", nil}} {
		got := elicited(t, `{"type":"object","properties":{}}`, func(q *Queue, it Item) {
			if err := q.Answer(it.ID, []Result{{ID: "agree", SelectedOptions: []string{answer}}}); err != nil {
				t.Error(err)
			}
		})
		if got.Action != want.Action || string(got.Content) != string(want.Content) {
			t.Errorf("%s: got %s %s", answer, got.Action, got.Content)
		}
	}
}

func TestForm_WhatCannotBeAsked(t *testing.T) {
	if _, err := FormQuestions("?", json.RawMessage(`[]`)); err == nil {
		t.Error("a list was taken for a form")
	}
}

// A draft is the user's: copies do not share it, and it is known whether there is one.
func TestForm_DraftsAreKept(t *testing.T) {
	d := Draft{Answers: []AnswerDraft{{Form: &FormDraft{Value: &form.Value{Members: map[string]*form.Value{"town": {Text: "R"}}}}}}}
	c := d.Clone()
	c.Answers[0].Form.Value.Members["town"].Text = ""
	if d.Empty() || !c.Empty() {
		t.Errorf("empty: %t, its changed copy: %t", d.Empty(), c.Empty())
	}
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var back Draft
	if err := json.Unmarshal(b, &back); err != nil || back.Answers[0].Form.Value.Members["town"].Text != "R" {
		t.Errorf("stored as %s, %v", b, err)
	}
	if (Draft{Answers: []AnswerDraft{{Form: &FormDraft{AsJSON: true}}}}).Empty() {
		t.Error("a draft as JSON counts as none")
	}
}

// Declining and not answering are told apart.
func TestForm_DeclineAndCancelAreKeptApart(t *testing.T) {
	tests := []struct {
		name   string
		end    func(q *Queue, cancel context.CancelFunc, id int)
		action string
		fails  bool
	}{
		{"declined", func(q *Queue, _ context.CancelFunc, id int) { _ = q.Decline(id, "no") }, "decline", false},
		{"skipped", func(q *Queue, _ context.CancelFunc, id int) { _ = q.Answer(id, []Result{{ID: "form", Skipped: true}}) }, "cancel", false},
		{"withdrawn", func(_ *Queue, cancel context.CancelFunc, _ int) { cancel() }, "cancel", true},
		{"the deck ends", func(q *Queue, _ context.CancelFunc, _ int) { _ = q.Close() }, "cancel", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{})
				defer q.Close()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					got, _, err := q.Elicit(ctx, formRequest(t, `{"properties":{"x":{}}}`))
					if got.Action != tt.action || got.Content != nil || (err != nil) != tt.fails {
						t.Errorf("got %s %s %v", got.Action, got.Content, err)
					}
				}()
				synctest.Wait()
				tt.end(q, cancel, q.Pending().Items[0].ID)
				<-done
			})
		})
	}
	q := New(Options{})
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, _, err := q.Elicit(t.Context(), formRequest(t, `{"properties":{"x":{}}}`)); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}
