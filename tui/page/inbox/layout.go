package inbox

import (
	"slices"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Sizes of the page from which it shows more.
const (
	pairFrom  = 36  // columns for the list above the pane, as on a phone
	roomyFrom = 60  // columns for long headings and numbers of lines
	tallFrom  = 15  // rows for that
	wideFrom  = 160 // columns for the list beside the pane
	deepFrom  = 37  // rows for the sessions at work below the pane
	listMost  = 72
	paneMost  = 88
	paneLeast = 8 // rows, before the first steps give way
)

// Render implements tui.Page.
func (p *Page) Render(f *tui.Frame) []string {
	p.areas, p.reading.covered = p.areas[:0], !f.Focus
	p.lay(f.Now)
	away := p.away
	if p.opened && f.H < tallFrom { // what is asked goes before
		away = nil
	}
	rows := tui.AboveAway(f, away, func() []string { return p.render(f) })
	if p.completing() {
		p.files.Render(f)
	}
	return rows
}

func (p *Page) render(f *tui.Frame) []string {
	p.drawn, p.inSight, p.permission.alone = false, nil, false
	answers, most := 0, max(f.H*2/5, 3)
	if p.list.count(needsYou) == 0 {
		answers, most = answeredMost, max(f.H-8, 3)
	}
	short, least := f.W < pairFrom || f.H < tallFrom, 0
	if short && !p.opened {
		least = under(p, f, answers)
	}
	p.permission.alone = short && least == 0
	p.split = f.W >= wideFrom && !short
	switch p.past.view {
	case partRules:
		return p.rules.render(f, p.snap.History)
	case partGranted:
		return p.grants.render(f, p.opt.Home)
	case partDenied:
		return p.denials.render(f)
	case partHistory:
		return p.past.render(f)
	}
	switch {
	case p.Newcomer():
		return p.welcome.render(f)
	case p.split:
		return p.wide(f)
	case p.opened:
		return p.paneAt(f, 0, 0, f.W, f.H)
	case p.permission.alone:
		if r := p.list.under(); r != nil && r.open() { // a key decides what its row shows whole
			f.Asks(tui.AskedItem(&r.item, p.digests.Of(p.snap, &r.item), p.draft.Tab))
		}
		lines, steps := p.lines(f, f.W, answers), p.welcome.beside(f, f.W)
		if len(lines)+len(steps) > f.H {
			steps = nil
		}
		rows := append(p.listRows(lines, f.W, f.H-len(steps)), steps...)
		if p.message != "" && len(rows) > 0 {
			rows[len(rows)-1] = widget.Fit(" "+f.Theme.Warn.Render(widget.Cut(p.message, f.W-2)), f.W)
		}
		return rows
	}
	lines := p.lines(f, f.W, answers)
	steps := p.welcome.beside(f, f.W)
	free := f.H - len(steps)
	h := min(len(lines), max(min(most, free-paneLeast), 3))
	switch {
	case least > 0:
		h = min(len(lines), f.H-least)
	case h < len(lines): // there may be rows that say nothing
		h = min(len(lines), max(h, free-p.needs(f, f.W, free-h)))
	}
	if h < len(lines) && lines[h-1].row < 0 && p.list.rows[lines[h].row].section == answeredToday {
		h-- // a heading with nothing below it
	}
	if free-h < paneLeast {
		steps = nil
	}
	rows := append(p.listRows(lines, f.W, h), steps...)
	return append(rows, p.paneAt(f, 0, len(rows), f.W, f.H-len(rows))...)
}

// under is how many rows all of what is asked takes at least, where these are there below what the list has to
// say of what still goes on; else 0.
func under(p *Page, f *tui.Frame, answers int) int {
	if f.W < pairFrom || p.place != partRequest {
		return 0
	}
	lines := p.lines(f, f.W, answers)
	n := slices.IndexFunc(lines, func(l line) bool { return l.row >= 0 && p.list.rows[l.row].section == answeredToday }) - 1
	if n < 0 {
		n = len(lines)
	}
	if rows := textRows(&p.pane, f, f.W, true); n+rows <= f.H {
		return rows
	}
	return 0
}

// lines are all lines of the list.
func (p *Page) lines(f *tui.Frame, w, answers int) []line {
	d := newDrawing(&p.list, p.world(f.Now), w, answers)
	d.marks, d.focus, d.permission, d.shows = p.marks, f.Focus && !p.opened, &p.permission, p.permission.alone
	return p.list.lines(f, d, w, answers)
}

// listRows draws lines of the list into w × h cells at the upper left corner.
func (p *Page) listRows(lines []line, w, h int) []string {
	rows := p.list.render(lines, w, h)
	for y, i := range p.list.of {
		if i >= 0 {
			p.areas = append(p.areas, tui.Area{X: 0, Y: y, W: w, H: 1, Run: tui.Do(func() {
				p.opened = false
				p.moveRow(i - p.list.at)
			})})
		}
	}
	return rows
}

// wide draws the list with the calls below it, the pane beside it, and beside that what led to
// what it shows; below these the sessions at work.
func (p *Page) wide(f *tui.Frame) []string {
	lines := p.lines(f, listMost, answeredMost)
	left := p.listRows(lines, listMost, min(len(lines), f.H))
	if steps := p.welcome.beside(f, listMost); len(left)+len(steps) <= f.H {
		left = append(left, steps...)
	}
	left = append(left, tui.LatestCalls(f, p.deck, listMost, f.H-len(left))...)
	rest := f.W - listMost - 1
	w, s := rest, p.context()
	beside := s != nil && p.place != partSession && p.place != partRecord
	if beside {
		w = min(rest*59/100, paneMost)
	}
	var tails []string
	if f.H >= deepFrom {
		least := p.needs(f, w, 0)
		switch {
		case p.place == partRecord && s != nil:
			least += 1 + sessionRows(f, s, w-2)
		case beside:
			least = max(least, 1+len(conversation.Rows(f, s, conversation.Room{W: rest - w - 3, H: 1})))
		}
		tails = p.list.tails(f, p.all, s, rest, f.H-least)
	}
	h := f.H - len(tails)
	right := p.paneAt(f, listMost+1, 0, w, h)
	if beside {
		cw := rest - w - 1
		rows := []string{conversation.Heading(f, s, projectOf(p.all, s), "", false, cw)}
		rows = append(rows, indented(conversation.Rows(f, s, conversation.Room{W: cw - 2, H: h - 1, Wide: true, File: diffOf(p)}))...)
		right = widget.Panes(f.Theme, right, widget.Rows(rows, cw, h))
	}
	return widget.Panes(f.Theme, left, append(right, tails...))
}

// needs is how many rows the pane takes, width cells wide: its text goes before the rows of others.
// Below the list, what led to a request is part of it, where there would be first rows.
func (p *Page) needs(f *tui.Frame, width, first int) int {
	if p.place == partSettled { // it keeps those that it had
		return p.takes
	}
	p.takes = min(textRows(&p.pane, f, width, false), f.H)
	if s := p.context(); s != nil && p.place == partRequest && !p.split {
		switch text := 1 + len(conversation.Rows(f, s, conversation.Room{W: width - 2, H: 1, Apart: true})); {
		case p.takes+text <= first:
			p.takes += text
		case p.deciding() != nil && askedRow(f.Theme, s, width) != "":
			p.takes-- // two blank rows give way, and one is about the session
		}
	}
	return p.takes
}

// textRows is how many rows the text of what the pane shows takes; least is for what is asked alone, without
// blank rows and the agent's words about it.
func textRows(p *pane, f *tui.Frame, width int, least bool) int {
	w := width - 2
	it, open := p.current()
	switch {
	case p.place == partRecord:
		return 1 + len(recordRows(f.Theme, p.record, p.opt.Home, min(width, conversation.Prose)-2))
	case p.place == partSession && p.session != nil:
		return 2 + sessionRows(f, p.session, w)
	case !open || p.place != partRequest || p.form != nil:
		return f.H
	}
	n := 1 + len(p.foot(f.Sub(width, f.H), it, w)) + len(bannerRows(p, f, it, w))
	if hides(&it.Request) {
		n++
	}
	if len(it.Request.Questions) > 1 {
		n += 2
	}
	k, one := p.question()
	switch {
	case !one: // the review
		n += 2 + len(it.Request.Questions)
	case p.deciding() != nil:
		d := it.Request.Prompt
		n += len(p.promptFacts(f.Theme, it, w, widget.Wrap)) + len(p.permission.subject(f.Theme, &it, w-inset(d, w)).Rows)
		gaps := 1
		if words := p.promptWords(f.Theme, &it, w); len(words) > 0 && !least {
			n += 1 + len(words)
		}
		if !it.Request.InTerminal() {
			gaps++
			n += len(k.grantRows(f, d, p.opened, w, func(int) theme.Style { return f.Theme.Key }).rows)
		}
		if !least {
			n += gaps
		}
	default:
		n += k.needs(f, w, width >= sideFrom)
		if least {
			n--
		}
	}
	return n
}

// sessionRows is how many rows a conversation is given before others are: all, up to half of the page.
func sessionRows(f *tui.Frame, s *snapshot.Session, w int) int {
	return max(min(len(conversation.Rows(f, s, conversation.Room{W: w})), f.H/2), len(conversation.Rows(f, s, conversation.Room{W: w, H: 1})))
}

// context is the session whose conversation led to what is selected, nil if that is not known.
func (p *Page) context() *snapshot.Session {
	switch it, ok := p.current(); {
	case ok:
		return sessionOf(p.all, &it.Request)
	case p.place == partRecord:
		return sessionOf(p.all, &p.record.Request)
	case p.place == partSettled:
		r := p.settled.request(p.snap)
		return sessionOf(p.all, &r)
	}
	return p.session
}

// diffOf is the file whose diff stands in a conversation, -1 for none: the keys for the next one are
// those for the next question.
func diffOf(p *Page) int {
	if !p.split || len(p.questions()) > 1 {
		return -1
	}
	return p.file
}

// indented are rows with a blank cell before each.
func indented(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = " " + r
	}
	return out
}

