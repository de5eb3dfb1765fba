package inbox

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Sizes of the page from which it shows more.
const (
	pairFrom  = 60  // columns for the list above the pane
	tallFrom  = 15  // rows for that
	wideFrom  = 160 // columns for the list beside the pane
	deepFrom  = 37  // rows for the sessions at work below the pane
	listMost  = 72
	paneMost  = 88
	tailLeast = 7 // rows of a session at work
)

// Render implements tui.Page.
func (p *Page) Render(f *tui.Frame) []string {
	p.areas, p.reading.covered = p.areas[:0], !f.Focus
	p.lay(f.Now)
	rows := p.render(f)
	if p.completing() {
		p.files.Render(f)
	}
	return rows
}

func (p *Page) render(f *tui.Frame) []string {
	p.permission.alone = f.W < pairFrom || f.H < tallFrom
	answers, most := 0, max(f.H*2/5, 3)
	if p.list.count(needsYou) == 0 {
		answers, most = answeredMost, max(f.H-8, 3)
	}
	p.split = f.W >= wideFrom && !p.permission.alone
	switch {
	case p.past.shown:
		return p.past.render(f)
	case p.newcomer() && !p.opened:
		return p.welcome.render(f)
	case p.split:
		return p.wide(f)
	case p.opened:
		return p.paneAt(f, 0, 0, f.W, f.H)
	case p.permission.alone:
		if r := p.list.under(); r != nil && r.open() { // a key decides what its row shows whole
			f.Asks(tui.AskedItem(&r.item, p.digests.Of(p.snap, &r.item), p.draft.Tab))
		}
		rows := p.listRows(f, f.W, f.H, answers)
		if p.message != "" && len(rows) > 0 {
			rows[len(rows)-1] = widget.Fit(" "+f.Theme.Warn.Render(widget.Cut(p.message, f.W-2)), f.W)
		}
		return rows
	}
	h := min(len(p.lines(f, f.W, answers, true)), most)
	return append(p.listRows(f, f.W, h, answers), p.paneAt(f, 0, h, f.W, f.H-h)...)
}

// lines are all lines of the list.
func (p *Page) lines(f *tui.Frame, w, answers int, focus bool) []line {
	d := newDrawing(&p.list, p.world(f.Now), w, answers)
	d.marks, d.focus, d.permission, d.shows = p.marks, focus && f.Focus, &p.permission, p.permission.alone
	return p.list.lines(f, d, w, answers)
}

// listRows draws the list into w × h cells at the upper left corner.
func (p *Page) listRows(f *tui.Frame, w, h, answers int) []string {
	rows := p.list.render(p.lines(f, w, answers, !p.opened), w, h)
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
	left := p.listRows(f, listMost, min(len(p.lines(f, listMost, answeredMost, true)), f.H), answeredMost)
	left = append(left, latest(f, p.deck, listMost, f.H-len(left))...)
	rest := f.W - listMost - 1
	tails, h := p.list.tails(p.session), f.H
	if n := len(tails); n > 0 && f.H >= deepFrom && !p.opened {
		n = min(n, (f.H/2)/tailLeast)
		tails = tails[:n]
		h = max(f.H*2/5, f.H-n*(f.H*3/5/n))
	} else {
		tails = nil
	}
	var right []string
	if s := p.context(); s != nil && p.place != partSession {
		w := min(rest*59/100, paneMost)
		right = widget.Panes(f.Theme, p.paneAt(f, listMost+1, 0, w, h), contextRows(f, s, projectOf(p.all, s), rest-w-1, h))
	} else {
		right = p.paneAt(f, listMost+1, 0, rest, h)
	}
	for i, s := range tails {
		n := (f.H - len(right)) / (len(tails) - i)
		head := widget.Heading(f.Theme, strings.Join([]string{sanitize.Line(s.Agent), projectOf(p.all, s), sanitize.Line(s.Name())}, " "+f.Theme.Glyph.Dot+" "), "", false, rest)
		right = append(right, widget.Rows(append([]string{head}, indented(conversation.Latest(f, s, rest-2, n-2))...), rest, n)...)
	}
	return widget.Panes(f.Theme, left, right)
}

// context is the session whose conversation led to what is selected, nil if that is not known.
func (p *Page) context() *snapshot.Session {
	switch it, ok := p.current(); {
	case ok:
		return sessionOf(p.all, &it.Request)
	case p.place == partRecord:
		return sessionOf(p.all, &p.record.Request)
	}
	return p.session
}

