package ask

import (
	"fmt"
	"slices"
	"strings"
)

// Open returns why question i of qs still needs the user. It returns "" if the question
// is answered, skipped, asked back or optional.
func (d Draft) Open(qs []Question, i int) string {
	if i >= len(d.Answers) {
		return "not answered"
	}
	return d.Answers[i].open(qs[i])
}

func (a AnswerDraft) open(q Question) string {
	if a.Skipped || a.asksBack() {
		return ""
	}
	if q.Kind == Form {
		return a.openForm(q)
	}
	n := a.count()
	if n == 0 && !q.Required && !a.Seen {
		return "optional, but not yet seen"
	}
	if q.Multi && len(q.Options) > 0 {
		switch {
		case n == 0 && (!q.Required || q.MinSelect == 0 && a.Accepted):
			return ""
		case n < q.MinSelect:
			return fmt.Sprintf("choose at least %d", q.MinSelect)
		case q.MaxSelect > 0 && n > q.MaxSelect:
			return fmt.Sprintf("choose at most %d", q.MaxSelect)
		}
	}
	if n == 0 && q.Required {
		return "not answered"
	}
	return ""
}

// count returns the number of choices made, including free text.
func (a AnswerDraft) count() int {
	n := len(a.Chosen)
	if a.OtherOn && strings.TrimSpace(a.Other) != "" {
		n++
	}
	return n
}

// Answered reports whether question i has an answer, is skipped or asked back.
// An optional question with none of these is complete but not answered.
func (d Draft) Answered(qs []Question, i int) bool {
	if d.Open(qs, i) != "" {
		return false
	}
	a := d.Answers[i]
	return a.count() > 0 || a.Skipped || a.asksBack() || qs[i].Multi && a.Accepted || qs[i].Kind == Form
}

func (a AnswerDraft) asksBack() bool { return a.Asks && strings.TrimSpace(a.Clarify) != "" }

// FirstOpen returns the first question that prevents d from being sent, and the
// reason. It returns -1 if d is complete.
func (d Draft) FirstOpen(qs []Question) (int, string) {
	for i := range qs {
		if why := d.Open(qs, i); why != "" {
			return i, why
		}
	}
	return -1, ""
}

// Results returns the answers in d, one per question, in order.
func (d Draft) Results(qs []Question) []Result {
	out := make([]Result, len(qs))
	for i, q := range qs {
		var a AnswerDraft
		if i < len(d.Answers) {
			a = d.Answers[i]
		}
		out[i] = a.result(q)
	}
	return out
}

// Reply returns the reply for d.
func (d Draft) Reply(qs []Question) Reply {
	r := d.Results(qs)
	return Reply{Status: status(r), Results: r, Questions: qs}
}

func (a AnswerDraft) result(q Question) Result {
	if q.Kind == Form && !a.Skipped && !a.asksBack() {
		return a.formResult(q)
	}
	r := Result{ID: q.ID, SelectedOptions: []string{}}
	if a.asksBack() {
		r.Clarify = tidy(a.Clarify)
		return r
	}
	if a.Skipped || a.count() == 0 && (!q.Multi || !a.Accepted) {
		r.Skipped = true
		return r
	}
	if a.OtherOn {
		r.CustomInput = tidy(a.Other)
	}
	if r.CustomInput != "" && !q.Multi {
		return r
	}
	chosen := slices.Clone(a.Chosen)
	slices.Sort(chosen)
	for _, n := range slices.Compact(chosen) {
		if n < 0 || n >= len(q.Options) {
			continue
		}
		label := q.Options[n].Label
		r.SelectedOptions = append(r.SelectedOptions, label)
		if note := tidy(a.Notes[n]); note != "" {
			if r.Notes == nil {
				r.Notes = map[string]string{}
			}
			r.Notes[label] = note
			if !q.Multi {
				r.Note = note
			}
		}
	}
	return r
}

// tidy trims text that the user typed and normalizes its line endings.
func tidy(s string) string { return strings.TrimSpace(lineEnds(s)) }

func status(results []Result) Status {
	for _, r := range results {
		if r.Skipped || r.Clarify != "" {
			return Partial
		}
	}
	return Answered
}

// draftOf converts results from outside the interface into a draft. It returns an error
// that names the first answer the questions do not offer.
func draftOf(qs []Question, results []Result) (Draft, error) {
	d := NewDraft(qs)
	for i := range d.Answers {
		d.Answers[i].Seen = true
	}
	seen := map[string]bool{}
	for _, r := range results {
		i := slices.IndexFunc(qs, func(q Question) bool { return q.ID == r.ID })
		if i < 0 {
			return Draft{}, fmt.Errorf("no question with id %q", r.ID)
		}
		if seen[r.ID] {
			return Draft{}, fmt.Errorf("duplicate answer to question %q", r.ID)
		}
		seen[r.ID] = true
		a, err := answerOf(qs[i], r)
		if err != nil {
			return Draft{}, fmt.Errorf("question %q: %w", r.ID, err)
		}
		d.Answers[i] = a
	}
	if i, why := d.FirstOpen(qs); i >= 0 {
		return Draft{}, fmt.Errorf("question %q: %s", qs[i].ID, why)
	}
	return d, nil
}

func answerOf(q Question, r Result) (AnswerDraft, error) {
	if q.Kind == Form {
		return formAnswer(r)
	}
	a := AnswerDraft{Skipped: r.Skipped, Clarify: r.Clarify, Asks: r.Clarify != "", Accepted: true, Seen: true}
	byLabel := func(label string) int {
		return slices.IndexFunc(q.Options, func(o Option) bool { return o.Label == label })
	}
	for _, label := range r.SelectedOptions {
		n := byLabel(label)
		if n < 0 {
			return a, fmt.Errorf("no option %q", label)
		}
		if !slices.Contains(a.Chosen, n) {
			a.Chosen = append(a.Chosen, n)
		}
	}
	if !q.Multi && len(a.Chosen) > 1 {
		return a, fmt.Errorf("accepts only one option, got %d", len(a.Chosen))
	}
	if s := tidy(r.CustomInput); s != "" {
		if !q.HasOther() {
			return a, fmt.Errorf("does not accept free text")
		}
		if !q.Multi && len(a.Chosen) > 0 {
			return a, fmt.Errorf("accepts an option or free text, not both")
		}
		a.Other, a.OtherOn = s, true
	}
	notes := r.Notes
	if r.Note != "" && len(a.Chosen) == 1 && notes == nil {
		notes = map[string]string{q.Options[a.Chosen[0]].Label: r.Note}
	}
	for label, note := range notes {
		n := byLabel(label)
		if n < 0 {
			return a, fmt.Errorf("no option %q to add a note to", label)
		}
		if a.Notes == nil {
			a.Notes = map[int]string{}
		}
		a.Notes[n] = note
	}
	return a, nil
}
