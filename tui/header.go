package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// header draws the tabs, and at their right end who is there.
type header struct {
	*stage
	apart   int    // sessions of agents that have no connection to the deck
	spent   string // today, by all sessions; "" if that is not known
	watch   bool
	targets *Areas
	show    func(page int) tea.Cmd
}

// titles says which tabs have their titles.
type titles int

const (
	titleAll     titles = iota
	titleCalling        // the shown page and those that need the user: a number beside a number says nothing
	titleShown
)

// tab is the label of a page; the cells of its badge are the last ones.
type tab struct {
	text  string
	badge int
}

// statuses says what is at the right end of the header.
type statuses int

const (
	statusAll    statuses = iota
	statusAgents          // without money
	statusNumber          // of agents alone
)

// header draws the tabs.
func (h *header) rows(l layout) []string {
	th := h.theme
	brand := th.Accent.Render(" mcpdeck ")
	if h.snap != nil && h.snap.Name != "" {
		brand += th.Muted.Render(widget.Cut(h.snap.Name, 16) + " ")
	}
	brand += " "
	status := h.status(statusAll)
	room := h.w - widget.Width(status) - 1
	tabs, width := h.tabs(titleAll, l.rule)
	if widget.Width(brand)+width > room {
		brand = " "
	}
	for _, with := range []statuses{statusAgents, statusNumber} {
		if 1+width > room {
			status = h.status(with)
			room = h.w - widget.Width(status) - 1
		}
	}
	if 1+width > room {
		tabs, width = h.tabs(titleCalling, l.rule)
	}
	if 1+width > h.w { // else the status makes room
		tabs, width = h.tabs(titleShown, l.rule)
	}
	if 1+width > room {
		status = ""
	}
	row := brand
	from, to := 0, 0
	for i, t := range tabs {
		x := widget.Width(row)
		row += t.text
		w := widget.Width(t.text)
		if i == h.at {
			from, to = x, x+w
		}
		*h.targets = append(*h.targets, Area{X: x, W: w, H: 1, Run: func() tea.Cmd { return h.show(i) }})
		if n, ok := h.pages[i].(BadgeFilter); ok && t.badge > 0 {
			*h.targets = append(*h.targets, Area{X: x + w - t.badge, W: t.badge, H: 1, Run: func() tea.Cmd { return tea.Batch(h.show(i), n.Narrow()) }})
		}
		row += " "
	}
	out := []string{widget.Ends(row, status, h.w)}
	if l.rule {
		g := th.Glyph
		to = min(to, h.w)
		from = min(from, to)
		out = append(out, th.Border.Render(widget.Repeat(g.Frame.Top, from))+
			th.Accent.Render(widget.Repeat(g.Focus.Top, to-from))+
			th.Border.Render(widget.Repeat(g.Frame.Top, h.w-to)))
	}
	return out
}

// tabKey is the key that goes to a page, as its tab shows it; "" where it means
// something else: a question's options are chosen with digits, and a text field
// takes them as text. A longer one that does is not worth the cells.
func (h *header) tabKey(page string) string {
	i := slices.IndexFunc(h.global, func(a *Action) bool { return a.ID == "go."+page })
	k := h.keyOf(h.global[i])
	if k == "" || len(k) > len(h.global[i].Keys[0]) {
		return ""
	}
	return KeyLabel(k, h.theme.Glyph.ASCII)
}

// tabs draws one label a page. Without a title it is the page's key, or as many letters
// as tell it apart, where no key goes there.
func (h *header) tabs(with titles, rule bool) ([]tab, int) {
	th := h.theme
	out := make([]tab, len(h.pages))
	width := 0
	for i, p := range h.pages {
		key, title := h.tabKey(p.ID()), p.Title()
		news, isNews := p.(Marker)
		short := with == titleShown || with == titleCalling && (p.Badge() == 0 || isNews)
		switch {
		case short && i != h.at && key != "":
			title = ""
		case short && i != h.at:
			title = h.abbreviated(i)
		case key == "":
			key = " "
		}
		if key != "" && title != "" {
			title = " " + title
		}
		badge := ""
		if b := p.Badge(); b > 0 {
			mark, style := th.Glyph.Wait, th.Warn
			if isNews {
				mark, style = news.BadgeMark(th)
			}
			badge = " " + style.Render(mark+itoa(b))
		}
		switch {
		case i != h.at:
			out[i].text = " " + th.Faint.Render(key) + th.Muted.Render(title) + badge
		case rule:
			out[i].text = " " + th.Key.Render(key) + th.Strong.Render(title) + badge
		default:
			out[i].text = th.Here.Render(" "+key+title+" ") + badge
		}
		if out[i].badge = widget.Width(badge); rule || i != h.at {
			out[i].text += " "
			out[i].badge = min(out[i].badge, 1) * (out[i].badge + 1)
		}
		width += widget.Width(out[i].text) + 1
	}
	return out, width
}

// abbreviated is the beginning of a page's title that no other page's has.
func (h *header) abbreviated(i int) string {
	title := []rune(h.pages[i].Title())
	for n := 2; n < len(title); n++ {
		again := func(p Page) bool { return strings.HasPrefix(p.Title(), string(title[:n])) }
		if j := slices.IndexFunc(h.pages, again); j == i && !slices.ContainsFunc(h.pages[i+1:], again) {
			return string(title[:n])
		}
	}
	return string(title)
}

// status is at the right end of the header: who is there, and what was spent today.
func (h *header) status(with statuses) string {
	th, s := h.theme, h.snap
	if s == nil {
		return ""
	}
	n := h.apart
	for _, a := range s.Agents {
		if a.Gone.IsZero() {
			n++
		}
	}
	var parts []string
	if h.watch {
		parts = append(parts, th.Warn.Render("watching"))
	}
	switch {
	case with == statusNumber:
		parts = append(parts, th.Good.Render(th.Glyph.On)+th.Muted.Render(" "+itoa(n)))
	case n == 0:
		parts = append(parts, th.Faint.Render("no agents"))
	case n == 1:
		parts = append(parts, th.Good.Render(th.Glyph.On)+th.Muted.Render(" 1 agent"))
	default:
		parts = append(parts, th.Good.Render(th.Glyph.On)+th.Muted.Render(" "+itoa(n)+" agents"))
	}
	if h.spent != "" && with == statusAll {
		parts = append(parts, th.Muted.Render(h.spent+" today"))
	}
	return strings.Join(parts, th.Faint.Render(" "+th.Glyph.Dot+" ")) + " "
}