// contextRows draws a conversation beside what it led to.
func contextRows(f *tui.Frame, s *snapshot.Session, project string, w, h int) []string {
	head := conversation.Heading(f, s, project, "", false, w)
	return widget.Rows(append([]string{head}, indented(conversation.Rows(f, s, conversation.Room{W: w - 2, H: h - 1}))...), w, h)
}

// indented are rows with a blank cell before each.
func indented(rows []string) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = " " + r
	}
	return out
}

// tails are the sessions at work.
func (l *requestList) tails(but *snapshot.Session) (out []*snapshot.Session) {
	for i := range l.rows {
		if r := &l.rows[i]; r.section == working && r.session != but {
			out = append(out, r.session)
		}
	}
	return out
}

// projectOf is what the project of a session is called.
func projectOf(all []snapshot.Session, s *snapshot.Session) string {
	names := snapshot.Projects(all)
	if i := slices.IndexFunc(all, func(o snapshot.Session) bool { return sessionKey(&o) == sessionKey(s) }); i >= 0 {
		return sanitize.Line(names[i])
	}
	return ""
}

// latest draws the newest calls of agents into w × h cells.
func latest(f *tui.Frame, deck *snapshot.Snapshot, w, h int) []string {
	if h < 3 || len(deck.Calls) == 0 {
		return widget.Rows(nil, w, h)
	}
	th := f.Theme
	note := strconv.FormatUint(deck.Total, 10) + " calls"
	rows := []string{widget.Heading(th, "Latest calls", th.Muted.Render(note), false, w)}
	for i := range slices.Backward(deck.Calls) {
		if len(rows) == h {
			break
		}
		c := &deck.Calls[i]
		took := humanize.Took(c.Duration)
		if c.Status == snapshot.Running {
			took = f.Ago(c.Started)
		}
		sign, what := " ", c.Result
		if c.Status.Failed() {
			sign = th.Bad.Render(th.Glyph.Fail)
		} else if what == "" {
			what = c.Args
		}
		row := " " + sign + " " + th.Text.Render(widget.Fit(sanitize.Line(c.AgentName), 8)) + " " + widget.Fit(sanitize.Line(c.Tool), 20) + "  " +
			th.Muted.Render(widget.Cut(sanitize.Line(what), max(w-36-widget.Width(took), 8)))
		rows = append(rows, widget.Ends(row, th.Muted.Render(took)+" ", w))
	}
	return widget.Rows(rows, w, h)
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
		return append([]string{widget.Heading(th, "", "", p.opened, f.W)}, p.renderSettled(f)[1:]...)
	case open && p.place == partReader:
		return p.renderReader(f, it)
	case open:
		s := sessionOf(p.all, &it.Request)
		title := sanitize.Line(it.Request.Client())
		if s != nil {
			title += dot + projectOf(p.all, s)
		} else if in := project(&it.Request); in != "" {
			title += dot + in
		}
		if by := sanitize.Line(it.Request.From.Agent); by != "" {
			title += dot + by
		}
		if f.W < pairFrom && p.opened {
			title = kindOf(&it.Request)
		} else {
			title += dot + kindOf(&it.Request)
		}
		if p.split {
			s = nil // it stands beside
		}
		return p.renderRequest(f, it, title, s)
	case p.place == partSession && p.session != nil:
		_, _, word := tui.SessionMark(f, p.session)
		head := conversation.Heading(f, p.session, projectOf(p.all, p.session), word, p.opened, f.W)
		rows := indented(conversation.Rows(f, p.session, conversation.Room{W: f.W - 2, H: f.H - 1}))
		return append([]string{head}, p.talk.Render(th, rows, f.W, f.H-1)...)
	case p.place == partRecord:
		end, rows := string(p.record.End()), recordRows(th, p.record, min(f.W, conversation.Prose)-2)
		if p.record.ID == 0 { // it has not ended yet
			end, rows = "sent", []string{p.sending(f)}
		}
		head := widget.Heading(th, tui.Asker(&p.record.Request)+dot+end, "", p.opened, f.W)
		rows = indented(rows)
		return append([]string{head}, p.talk.Render(th, rows, f.W, f.H-1)...)
	}
	return append([]string{widget.Heading(th, "", "", false, f.W)}, indented(f.Example())...)
}

func (p *Page) wheel(m tui.WheelMsg) {
	switch {
	case p.past.shown:
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
