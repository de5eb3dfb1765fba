package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Filter is the field in which the query for a list is typed. Its last word is completed
// where a query can have fields.
type Filter struct {
	Part   string // of the page, in which it is typed
	Edit   widget.Editor
	Fields []string // that a query can have; nil: it is words
	// Values are those that a field can have.
	Values func(field string) []string
	// Narrow lists what the query asks for.
	Narrow func() tea.Cmd

	completion Completion
}

// Text is the query.
func (q *Filter) Text() string { return q.Edit.Value() }

// SetText replaces the query.
func (q *Filter) SetText(s string) {
	q.Edit.SetValue(s)
	q.completion.Reset()
}

// Empty reports whether there is no query.
func (q *Filter) Empty() bool { return strings.TrimSpace(q.Edit.Value()) == "" }

// PartAt is the part whose keys act while one has the focus: PartCompletion while they
// choose from what completes the query.
func (q *Filter) PartAt(part string) string {
	if part == q.Part && q.completion.Picking() {
		return PartCompletion
	}
	return part
}

// Leave ends the typing.
func (q *Filter) Leave() { q.completion.Reset() }

// Update takes what is typed and pasted.
func (q *Filter) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		if !q.Edit.Key(msg) {
			return nil
		}
	case tea.PasteMsg:
		q.Edit.Insert(msg.Content)
	default:
		return nil
	}
	return q.typed()
}

func (q *Filter) typed() tea.Cmd {
	if q.Fields != nil {
		word, to := query.Complete(q.Edit.Before(), q.Fields, q.Values)
		q.completion.Offer(&q.Edit, q.typed, word, to, false)
	}
	return q.Narrow()
}

// Actions complete the query, begin to type it, keep it and do without: begin and all say
// how the first and the last of these are called and what they do, keep is what the one
// between does.
func (q *Filter) Actions(id string, begin Action, keep func() tea.Cmd, all Action) []Action {
	var out []Action
	if q.Fields != nil {
		out = q.completion.Actions(id+".complete", q.Part)
	}
	begin.ID, begin.Hint, begin.Verb = id+".filter", "filter", verb.Filter
	all.ID, all.Hint, all.Verb, all.Part, all.InText = id+".unfilter", "back", verb.Back, q.Part, true
	return append(out, begin, Action{ID: id + ".filtered", Title: "Apply the filter", Hint: "choose", Verb: verb.Open, Also: []verb.Verb{verb.Down, verb.NextPane}, Part: q.Part, InText: true, Run: keep}, all)
}

// Rows are the row of w cells with the field, at x, y of the frame; none while there is no
// query and none is typed.
func (q *Filter) Rows(f *Frame, x, y, w int, typing bool) []string {
	if !typing && q.Empty() {
		return nil
	}
	edit, cx, _ := q.Edit.Render(f.Theme, w-2, 1, typing)
	if typing {
		f.Cursor(x+2+cx, y)
		q.completion.Render(f)
	}
	return []string{f.Theme.Key.Render("/") + " " + edit[0]}
}
