package servers

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

const (
	least  = 40 // cells of a reading pane beside the list
	third  = 22 // cells of the pane to the right of it
	header = 1  // row of a pane
)

// Render draws the servers and the reading pane.
func (p *Page) Render(f *tui.Frame) []string {
	th := f.Theme
	if s := p.server(); s != nil && p.about.of == s.Name && len(p.about.Held) > 0 {
		f.Asks(tui.Asked{ID: "held " + s.Name, Digest: tui.Digest(changed(p.about.Held)), Quiet: tui.ReadPrompt})
	}
	v := browser.View{
		Title: "Servers", W: p.list.width(), H: min(max(f.H*2/5, 17), f.H-4), Heads: func(x, y, w int) string { return p.heads(th, x, y, w) },
		Row:    func(i, w int) string { return p.serverRow(f, p.list.rows[i], w) },
		Detail: func(x, y, w, h int) []string { return p.reading(f, x, y, w, h) },
	}
	if s := p.server(); s != nil && p.changes(s) > 0 { // which have to be read
		v.H = f.H * 2 / 5
	}
	v.Beside = v.W + 1 + least
	if f.W-v.W-1-browser.Prose >= third {
		v.DetailW, v.More = browser.Prose, func(w, h int) []string { return p.context(f, w, h) }
	}
	w, _ := p.ListWidth(v, f.W, f.H)
	v.Note = th.Faint.Render(p.tally(th, w))
	if away := p.list.away(th); away != "" {
		v.OnBelow, v.Below = p.unfold, func(left int) []string {
			if left < 2 {
				return nil
			}
			return []string{"", " " + th.Faint.Render(away)}
		}
	}
	switch {
	case len(p.list.rows) > 0:
	case p.Filter.Empty():
		v.Empty = []string{th.Faint.Render(" No servers yet.")}
	default:
		v.Empty = []string{th.Faint.Render(" No server has these words. Esc shows all.")}
	}
	return p.Panes(f, v)
}

// reading draws what is known of the server under the cursor.
func (p *Page) reading(f *tui.Frame, x, y, w, h int) []string {
	th, s := f.Theme, p.server()
	if s == nil {
		rows := []string{widget.Heading(th, "", "", false, w), th.Faint.Render(" mcpdeck add and mcpdeck import bring servers here.")}
		return widget.Rows(rows, w, h)
	}
	focus := f.Focus && (p.Focus == browser.PartDetail || p.Focus == partLog || p.Focus == partTools)
	_, style := mark(th, s, p.wants(s))
	name, note := title(s), style.Render(widget.Cut(state(s), max(w-widget.Width(title(s))-8, 8)))
	if p.inLog {
		name, note = strings.TrimSpace(name+" "+th.Glyph.Dot+" log "+sanitize.Line(p.log.of)), ""
	}
	rows := []string{widget.Heading(th, name, note, focus, w)}
	if p.inLog {
		p.Areas = append(p.Areas, tui.Area{Part: partLog, X: x, Y: y + header, W: w, H: h - header})
		for _, row := range p.Search.Render(f, &p.log, p.log.rows(f, p.about.Log), x+1, y+header, w-1, h-header) {
			rows = append(rows, " "+row)
		}
		return rows
	}
	var picture []string
	if part := p.opts.Parts[s.Name]; part != nil && h >= 24 {
		picture = part.Picture(f, x, y+h-h/3, w, h/3)
	}
	for _, row := range p.tools.filter.Rows(f, x+1, y+header, w-2, p.Focus == partTools) {
		rows = append(rows, " "+row)
	}
	left := h - len(rows) - len(picture)
	p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: x, Y: y + len(rows), W: w, H: left})
	air := 3
	beside := y == 0 && h >= 24
	if !beside { // there is little room
		air--
	}
	b := p.text(f, s, min(w-air, browser.Prose), beside)
	p.pane.set(b)
	p.pane.focus = f.Focus && p.Focus == browser.PartDetail
	text := p.pane.Render(th, b.rows, w-1, left)
	shown := left
	if _, below := p.pane.Hidden(); below > 0 && !p.pane.focus && left >= 8 {
		shown--
		text[shown] = th.Faint.Render("  " + b.more(p.pane.At(shown)) + ": enter")
	}
	p.pane.shows(f, b, shown)
	p.toolHeads(x+1, y+len(rows), b, left)
	for _, row := range text {
		rows = append(rows, widget.Fit(" "+row, w))
	}
	return append(rows, picture...)
}

