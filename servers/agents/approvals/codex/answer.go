package codex

import (
	"encoding/json"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// question is one of Codex's own.
type question struct {
	ID       string       `json:"id"`
	Header   string       `json:"header"`
	Question string       `json:"question"`
	Other    bool         `json:"isOther"`
	Secret   bool         `json:"isSecret"`
	Options  []ask.Option `json:"options"`
}

// What Codex's terminal answers for a text of the user's own.
const (
	noneOfThem = "None of the above"
	notePrefix = "user_note: "
)

// declined is what Codex is told when the user gives no reason.
const declined = "The user declined to answer."

// ownQuestions reads the questions of request_user_input.
func (q *asked) ownQuestions() error {
	ids := map[string]bool{}
	var all []ask.Question
	for _, one := range q.Questions {
		switch {
		case one.Secret:
			return errSecret
		case one.ID == "" || ids[one.ID]:
			return approvals.ErrShape
		}
		ids[one.ID] = true
		all = append(all, ask.Question{ID: one.ID, Question: one.Question, Header: one.Header, Options: one.Options, AllowOther: one.Other})
	}
	var err error
	q.req.Questions, err = approvals.OwnQuestions(all)
	return err
}

// answer is what is sent back for the user's reply, and a note that goes before it. It
// returns false if it cannot be told what was meant, so that the terminal asks.
func (q *asked) answer(r ask.Reply) (result json.RawMessage, note string, ok bool) {
	if q.req.Prompt.Door == ask.InTerminal || r.Status == ask.TimedOut {
		return nil, "", false
	}
	switch q.req.Prompt.Kind {
	case ask.OwnQuestion:
		return q.answerQuestions(r)
	case ask.ServerForm:
		result, ok = answerForm(r)
		return result, "", ok
	case ask.Permission, ask.Plan:
	}
	c, note, ok := approvals.Chosen(q.choices, r)
	if r.Status != ask.Declined && !c.Grant.Note {
		note = ""
	}
	return c.Result, note, ok
}

func (q *asked) answerQuestions(r ask.Reply) (result json.RawMessage, note string, ok bool) {
	type answers struct {
		Answers []string `json:"answers"`
	}
	all := map[string]answers{}
	for _, one := range q.Questions {
		all[one.ID] = answers{[]string{}}
	}
	if r.Status == ask.Declined {
		note = declined
		if r.Reason != "" {
			note += " " + r.Reason
		}
	}
	if !approvals.Offered(q.req.Questions, r.Results) {
		return nil, "", false
	}
	for i, res := range r.Results {
		if i >= len(q.Questions) || res.Skipped {
			continue
		}
		one, words := q.Questions[i], slices.Clone(res.SelectedOptions)
		text := approvals.Note(res)
		for _, own := range []string{res.CustomInput, res.Clarify} {
			if own == "" {
				continue
			}
			if text = own; one.Other && len(words) == 0 {
				words = append(words, noneOfThem)
			}
		}
		if text != "" {
			words = append(words, notePrefix+text)
		}
		all[one.ID] = answers{words}
	}
	raw, err := rpc.Raw(map[string]any{"answers": all})
	return raw, note, err == nil
}

// answerForm returns what Codex is told of a reply to a server's form.
func answerForm(r ask.Reply) (json.RawMessage, bool) {
	e, ok := r.Elicited()
	if !ok {
		return nil, false
	}
	raw, err := rpc.Raw(e)
	return raw, err == nil
}
