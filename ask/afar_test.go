package ask

import (
	"errors"
	"strings"
	"testing"
)

func TestADraftFromAfarNeverStandsInForWhatTheUserHasEnteredHere(t *testing.T) {
	t.Parallel()
	theirs := Draft{Answers: []AnswerDraft{{Other: "neither", OtherOn: true, Cursor: 2, Accepted: true, Form: &FormDraft{JSON: "{}", AsJSON: true}}}}
	for name, tt := range map[string]struct {
		before, after func(*Queue, Draft) // what the user does here, before the draft comes and then
		want, by      string
		sent          error
	}{
		"nothing": {want: "neither", by: "in the deck desk", sent: errChanged},
		"an option was chosen": {
			before: func(q *Queue, d Draft) { d.Answers[0].Chosen = []int{1}; q.SetDraft(1, d) },
		},
		"a field is open": {
			before: func(q *Queue, d Draft) { d.Field = OtherField; q.SetDraft(1, d) },
			sent:   &Incomplete{},
		},
		"the cursor moves": {
			after: func(q *Queue, d Draft) { d.Answers[0].Cursor = 1; q.SetDraft(1, d) },
			want:  "neither", by: "in the deck desk",
		},
		"the text is changed": {
			after: func(q *Queue, d Draft) { d.Answers[0].Other = "neither of them"; q.SetDraft(1, d) },
			want:  "neither of them",
		},
		"the text is taken away": {
			after: func(q *Queue, _ Draft) { q.SetDraft(1, NewDraft(q.Pending().Items[0].Request.Questions)) },
			sent:  &Incomplete{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := New(Options{Hold: -1})
			defer q.Close()
			open(t, q, request(t))
			do := func(f func(*Queue, Draft)) {
				if f != nil {
					f(q, q.Pending().Items[0].Draft.Clone())
				}
			}
			do(tt.before)
			desk := Afar{Queue: q, Deck: "desk"}
			desk.Draft(1, theirs)
			do(tt.after)
			Afar{Queue: q, Deck: "another"}.Draft(1, Draft{}) // which takes back nothing but its own
			it := q.Pending().Items[0]
			if a := it.Draft.Answers[0]; a.Other != tt.want || it.LentBy != tt.by || a.Form != nil || tt.by != "" && (a.Accepted || a.Cursor == 2) {
				t.Errorf("it shows %+v, entered %q", a, it.LentBy)
			}
			err := q.Send(1)
			if !errors.Is(tt.sent, errChanged) {
				if err == nil || !strings.Contains(err.Error(), "do this again to answer anyway: it is being answered in the deck desk") {
					t.Errorf("sending it at first: %v", err)
				}
				err = q.Send(1)
			}
			if open := new(Incomplete); !errors.Is(err, tt.sent) && !(errors.As(tt.sent, &open) && errors.As(err, &open)) {
				t.Errorf("sending it: %v, want %v", err, tt.sent)
			}
		})
	}
}

func TestARequestIsStillHandedOverAfterTheRestart(t *testing.T) {
	opt := storeOptions(t)
	q := New(opt)
	open(t, q, request(t))
	if err := (Afar{Queue: q}).Hand(1, &Handed{To: "desk"}); err != nil {
		t.Fatal(err)
	}
	if it := q.Pending().Items[0]; it.Note != "handed to desk" {
		t.Errorf("it says %q", it.Note)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	again := New(opt)
	defer again.Close()
	if it := again.Pending().Items[0]; it.Handed == nil || it.Handed.String() != "handed to desk" {
		t.Errorf("after the restart it is handed to %+v, and says %q", it.Handed, it.Note)
	}
}