// tails draws the sessions at work, of all, but one, in at most h rows.
func (l *requestList) tails(f *tui.Frame, all []snapshot.Session, but *snapshot.Session, w, h int) []string {
	var at []*snapshot.Session
	var projects []string
	for i := range l.rows {
		if r := &l.rows[i]; r.section == working && r.session != but {
			at, projects = append(at, r.session), append(projects, projectOf(all, r.session))
		}
	}
	return conversation.Panes(f, at, projects, w, h)
}

// projectOf is what the project of a session is called.
func projectOf(all []snapshot.Session, s *snapshot.Session) string {
	names := snapshot.Projects(all)
	if i := slices.IndexFunc(all, func(o snapshot.Session) bool { return sessionKey(&o) == sessionKey(s) }); i >= 0 {
		return sanitize.Line(names[i])
	}
	return ""
}

// paneAt draws the pane into w × h cells at x, y of the page.
func (p *Page) paneAt(f *tui.Frame, x, y, w, h int) []string {
	if h <= 0 {
		return nil
	}
	sub, from := f.Sub(w, h), len(p.areas)
	sub.Focus = f.Focus
	rows := widget.Rows(p.paneRows(sub), w, h)
	for i := range p.areas[from:] {
		p.areas[from+i].X += x
		p.areas[from+i].Y += y
	}
	p.origin = box{x: x, y: y}
	f.Join(sub, x, y)
	return rows
}