// more says what of a body is below a row.
func (b *body) more(row int) string {
	n := 0
	for _, it := range b.items {
		if it.tool != nil && it.tool.Tool != nil && it.row >= row {
			n++
		}
	}
	if n == 0 {
		return "more"
	}
	return humanize.Count(n, "more tool")
}

// shows says what of the changed definitions stands on the frame, which a key would accept.
func (p *pane) shows(f *tui.Frame, b *body, h int) {
	for _, sub := range b.subjects {
		f.Shows(sub.id, sub.drawn, p.At(0)-sub.from, min(p.At(h), sub.to)-sub.from)
	}
}

// text is what stands in the reading pane, in rows of w cells.
func (p *Page) text(f *tui.Frame, s *snapshot.Server, w int, beside bool) *body {
	th, d := f.Theme, &p.about
	b := &body{}
	if part := p.opts.Parts[s.Name]; part != nil {
		b.add(part.Head(f, w)...)
	}
	say := func(text string) { b.add(widget.Paragraph(th.Text, "", text, w)...) }
	runs := func() {
		if d.Runs != "" {
			for i, row := range widget.Wrap(sanitize.Line(d.Runs), w-4) {
				if i > 0 {
					row = "    " + row
				}
				b.add(th.Muted.Render(row))
			}
		}
	}
	elsewhere := func() {
		if o := p.list.origins[s.Name]; len(o.From) > 0 {
			rest := ", whose agents have its tools from there, too."
			if o.Own && !s.IsOn() {
				rest = ". Turning it on here offers to remove it there."
			}
			b.add(widget.Paragraph(th.Muted, "", "Also set up in "+sanitize.Line(and(o.From))+rest, w)...)
		}
	}
	changes := func() {
		d.waiting(th, b, w)
		p.unseen(f, b, w)
	}
	switch {
	case !beside:
		b.add(options(th, s, w, true)...)
		changes()
		say(d.cost(s))
		elsewhere()
		runs()
	case w >= 60:
		say(d.cost(s))
		runs()
		elsewhere()
		b.add("")
		b.add(options(th, s, w, false)...)
	default:
		say(d.cost(s))
		b.add("")
		b.add(options(th, s, w, false)...)
		b.add("")
		runs()
		elsewhere()
	}
	problems(th, b, s, p.list.origins[s.Name].Needs, w)
	if beside {
		changes()
	}
	if d.of == s.Name && d.plumbing {
		d.facts(f, b, s, p.snap, p.sessions, w)
	}
	n := cmp.Or(len(d.Tools), s.Tools, s.State.Adds.Tools)
	if n == 0 && len(p.tools.rows) == 0 {
		return b
	}
	b.add("")
	b.heads = len(b.rows)
	b.add(p.tools.heads(th, n, w))
	for i := range p.tools.rows {
		b.put(item{tool: &p.tools.rows[i]}, " "+p.tools.row(th, &p.tools.rows[i], s.IsOn(), w-1))
	}
	switch {
	case len(p.tools.rows) > 0:
	case len(d.Tools) > 0:
		b.add(th.Faint.Render("  No matching tools. Esc clears the filter."))
	default:
		b.add(th.Faint.Render("  They are listed here once it is on."))
	}
	return b
}

