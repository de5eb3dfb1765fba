package card

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the servers beside the card, on a large screen with the definition under
// the cursor beside it, or, in a small terminal, the one with the focus alone.
func (p *Page) Render(f *tui.Frame) []string {
	p.areas = p.areas[:0]
	if f.W < 80 || f.H < 14 {
		if p.part == partCards {
			return p.list(f, f.W, f.H)
		}
		return p.card(f, 0, f.W, f.H)
	}
	list := p.listSize(f.W)
	rest := f.W - list
	third := 0
	if p.third(f) {
		third = rest * 2 / 5
	}
	panes := [][]string{p.list(f, list, f.H), p.card(f, list, rest-third, f.H)}
	if third > 0 {
		panes = append(panes, p.beside(f, third, f.H))
	}
	return widget.Beside(f.Theme, panes...)
}

// Columns of the servers.
const (
	toolsW  = 7
	costW   = 9
	agentsW = 8
	stateW  = 8
)

// listSize is how wide the servers are beside the card.
func (p *Page) listSize(w int) int {
	const frame = 10 // with the cursor, the lamp and air
	least, all := p.nameWidth()+stateW+costW+frame, p.nameWidth()+stateW+toolsW+costW+agentsW+frame
	return min(max(least, min(all, w*2/5)), w/2)
}

func (p *Page) nameWidth() int {
	n := 6
	for i := range p.snap.Servers {
		n = max(n, widget.Width(title(&p.snap.Servers[i])))
	}
	return min(n, 20) + 1
}

// list draws the servers.
func (p *Page) list(f *tui.Frame, w, h int) []string {
	th := f.Theme
	tools, bytes := 0, 0
	for i := range p.snap.Servers {
		tools += p.snap.Servers[i].Tools
		bytes += p.snap.Servers[i].Context
	}
	note := fmt.Sprintf("%d tools ≈ %s tokens", tools, snapshot.AboutTokens(bytes))
	focus := f.Focus && p.part == partCards
	inner := w - 4
	body := make([]string, 0, h)
	rows := h - 1
	if h >= 8 {
		body = append(body, "  "+p.listHead(th, inner-2))
		rows--
	}
	p.areas = append(p.areas, tui.Area{Part: partCards, X: 2, Y: 1 + len(body), W: inner, H: rows})
	body = append(body, p.servers.Render(th, inner, rows, focus, func(i, w int) string { return p.serverRow(f, &p.snap.Servers[i], w) })...)
	return widget.Pane(th, "Servers", th.Faint.Render(note), focus, body, w, h)
}

// wide are the columns that fit beside a name and a state.
func (p *Page) wide(w int) (tools, agents bool) {
	need := p.nameWidth() + 2 + stateW + costW
	return w >= need+toolsW, w >= need+toolsW+agentsW
}

func (p *Page) listHead(th *theme.Theme, w int) string {
	tools, agents := p.wide(w)
	right := rightly("≈ tokens", costW)
	if tools {
		right = rightly("tools", toolsW) + right
	}
	if agents {
		right += rightly("agents", agentsW)
	}
	return th.Faint.Render(widget.Ends("  name", right, w))
}

func (p *Page) serverRow(f *tui.Frame, s *snapshot.Server, w int) string {
	th := f.Theme
	mark, style := tui.ServerMark(th, s.State.Status)
	name := th.Text
	if s.State.Status == snapshot.Off {
		name = th.Muted
	}
	word := state(s)
	if s.State.Held > 0 {
		style, word = th.Warn, strconv.Itoa(s.State.Held)+" held"
		mark = "!"
	}
	left := style.Render(mark) + " " + name.Render(widget.Fit(title(s), p.nameWidth())) + style.Render(word)
	count, cost, ink := strconv.Itoa(s.Tools), snapshot.AboutTokens(s.Context), th.Muted
	if n := s.State.Adds; n != (snapshot.Count{}) {
		count, cost, ink = "+"+strconv.Itoa(n.Tools), "+"+snapshot.AboutTokens(n.Context), th.Faint
	}
	cells := ink.Render(rightly(cost, costW))
	tools, agents := p.wide(w)
	if tools {
		cells = ink.Render(rightly(count, toolsW)) + cells
	}
	if agents {
		cells += th.Muted.Render(rightly(strconv.Itoa(p.agents(s.Name)), agentsW))
	}
	return widget.Ends(left, cells, w)
}