// paneRows draws what is selected.
func (p *Page) paneRows(f *tui.Frame) []string {
	th, dot := f.Theme, " "+f.Theme.Glyph.Dot+" "
	it, open := p.current()
	switch {
	case p.place == partGroup:
		return p.renderGroup(f)
	case p.place == partSettled:
		r, title := p.settled.request(p.snap), ""
		if len(r.Questions) > 0 {
			title = whose(th, p.all, &r)
		}
		rows := append([]string{widget.Heading(th, title, "", p.opened, f.W)}, p.renderSettled(f)[1:]...)
		for _, r := range p.settled.records(p.snap) {
			rows = append(append(rows, ""), indented(recordRows(th, r, p.opt.Home, min(f.W, conversation.Prose)-2))...)
		}
		return append(rows, since(p, f, f.H-len(rows))...)
	case open && p.place == partReader:
		return p.renderReader(f, it, whose(th, p.all, &it.Request)+dot+"details")
	case open:
		s := sessionOf(p.all, &it.Request)
		title := whose(th, p.all, &it.Request)
		if by := sanitize.Line(it.Request.From.Agent); by != "" {
			title += dot + by
		}
		if in := projectIn(p.all, &it.Request); f.W < roomyFrom && p.opened {
			title = it.Request.WaitsFor()
			if in != "" {
				title += dot + in
			}
		} else {
			title += dot + it.Request.WaitsFor()
		}
		if p.split {
			s = nil // it stands beside
		}
		return p.renderRequest(f, it, title, s)
	case p.place == partSession && p.session != nil:
		_, _, word := tui.SessionMark(f, p.session)
		head := conversation.Heading(f, p.session, projectOf(p.all, p.session), word, p.opened, f.W)
		var rows []string
		if p.welcome.apart(p.session) {
			rows = []string{" " + th.Faint.Render(conversation.InTerminal)}
		}
		line := indented(p.opt.Reply.Render(f, p.session, 1, f.H, f.W-2, f.H))
		h := f.H - 1 - len(line)
		room := conversation.Room{W: f.W - 2, H: h - len(rows), Wide: p.split, File: diffOf(p)}
		if p.opened {
			room.H = 0
		}
		rows = append(rows, indented(conversation.Rows(f, p.session, room))...)
		return slices.Concat([]string{head}, widget.Rows(p.talk.Render(th, rows, f.W, h), f.W, h), line)
	case p.place == partRecord:
		end, rows := sanitize.Line(p.record.Title()), recordRows(th, p.record, p.opt.Home, min(f.W, conversation.Prose)-2)
		if p.record.ID == 0 { // it has not ended yet
			end, rows = "sent", append([]string{p.sending(f), ""}, rows...)
		}
		head := widget.Heading(th, whose(th, p.all, &p.record.Request)+dot+end, "", p.opened, f.W)
		rows = indented(rows)
		rows = append(rows, since(p, f, f.H-1-len(rows))...)
		return append([]string{head}, p.talk.Render(th, rows, f.W, f.H-1)...)
	}
	return append([]string{widget.Heading(th, "", "", false, f.W)}, indented(f.Example())...)
}

