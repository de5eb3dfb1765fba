package fake

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
)

// tab is a page of which only the tab is seen.
type tab struct {
	id, title string
	badge     int
}

func (t *tab) ID() string                 { return t.id }
func (t *tab) Title() string              { return t.title }
func (t *tab) Badge() int                 { return t.badge }
func (t *tab) Actions() []tui.Action      { return nil }
func (t *tab) Part() string               { return "" }
func (t *tab) TextEntry() bool            { return false }
func (t *tab) Update(tea.Msg) tea.Cmd     { return nil }
func (t *tab) Render(*tui.Frame) []string { return nil }
func (t *tab) Show() tea.Cmd              { return nil }
func (t *tab) Hide()                      {}

// BadgeMark implements tui.Marker.
func (t *tab) BadgeMark(th *theme.Theme) (mark string, style theme.Style) {
	switch t.id {
	case "inbox":
		return th.Glyph.Wait, th.Warn
	case "agents":
		return th.Glyph.OK, th.Good
	case "servers":
		return "!", th.Warn
	case "pixels":
		return "+", th.Accent
	}
	return th.Glyph.Fail, th.Bad
}

// optional is one that gives way where there is no room.
type optional struct{ tab }

func (*optional) HasTab() bool { return true }

// Tabs are the pages of the deck, in their order: one of them, and of the others the tabs, with how
// many things on each want to be seen.
func Tabs(page tui.Page, badge int) []tui.Page {
	out := []tui.Page{
		&tab{id: "inbox", title: "Inbox", badge: badge}, &tab{id: "agents", title: "Agents", badge: badge}, &tab{id: "calls", title: "Calls", badge: badge},
		&tab{id: "servers", title: "Servers", badge: badge}, &optional{tab{id: "pixels", title: "Pixels", badge: badge}}, &optional{tab{id: "drift", title: "Drift", badge: badge}},
	}
	for i := range out {
		if out[i].Title() == page.Title() {
			out[i] = page
		}
	}
	return out
}
