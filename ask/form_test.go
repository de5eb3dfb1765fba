package ask

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestForm_PropertiesBecomeQuestions(t *testing.T) {
	const message = "Where to?"
	tests := []struct {
		name, property string
		want           Question
	}{
		{"text", `{"type":"string"}`, Question{Kind: Text, Question: message, Description: "the place", AllowOther: true}},
		{"title", `{"type":"string","title":"Place","description":"A town.","default":"Rome"}`, Question{
			Kind: Text, Header: "Place", Question: message, Description: "Place\n\nA town.", Placeholder: "default: Rome", AllowOther: true,
		}},
		{"number", `{"type":"integer","default":3}`, Question{Kind: Text, Question: message, Description: "the place", Placeholder: "default: 3", AllowOther: true}},
		{"unknown", `{"type":"mood"}`, Question{Kind: Text, Question: message, Description: "the place", AllowOther: true}},
		{"boolean", `{"type":"boolean","default":false}`, Question{
			Kind: Confirm, Question: message, Description: "the place", Options: []Option{{Label: "Yes"}, {Label: "No"}}, Recommended: []int{1},
		}},
		{"enum", `{"type":"string","enum":["a","b"],"default":"b"}`, Question{
			Kind: Choice, Question: message, Description: "the place", Options: []Option{{Label: "a"}, {Label: "b"}}, Recommended: []int{1},
		}},
		{"enum with names", `{"type":"string","enum":["a","b","c"],"enumNames":["Same","Same"," "]}`, Question{
			Kind: Choice, Question: message, Description: "the place", Options: []Option{{Label: "Same"}, {Label: "Same (b)"}, {Label: "c"}},
		}},
		{"titled", `{"type":"string","oneOf":[{"const":"a","title":"Ay"},{"const":"o","title":"Other"}]}`, Question{
			Kind: Choice, Question: message, Description: "the place", Options: []Option{{Label: "Ay"}, {Label: "Other"}},
		}},
		{"several", `{"type":"array","items":{"anyOf":[{"const":"a","title":"Ay"},{"const":"b","title":"Bee"}]},"minItems":1,"maxItems":2,"default":["b","a"]}`, Question{
			Kind: Choice, Question: message, Description: "the place", Options: []Option{{Label: "Ay"}, {Label: "Bee"}}, Recommended: []int{0, 1}, Multi: true, MinSelect: 1, MaxSelect: 2,
		}},
		{"several of few words", `{"type":"array","items":{"type":"string","enum":["a","b"]}}`, Question{
			Kind: Choice, Question: message, Description: "the place", Options: []Option{{Label: "a"}, {Label: "b"}}, Multi: true,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := ParseForm(message, json.RawMessage(`{"type":"object","properties":{"the_place":`+tt.property+`},"required":["the_place"]}`))
			if err != nil {
				t.Fatal(err)
			}
			qs, err := f.questions()
			if err != nil {
				t.Fatal(err)
			}
			tt.want.ID, tt.want.Required = "the_place", true
			if got, want := asJSON(t, qs), asJSON(t, []Question{tt.want}); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestForm_WhatCannotBeAsked(t *testing.T) {
	many := `{"a0":{"type":"string"}`
	for _, c := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		many += `,"` + c + `":{"type":"string"}`
	}
	tests := []struct{ name, schema, want string }{
		{"no JSON", `{`, "not valid JSON"},
		{"no object", `[]`, "not a JSON object"},
		{"properties of another kind", `{"properties":[]}`, "not a JSON object"},
		{"a property of another kind", `{"properties":{"x":7}}`, "x: not a JSON object"},
		{"too many", `{"properties":` + many + `}}`, "27 questions are too many"},
		{"a name too long", `{"properties":{"` + strings.Repeat("x", 300) + `":{}}}`, "longer than 200 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := ParseForm("?", json.RawMessage(tt.schema)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// filled puts a form in a queue and answers it, request by request.
func filled(t *testing.T, schema string, answers ...[]Result) (Elicited, []Item) {
	t.Helper()
	var got Elicited
	var seen []Item
	synctest.Test(t, func(t *testing.T) {
		q := New(Options{Hold: -1})
		defer q.Close()
		f, err := ParseForm("Fill in", json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if got, err = q.Elicit(t.Context(), Request{From: From{Client: "Pencil"}}, f); err != nil {
				t.Error(err)
			}
		}()
		for _, a := range answers {
			synctest.Wait()
			items := q.Pending().Items
			if len(items) != 1 {
				t.Fatalf("%d requests", len(items))
			}
			seen = append(seen, items[0])
			if err := q.Answer(items[0].ID, a); err != nil {
				t.Fatal(err)
			}
		}
		<-done
	})
	return got, seen
}

func TestForm_AnswersBecomeContent(t *testing.T) {
	text := func(s string) []Result { return []Result{{ID: "x", CustomInput: s}} }
	chosen := func(s ...string) []Result { return []Result{{ID: "x", SelectedOptions: s}} }
	skipped := []Result{{ID: "x", Skipped: true}}
	tests := []struct {
		name, property string
		answers        [][]Result
		action, want   string
		told           string // in the last request
	}{
		{"text", `{"type":"string"}`, [][]Result{text("a \"b\"\nc")}, "accept", `{"x":"a \"b\"\nc"}`, ""},
		{"whole number", `{"type":"integer"}`, [][]Result{text("9007199254740993")}, "accept", `{"x":9007199254740993}`, ""},
		{"number", `{"type":"number"}`, [][]Result{text("-1.50")}, "accept", `{"x":-1.50}`, ""},
		{"no number", `{"type":"number"}`, [][]Result{text("many"), text("3")}, "accept", `{"x":3}`, `Not accepted: "many" is not a number.`},
		{"no JSON number", `{"type":"number"}`, [][]Result{text("0x10"), text("16")}, "accept", `{"x":16}`, `"0x10" is not a number`},
		{"no whole number", `{"type":"integer"}`, [][]Result{text("1.5"), text("2")}, "accept", `{"x":2}`, "not a whole number"},
		{"too small, then too large", `{"type":"integer","minimum":1,"maximum":5}`, [][]Result{text("0"), text("6"), text("5")}, "accept", `{"x":5}`, "6 is above 5"},
		{"too short", `{"type":"string","minLength":2}`, [][]Result{text("é"), text("éé")}, "accept", `{"x":"éé"}`, "at least 2"},
		{"too long", `{"type":"string","maxLength":1}`, [][]Result{text("éé"), text("é")}, "accept", `{"x":"é"}`, "at most 1"},
		{"mail", `{"type":"string","format":"email"}`, [][]Result{text("Ana <a@b.c>"), text("a@b.c")}, "accept", `{"x":"a@b.c"}`, "valid email"},
		{"address", `{"type":"string","format":"uri"}`, [][]Result{text("b.c"), text("http://b.c")}, "accept", `{"x":"http://b.c"}`, "valid uri"},
		{"day", `{"type":"string","format":"date"}`, [][]Result{text("2026-02-30"), text("2026-02-28")}, "accept", `{"x":"2026-02-28"}`, "valid date"},
		{"moment", `{"type":"string","format":"date-time"}`, [][]Result{text("noon"), text("2026-02-28T12:00:00Z")}, "accept", `{"x":"2026-02-28T12:00:00Z"}`, "valid date-time"},
		{"yes", `{"type":"boolean"}`, [][]Result{chosen("Yes")}, "accept", `{"x":true}`, ""},
		{"no", `{"type":"boolean"}`, [][]Result{chosen("No")}, "accept", `{"x":false}`, ""},
		{"one", `{"oneOf":[{"const":"a","title":"Ay"},{"const":2,"title":"Bee"}]}`, [][]Result{chosen("Bee")}, "accept", `{"x":2}`, ""},
		{"several", `{"type":"array","items":{"enum":["a","b","c"]}}`, [][]Result{chosen("c", "a")}, "accept", `{"x":["a","c"]}`, ""},
		{"none of several", `{"type":"array","items":{"enum":["a","b"]}}`, [][]Result{chosen()}, "accept", `{"x":[]}`, ""},
		{"lines", `{"type":"array","items":{"type":"string"}}`, [][]Result{text("a\n\n b \n")}, "accept", `{"x":["a","b"]}`, ""},
		{"left out", `{"type":"string"}`, [][]Result{skipped}, "accept", `{}`, ""},
		{"asked back", `{"type":"string"}`, [][]Result{{{ID: "x", Clarify: "why?"}}, text("well")}, "accept", `{"x":"well"}`, "cannot ask back here"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, seen := filled(t, `{"type":"object","properties":{"x":`+tt.property+`}}`, tt.answers...)
			if got.Action != tt.action || string(got.Content) != tt.want {
				t.Errorf("got %s %s, want %s %s", got.Action, got.Content, tt.action, tt.want)
			}
			if last := seen[len(seen)-1].Request.Questions[0].Description; !strings.Contains(last, tt.told) {
				t.Errorf("the user was told %q, want %q", last, tt.told)
			}
		})
	}
}

// What was answered well is not asked again, and keeps its place.
func TestForm_OnlyWhatDoesNotFitIsAskedAgain(t *testing.T) {
	got, seen := filled(t, `{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},"nick":{"type":"string"}},"required":["nick","age"]}`,
		[]Result{{ID: "name", CustomInput: "Ana"}, {ID: "age", CustomInput: "old"}, {ID: "nick", Skipped: true}},
		[]Result{{ID: "age", CustomInput: "41"}, {ID: "nick", CustomInput: "A"}})
	if got.Action != "accept" || string(got.Content) != `{"name":"Ana","age":41,"nick":"A"}` {
		t.Errorf("got %s %s", got.Action, got.Content)
	}
	if qs := seen[1].Request.Questions; len(qs) != 2 || qs[0].ID != "age" || !strings.HasPrefix(qs[0].Description, "Not accepted: \"old\"") || !strings.Contains(qs[1].Description, "answer it, or decline") {
		t.Errorf("asked again: %s", asJSON(t, qs))
	}
	if qs := seen[0].Request.Questions; qs[0].Question != "name" || qs[0].Description != "Fill in" || qs[0].Required || !qs[1].Required {
		t.Errorf("asked first: %s", asJSON(t, qs))
	}
}

func TestForm_WithoutFieldsIsYesOrNo(t *testing.T) {
	for answer, want := range map[string]Elicited{"Yes": {"accept", json.RawMessage("{}")}, "No": {"decline", nil}} {
		got, _ := filled(t, `{"type":"object","properties":{}}`, []Result{{ID: "agree", SelectedOptions: []string{answer}}})
		if got.Action != want.Action || string(got.Content) != string(want.Content) {
			t.Errorf("%s: got %s %s", answer, got.Action, got.Content)
		}
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
		{"withdrawn", func(_ *Queue, cancel context.CancelFunc, _ int) { cancel() }, "cancel", true},
		{"the deck ends", func(q *Queue, _ context.CancelFunc, _ int) { _ = q.Close() }, "cancel", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := New(Options{})
				defer q.Close()
				f, err := ParseForm("?", json.RawMessage(`{"properties":{"x":{}}}`))
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					got, err := q.Elicit(ctx, Request{}, f)
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
	f, err := ParseForm("?", json.RawMessage(`{"properties":{"x":{}}}`))
	if err != nil {
		t.Fatal(err)
	}
	q := New(Options{})
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if _, err := q.Elicit(t.Context(), Request{}, f); !errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func FuzzForm(f *testing.F) {
	f.Add("Where?", `{"type":"object","properties":{"a":{"type":"string","enum":["x","y"],"enumNames":["X"]},"b":{"type":"array","items":{"anyOf":[{"const":1}]}}},"required":["a"]}`)
	f.Add("", `{"properties":{"n":{"type":"integer","minimum":0,"default":3,"title":"N"}}}`)
	f.Fuzz(func(t *testing.T, message, schema string) {
		form, err := ParseForm(message, json.RawMessage(schema))
		if err != nil {
			return
		}
		qs, err := form.questions()
		if err != nil || len(qs) == 0 {
			t.Fatalf("%d questions, %v", len(qs), err)
		}
		var results []Result
		for _, q := range qs {
			r := Result{ID: q.ID, CustomInput: "7"}
			if len(q.Options) > 0 {
				r = Result{ID: q.ID, SelectedOptions: []string{q.Options[0].Label}}
			}
			results = append(results, r)
		}
		if e, done := form.take(results); done && e.Content != nil && !json.Valid(e.Content) {
			t.Errorf("content %q of %q", e.Content, schema)
		}
	})
}
