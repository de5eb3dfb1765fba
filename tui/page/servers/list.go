package servers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// serverList is the rows of the list. Parts of mcpdeck that are off when the page comes on
// screen, and servers whose program is not installed, share a line below them, until the list
// is filtered.
type serverList struct {
	rows   []*snapshot.Server
	folded map[string]bool // by name; nil before it is known
	open   bool            // the user has unfolded them
	absent []string        // titles of those that are folded away because they are not installed
	off    []string        // and of those that are off

	origins map[string]Origin
}

// fold folds parts of mcpdeck away that are off.
func (l *serverList) fold(s *snapshot.Snapshot) {
	if len(s.Servers) == 0 {
		return
	}
	l.folded, l.open = map[string]bool{}, false
	for i := range s.Servers {
		l.folded[s.Servers[i].Name] = !s.Servers[i].Foreign && s.Servers[i].State.Status == snapshot.Off
	}
}

// arrange makes the rows of those that the words of a filter let through.
func (l *serverList) arrange(s *snapshot.Snapshot, filter string, o tui.Order, parts map[string]Part) {
	if l.folded == nil {
		l.fold(s)
	}
	l.rows, l.absent, l.off = nil, nil, nil
	var folded []*snapshot.Server
	words := strings.Fields(strings.ToLower(filter))
	for i := range s.Servers {
		one := &s.Servers[i]
		part := parts[one.Name]
		absent := part != nil && part.Absent() && !one.IsOn()
		switch {
		case len(words) > 0 || l.open:
		case absent:
			l.absent = append(l.absent, title(one))
			continue
		case l.folded[one.Name] && !one.IsOn():
			l.off, folded = append(l.off, title(one)), append(folded, one)
			continue
		}
		if fits(words, one.Name, one.Title, state(one), from(one, l.origins[one.Name])) {
			l.rows = append(l.rows, one)
		}
	}
	if len(l.rows) == 0 && len(folded) > 0 { // nothing else is there to be turned on
		l.rows, l.off = folded, nil
	}
	tui.Sort(l.rows, sorts(), o)
}

// fits reports whether each of some words is in one of the texts.
func fits(words []string, texts ...string) bool {
	text := strings.ToLower(strings.Join(texts, "\n"))
	return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(text, w) })
}

// away says which servers are folded away, and why.
func (l *serverList) away(th *theme.Theme) string {
	var parts []string
	if len(l.off) > 0 {
		parts = append(parts, strings.Join(l.off, " "+th.Glyph.Dot+" ")+" off")
	}
	if len(l.absent) > 0 {
		parts = append(parts, strings.Join(l.absent, " "+th.Glyph.Dot+" ")+" not installed")
	}
	return strings.Join(parts, "; ")
}

// sorts are the ways to sort servers, in the order in which a key goes through them.
func sorts() []tui.Sorting[*snapshot.Server] {
	by := func(of func(s *snapshot.Server) int) func(a, b *snapshot.Server) int {
		return func(a, b *snapshot.Server) int { return cmp.Compare(of(b), of(a)) }
	}
	return []tui.Sorting[*snapshot.Server]{
		{Column: "", Means: "name"},
		{Column: "State", Means: "state", Compare: func(a, b *snapshot.Server) int { return cmp.Compare(chosen(b), chosen(a)) }},
		{Column: "Tools", Means: "tools", Compare: by(func(s *snapshot.Server) int { return s.Tools + s.State.Adds.Tools })},
		{Column: "Tokens", Means: "tokens", Compare: by(func(s *snapshot.Server) int { return s.Context + s.State.Adds.Context })},
	}
}

// title is what the user calls the server.
func title(s *snapshot.Server) string { return sanitize.Line(s.Title) }

// trouble reports whether a server does not do what it should. Changes to accept are no trouble,
// nor is a program that nobody has asked for.
func trouble(s *snapshot.Server) bool {
	return s.State.Status == snapshot.Degraded && s.State.Held == 0 && s.Missing() == "" || s.State.Status == snapshot.Failed
}

// state is how a server stands, in a word or two.
func state(s *snapshot.Server) string {
	switch {
	case trouble(s):
		return "problem: " + sanitize.Line(cmp.Or(s.State.Lacks, s.State.Reason, s.State.Detail, string(s.State.Status)))
	case s.Missing() != "":
		return s.Missing()
	case s.State.Status != snapshot.Ready && s.State.Status != snapshot.Degraded:
	case s.Lazy:
		return "on demand"
	default:
		return "on"
	}
	return string(s.State.Status)
}

// mark is the sign of a server; look says that the user should look at it.
func mark(th *theme.Theme, s *snapshot.Server, look bool) (string, theme.Style) {
	switch {
	case look:
		return "!", th.Warn
	case s.Missing() != "":
		return th.Glyph.Off, th.Faint
	case s.State.Status == snapshot.Degraded: // with changes that stay hidden
		return th.Glyph.On, th.Good
	}
	return tui.ServerMark(th, s.State.Status)
}

// from says where a server comes from.
func from(s *snapshot.Server, o Origin) string {
	const room = 13
	switch all := strings.Join(o.From, ", "); {
	case !s.Foreign || o.File == "":
		return "mcpdeck"
	case all == "":
		return "added"
	case widget.Width(all) > room:
		return fmt.Sprintf("%s +%d", o.From[0], len(o.From)-1)
	default:
		return sanitize.Line(all)
	}
}

