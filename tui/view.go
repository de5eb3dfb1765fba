package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// The smallest terminal that the pages are made for.
const (
	leastW = 40
	leastH = 12
)

// View is the frame. Bubble Tea asks after every message; what has not changed,
// or changed less than frameEvery ago, is not drawn again.
func (m *Model) View() tea.View {
	m.ticks.want()
	now := time.Now()
	if !m.dirty && !m.spins.turns {
		return m.frame
	}
	if m.dirty {
		if since := now.Sub(m.composed); since < frameEvery && !m.composed.IsZero() {
			m.pump.redrawAfter(frameEvery - since)
			return m.frame
		}
		m.dirty, m.composed = false, now
		m.compose(now)
	}
	var wake time.Duration
	m.frame.Content, wake = m.spins.turn(now, m.theme, m.opts.Still)
	m.pump.redrawAfter(wake)
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
	f := &Frame{W: m.w, H: m.h, Theme: m.theme, Now: now, Focus: len(m.overlays) == 0, Quotas: m.quotas, gallery: m.pictures.gallery, failures: m.failures, sight: m.sight}
	if i := slices.IndexFunc(m.global, func(a *Action) bool { return a.ID == "demo" }); i >= 0 {
		f.demo = cmp.Or(m.keyOf(m.global[i]), ":demo")
	}
	m.pictures.gallery.Begin()
	m.sight.begin()
	if m.w > 0 && m.h > 0 {
		rows := m.rows(f)
		m.pictures.gallery.End(rows, f.placed)
		if !m.clusters {
			f.measured(rows)
		}
		v.Content = strings.Join(rows, "\n")
		if m.theme.Glyph.ASCII {
			v.Content = theme.ToASCII(v.Content)
		}
		if m.sel.on {
			v.Content = m.sel.mark(v.Content, m.layout(), m.theme, m.w)
		}
		f.RedrawAfter(m.pictures.wake(now))
	}
	f.RedrawAfter(m.sight.end(now, m.lastKey, m.place(), m.w, m.h))
	if f.cursor != nil {
		v.Cursor = tea.NewCursor(f.cursor.X, f.cursor.Y)
		v.Cursor.Shape = tea.CursorBar
	}
	m.frame, m.spins = v, spins{drawn: v.Content}
	if f.wake > 0 {
		m.spins.due = now.Add(f.wake)
	}
}

// measured rewrites the rows, which are laid out in grapheme clusters, for a
// terminal that has not said that it measures so.
func (f *Frame) measured(rows []string) {
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
	head := header{&m.stage, &m.targets, m.show}
	rows := append(make([]string, 0, m.h), head.row())
	rows = append(rows, page...)
	if f.Focus {
		f.Join(body, 0, l.bodyY)
	} else {
		f.RedrawAfter(body.wake)
		f.joinPictures(body, 0, l.bodyY)
	}
	rows = append(rows, m.guideRows()...)
	m.drawPopup(f, rows, l)
	m.drawOverlays(f, rows)
	// What follows stays readable, and says what can be done with what was drawn.
	foot := footer{&m.stage, m.sight, m.opts.Watch, &m.targets, m.clicked}
	if l.rule {
		return append(rows, m.ruleRow(f, len(rows)), foot.row())
	}
	if said := message(f, &m.toasts, &m.presses, toastInRow, m.w-1); said != "" {
		m.targets = append(m.targets, Area{Y: len(rows), W: m.w, H: 1, Run: m.toasts.dismiss})
		return append(rows, widget.Fit(" "+said, m.w))
	}
	return append(rows, foot.row())
}

// drawOverlays lays the open overlays over the rows, each in the middle, the
// page under them faint.
func (m *Model) drawOverlays(f *Frame, rows []string) {
	if len(m.overlays) == 0 {
		return
	}
	for i, row := range rows {
		rows[i] = dim(m.theme, row, i, f.placed, m.w)
	}
	var layers []*lipgloss.Layer
	for i, r := range m.overlays {
		r.at = Area{}
		sub := f.Sub(m.w-2, len(rows)-1)
		sub.Focus = i == len(m.overlays)-1
		var over []string
		err := recovery.Call(r.overlay.ID(), func() error {
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
func dim(th *theme.Theme, row string, y int, pictures []picture.Placed, w int) string {
	out, from := "", 0
	faint := func(to int) {
		if to > from {
			out += th.Border.Render(ansi.Strip(ansi.Cut(row, from, to)))
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
	faint(w)
	return out
}
