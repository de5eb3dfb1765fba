package tui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
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
type toasts struct{ list []toast }

func (t *toasts) add(kind ToastKind, text string, pages ...string) {
	stay := toastShort
	if kind >= Warn {
		stay = toastLong
	}
	now := time.Now()
	n := toast{kind: kind, text: plain.Line(text), pages: pages, since: now, until: now.Add(stay)}
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

// clear takes all away that there was time to see, and tells whether those were
// all there are.
func (t *toasts) clear(now time.Time) bool {
	t.list = slices.DeleteFunc(t.list, func(n toast) bool { return now.Sub(n.since) > toastSeen })
	return len(t.list) == 0
}

// dismiss takes the toasts away that were clicked.
func (m *Model) dismiss() tea.Cmd {
	m.toasts.list = nil
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