// problems puts into a body what keeps a server from working, and what to do.
func problems(th *theme.Theme, b *body, s *snapshot.Server, needs []string, w int) {
	if why := sanitize.Line(s.State.Reason); why != "" && s.State.Held == 0 {
		_, style := mark(th, s, trouble(s))
		if missing := sanitize.Line(s.Missing()); missing != "" {
			style, why = th.Muted, missing+": "+why
		}
		b.add("")
		b.add(widget.Paragraph(style, "", why, w)...)
	}
	if len(needs) > 0 {
		b.add("")
		b.add(widget.Paragraph(th.Warn, "", "It needs "+and(needs)+": set it where mcpdeck is started, or in its entry (e).", w)...)
	}
}

// unseen puts into a body how much of the changes has not been shown yet, and the keys.
func (p *Page) unseen(f *tui.Frame, b *body, w int) {
	if len(b.subjects) == 0 {
		return
	}
	th, n, all := f.Theme, 0, 0
	for _, s := range b.subjects {
		_, unseen := p.sight.Unseen(s.id, s.drawn)
		n, all = n+unseen, all+s.to-s.from
	}
	key, text, note := th.Key, th.Muted, th.Faint.Render("all "+humanize.Count(all, "row")+" shown")
	if n > 0 {
		note = th.Warn.Render(humanize.Count(n, "row") + " not shown yet: pgdn")
	}
	if n > 0 || !f.Ready() {
		key, text = th.Faint, th.Faint
	}
	b.add(widget.Ends(key.Render("y")+text.Render(" accept")+"  "+th.Key.Render("n")+th.Muted.Render(" keep hidden"), note, w))
}

// toolHeads has a click on the head of a column sort the tools.
func (p *Page) toolHeads(x, y int, b *body, h int) {
	row := b.heads - p.pane.At(0)
	if b.heads == 0 || row < 0 || row >= h {
		return
	}
	columns, _ := p.tools.columns(1 << 10)
	for _, c := range append(columns, column{title: "Tools"}) {
		if c.by != "" || c.title == "Tools" {
			p.Areas.Head(b.rows[b.heads], x, y+row, c.title, tui.Do(func() { p.tools.sortBy(c.by, &p.about.Details) }))
		}
	}
}

// context draws what else there is to look at: the definition of the tool under the cursor, or
// the servers with problems and the newest calls.
func (p *Page) context(f *tui.Frame, w, h int) []string {
	th := f.Theme
	if it := p.pane.item(); it != nil && it.tool != nil && it.tool.Tool != nil && p.Focus == browser.PartDetail {
		rows := []string{widget.Heading(th, sanitize.Line(it.tool.Original), "", false, w)}
		for _, row := range definition(f, it.tool.Tool, w-2).Rows {
			rows = append(rows, " "+row)
		}
		return widget.Rows(rows, w, h)
	}
	var bad, calls []string
	n := 0
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		needs := p.list.origins[s.Name].Needs
		if !p.wants(s) {
			continue
		}
		n++
		text := state(s)
		if c := p.changes(s); c > 0 {
			text = humanize.Count(c, "change") + " to accept"
		} else if !trouble(s) {
			text = "needs " + and(needs)
		}
		bad = append(bad, "", " "+th.Warn.Render("! ")+title(s))
		bad = append(bad, widget.Paragraph(th.Muted, "   ", text, w-5)...)
	}
	rows := []string{}
	if n > 0 {
		rows = append(append(rows, widget.Heading(th, "Problems", th.Warn.Render(strconv.Itoa(n)), false, w)), bad...)
		rows = append(rows, "")
	}
	for i := len(p.snap.Calls) - 1; i >= 0 && len(calls) < h-len(rows)-1; i-- {
		if c := &p.snap.Calls[i]; c.Server == p.about.at {
			calls = append(calls, " "+tui.CallRow(f, c, w-2))
		}
	}
	if len(calls) > 0 {
		rows = append(append(rows, widget.Heading(th, "Latest calls", "", false, w)), calls...)
	}
	if len(rows) == 0 {
		rows = append(rows, widget.Heading(th, "", "", false, w))
	}
	return widget.Rows(rows, w, h)
}