// state is how a server stands, in a word.
func state(s *snapshot.Server) string {
	switch {
	case s.State.Status == snapshot.Ready && s.Lazy:
		return "lazy"
	case s.State.Status == snapshot.Ready:
		return "on"
	}
	return string(s.State.Status)
}

// agents is how many of those connected have a server in their view.
func (p *Page) agents(server string) (n int) {
	for i := range p.snap.Agents {
		if a := &p.snap.Agents[i]; a.Gone.IsZero() && a.Sees(server) {
			n++
		}
	}
	return n
}

// profiles says how many of them have it by a profile.
func (p *Page) profiles(server string) (text string) {
	n := map[string]int{}
	for i := range p.snap.Agents {
		if a := &p.snap.Agents[i]; a.Gone.IsZero() && a.Profile != "" && a.Sees(server) {
			n[sanitize.Line(a.Profile)]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n)) {
		text += fmt.Sprintf(", %d by profile %s", n[name], name)
	}
	return text
}

// card draws what is known of the server under the cursor.
func (p *Page) card(f *tui.Frame, x, w, h int) []string {
	s := p.server()
	if s == nil {
		return widget.Rows([]string{"", f.Theme.Faint.Render(" no servers yet")}, w, h)
	}
	rows := p.head(f, s, w, h)
	left := h - len(rows)
	var below []string
	if part := p.opts.Parts[s.Name]; part != nil && left >= 14 {
		below = part.Picture(f, x, len(rows)+left-left/2, w, left/2)
	}
	if below == nil && left >= 16 && !p.third(f) {
		below = p.strip(f, w)
	}
	return append(append(rows, p.paneBox(f, x, len(rows), w, left-len(below))...), below...)
}

// third reports whether there is a column for the definition under the cursor.
func (p *Page) third(f *tui.Frame) bool {
	return f.W-p.listSize(f.W) >= 130
}

// head says how things stand.
func (p *Page) head(f *tui.Frame, s *snapshot.Server, w, h int) []string {
	th, d := f.Theme, &p.details
	var rows []string
	add := func(text string) { rows = append(rows, " "+widget.Fit(text, w-2)+" ") }
	if part := p.opts.Parts[s.Name]; part != nil {
		for _, row := range part.Head(f, w-2) {
			add(row)
		}
	}
	_, style := tui.ServerMark(th, s.State.Status)
	var about []string
	protocol := d.Protocol
	if protocol != "" {
		protocol = "MCP " + protocol
	}
	for _, text := range []string{d.Server, protocol, d.Runs} {
		if text != "" {
			about = append(about, sanitize.Line(text))
		}
	}
	if !s.Foreign {
		about = []string{"part of mcpdeck"}
	}
	line := th.Strong.Render(title(s)) + "  " + style.Render(state(s))
	for _, text := range about {
		line += th.Muted.Render(" " + th.Glyph.Dot + " " + text)
	}
	add(line)
	lines := packed(p.facts(f, s), " "+th.Glyph.Dot+" ", w-2)
	for _, line := range lines[:min(len(lines), max(h/10, 1))] {
		add(th.Muted.Render(line))
	}
	if why := sanitize.Line(s.State.Reason); why != "" && h >= 10 {
		lines := widget.Wrap(why, w-2)
		if most := max(h/5, 2); len(lines) > most {
			lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
		}
		for _, line := range lines {
			add(style.Render(widget.Cut(line, w-2)))
		}
	} else if d.Error != "" && h >= 14 {
		add(th.Faint.Render("last error, " + f.Since(d.ErrorAt) + ": " + sanitize.Line(d.Error)))
	}
	if s.IsOn() && !s.Lazy && s.Context > snapshot.LargeContext && h >= 16 {
		add(th.Faint.Render("That is much. Lazy, agents find its tools instead: ") + th.Key.Render("s"))
	}
	if d.Holding != "" {
		holding := strings.ReplaceAll(sanitize.Line(d.Holding), "→", th.Glyph.Right)
		text := th.Warn.Render("! held: " + holding + "; agents do not get them until you accept")
		rows = append(rows, " "+widget.Ends(text, th.Key.Render("ctrl+a")+th.Muted.Render(" accept all"), w-2)+" ")
	}
	if n := len(d.Asked); n > 0 {
		text := "! mcpdeck accept was run by " + sanitize.Line(d.Asked[n-1])
		if n > 1 {
			text = fmt.Sprintf("! mcpdeck accept was run %d times, last by %s", n, sanitize.Line(d.Asked[n-1]))
		}
		add(th.Warn.Render(text))
	}
	return rows
}

