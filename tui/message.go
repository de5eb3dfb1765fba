package tui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// ToastKind says how a message is meant.
type ToastKind int

// The kinds of messages.
const (
	Info ToastKind = iota
	Good
	Needs // something that needs the user, on the Inbox
	Warn
	Bad
)

const (
	toastMost  = 3
	toastShort = 5 * time.Second
	toastLong  = 10 * time.Second       // warnings and errors
	toastInRow = 3 * time.Second        // where it stands in place of the footer
	toastSeen  = 500 * time.Millisecond // enough to notice it
)

type toast struct {
	kind  ToastKind
	text  string
	pages []string // which say it themselves
	since time.Time
	until time.Time
}

// toasts are the messages, newest last; the newest is on the screen.
type toasts struct {
	list   []toast
	warned uint64 // the last problem of the deck that was said
}

// warn says once what is new among the problems of the deck.
func (t *toasts) warn(s *snapshot.Snapshot) {
	for _, w := range s.WarningsAfter(t.warned) {
		t.warned = w.ID
		t.add(Warn, w.From+": "+w.Text)
	}
}

func (t *toasts) add(kind ToastKind, text string, pages ...string) {
	stay := toastShort
	if kind >= Warn {
		stay = toastLong
	}
	now := time.Now()
	n := toast{kind: kind, text: sanitize.Line(text), pages: pages, since: now, until: now.Add(stay)}
	t.list = slices.DeleteFunc(t.list, func(old toast) bool { return old.text == n.text && old.kind == n.kind })
	t.list = append(t.list, n)
	if len(t.list) > toastMost {
		t.list = t.list[len(t.list)-toastMost:]
	}
}

// leave takes away what has been said for a while and was for the page that is
// left, or covered by an overlay. Warnings stay, but for what the next page says itself.
func (t *toasts) leave(next string) {
	t.list = slices.DeleteFunc(t.list, func(n toast) bool {
		return n.kind < Warn && time.Since(n.since) > toastSeen || slices.Contains(n.pages, next)
	})
}

// dismiss takes the messages away that were clicked.
func (t *toasts) dismiss() tea.Cmd {
	t.list = nil
	return nil
}

// draw draws the newest message, and those before it that fit into w cells beside it; "" when
// there is none. A redraw is asked for when one goes.
func (t *toasts) draw(f *Frame, most time.Duration, w int) string {
	t.list = slices.DeleteFunc(t.list, func(n toast) bool {
		return !f.Now.Before(n.until) || most > 0 && f.Now.Sub(n.since) >= most
	})
	if len(t.list) == 0 {
		return ""
	}
	out := ""
	for _, n := range slices.Backward(t.list) {
		one := n.draw(f.Theme, w)
		switch {
		case out == "":
			out = one
		case widget.Width(out)+3+widget.Width(one) > w:
			continue
		default:
			out += "   " + one
		}
		left := n.until.Sub(f.Now)
		if most > 0 {
			left = min(left, n.since.Add(most).Sub(f.Now))
		}
		f.RedrawAfter(left)
	}
	return out
}

// draw draws a message into w cells. Where to go for it is never cut off.
func (n *toast) draw(th *theme.Theme, w int) string {
	mark, style := n.look(th)
	text, leads := n.text, ""
	if n.kind == Needs {
		leads = th.Muted.Render(" "+th.Glyph.Dot+" ") + th.Key.Render("I")
		text = widget.Cut(text, max(w-widget.Width(mark)-1-widget.Width(leads), 8))
	}
	return style.Render(mark) + " " + th.Text.Render(text) + leads
}

func (n *toast) look(th *theme.Theme) (string, theme.Style) {
	switch n.kind {
	case Good:
		return th.Glyph.OK, th.Good
	case Needs:
		return th.Glyph.Wait, th.Warn
	case Warn:
		return "!", th.Warn
	case Bad:
		return th.Glyph.Fail, th.Bad
	default:
		return th.Glyph.Dot, th.Info
	}
}

// message is what there is to say now: why a key was ignored, or the newest message.
func message(f *Frame, t *toasts, p *presses, most time.Duration, w int) string {
	said := t.draw(f, most, w)
	if why := p.said(f); why != "" && (said == "" || t.list[len(t.list)-1].since.Before(p.until.Add(-sayFor))) {
		return f.Theme.Warn.Render(why)
	}
	return said
}

// ruleRow is the row above the footer: a rule with a message or the page's standing fact at
// its left end, and the money of today at its right one.
func (m *Model) ruleRow(f *Frame, y int) string {
	th := m.theme
	dot := th.Faint.Render(" " + th.Glyph.Dot + " ")
	var parts []string
	if m.opts.Watch {
		parts = append(parts, th.Warn.Render("watching"))
	}
	for _, w := range m.opts.Widgets {
		if said := w.Status(f); said != "" {
			parts = append(parts, said)
		}
	}
	right := strings.Join(parts, dot)
	room := m.w - 5
	if right != "" {
		room -= widget.Width(right) + 3
	}
	left := widget.Cut(message(f, &m.toasts, &m.presses, 0, room), room)
	for _, said := range quotas(f, m.quotas) {
		more := strings.Join(append(parts, said), dot)
		if widget.Width(left)+widget.Width(more)+3 <= m.w-5 {
			parts, right = append(parts, said), more
		}
	}
	if right != "" {
		room = m.w - 8 - widget.Width(right)
	}
	if spent := th.Muted.Render(m.spent + " today"); m.spent != "" && widget.Width(left)+widget.Width(spent)+3 <= room {
		right = strings.Join(append(parts, spent), dot)
	}
	if left != "" {
		m.targets = append(m.targets, Area{Y: y, W: m.w, H: 1, Run: m.toasts.dismiss})
	} else if s, ok := m.page().(FooterStatus); ok && m.top() == nil {
		left = th.Muted.Render(s.FooterNote(m.w))
	}
	line := th.Border.Render(th.Glyph.Frame.Top)
	return line + widget.Rule(th.Border, theme.Style{}, th.Glyph.Frame.Top, left, right, m.w-2) + line
}