// Columns of the servers. The state of one in trouble takes the room of the figures, too.
const (
	stateW   = 9
	toolsW   = 4
	costW    = 10
	troubleW = 40 // at most, of a state and its figures
)

// columns are how wide the name, the state and where a server comes from are, and whether
// there is room for the number of tools, in rows of w cells.
func (l *serverList) columns(w int) (name, stands, origin int, tools bool) {
	word := 0
	for _, s := range l.rows {
		name = max(name, widget.Width(title(s)))
		origin = max(origin, widget.Width(from(s, l.origins[s.Name])))
		if trouble(s) || s.Missing() != "" {
			word = max(word, widget.Width(state(s)))
		}
	}
	name = min(max(name, 4), 22) + 4 // with the sign, and air
	rest := stateW + toolsW + costW
	if w < name+rest+3+origin {
		origin = 0
	}
	tools = w >= name+rest
	stands = stateW
	if free := w - name - rest - origin - 7; tools && free > 0 {
		stands += min(free, max(min(word, troubleW)-rest, 0))
	}
	return max(min(name, w-stateW-costW+2), 8), stands, origin, tools
}

// width is how wide the list is beside the reading pane: what its columns need.
func (l *serverList) width() int {
	name, _, origin, _ := l.columns(1 << 20)
	return name + stateW + toolsW + costW + 3 + origin + 4
}

// tally says in a heading of w cells how many servers are on, and what they cost.
func (p *Page) tally(th *theme.Theme, w int) string {
	on, all, bytes := 0, 0, 0
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		if part := p.opts.Parts[s.Name]; part == nil || !part.Absent() {
			all++
		}
		if s.IsOn() {
			bytes += s.Context
			if s.Missing() == "" { // else its row does not say on either
				on++
			}
		}
	}
	note := fmt.Sprintf("%d of %d on", on, all)
	if long := fmt.Sprintf("%s %s %s tokens per agent", note, th.Glyph.Dot, snapshot.AboutTokens(bytes)); widget.Width(long)+14 <= w {
		return long
	}
	return note
}

// heads names the columns at x, y. A click on one sorts by it.
func (p *Page) heads(th *theme.Theme, x, y, w int) string {
	name, stands, origin, tools := p.list.columns(w)
	head := func(column, text string) string {
		if p.Order.By == column && column != "" {
			return p.Order.Arrow(th, true) + text
		}
		return text
	}
	row := widget.Fit("  Name", name) + widget.Fit(head("State", "State"), stands-2)
	if tools {
		row += widget.PadLeft(head("Tools", "Tools"), toolsW+2) + widget.PadLeft("≈ "+head("Tokens", "Tokens"), costW)
	} else {
		row += widget.PadLeft(head("Tokens", "Tokens"), costW)
	}
	if origin > 0 {
		row += "   From"
	}
	for _, s := range sorts() {
		p.Areas.Head(row, x, y, cmp.Or(s.Column, "Name"), func() tea.Cmd { return p.sortBy(s.Column) })
	}
	return th.Faint.Render(widget.Fit(row, w))
}

func (p *Page) serverRow(f *tui.Frame, s *snapshot.Server, w int) string {
	th := f.Theme
	name, stands, origin, tools := p.list.columns(w)
	sign, style := mark(th, s, p.wants(s))
	ink := th.Text
	if !s.IsOn() {
		ink = th.Muted
	}
	row := style.Render(sign) + " " + ink.Render(widget.Fit(title(s), name-2))
	word, rest := state(s), stands+costW-2
	if tools {
		rest = stands + toolsW + costW
	}
	figures := ""
	switch needs, n := p.list.origins[s.Name].Needs, p.changes(s); {
	case trouble(s) || s.Missing() != "":
		figures = widget.Fit(style.Render(widget.Cut(word, rest)), rest)
	case !s.IsOn() && len(needs) > 0:
		figures = widget.Ends(th.Muted.Render(word), th.Warn.Render("needs a key"), rest)
	case n > 0:
		figures = widget.Ends(style.Render(word), th.Warn.Render(humanize.Count(n, "change")), rest)
	default:
		count, cost := strconv.Itoa(s.Tools), snapshot.AboutTokens(s.Context)
		if n := s.State.Adds; n != (snapshot.Count{}) {
			count, cost = "+"+strconv.Itoa(n.Tools), "+"+snapshot.AboutTokens(n.Context)
		} else if !s.IsOn() {
			count, cost = "", ""
		}
		if tools {
			cost = widget.PadLeft(count, toolsW) + widget.PadLeft(cost, costW)
		}
		ink := th.Muted
		if !s.IsOn() {
			ink = th.Faint
		}
		figures = style.Render(widget.Fit(word, stands)) + ink.Render(widget.PadLeft(cost, rest-stands))
	}
	row += figures
	if origin > 0 {
		row += "   " + th.Faint.Render(from(s, p.list.origins[s.Name]))
	}
	return row
}

// sortBy sorts the servers by a column, the second time the other way around.
func (p *Page) sortBy(column string) tea.Cmd {
	p.Order.Sort(column)
	return p.arrange()
}
