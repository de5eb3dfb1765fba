package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/match"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Filter is the field in which the query for a list is typed. Its last word is completed.
type Filter struct {
	Part   string // of the page, in which it is typed
	Edit   widget.Editor
	Fields []string // that a query can have
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

// Empty tells whether there is no query.
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
	word, to := match.Complete(q.Edit.Before(), q.Fields, q.Values)
	q.completion.Offer(&q.Edit, q.typed, word, to, false)
	return q.Narrow()
}

// Actions complete the query. They come before those that keep it or do without.
func (q *Filter) Actions(id string) []Action { return q.completion.Actions(id, q.Part) }

// Row draws the field as a row of w cells at x, y of the frame; typing tells whether it has
// the focus.
func (q *Filter) Row(f *Frame, x, y, w int, typing bool) string {
	edit, cx, _ := q.Edit.Render(f.Theme, w-4, 1, typing)
	if typing {
		f.Cursor(x+4+cx, y)
		q.completion.Render(f)
	}
	return widget.Fit("  "+f.Theme.Key.Render("/")+" "+edit[0], w)
}
