package tui

import (
	"cmp"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// footer draws the keys of what can be done with what is selected, in the last row.
type footer struct {
	*stage
	sight   *Sight
	watch   bool
	targets *Areas
	click   func(a *Action) tea.Cmd
}

// row draws whole entries only, as many as fit; help stands last, at the right end.
func (b *footer) row() string {
	if o := b.top(); o != nil {
		return b.hintRow(b.hints(o.table, "", o.overlay.TextEntry()), b.w)
	}
	p := b.page()
	if p == nil {
		return widget.Blank(b.w)
	}
	text := p.TextEntry()
	actions := b.hints(b.tables[b.at], p.Part(), text)
	var help *Action
	for _, a := range b.hints(b.global, "", text) {
		if a.ID == "help" {
			help = a
		} else {
			actions = append(actions, a)
		}
	}
	if help == nil {
		return b.hintRow(actions, b.w)
	}
	end := b.theme.Key.Render(b.hintLabel(help))
	if b.w >= secondFrom {
		end += " " + b.theme.Muted.Render(help.hint())
	}
	n := widget.Width(end)
	row := b.hintRow(actions, b.w-n-2)
	*b.targets = append(*b.targets, Area{X: b.w - n - 1, Y: b.h - 1, W: n, H: 1, Run: func() tea.Cmd { return b.click(help) }})
	return widget.Ends(row, end+" ", b.w)
}

func (b *footer) hintWidth(a *Action) int {
	return widget.Width(b.hintLabel(a)) + 1 + widget.Width(a.hint())
}

func (s *stage) hintLabel(a *Action) string {
	if a.LabelNow != nil {
		return a.LabelNow()
	}
	key := a.Keys[0]
	if s.top() == nil {
		key = cmp.Or(s.keyOf(a), key)
	}
	return cmp.Or(a.Label, KeyLabel(key, s.theme.Glyph.ASCII))
}

// hintRow draws the hints that fit into w cells.
func (b *footer) hintRow(actions []*Action, w int) string {
	th := b.theme
	row, x := "", 1
	for _, a := range actions {
		n := b.hintWidth(a)
		if x+n > w {
			continue
		}
		*b.targets = append(*b.targets, Area{X: x, Y: b.h - 1, W: n, H: 1, Run: func() tea.Cmd { return b.click(a) }})
		if row != "" {
			row += " "
		}
		key := th.Key
		if a.Sight && !b.sight.Ready() {
			key = th.Faint
		}
		row += " " + key.Render(b.hintLabel(a)) + " " + th.Muted.Render(a.hint())
		x += n + 2
	}
	return widget.Fit(row, w)
}

// clicked is a click on a hint. What changes something takes its key.
func (m *Model) clicked(a *Action) tea.Cmd {
	if a.Acts || a.Sight {
		return Toast(Info, "press "+m.hintLabel(a)+" to: "+a.Title)
	}
	return m.run(a)
}

// hints are the actions of a table with a hint that can be done now; while text is typed
// only those whose keys act.
func (b *footer) hints(t table, part string, text bool) []*Action {
	var out []*Action
	for _, a := range t {
		switch {
		case text && (!a.InText || len(a.Keys) > 0 && writes(a.Keys[0])):
		case a.hint() == "", len(a.Keys) == 0, a.Part != "" && a.Part != part, a.why(b.watch) != "":
		case t.find(a.Keys[0], part, text) != a: // the key does something else
		default:
			out = append(out, a)
		}
	}
	return out
}
