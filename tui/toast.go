package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/picture"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ToastKind says how a toast is meant.
type ToastKind int

// The kinds of toasts.
const (
	Info ToastKind = iota
	Good
	Warn
	Bad
)

const (
	toastMost  = 3
	toastShort = 4 * time.Second
	toastLong  = 10 * time.Second // warnings and errors
	toastSeen  = 500 * time.Millisecond
)

type toast struct {
	kind  ToastKind
	text  string
	pages []string // which say it themselves
	since time.Time
	until time.Time
}

// toasts are the sentences on the screen, newest last.
type toasts struct {
	list   []toast
	on     Areas // of those on the frame on screen
	hiding bool  // one of them lies over something
}

func (t *toasts) add(kind ToastKind, text string, pages ...string) {
	stay := toastShort
	if kind >= Warn {
		stay = toastLong
	}
	now := time.Now()
	n := toast{kind: kind, text: sanitize.Line(text), pages: pages, since: now, until: now.Add(stay)}
	for i, old := range t.list {
		if old.text == n.text && old.kind == n.kind {
			t.list = append(t.list[:i], t.list[i+1:]...)
			break
		}
	}
	t.list = append(t.list, n)
	if len(t.list) > toastMost {
		t.list = t.list[len(t.list)-toastMost:]
	}
}

// leave takes away what has been said for a while and was for the page that is
// left, or covered by an overlay: there it would only cover something. Warnings
// stay, but for what the next page says itself.
func (t *toasts) leave(next string) {
	t.list = slices.DeleteFunc(t.list, func(n toast) bool {
		return n.kind < Warn && time.Since(n.since) > toastSeen || slices.Contains(n.pages, next)
	})
}

// clear takes all away that there was time to see, and reports whether those were
// all there are.
func (t *toasts) clear(now time.Time) bool {
	t.list = slices.DeleteFunc(t.list, func(n toast) bool { return now.Sub(n.since) > toastSeen })
	return len(t.list) == 0
}

// dismiss takes the toasts away that were clicked.
func (t *toasts) dismiss() tea.Cmd {
	t.list = nil
	return nil
}

// render draws those still alive as rows of at most w cells, and asks for a
// redraw when the next one goes.
func (t *toasts) render(f *Frame, w int) []string {
	live := t.list[:0]
	for _, n := range t.list {
		if f.Now.Before(n.until) {
			live = append(live, n)
			f.RedrawAfter(n.until.Sub(f.Now))
		}
	}
	t.list = live
	var out []string
	for _, n := range live {
		mark, style := n.look(f.Theme)
		lines := widget.Wrap(n.text, w-6)
		width := 0
		for _, line := range lines {
			width = max(width, widget.Width(line))
		}
		for i, line := range lines {
			if i > 0 {
				mark = " "
			}
			row := " " + style.Render(mark) + " " + widget.Fit(line, width) + " "
			out = append(out, f.Theme.Panel.Over(style.Render(f.Theme.Glyph.Focus.Left)+row))
		}
	}
	return out
}

func (n *toast) look(th *theme.Theme) (string, theme.Style) {
	switch n.kind {
	case Good:
		return th.Glyph.OK, th.Good
	case Warn:
		return "!", th.Warn
	case Bad:
		return th.Glyph.Fail, th.Bad
	default:
		return th.Glyph.Dot, th.Info
	}
}

// drawToasts lays the toasts over the right end of the rows, at the lowest place above the
// footer where they cover nothing; just above the footer where there is none.
func (m *Model) drawToasts(f *Frame, rows []string) {
	over := m.toasts.render(f, min(m.w-2, 60))
	layers := make([]*lipgloss.Layer, len(over))
	m.toasts.on, m.toasts.hiding = m.toasts.on[:0], false
	low := m.h - m.footerRows() - len(over)
	top := low
	for top > 0 && m.covers(f, rows, over, top) {
		top--
	}
	if top <= 0 { // also where they are higher than the screen
		top, m.toasts.hiding = low, true
	}
	for i, row := range over { // each at the right end, however long
		w, y := widget.Width(row), top+i
		x := m.w - w - 1
		layers[i] = lipgloss.NewLayer(row).X(x).Y(y).Z(i + 1)
		m.toasts.on = append(m.toasts.on, Area{X: x, Y: y, W: w, H: 1, Run: m.toasts.dismiss})
	}
	m.lay(rows, layers)
}

// covers reports whether toasts that begin in a row would lie over anything but blanks and
// the lines of rules and frames. Under an overlay nothing counts.
func (s *stage) covers(f *Frame, rows, toasts []string, top int) bool {
	seen := Area{W: s.w, H: s.h}
	if o := s.top(); o != nil {
		seen = o.at
	}
	g := &s.theme.Glyph
	lines := " " + g.Frame.Top + g.Frame.Left + g.Frame.TopRight + g.Frame.BottomRight + g.Focus.Top + g.Focus.Left + g.Focus.TopRight + g.Focus.BottomRight
	for i, row := range toasts {
		y := top + i
		from, to := max(s.w-1-widget.Width(row), seen.X), min(s.w-1, seen.X+seen.W)
		if y < seen.Y || y >= seen.Y+seen.H || from >= to {
			continue
		}
		picture := func(p picture.Placed) bool {
			return y >= p.Y && y < p.Y+p.Rows && from < p.X+p.Cols && to > p.X
		}
		if strings.Trim(ansi.Strip(ansi.Cut(rows[y], from, to)), lines) != "" || slices.ContainsFunc(f.placed, picture) {
			return true
		}
	}
	return false
}
