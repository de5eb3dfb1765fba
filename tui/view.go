package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/safe"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// The smallest terminal that the pages are made for.
const (
	LeastW = 40
	LeastH = 12
)

// View is the frame. Bubble Tea asks after every message; what has not changed,
// or changed less than frameEvery ago, is not drawn again.
func (m *Model) View() tea.View {
	m.ticks.want()
	now := time.Now()
	if !m.dirty {
		return m.frame
	}
	if since := now.Sub(m.composed); since < frameEvery && !m.composed.IsZero() {
		m.pump.redrawAfter(frameEvery - since)
		return m.frame
	}
	m.dirty, m.composed = false, now
	m.compose(now)
	return m.frame
}

func (m *Model) compose(now time.Time) {
	v := tea.View{AltScreen: true, ReportFocus: true, WindowTitle: m.title()}
	if !m.opts.NoMouse {
		v.MouseMode = tea.MouseModeCellMotion
		if m.hovers() {
			v.MouseMode = tea.MouseModeAllMotion
		}
	}
	v.KeyboardEnhancements.ReportEventTypes = true
	m.report(&v)
	m.failures.absent = !m.focused
	m.targets = m.targets[:0]
	f := &Frame{W: m.w, H: m.h, Theme: m.theme, Now: now, Focus: len(m.overlays) == 0, still: m.opts.Still, gallery: m.pictures.gallery, failures: m.failures, sight: m.sight}
	if i := slices.IndexFunc(m.global, func(a *Action) bool { return a.ID == "demo" }); i >= 0 {
		f.demo = m.keyOf(m.global[i])
	}
	m.pictures.gallery.Begin()
	m.sight.begin()
	if m.w > 0 && m.h > 0 {
		rows := m.rows(f)
		m.pictures.gallery.End(rows, f.placed)
		m.measured(f, rows)
		v.Content = strings.Join(rows, "\n")
		if m.theme.Glyph.ASCII {
			v.Content = theme.ToASCII(v.Content)
		}
		if m.sel.on {
			v.Content = m.mark(v.Content)
		}
		f.RedrawAfter(m.pictures.wake(now))
	}
	f.RedrawAfter(m.sight.end(now, m.lastKey, m.place(), m.w, m.h, m.hiding))
	if f.cursor != nil {
		v.Cursor = tea.NewCursor(f.cursor.X, f.cursor.Y)
		v.Cursor.Shape = tea.CursorBar
	}
	m.pump.redrawAfter(f.wake)
	m.frame = v
}

// measured rewrites the rows, which are laid out in grapheme clusters, for a
// terminal that has not said that it measures so.
func (m *Model) measured(f *Frame, rows []string) {
	if m.clusters {
		return
	}
	for y := range rows {
		var keep []widget.Span
		for _, p := range f.placed {
			if y >= p.Y && y < p.Y+p.Rows {
				keep = append(keep, widget.Span{From: p.X, To: p.X + p.Cols})
			}
		}
		x := 0
		if f.cursor != nil && f.cursor.Y == y {
			x = f.cursor.X
		}
		if rows[y], x = widget.PerCodePoint(rows[y], keep, x); f.cursor != nil && f.cursor.Y == y {
			f.cursor.X = x
		}
	}
}

// rows draws everything.
func (m *Model) rows(f *Frame) []string {
	if m.blind() {
		return m.tooSmall()
	}
	l := m.layout()
	body := f.Sub(m.w, l.bodyH)
	page := m.body(body) // first: what is seen on it is no longer counted above
	rows := append(make([]string, 0, m.h), m.header(l)...)
	rows = append(rows, page...)
	if p := m.page(); p != nil && f.Focus && m.opts.Store != nil && m.opts.Guide == nil {
		m.signs.see(f, p, page)
	}
	if f.Focus {
		f.Join(body, 0, l.bodyY)
	} else {
		f.RedrawAfter(body.wake)
		f.joinPictures(body, 0, l.bodyY)
	}
	rows = append(rows, m.pinned()...)
	rows = append(rows, m.guideRows()...)
	m.drawPopup(f, rows, l)
	m.drawOverlays(f, rows)
	rows = append(rows, m.footer(f)...) // which stays readable, and says what can be done with what was drawn
	m.drawToasts(f, rows)
	return rows
}

// layout is where the parts of the screen are.
type layout struct {
	rule         bool // a rule under the header
	bodyY, bodyH int
}

func (m *Model) layout() layout {
	l := layout{rule: m.h >= 18, bodyY: 1}
	if l.rule {
		l.bodyY = 2
	}
	l.bodyH = m.h - l.bodyY - m.footerRows() - len(m.pinned()) - len(m.guideRows())
	return l
}

// pinned is the warning that every page shows, in as few rows as a small screen
// can spare.
func (m *Model) pinned() []string {
	if m.snap == nil {
		return nil
	}
	w := m.snap.Pinned()
	if w == nil {
		return nil
	}
	most := 2
	if m.h < 18 {
		most = 1
	}
	lines, more := widget.Wrap("! "+plain.Line(w.Text), max(m.w-2, 1)), ""
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], strings.Join(lines[most-1:], " "))
		more = m.readsWarnings()
	}
	for i, l := range lines {
		end := ""
		if i == len(lines)-1 {
			end = more
		}
		lines[i] = widget.Ends(m.theme.Warn.Render(" "+l), end, m.w)
	}
	return lines
}