// since draws below what was answered, in h rows, what its agent has said and done, unless that
// stands beside it; all of it where it is open.
func since(p *Page, f *tui.Frame, h int) []string {
	s := p.context()
	if s == nil || p.split && p.place == partSettled || h < 4 && !p.opened {
		return nil
	}
	room := conversation.Room{W: f.W - 2, H: h - 1, Wide: p.split, File: diffOf(p)}
	if p.opened && p.place == partRecord {
		room.H = 0
	}
	return append([]string{""}, indented(conversation.Rows(f, s, room))...)
}

// whose is the agent of a request and its project, for a heading.
func whose(th *theme.Theme, all []snapshot.Session, r *questions.Request) string {
	in := projectIn(all, r)
	agent := sanitize.Line(r.Client())
	if in == "" {
		return agent
	}
	return agent + " " + th.Glyph.Dot + " " + in
}

// projectIn is what the project of a request is called.
func projectIn(all []snapshot.Session, r *questions.Request) string {
	if s := sessionOf(all, r); s != nil {
		return projectOf(all, s)
	}
	return project(r)
}

func (p *Page) wheel(m tui.WheelMsg) {
	switch {
	case p.past.view == partRules:
		p.rules.list.Move(m.Delta)
	case p.past.view == partGranted:
		p.grants.list.Move(m.Delta)
	case p.past.view == partDenied:
		p.denials.list.Move(m.Delta)
	case p.past.view == partHistory:
		p.past.list.Move(m.Delta)
	case p.place == partReader:
		p.reader.Move(m.Delta)
	case p.place == partGroup:
		p.group.scroll.Move(m.Delta)
	case !p.opened && m.Y < len(p.list.of) && (m.X < listMost || !p.split):
		p.moveRow(m.Delta)
	case p.place == partSession || p.place == partRecord:
		p.talk.Move(m.Delta)
	case p.form != nil:
		p.formView.wheel(m.Delta)
	default:
		p.scroll.by(m.Delta)
	}
}

// clicked is a click on the page.
func (p *Page) clicked(x, y int) tea.Cmd {
	if p.onForm() {
		if cmd, mine := p.formView.click(x-p.origin.x, y-p.origin.y); mine {
			return cmd
		}
	}
	if a := p.areas.At(x, y); a != nil {
		return a.Run()
	}
	return nil
}
