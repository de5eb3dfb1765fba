package ask

import (
	"maps"
	"slices"
	"strings"
)

// Field identifies the text field that is open in the interface.
type Field string

// The text fields. None: no field is open.
const (
	NoField      Field = ""
	NoteField    Field = "note"
	OtherField   Field = "other"
	ClarifyField Field = "clarify"
	ReasonField  Field = "reason"
)

// Draft is what the user has entered for a request but not sent, and the position of
// the cursor. The zero Draft is untouched.
type Draft struct {
	Tab     int           `json:"tab,omitempty"` // open question; len(questions): the review
	Answers []AnswerDraft `json:"answers,omitempty"`
	Reason  string        `json:"reason,omitempty"` // of a decline, being typed
	Field   Field         `json:"field,omitempty"`  // open text field
	Option  int           `json:"option,omitempty"` // whose note is open
	Caret   int           `json:"caret,omitempty"`  // in the open field, in runes
}

// AnswerDraft is the draft of one question. Options are named by index.
type AnswerDraft struct {
	Cursor   int            `json:"cursor"` // row; len(options): the free-text row
	Chosen   []int          `json:"chosen,omitempty"`
	Other    string         `json:"other,omitempty"`    // typed free text, also while not chosen
	OtherOn  bool           `json:"otherOn,omitempty"`  // free text is (one of) the choice(s)
	Notes    map[int]string `json:"notes,omitempty"`    // also of options not chosen
	Skipped  bool           `json:"skipped,omitempty"`  // by the user
	Clarify  string         `json:"clarify,omitempty"`  // typed to ask back with
	Asks     bool           `json:"asks,omitempty"`     // Clarify is sent instead of an answer
	Accepted bool           `json:"accepted,omitempty"` // accepted at least once: an empty choice is meant
	Seen     bool           `json:"seen,omitempty"`     // was on screen: only then an optional question may stay without an answer
	Form     *FormDraft     `json:"form,omitempty"`     // of a Form; nil: untouched
}

// NewDraft is the untouched draft for qs: cursors on the recommended options,
// nothing chosen.
func NewDraft(qs []Question) Draft {
	d := Draft{Answers: make([]AnswerDraft, len(qs))}
	for i, q := range qs {
		switch {
		case q.OtherFirst:
			d.Answers[i].Cursor = len(q.Options)
		case len(q.Recommended) > 0:
			d.Answers[i].Cursor = q.Recommended[0]
		}
	}
	return d
}

// Clone returns a copy that shares nothing with d.
func (d Draft) Clone() Draft {
	d.Answers = slices.Clone(d.Answers)
	for i := range d.Answers {
		d.Answers[i].Chosen = slices.Clone(d.Answers[i].Chosen)
		d.Answers[i].Notes = maps.Clone(d.Answers[i].Notes)
		d.Answers[i].Form = d.Answers[i].Form.Clone()
	}
	return d
}

// Travels is what a deck of another machine is shown of a draft. A form stays here: it may have secrets.
func (d Draft) Travels() Draft {
	field := d.Field
	d = d.entered()
	d.Field = field
	for i := range d.Answers {
		d.Answers[i].Form = nil
	}
	return d
}

// entered is what was entered, without what is of one screen: where the user was, and what was seen there.
func (d Draft) entered() Draft {
	d = Draft{Answers: d.Clone().Answers, Reason: d.Reason}
	for i := range d.Answers {
		a := &d.Answers[i]
		a.Cursor, a.Accepted, a.Seen = 0, false, false
	}
	return d
}

// At is d, with the user where own has them.
func (d Draft) At(own Draft) Draft {
	d = d.Clone()
	d.Tab, d.Field = own.Tab, own.Field
	for i, o := range own.Answers {
		a := &d.Answers[i]
		a.Cursor, a.Accepted, a.Seen = o.Cursor, o.Accepted, o.Seen
	}
	return d
}

// Empty reports whether the draft has no choice and no text, wherever the cursor is.
func (d Draft) Empty() bool {
	if strings.TrimSpace(d.Reason) != "" {
		return false
	}
	return !slices.ContainsFunc(d.Answers, func(a AnswerDraft) bool { return !a.Empty() })
}

// Begun reports whether the user is at the request: a field is open, or something was entered.
func (d Draft) Begun() bool { return d.Field != NoField || !d.Empty() }

// Empty reports whether nothing was entered for the question.
func (a AnswerDraft) Empty() bool {
	if len(a.Chosen) > 0 || a.OtherOn || a.Skipped || a.Other != "" || a.Clarify != "" || !a.Form.Empty() {
		return false
	}
	for _, n := range a.Notes {
		if n != "" {
			return false
		}
	}
	return true
}

// fit makes a draft of any origin valid for qs.
func (d Draft) fit(qs []Question) Draft {
	fresh := NewDraft(qs)
	if len(d.Answers) != len(qs) {
		return fresh
	}
	d = d.Clone()
	d.Tab = min(max(d.Tab, 0), len(qs))
	d.Caret = max(d.Caret, 0)
	for i, q := range qs {
		a := &d.Answers[i]
		if a.Cursor = max(a.Cursor, 0); q.Kind != Form { // whose rows come and go
			a.Cursor = min(a.Cursor, q.Rows()-1)
		}
		a.Chosen = slices.DeleteFunc(a.Chosen, func(n int) bool { return n < 0 || n >= len(q.Options) })
		maps.DeleteFunc(a.Notes, func(n int, _ string) bool { return n < 0 || n >= len(q.Options) })
		a.OtherOn = a.OtherOn && q.HasOther()
	}
	return d
}

// HasOther reports whether the question has a free-text row.
func (q Question) HasOther() bool { return q.AllowOther || len(q.Options) == 0 && q.Kind != Form }

// Rows returns the number of rows to choose from: the options and the free-text row.
func (q Question) Rows() int {
	if q.HasOther() {
		return len(q.Options) + 1
	}
	return len(q.Options)
}

// Label is the short name of the question number i (from 0) for a tab.
func (q Question) Label(i int) string {
	if s := strings.TrimSpace(q.Header); s != "" {
		return s
	}
	if q.ID == "" || q.ID == numbered(i) {
		return "Q" + numbered(i)[1:]
	}
	return strings.Join(strings.FieldsFunc(q.ID, func(r rune) bool { return r == '_' || r == '-' || r == ' ' }), " ")
}