// packed puts parts on as few rows as hold them whole, with sep between those of one
// row.
func packed(parts []string, sep string, w int) []string {
	var rows []string
	for _, part := range parts {
		if n := len(rows) - 1; n >= 0 && widget.Width(rows[n]+sep+part) <= w {
			rows[n] += sep + part
			continue
		}
		rows = append(rows, part)
	}
	return rows
}

// facts are the tools, what they cost, and who has them.
func (p *Page) facts(f *tui.Frame, s *snapshot.Server) []string {
	d := &p.details
	var parts []string
	n := map[snapshot.Verdict]int{}
	context, wire, trimmed, results := len(d.Instructions), 0, 0, 0
	for i := range d.Tools {
		t := &d.Tools[i]
		n[t.Verdict]++
		if t.Verdict == snapshot.Allow {
			context += t.Context
			wire += t.Bytes
			trimmed += t.Trimmed
			results += len(t.Output)
		}
	}
	text := humanize.Count(len(d.Tools), "tool")
	for _, v := range []snapshot.Verdict{snapshot.Denied, snapshot.OnHold, snapshot.Hidden} {
		if n[v] > 0 {
			text += fmt.Sprintf(", %d %s", n[v], v)
		}
	}
	parts = append(parts, text)
	switch {
	case len(d.Tools) == 0 && s.State.Adds.Tools > 0:
		parts = []string{humanize.Count(s.State.Adds.Tools, "tool") + " when counted last", "context 0 B", "while on " + tui.Cost(s.State.Adds.Context)}
	case len(d.Tools) == 0:
		parts = []string{"no tools yet"}
	case !s.IsOn():
		parts = append(parts, "context 0 B", "while on "+tui.Cost(context))
	case s.Lazy:
		parts = append(parts, "context 0 B", tui.Cost(context)+" to be found")
	default:
		parts = append(parts, "context "+tui.Cost(context), "wire "+tui.Bytes(wire))
	}
	switch {
	case trimmed > 0 && s.IsOn():
		parts = append(parts, "trim saves "+tui.Bytes(trimmed))
	case results > snapshot.LargeContext && s.IsOn():
		parts = append(parts, "trim could save "+tui.Bytes(results))
	}
	parts = append(parts, humanize.Count(p.agents(s.Name), "agent")+" connected"+p.profiles(s.Name))
	if detail := sanitize.Line(s.State.Detail); detail != "" {
		parts = append(parts, detail)
	}
	if d.PID != 0 && len(d.Children) < 2 { // else they have a list
		parts = append(parts, fmt.Sprintf("process %d for %s", d.PID, humanize.Took(f.Now.Sub(d.Since))))
	}
	return parts
}

// paneBox draws the list of the card that is chosen; the others stand in its rule.
func (p *Page) paneBox(f *tui.Frame, x, y, w, h int) []string {
	th := f.Theme
	focus := f.Focus && (p.part == p.pane || p.part == partFilter)
	name := p.paneName(p.pane)
	var others []string
	for _, pane := range p.panes() {
		if pane != p.pane {
			others = append(others, p.paneName(pane))
		}
	}
	note := th.Faint.Render(strings.Join(others, "  "))
	var body []string
	inner, left := w-4, h-1
	if p.pane == partTools {
		for _, row := range p.filter.Rows(f, x+4, y+1, inner-2, p.part == partFilter) {
			body = append(body, "  "+row)
		}
		if left >= 8 {
			body = append(body, "  "+p.toolHead(th, x+4, y+1+len(body), inner-2))
		}
	}
	left -= len(body)
	p.areas = append(p.areas, tui.Area{Part: p.pane, X: x + 2, Y: y + 1 + len(body), W: inner, H: left})
	body = append(body, p.paneRows(f, inner, left, f.Focus && p.part == p.pane)...)
	return widget.Pane(th, name, note, focus, body, w, h)
}