// readsWarnings is the hint of the key that shows warnings in full, on a page that
// has one.
func (m *Model) readsWarnings() string {
	i := slices.IndexFunc(m.tables[m.at], func(a *Action) bool { return a.ID == ReadWarnings })
	if i < 0 {
		return ""
	}
	key := m.keyOf(m.tables[m.at][i])
	if key == "" {
		return ""
	}
	return m.theme.Key.Render(KeyLabel(key, m.theme.Glyph.ASCII)) + m.theme.Muted.Render(" read") + " "
}

// body draws the page. A page that panics says so in its place, and the others
// go on.
func (m *Model) body(f *Frame) []string {
	p := m.page()
	if p == nil {
		return widget.Rows(nil, f.W, f.H)
	}
	var rows []string
	err := safe.Call("page "+p.ID(), func() error {
		rows = p.Render(f)
		return nil
	})
	m.undrawn = err != nil
	if err != nil {
		rows = []string{"", "  " + f.Theme.Bad.Render("this page could not be drawn"), "  " + f.Theme.Muted.Render("see the log; the other pages work")}
	}
	return widget.Rows(rows, f.W, f.H)
}

// header draws the tabs.
func (m *Model) header(l layout) []string {
	th := m.theme
	brand := th.Accent.Render(" mcpdeck ")
	if m.snap != nil && m.snap.Name != "" {
		brand += th.Muted.Render(widget.Cut(m.snap.Name, 16) + " ")
	}
	brand += " "
	status := m.status(statusAll)
	room := m.w - widget.Width(status) - 1
	tabs, width := m.tabs(titleAll, l.rule)
	if widget.Width(brand)+width > room {
		brand = " "
	}
	for _, with := range []statuses{statusAgents, statusNumber} {
		if 1+width > room {
			status = m.status(with)
			room = m.w - widget.Width(status) - 1
		}
	}
	if 1+width > room {
		tabs, width = m.tabs(titleCalling, l.rule)
	}
	if 1+width > m.w { // else the status makes room
		tabs, width = m.tabs(titleShown, l.rule)
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
		if i == m.at {
			from, to = x, x+w
		}
		m.targets = append(m.targets, Area{X: x, W: w, H: 1, Run: func() tea.Cmd { return m.show(i) }})
		if n, ok := m.pages[i].(Narrower); ok && t.badge > 0 {
			m.targets = append(m.targets, Area{X: x + w - t.badge, W: t.badge, H: 1, Run: func() tea.Cmd { return tea.Batch(m.show(i), n.Narrow()) }})
		}
		row += " "
	}
	out := []string{widget.Ends(row, status, m.w)}
	if l.rule {
		g := th.Glyph
		to = min(to, m.w)
		from = min(from, to)
		out = append(out, th.Border.Render(widget.Repeat(g.Frame.Top, from))+
			th.Accent.Render(widget.Repeat(g.Focus.Top, to-from))+
			th.Border.Render(widget.Repeat(g.Frame.Top, m.w-to)))
	}
	return out
}

