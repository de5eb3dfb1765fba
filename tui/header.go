package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// header draws the tabs.
type header struct {
	*stage
	targets *Areas
	show    func(page int) tea.Cmd
}

// tab is one label in the row of tabs.
type tab struct {
	page  int // -1 stands for pages without room
	name  string
	badge string // "◆2"; "" for none
	style theme.Style
}

// spacing says how far labels are apart.
type spacing struct {
	lead   int  // cells before the first
	free   int  // cells kept for a badge after a name; less than 0 keeps none
	after  int  // cells between labels
	shared bool // the cell between two labels is that beside both
}

// The ways to lay out the tabs, from the widest.
func spacings() []spacing {
	return []spacing{{lead: 1, free: 4, after: 2}, {free: 4, after: 1}, {free: -1, after: 1}, {free: -1, shared: true}}
}

const (
	brandFrom  = 100 // columns
	freeFrom   = 80
	apartFrom  = 64
	secondFrom = 56 // for the pages that may have no tab
)

// row draws the tabs, each label whole, and the name of the program where there is room.
func (h *header) row() string {
	at := 0
	for _, least := range []int{brandFrom, freeFrom, apartFrom} {
		if h.w < least {
			at++
		}
	}
	tabs := h.tabs()
	if h.w < secondFrom {
		tabs = h.without(tabs, len(h.pages))
	}
	all := spacings()
	for at < len(all)-1 && h.width(tabs, all[at], true) > h.w {
		at++
	}
	spaced := h.width(tabs, all[at], true) <= h.w
	for n := 1; n <= len(h.pages) && h.width(tabs, all[at], spaced) > h.w; n++ {
		tabs = h.without(h.tabs(), n)
	}
	for _, here := range []bool{true, false} { // the page itself says what its badge does
		for i, t := range slices.Backward(tabs) {
			if (t.page == h.at) == here && h.width(tabs, all[at], spaced) > h.w {
				tabs[i].badge = ""
			}
		}
	}
	row := h.draw(tabs, all[at], spaced)
	if h.w < brandFrom {
		return widget.Fit(row, h.w)
	}
	brand := h.theme.Accent.Render("mcpdeck")
	if h.snap != nil && h.snap.Name != "" {
		brand += h.theme.Muted.Render(" " + widget.Cut(h.snap.Name, 16))
	}
	return widget.Ends(row, brand+" ", h.w)
}

// tabs are the labels of the pages that have one now.
func (h *header) tabs() []tab {
	var out []tab
	for i, p := range h.pages {
		if !h.hasTab(i) {
			continue
		}
		t := tab{page: i, name: p.Title()}
		if n := p.Badge(); n > 0 {
			mark, style := h.theme.Glyph.Wait, h.theme.Warn
			if m, ok := p.(Marker); ok {
				mark, style = m.BadgeMark(h.theme)
			}
			t.badge, t.style = mark+atMostNine(n), style
		}
		out = append(out, t)
	}
	return out
}

// hasTab reports whether a page has a tab: one that can be without has one from its first
// content on, and while it is shown.
func (s *stage) hasTab(page int) bool {
	o, ok := s.pages[page].(Optional)
	return !ok || page == s.at || o.HasTab()
}

// without leaves out the last n pages that may be without a tab, but for the one that is
// shown; a sign stands for them.
func (h *header) without(tabs []tab, n int) []tab {
	left := len(tabs)
	tabs = slices.Clone(tabs)
	for i, t := range slices.Backward(tabs) {
		if _, ok := h.pages[t.page].(Optional); ok && n > 0 && t.page != h.at {
			tabs = slices.Delete(tabs, i, i+1)
			n--
		}
	}
	if len(tabs) < left {
		tabs = append(tabs, tab{page: -1, name: "…"})
	}
	return tabs
}

func atMostNine(n int) string {
	if n > 9 {
		return "9+"
	}
	return itoa(n)
}

// cells is how many a label takes, without the cells beside it.
func (t *tab) cells(s spacing, spaced bool) int {
	n := widget.Width(t.badge)
	if n > 0 && spaced {
		n++
	}
	return widget.Width(t.name) + max(n, s.free)
}

// width is how many cells all labels take.
func (h *header) width(tabs []tab, s spacing, spaced bool) int {
	n := s.lead + 1
	for i, t := range tabs {
		n += t.cells(s, spaced)
		switch {
		case i == len(tabs)-1:
		case s.shared:
			n++
		default:
			n += 1 + s.after
		}
	}
	if !s.shared || len(tabs) > 0 && tabs[len(tabs)-1].page == h.at {
		n++
	}
	return n
}

// draw draws the labels. Each has a cell on either side, which belongs to both where there
// is but one between two.
func (h *header) draw(tabs []tab, s spacing, spaced bool) string {
	row := strings.Repeat(" ", s.lead)
	beside := " "
	for i, t := range tabs {
		here := t.page == h.at
		if i == 0 || !s.shared {
			beside = h.beside(here, "[")
		}
		x := widget.Width(row)
		row += beside + h.label(t, here, spaced)
		rest := t.cells(s, spaced) - (widget.Width(row) - x - 1)
		switch {
		case s.shared && here:
			beside = h.beside(true, "]")
		case s.shared:
			beside = h.beside(i+1 < len(tabs) && tabs[i+1].page == h.at, "[")
		default:
			row += h.beside(here, "]") + strings.Repeat(" ", rest+s.after-1)
		}
		if t.page >= 0 {
			*h.targets = append(*h.targets, Area{X: x, W: widget.Width(row) - x, H: 1, Run: func() tea.Cmd { return h.show(t.page) }})
		}
	}
	if s.shared {
		row += beside
	}
	return row
}

// beside is the cell on one side of a label.
func (h *header) beside(here bool, bracket string) string {
	switch {
	case !here:
		return " "
	case h.theme.Glyph.ASCII:
		return bracket
	}
	return h.theme.Here.Render(" ")
}

// label draws a name, its key underlined, and its badge.
func (h *header) label(t tab, here, spaced bool) string {
	style, badge := h.theme.Text, t.style
	if here {
		style, badge = h.theme.Here, theme.NewStyle(t.style.Style.Reverse(true))
	}
	key, rest := "", t.name
	if t.page >= 0 && strings.HasPrefix(t.name, pageKey(h.pages[t.page])) {
		key, rest = t.name[:1], t.name[1:]
	}
	out := theme.NewStyle(style.Style.Underline(true)).Render(key) + style.Render(rest)
	if t.badge == "" {
		return out
	}
	if spaced {
		out += style.Render(" ")
	}
	return out + badge.Render(t.badge)
}

// pageKey is the key that leads to a page: the first letter of its title.
func pageKey(p Page) string {
	return strings.ToUpper(p.Title()[:1])
}
