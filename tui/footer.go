package tui

import (
	"cmp"
	"slices"
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// footer draws the keys of what can be done, below the page.
type footer struct {
	*stage
	presses *presses
	sight   *Sight
	signs   *signs
	watch   bool
	targets *Areas
	click   func(a *Action) tea.Cmd
}

// rows draws what can be done now, and at the right end the page's note, or what signs
// mean that the user sees for the first time.
func (b *footer) rows(f *Frame) []string {
	note, w := "", b.w
	if n, ok := b.page().(FooterStatus); ok && b.top() == nil {
		note = n.FooterNote(b.w)
	}
	if nw := widget.Width(note); nw > 0 && nw < b.w/2 {
		w -= nw + 3
		note = "  " + b.theme.Faint.Render(note) + " "
	} else {
		note = ""
	}
	h := b.footerRows()
	all := h > 1
	var actions []*Action
	if o := b.top(); o != nil {
		actions = b.hints(o.table, "", o.overlay.TextEntry(), all)
	} else if p := b.page(); p != nil {
		text := p.TextEntry()
		own, global := b.hints(b.tables[b.at], p.Part(), text, all), b.hints(b.global, "", text, all)
		if b.at == 0 && len(b.pages) > 1 && !all {
			own = b.beside(global, own, w)
		}
		actions = append(own, global...)
	}
	if all {
		return b.columns(actions, h, note)
	}
	if why := b.presses.said(f); why != "" {
		return []string{widget.Fit(" "+b.theme.Warn.Render(why), b.w)}
	}
	row := b.hintRow(actions, b.h-1, w)
	if b.top() == nil {
		hints := strings.TrimRight(row, " ")
		if signs := b.signs.explain(f, b.w-widget.Width(hints)-4); signs != "" {
			return []string{widget.Fit(hints, b.w-widget.Width(signs)-1) + signs + " "}
		}
	}
	return []string{row + note}
}

// columns draws the keys of actions in h rows. bubbles lays them out. Where there is no room
// for all of a page's, its last ones go: the help has them, and the keys to all else stay.
// The one row of hints is ours: that of bubbles ends at the first hint that does not fit,
// keeps no help at its end and cannot be clicked.
func (b *footer) columns(actions []*Action, h int, note string) []string {
	th, view := b.theme, help.New()
	view.Styles = help.Styles{FullKey: th.Key.Style, FullDesc: th.Muted.Style}
	drawn := ""
	for actions = slices.Clone(actions); len(actions) > 0; {
		bindings := make([]key.Binding, len(actions))
		for i, a := range actions {
			bindings[i] = a.Binding(b.hintLabel(a))
		}
		drawn = view.FullHelpView(slices.Collect(slices.Chunk(bindings, h)))
		if lipgloss.Width(drawn) <= b.w-2 {
			break
		}
		last := len(actions) - 1
		for i, a := range slices.Backward(actions) {
			if a.page != "" && a.Hint == "" {
				last = i
				break
			}
			if a.page != "" && actions[last].page == "" {
				last = i
			}
		}
		actions = slices.Delete(actions, last, last+1)
	}
	rows := widget.Rows(strings.Split(drawn, "\n"), b.w-2, h)
	for i := range rows {
		rows[i] = " " + rows[i] + " "
	}
	rows[h-1] = widget.Ends(strings.TrimRight(rows[h-1], " "), note, b.w)
	return rows
}

// beside leaves out the last of the first page's own hints while the global ones
// do not fit: there one learns how to find the rest. Two of its own stay.
func (b *footer) beside(global, own []*Action, w int) []*Action {
	room := w - 1
	for _, a := range global {
		if a.ID != "quit" { // which is found without being told
			room -= b.hintWidth(a) + 2
		}
	}
	for i, a := range own {
		if room -= b.hintWidth(a) + 2; room < -2 { // the last one has no space behind it
			if i < 2 {
				return own
			}
			return own[:i]
		}
	}
	return own
}

func (b *footer) hintWidth(a *Action) int {
	return widget.Width(b.hintLabel(a)) + 1 + widget.Width(a.hint())
}

func (s *stage) hintLabel(a *Action) string {
	key := a.Keys[0]
	if s.top() == nil {
		key = cmp.Or(s.keyOf(a), key)
	}
	return cmp.Or(a.Label, KeyLabel(key, s.theme.Glyph.ASCII))
}

// hintRow draws the hints that fit into w cells; help stays when others go.
func (b *footer) hintRow(actions []*Action, y, w int) string {
	th := b.theme
	row, x := "", 1
	reserve := len("? help") + 2
	if b.top() != nil {
		reserve = 0
	}
	for _, a := range actions {
		n := b.hintWidth(a)
		if a.ID == "help" {
			reserve = 0
		} else if x+n+reserve > w {
			continue
		}
		*b.targets = append(*b.targets, Area{X: x, Y: y, W: n, H: 1, Run: func() tea.Cmd { return b.click(a) }})
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

// hints are the actions of a table that the footer shows: those with a hint, or all
// that it lists in columns; while text is typed only those whose keys act.
func (b *footer) hints(t table, part string, text, all bool) []*Action {
	var out []*Action
	for _, a := range t {
		if text && (!a.InText || len(a.Keys) > 0 && writes(a.Keys[0])) {
			continue
		}
		listed := a.Hint != "" || all && !a.Hidden && !strings.HasPrefix(a.ID, "go.") // those stand in the tabs
		if !listed || len(a.Keys) == 0 || a.Part != "" && a.Part != part || a.why(b.watch) != "" {
			continue
		}
		// The key does the first of those that it could do.
		if !slices.ContainsFunc(out, func(o *Action) bool { return o.Keys[0] == a.Keys[0] }) {
			out = append(out, a)
		}
	}
	return out
}
