package servers

import (
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// item is something in the reading pane that a key can act on.
type item struct {
	row   int // of the text
	tool  *toolRow
	held  *snapshot.Held
	kind  snapshot.Kind // all resources or prompts
	one   *snapshot.Item
	child *snapshot.Child
	text  bool // the instructions
}

// body is the text of the reading pane, and what keys can act on in it.
type body struct {
	rows     []string
	items    []item
	subjects []subject
	heads    int // the row with the heads of the tools' columns; 0 for none
}

// subject is a changed definition, in the rows of it.
type subject struct {
	held     *snapshot.Held
	id       string
	from, to int
	drawn    *tui.Drawn
}

func (b *body) add(rows ...string) { b.rows = append(b.rows, rows...) }

func (b *body) put(it item, row string) {
	it.row = len(b.rows)
	b.items = append(b.items, it)
	b.add(row)
}

// pane is a window on a body, with a cursor that goes from item to item, and scrolls between.
type pane struct {
	widget.Scroll
	body  *body // that was drawn last
	at    int   // the row under the cursor
	focus bool
}

// Move moves the cursor to the next item, or the window where there is none in it.
func (p *pane) Move(d int) {
	if d < -1 || d > 1 || p.body == nil {
		p.jump(func() { p.Scroll.Move(d) }, d)
		return
	}
	i := slices.IndexFunc(p.body.items, func(it item) bool { return it.row > p.at })
	if d < 0 {
		i = len(p.body.items) - 1
		for i >= 0 && p.body.items[i].row >= p.at {
			i--
		}
	}
	if i >= 0 && p.in(p.body.items[i].row, 1) {
		p.at = p.body.items[i].row
		p.Scroll.Move(max(p.at-p.Top-p.Height()+1, 0) + min(p.at-p.Top, 0))
		return
	}
	p.Scroll.Move(d)
}

// Page moves the window by d screens.
func (p *pane) Page(d int) { p.jump(func() { p.Scroll.Page(d) }, d) }

// Half moves it by d half screens.
func (p *pane) Half(d int) { p.jump(func() { p.Scroll.Half(d) }, d) }

// jump moves the window, and the cursor to the item in it that is next, or last at the ends.
func (p *pane) jump(move func(), d int) {
	before := p.Top
	move()
	if p.body == nil || before != p.Top && p.in(p.at, 0) {
		return
	}
	last := d > 0 == (before == p.Top) // at the end, the last; scrolled back, the last in the window
	for _, it := range p.body.items {
		if p.in(it.row, 0) {
			if p.at = it.row; !last {
				return
			}
		}
	}
}

// in reports whether a row is in the window, or at most so many rows beside it.
func (p *pane) in(row, beside int) bool {
	return row >= p.Top-beside && row < p.Top+p.Height()+beside
}

// click moves the cursor to the item at row y of the window and reports whether it was there.
func (p *pane) click(y int) bool {
	row := p.At(y)
	if p.body == nil || !slices.ContainsFunc(p.body.items, func(it item) bool { return it.row == row }) {
		return false
	}
	was := p.at
	p.at = row
	return was == row
}

// item is the one under the cursor; nil when there is none.
func (p *pane) item() *item {
	if p.body == nil {
		return nil
	}
	if i := slices.IndexFunc(p.body.items, func(it item) bool { return it.row == p.at }); i >= 0 {
		return &p.body.items[i]
	}
	return nil
}

// set takes the body that is drawn next. The cursor stays on its item.
func (p *pane) set(b *body) {
	was := p.item()
	p.body = b
	i := 0
	if was != nil {
		i = max(slices.IndexFunc(b.items, func(it item) bool { return same(&it, was) }), 0)
	}
	if len(b.items) > 0 {
		p.at = b.items[i].row
	}
}

// same reports whether two items are about the same.
func same(a, b *item) bool {
	switch {
	case a.tool != nil && b.tool != nil:
		return a.tool.name() == b.tool.name()
	case a.held != nil && b.held != nil:
		return a.held.Kind == b.held.Kind && a.held.Tool == b.held.Tool
	case a.one != nil && b.one != nil:
		return a.one.Key == b.one.Key
	case a.child != nil && b.child != nil:
		return a.child.Name == b.child.Name
	}
	return a.tool == b.tool && a.held == b.held && a.one == b.one && a.child == b.child && a.kind == b.kind && a.text == b.text
}

// Render draws the part of the rows in the window, and the cursor if the pane has the focus.
func (p *pane) Render(th *theme.Theme, rows []string, w, h int) []string {
	if p.focus && p.item() != nil && p.at < len(rows) {
		rows = slices.Clone(rows)
		rows[p.at] = widget.Cursor(th, rows[p.at])
	}
	return p.Scroll.Render(th, rows, w, h)
}