// tabKey is the key that goes to a page, as its tab shows it; "" where it means
// something else: a question's options are chosen with digits, and a text field
// takes them as text. A longer one that does is not worth the cells.
func (m *Model) tabKey(page string) string {
	i := slices.IndexFunc(m.global, func(a *Action) bool { return a.ID == "go."+page })
	k := m.keyOf(m.global[i])
	if k == "" || len(k) > len(m.global[i].Keys[0]) {
		return ""
	}
	return KeyLabel(k, m.theme.Glyph.ASCII)
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

// tabs draws one label a page. Without a title it is the page's key, or as many letters
// as tell it apart, where no key goes there.
func (m *Model) tabs(with titles, rule bool) ([]tab, int) {
	th := m.theme
	out := make([]tab, len(m.pages))
	width := 0
	for i, p := range m.pages {
		key, title := m.tabKey(p.ID()), p.Title()
		news, isNews := p.(Marker)
		short := with == titleShown || with == titleCalling && (p.Badge() == 0 || isNews)
		switch {
		case short && i != m.at && key != "":
			title = ""
		case short && i != m.at:
			title = m.abbreviated(i)
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
		case i != m.at:
			out[i].text = " " + th.Faint.Render(key) + th.Muted.Render(title) + badge
		case rule:
			out[i].text = " " + th.Key.Render(key) + th.Strong.Render(title) + badge
		default:
			out[i].text = th.Here.Render(" "+key+title+" ") + badge
		}
		if out[i].badge = widget.Width(badge); rule || i != m.at {
			out[i].text += " "
			out[i].badge = min(out[i].badge, 1) * (out[i].badge + 1)
		}
		width += widget.Width(out[i].text) + 1
	}
	return out, width
}

// abbreviated is the beginning of a page's title that no other page's has.
func (m *Model) abbreviated(i int) string {
	title := []rune(m.pages[i].Title())
	for n := 2; n < len(title); n++ {
		again := func(p Page) bool { return strings.HasPrefix(p.Title(), string(title[:n])) }
		if j := slices.IndexFunc(m.pages, again); j == i && !slices.ContainsFunc(m.pages[i+1:], again) {
			return string(title[:n])
		}
	}
	return string(title)
}

// statuses says what is at the right end of the header.
type statuses int

const (
	statusAll    statuses = iota
	statusAgents          // without money
	statusNumber          // of agents alone
)

// status is at the right end of the header: who is there, and what was spent today.
func (m *Model) status(with statuses) string {
	th, s := m.theme, m.snap
	if s == nil {
		return ""
	}
	n := m.apart
	for _, a := range s.Agents {
		if a.Gone.IsZero() {
			n++
		}
	}
	var parts []string
	if m.opts.Watch {
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
	if m.spent != "" && with == statusAll {
		parts = append(parts, th.Muted.Render(m.spent+" today"))
	}
	return strings.Join(parts, th.Faint.Render(" "+th.Glyph.Dot+" ")) + " "
}

func (m *Model) tooSmall() []string {
	lines := []string{"mcpdeck needs " + itoa(LeastW) + "×" + itoa(LeastH) + " cells", "this is " + itoa(m.w) + "×" + itoa(m.h)}
	for _, p := range m.pages {
		if n := p.Badge(); n > 0 {
			lines = append(lines, p.Title()+": "+itoa(n)+" waiting")
		}
	}
	if m.leaving() {
		lines = append(lines, "ctrl+c again quits")
	} else {
		lines = append(lines, "ctrl+c quits")
	}
	var rows []string
	for _, l := range lines {
		rows = append(rows, widget.Wrap(l, m.w)...)
	}
	return widget.Rows(rows, m.w, m.h)
}

// drawOverlays lays the open overlays over the rows, each in the middle, the
// page under them faint.
func (m *Model) drawOverlays(f *Frame, rows []string) {
	if len(m.overlays) == 0 {
		return
	}
	for i, row := range rows {
		rows[i] = m.dim(row, i, f.placed)
	}
	var layers []*lipgloss.Layer
	for i, r := range m.overlays {
		r.at = Area{}
		sub := f.Sub(m.w-2, len(rows)-1)
		sub.Focus = i == len(m.overlays)-1
		var over []string
		err := safe.Call(r.overlay.ID(), func() error {
			over = r.overlay.Render(sub)
			return nil
		})
		r.undrawn = err != nil
		if err != nil {
			over = widget.Dialog(m.theme, "", "", []string{m.theme.Bad.Render(broken(err))}, sub.W, sub.H)
		}
		if len(over) == 0 {
			continue
		}
		w, h := widget.Width(over[0]), len(over)
		r.at = Area{Part: areaOverlay, X: max((m.w-w)/2, 0), Y: max((len(rows)-h)/2, 0), W: w, H: h}
		layers = append(layers, lipgloss.NewLayer(strings.Join(over, "\n")).X(r.at.X).Y(r.at.Y).Z(i+1))
		if sub.Focus {
			f.Join(sub, r.at.X, r.at.Y)
		} else {
			f.RedrawAfter(sub.wake)
			f.joinPictures(sub, r.at.X, r.at.Y)
		}
	}
	m.lay(rows, layers)
}

// dim makes a row faint but for the pictures in it: a picture without its colours
// is noise, and cells that stand for a picture are nothing without theirs.
func (m *Model) dim(row string, y int, pictures []picture.Placed) string {
	out, from := "", 0
	faint := func(to int) {
		if to > from {
			out += m.theme.Border.Render(ansi.Strip(ansi.Cut(row, from, to)))
		}
	}
	for _, p := range pictures { // in the order they were drawn: left to right
		if y < p.Y || y >= p.Y+p.Rows || p.X < from {
			continue
		}
		faint(p.X)
		out += ansi.Cut(row, p.X, p.X+p.Cols) + "\x1b[m"
		from = p.X + p.Cols
	}
	faint(m.w)
	return out
}

// lay puts layers over the rows of the frame. Only the rows that they cover go
// through the canvas: a whole frame of 200×60 takes 6 ms there.
func (m *Model) lay(rows []string, layers []*lipgloss.Layer) {
	from, to := len(rows), 0
	for _, l := range layers {
		from, to = min(from, max(l.GetY(), 0)), max(to, min(l.GetY()+l.Height(), len(rows)))
	}
	if from >= to {
		return
	}
	m.canvas.Resize(m.w, to-from)
	m.canvas.Compose(uv.NewStyledString(strings.Join(rows[from:to], "\n")))
	m.canvas.Compose(lipgloss.NewCompositor(lipgloss.NewLayer("", layers...).Y(-from)))
	for i, row := range strings.Split(m.canvas.Render(), "\n") {
		rows[from+i] = widget.Fit(row, m.w)
	}
}
