package tui

import (
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// menu is a list of actions that can be filtered and done: help and the command
// palette.
type menu struct {
	id    string
	watch bool
	do    func(a *Action, menu string) tea.Cmd
	page  Page // whose signs the help explains
	title string
	all   []item
	found []item
	Finder
}

type item struct {
	action *Action
	group  string
}

// newHelp lists what can be done where the focus is: in the part, on the page,
// everywhere, and last how to move about.
func newHelp(s *stage, do func(a *Action, menu string) tea.Cmd, watch bool) *menu {
	me := &menu{id: "help", title: "Keys on this page", watch: watch, do: do, page: s.page()}
	var part, page, global, moves []item
	sort := func(a *Action, group string, to *[]item) {
		if a.unknown() {
			return
		} else if a.Hidden {
			to = &moves
		}
		*to = append(*to, item{a, group})
	}
	if p := s.page(); p != nil {
		for _, a := range s.tables[s.at] {
			switch a.Part {
			case "":
				sort(a, p.Title(), &page)
			case p.Part():
				sort(a, p.Title(), &part)
			}
		}
	}
	for _, a := range s.global {
		sort(a, "everywhere", &global)
	}
	me.all = slices.Concat(part, page, global, moves)
	me.Edit.Placeholder = "type to filter"
	me.filter()
	return me
}

// newPalette lists everything that can be done, on all pages.
func newPalette(s *stage, do func(a *Action, menu string) tea.Cmd, watch bool) *menu {
	me := &menu{id: "palette", title: "Commands", watch: watch, do: do}
	// An action that is in two parts of a page is listed once, as the part that
	// is shown has it. What ends a text field is no command for who is elsewhere.
	add := func(t table, group, part string) {
		listed := map[string]int{}
		for _, a := range t {
			if a.Hidden || a.unknown() || a.InText && a.Part != "" && a.Part != part {
				continue
			}
			if i, ok := listed[a.ID]; ok {
				if a.Part == part {
					me.all[i] = item{a, group}
				}
				continue
			}
			listed[a.ID] = len(me.all)
			me.all = append(me.all, item{a, group})
		}
	}
	page := func(i int) {
		p := s.pages[i]
		add(s.tables[i], p.Title(), p.Part())
		if c, ok := p.(Commander); ok {
			add(newTable(c.Commands(), p.ID(), nil), p.Title(), p.Part())
		}
	}
	if s.page() != nil {
		page(s.at)
	}
	for _, a := range s.global {
		if !a.Hidden || strings.HasPrefix(a.ID, "go.") {
			me.all = append(me.all, item{a, ""})
		}
	}
	for i := range s.pages {
		if i != s.at {
			page(i)
		}
	}
	impossible := func(it item) int { return min(len(it.action.why(watch)), 1) }
	slices.SortStableFunc(me.all, func(a, b item) int { return impossible(a) - impossible(b) })
	me.Edit.Placeholder = "type a command"
	me.filter()
	return me
}

func (me *menu) ID() string      { return me.id }
func (me *menu) TextEntry() bool { return true }

func (me *menu) Actions() []Action {
	page := func(d int) func() tea.Cmd {
		return func() tea.Cmd { me.List.Page(d); return nil }
	}
	out := append([]Action{{ID: "menu.run", Title: "Do it", Hint: "choose", Verb: verb.Open, InText: true, Run: me.run}}, me.Moves("menu")...)
	return append(out, []Action{
		{ID: "menu.pageup", Title: "Page up", Verb: verb.PageUp, Keys: []string{"pgup"}, InText: true, Moves: true, Run: page(-1)},
		{ID: "menu.pagedown", Title: "Page down", Verb: verb.PageDown, Keys: []string{"pgdown"}, InText: true, Moves: true, Run: page(1)},
		{ID: "menu.close", Title: "Close", Hint: "back", Verb: verb.Back, InText: true, Run: func() tea.Cmd { return Close(me.id) }},
	}...)
}

func (me *menu) run() tea.Cmd {
	if me.List.Cursor < 0 || me.List.Cursor >= len(me.found) {
		return nil
	}
	a := me.found[me.List.Cursor].action
	if why := a.why(me.watch); why != "" {
		return Toast(Info, why)
	}
	return me.do(a, me.id)
}

func (me *menu) Update(msg tea.Msg) tea.Cmd {
	return me.Finder.Update(msg, me.filter, me.clicked)
}

// clicked is a click on the row under the cursor. What changes something takes a key.
func (me *menu) clicked() tea.Cmd {
	if a := me.found[me.List.Cursor].action; a.Acts || a.Sight {
		return Toast(Info, "press enter to: "+a.Title)
	}
	return me.run()
}

// filter finds what the text asks for, best first.
func (me *menu) filter() {
	f := me.Edit.Value()
	type hit struct {
		item
		score int
	}
	var hits []hit
	for _, it := range me.all {
		s := widget.Match(f, it.action.Title)
		switch {
		case it.action.name() == f && f != "":
			s = math.MaxInt
		case s == 0 && (slices.Contains(it.action.Keys, f) || strings.EqualFold(it.group, f)):
			s = 1
		}
		if s > 0 {
			hits = append(hits, hit{it, s})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.score - a.score })
	me.found = me.found[:0]
	for _, h := range hits {
		me.found = append(me.found, h.item)
	}
	me.List = widget.List{}
	me.List.SetLen(len(me.found))
}

func (me *menu) Render(f *Frame) []string {
	w := min(f.W, 96) // so that most reasons are whole
	inner := w - 6
	signs := me.legend(f.Theme, inner)
	h := min(f.H, len(me.all)+4+len(signs), 24+len(signs))
	if h < 16+len(signs) { // the keys come first
		signs, h = nil, min(h, len(me.all)+4)
	}
	none := f.Theme.Faint.Render("no matches; ") + f.Theme.Key.Render("backspace") + f.Theme.Faint.Render(" deletes letters")
	rows := me.Rows(f, inner, h-4-len(signs), none, func(i, w int) string { return me.row(f, i, w) })
	rows = append(widget.Rows(rows, inner, h-2-len(signs)), signs...)
	return widget.Dialog(f.Theme, me.title, "", rows, f.W, h)
}

// legend explains the signs of the page in the help, below a rule.
func (me *menu) legend(th *theme.Theme, w int) []string {
	p, ok := me.page.(Legender)
	if !ok || me.id != "help" {
		return nil
	}
	rows := []string{th.Border.Render(widget.Repeat(th.Glyph.Frame.Top, w))}
	row := ""
	for _, s := range p.Legend(th) {
		item := s.Mark + " " + th.Muted.Render(s.Means)
		if row != "" && widget.Width(row)+3+widget.Width(item) > w {
			rows, row = append(rows, row), ""
		}
		if row != "" {
			row += "   "
		}
		row += item
	}
	return append(rows, row)
}

func (me *menu) row(f *Frame, i, w int) string {
	th, it := f.Theme, me.found[i]
	a := it.action
	keys := make([]string, 0, len(a.Keys))
	for _, k := range a.Keys[:min(len(a.Keys), 3)] {
		keys = append(keys, KeyLabel(k, th.Glyph.ASCII))
	}
	right := th.Key.Render(strings.Join(keys, " "))
	base := th.Text
	why := a.why(me.watch)
	if why != "" {
		base = th.Faint
	}
	left := widget.Mark(th, base, me.Edit.Value(), a.Title)
	if why != "" {
		left += th.Faint.Render("  (" + sanitize.Line(why) + ")")
	} else if it.group != "" && me.id == "palette" {
		left += th.Faint.Render("  " + it.group)
	}
	return widget.Ends(left, right, w)
}
