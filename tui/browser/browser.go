// Package browser is a list beside the detail of the row under its cursor: moving in
// both, with keys and with the mouse, filtering the list and searching in the detail.
package browser

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// The parts of a page with a Browser, unless its list is called otherwise.
const (
	PartList   = "list"
	PartDetail = "detail"
	PartFilter = "filter"
)

// Browser is the list and the detail of a page, which embeds it.
type Browser struct {
	Focus  string // the part with the focus
	List   widget.List
	Order  tui.Order // of the list
	Filter tui.Filter
	Detail widget.Folds
	Search tui.Search // in the detail
	// Areas are the list without its frame, and the detail, on the frame on screen.
	Areas tui.Areas

	opts Options
}

// Options are what a page says of its list.
type Options struct {
	ID   string // of the actions: "calls"
	List string // the part of the list; "" is PartList
	// Skip reports whether the cursor does not stay on a row, such as the head of a group.
	// nil: it stays on all.
	Skip func(i int) bool
	// Moved follows every move in the list; changed: the cursor is on another row.
	Moved func(changed bool) tea.Cmd
	// Focused follows a move to another part.
	Focused func() tea.Cmd
	// Open is what a click on the row under the cursor does; nil shows its detail.
	Open func() tea.Cmd
}

// New makes an empty browser, whose filter calls narrow as it changes.
func New(o Options, filter tui.Filter) Browser {
	o.List = cmp.Or(o.List, PartList)
	filter.Part = PartFilter
	b := Browser{Focus: o.List, Filter: filter, Search: tui.Search{Part: PartDetail}, opts: o}
	b.List.Cursor = -1
	b.Detail.Window = &widget.Scroll{}
	return b
}

// Part is the part whose keys act.
func (b *Browser) Part() string { return b.Search.PartAt(b.Filter.PartAt(b.Focus)) }

// TextEntry reports whether the filter, or what to search for, is being typed.
func (b *Browser) TextEntry() bool { return b.Typing() || b.Search.Typing(b.Focus) }

// Typing reports whether the filter is being typed.
func (b *Browser) Typing() bool { return b.Focus == PartFilter }

// Update takes what is typed, and the mouse; taken is false for everything else.
func (b *Browser) Update(msg tea.Msg) (cmd tea.Cmd, taken bool) {
	if b.Search.Update(b.Focus, msg) {
		return nil, true
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg, tea.PasteMsg:
		if b.Typing() {
			return b.Filter.Update(msg), true
		}
	case tui.ClickMsg:
		return b.click(msg), true
	case tui.WheelMsg:
		switch a := b.Areas.At(msg.X, msg.Y); {
		case a == nil:
		case a.Part == PartDetail:
			b.Detail.Scroll(msg.Delta)
		case a.Part == b.opts.List:
			return b.Move(func() { b.List.Scroll(msg.Delta) }), true
		}
		return nil, true
	}
	return nil, false
}

// click gives the focus; a click on the row under the cursor opens it.
func (b *Browser) click(m tui.ClickMsg) tea.Cmd {
	a, run := b.Areas.Click(m.X, m.Y)
	if a == nil {
		return run
	}
	before, focus, hit := b.List.Cursor, b.Focus == a.Part, false
	b.Search.Keep()
	if b.Focus = a.Part; a.Part == PartDetail {
		b.Detail.Click(m.Y - a.Y - 1)
		return b.focused()
	}
	cmd := b.Move(func() { hit = b.List.Click(m.Y - a.Y) })
	switch {
	case !hit || !focus || before != b.List.Cursor:
	case b.opts.Open != nil:
		return tea.Batch(cmd, b.opts.Open())
	default:
		b.Focus = PartDetail
		return tea.Batch(cmd, b.focused())
	}
	return cmd
}

// focused tells the page that another part may have the focus.
func (b *Browser) focused() tea.Cmd {
	if b.opts.Focused == nil {
		return nil
	}
	return b.opts.Focused()
}

