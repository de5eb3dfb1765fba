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

// footerRows is how many rows the footer has: one, or more when it shows all keys
// and there is room for it.
func (m *Model) footerRows() int {
	if !m.allKeys || m.h < 2*LeastH {
		return 1
	}
	return min(m.h/4, 7)
}

// footer draws what can be done now, and at the right end the page's note, or what signs
// mean that the user sees for the first time.
func (m *Model) footer(f *Frame) []string {
	note, w := "", m.w
	if n, ok := m.page().(Noter); ok && m.top() == nil {
		note = n.FooterNote(m.w)
	}
	if nw := widget.Width(note); nw > 0 && nw < m.w/2 {
		w -= nw + 3
		note = "  " + m.theme.Faint.Render(note) + " "
	} else {
		note = ""
	}
	h := m.footerRows()
	all := h > 1
	var actions []*Action
	if o := m.top(); o != nil {
		actions = m.hints(o.table, "", o.overlay.TextEntry(), all)
	} else if p := m.page(); p != nil {
		text := p.TextEntry()
		own, global := m.hints(m.tables[m.at], p.Part(), text, all), m.hints(m.global, "", text, all)
		if m.at == 0 && len(m.pages) > 1 && !all {
			own = m.beside(global, own, w)
		}
		actions = append(own, global...)
	}
	if all {
		return m.columns(actions, h, note)
	}
	if why := m.presses.said(f); why != "" {
		return []string{widget.Fit(" "+m.theme.Warn.Render(why), m.w)}
	}
	row := m.hintRow(actions, m.h-1, w)
	if m.top() == nil {
		hints := strings.TrimRight(row, " ")
		if signs := m.signs.explain(f, m.w-widget.Width(hints)-4); signs != "" {
			return []string{widget.Fit(hints, m.w-widget.Width(signs)-1) + signs + " "}
		}
	}
	return []string{row + note}
}

// columns draws the keys of actions in h rows. bubbles lays them out. Where there is no room
// for all of a page's, its last ones go: the help has them, and the keys to all else stay.
// The one row of hints is ours: that of bubbles ends at the first hint that does not fit,
// keeps no help at its end and cannot be clicked.
func (m *Model) columns(actions []*Action, h int, note string) []string {
	th, view := m.theme, help.New()
	view.Styles = help.Styles{FullKey: th.Key.Style, FullDesc: th.Muted.Style}
	drawn := ""
	for actions = slices.Clone(actions); len(actions) > 0; {
		bindings := make([]key.Binding, len(actions))
		for i, a := range actions {
			bindings[i] = a.Binding(m.hintLabel(a))
		}
		drawn = view.FullHelpView(slices.Collect(slices.Chunk(bindings, h)))
		if lipgloss.Width(drawn) <= m.w-2 {
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
	rows := widget.Rows(strings.Split(drawn, "\n"), m.w-2, h)
	for i := range rows {
		rows[i] = " " + rows[i] + " "
	}
	rows[h-1] = widget.Ends(strings.TrimRight(rows[h-1], " "), note, m.w)
	return rows
}

// beside leaves out the last of the first page's own hints while the global ones
// do not fit: there one learns how to find the rest. Two of its own stay.
func (m *Model) beside(global, own []*Action, w int) []*Action {
	room := w - 1
	for _, a := range global {
		if a.ID != "quit" { // which is found without being told
			room -= m.hintWidth(a) + 2
		}
	}
	for i, a := range own {
		if room -= m.hintWidth(a) + 2; room < -2 { // the last one has no space behind it
			if i < 2 {
				return own
			}
			return own[:i]
		}
	}
	return own
}

func (m *Model) hintWidth(a *Action) int {
	return widget.Width(m.hintLabel(a)) + 1 + widget.Width(a.hint())
}

func (m *Model) hintLabel(a *Action) string {
	key := a.Keys[0]
	if m.top() == nil {
		key = cmp.Or(m.keyOf(a), key)
	}
	return cmp.Or(a.Label, KeyLabel(key, m.theme.Glyph.ASCII))
}

// hintRow draws the hints that fit into w cells; help stays when others go.
func (m *Model) hintRow(actions []*Action, y, w int) string {
	th := m.theme
	row, x := "", 1
	reserve := len("? help") + 2
	if m.top() != nil {
		reserve = 0
	}
	for _, a := range actions {
		n := m.hintWidth(a)
		if a.ID == "help" {
			reserve = 0
		} else if x+n+reserve > w {
			continue
		}
		m.targets = append(m.targets, Area{X: x, Y: y, W: n, H: 1, Run: func() tea.Cmd { return m.clicked(a) }})
		if row != "" {
			row += " "
		}
		key := th.Key
		if a.Sight && !m.sight.Ready() {
			key = th.Faint
		}
		row += " " + key.Render(m.hintLabel(a)) + " " + th.Muted.Render(a.hint())
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
func (m *Model) hints(t table, part string, text, all bool) []*Action {
	var out []*Action
	for _, a := range t {
		if text && (!a.InText || len(a.Keys) > 0 && writes(a.Keys[0])) {
			continue
		}
		listed := a.Hint != "" || all && !a.Hidden && !strings.HasPrefix(a.ID, "go.") // those stand in the tabs
		if !listed || len(a.Keys) == 0 || a.Part != "" && a.Part != part || a.why(m.opts.Watch) != "" {
			continue
		}
		// The key does the first of those that it could do.
		if !slices.ContainsFunc(out, func(o *Action) bool { return o.Keys[0] == a.Keys[0] }) {
			out = append(out, a)
		}
	}
	return out
}