// paneName is the title of a list, with how many there are.
func (p *Page) paneName(pane string) string {
	n, name := 0, ""
	switch pane {
	case partTools:
		n, name = len(p.details.Tools), "Tools"
		if !p.filter.Empty() {
			return fmt.Sprintf("Tools %d of %d", len(p.rows), n)
		}
	case partResources:
		n, name = len(p.details.Resources), "Resources"
	case partPrompts:
		n, name = len(p.details.Prompts), "Prompts"
	case partChildren:
		n, name = len(p.details.Children), "Running"
	case partCalls:
		name = "Calls"
		if s := p.server(); s != nil {
			n = int(s.Calls)
		}
	default:
		return strings.TrimSpace("Log " + sanitize.Line(p.logOf))
	}
	switch {
	case n > 0:
		name += " " + strconv.Itoa(n)
	case p.without(pane):
		name += " off"
	}
	return name
}

// paneRows draws the inside of a list.
func (p *Page) paneRows(f *tui.Frame, w, h int, focus bool) []string {
	th := f.Theme
	switch p.pane {
	case partLog:
		return p.logRows(f, w, h)
	case partTools:
		if len(p.rows) == 0 {
			return empty(th, w, h, p.noTools())
		}
	case partResources, partPrompts:
		if p.without(p.pane) {
			return empty(th, w, h, "Turned off: agents get no "+p.pane+" of it. Space allows them.")
		}
	case partCalls:
		if len(p.calls) == 0 {
			return empty(th, w, h, "Calls of its tools appear here, newest first.")
		}
	}
	items := p.items(p.pane)
	return p.lists[p.pane].Render(th, w, h, focus, func(i, w int) string {
		switch p.pane {
		case partTools:
			return p.toolRow(th, &p.rows[i], w)
		case partChildren:
			return p.childRow(f, &p.details.Children[i], w)
		case partCalls:
			return tui.CallRow(f, &p.calls[i], w)
		}
		return itemRow(th, &items[i], w)
	})
}

func (p *Page) noTools() string {
	if len(p.details.Tools) > 0 {
		return "No tool has these words. Esc shows all."
	}
	return "Its tools appear here once it is on."
}

func empty(th *theme.Theme, w, h int, text string) []string {
	var rows []string
	rows = append(rows, widget.Paragraph(th.Faint, "  ", text, w-2)...)
	return widget.Rows(rows, w, h)
}

func itemRow(th *theme.Theme, it *snapshot.Item, w int) string {
	about := it.Name
	if about == it.Key || about == "" {
		about = it.Description
	}
	if len(it.Args) > 0 {
		about = strings.Join(it.Args, "  ")
	}
	left := sanitize.Line(it.Key) + "  " + th.Faint.Render(sanitize.Line(about))
	return widget.Ends(left, th.Faint.Render(tui.Bytes(it.Bytes)), w)
}

// strip says of the tool under the cursor what it is for.
func (p *Page) strip(f *tui.Frame, w int) []string {
	th := f.Theme
	r := p.row()
	if p.pane != partTools || r == nil || r.tool == nil {
		return nil
	}
	about, _, _ := strings.Cut(sanitize.Text(r.tool.Description), "\n")
	rows := []string{widget.Rule(th.Border, th.Title, th.Glyph.Frame.Top, sanitize.Line(r.tool.Original), "", w)}
	lines := widget.Wrap(about, w-2)
	for _, l := range lines[:min(len(lines), 2)] {
		rows = append(rows, " "+th.Muted.Render(l))
	}
	return append(rows, " "+widget.Fit(th.Faint.Render(parameters(r.tool)), w-2))
}

// beside draws the whole of what is under the cursor.
func (p *Page) beside(f *tui.Frame, w, h int) []string {
	th := f.Theme
	name, rows := "", []string(nil)
	switch r := p.row(); {
	case p.pane == partResources || p.pane == partPrompts:
		if it := widget.Selected(p.lists[p.pane], p.items(p.pane)); it != nil {
			name, rows = it.Key, itemRows(th, it, w-4)
		}
	case p.pane != partTools || r == nil:
	case r.held != nil:
		name, rows = heldName(r.held), heldRows(th, r.held, w-4)
	case r.tool != nil:
		name, rows = r.tool.Original, definition(f, r.tool, w-4).Rows
	}
	return widget.Pane(th, sanitize.Line(name), "", false, rows, w, h)
}

// rightly is a text at the right end of w cells.
func rightly(s string, w int) string { return widget.Blank(max(w-widget.Width(s), 0)) + s }