// Move moves the cursor, past the rows on which it does not stay.
func (b *Browser) Move(move func()) tea.Cmd {
	before := b.List.Cursor
	move()
	b.pass(before)
	if before != b.List.Cursor {
		b.FromTop()
	}
	if b.opts.Moved == nil {
		return nil
	}
	return b.opts.Moved(before != b.List.Cursor)
}

// SetLen says how many rows there are. The cursor stays, or goes to row i if that is not
// below 0.
func (b *Browser) SetLen(n, i int) {
	b.List.SetLen(n)
	if i >= 0 {
		b.List.MoveTo(i)
	}
	b.pass(-1)
}

func (b *Browser) pass(before int) {
	i := b.List.Cursor
	switch {
	case b.opts.Skip == nil || i < 0 || !b.opts.Skip(i):
	case i > 0 && i < before:
		b.List.Move(-1)
	default:
		b.List.Move(1)
	}
}

// FromTop shows the detail from its beginning: that of another row, or drawn in another way.
func (b *Browser) FromTop() {
	b.Detail.Reset()
	b.Search.Stop()
}

// Go is the run of an action that gives a part the focus.
func (b *Browser) Go(part string) func() tea.Cmd {
	return func() tea.Cmd {
		b.Focus = part
		b.Filter.Leave()
		return b.focused()
	}
}

// FocusActions lead from the list to the detail and back; read is the title of the first,
// why says why it cannot be done.
func (b *Browser) FocusActions(read string, why func() string) []tui.Action {
	return []tui.Action{
		{ID: b.opts.ID + ".open", Title: read, Hint: "open", Verb: verb.Open, Also: []verb.Verb{verb.NextPane}, Part: b.opts.List, Enabled: why, Run: b.Go(PartDetail)},
		{ID: b.opts.ID + ".close", Title: "Back to the list", Hint: "back", Verb: verb.Back, Also: []verb.Verb{verb.NextPane, verb.PreviousPane}, Part: PartDetail, Run: b.Go(b.opts.List)},
	}
}

// FilterActions type the filter, complete and keep it, and do without; all is the title of the last, why
// says why there is nothing to filter.
func (b *Browser) FilterActions(all string, why func() string, unfilter func() tea.Cmd) []tui.Action {
	begin := tui.Action{Title: "Filter", Enabled: why, Run: b.Go(PartFilter)}
	return b.Filter.Actions(b.opts.ID, begin, b.Go(b.opts.List), tui.Action{Title: all, Run: unfilter})
}

// MoveActions move the cursor of the list.
func (b *Browser) MoveActions() []tui.Action {
	out := tui.ListActions(b.opts.ID+"."+b.opts.List, b.opts.List, &b.List)
	for i := range out {
		move := out[i].Run
		out[i].Run = func() tea.Cmd { return b.Move(func() { move() }) }
	}
	return out
}

// SortActions sort the list, whose order is o, by its columns: one key goes through them.
func SortActions[T any](id, part string, all []tui.Sorting[T], o *tui.Order, by func(column string) tea.Cmd) []tui.Action {
	columns := make([]string, len(all))
	for i, s := range all {
		columns[i] = s.Column
	}
	out := []tui.Action{{ID: id + ".sort", Title: "Sort by the next column", Hint: "sort", Moves: true, Verb: verb.Sort, Part: part, Run: func() tea.Cmd {
		return by(tui.Next(columns, o.By, 1))
	}}}
	for _, s := range all {
		out = append(out, tui.Action{ID: id + ".sort." + cmp.Or(s.Column, "need"), Title: "Sort by " + s.Means, Moves: true, Part: part, Run: func() tea.Cmd { return by(s.Column) }})
	}
	return out
}

// SearchActions search in the detail.
func (b *Browser) SearchActions() []tui.Action {
	return b.Search.Actions(b.opts.ID + "." + PartDetail)
}

// ScrollActions move the detail.
func (b *Browser) ScrollActions() []tui.Action {
	return tui.ScrollActions(b.opts.ID+"."+PartDetail, PartDetail, &b.Detail)
}
