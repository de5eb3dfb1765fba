package pencil

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is the note about Pencil mode on the deck's page. It says nothing while the mode
// is off.
type Widget struct {
	mode   Mode
	status pencil.Status
}

// NewWidget makes the note. The screen must have the [Feed],
// which loads what it shows.
func NewWidget(m Mode) *Widget { return &Widget{mode: m} }

// Server is Pencil's.
func (w *Widget) Server() string { return "pencil" }

// Update takes the status.
func (w *Widget) Update(msg tea.Msg) tea.Cmd {
	if s, ok := msg.(StatusMsg); ok {
		w.status = s.Status
	}
	return nil
}

// Actions switch the mode.
func (w *Widget) Actions() []tui.Action {
	return modeActions(w.mode, func() pencil.Status { return w.status })
}

// Note is the sign, and as far as there is room what is the matter, or the file.
func (w *Widget) Note(f *tui.Frame, width int) string {
	s := w.status.Sign()
	if s.Tone == upstream.Hidden {
		return ""
	}
	th := f.Theme
	sign, more := toneStyle(th, s.Tone).Render(pencil.Label(s, th.Glyph.ASCII)), strings.TrimPrefix(sanitize.Line(s.Note), "Pencil failed: ") // the sign says that
	if s.Tone == upstream.Good {
		more = sanitize.Line(w.status.File)
	}
	if more == "" || widget.Width(sign)+2+widget.Width(more) > width {
		return sign
	}
	return sign + th.Muted.Render("  "+more)
}

func toneStyle(th *theme.Theme, t upstream.Tone) theme.Style {
	switch t {
	case upstream.Good:
		return th.Good
	case upstream.Warning:
		return th.Warn
	case upstream.Bad:
		return th.Bad
	default:
		return th.Muted
	}
}

// modeActions switch the mode and reconnect.
func modeActions(m Mode, status func() pencil.Status) []tui.Action {
	return []tui.Action{
		{ID: "pencil.toggle", Title: "Turn Pencil mode on or off", Hint: "pencil", Keys: []string{"p"}, Acts: true, Run: do(m.Toggle)},
		{ID: "pencil.reconnect", Title: "Pencil: reconnect", Acts: true, Run: do(m.Reconnect), Enabled: func() string { return tui.Because(status().Link == upstream.Connecting, "connecting") }},
	}
}

// do runs f off the update loop.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		return func() tea.Msg { f(); return nil }
	}
}
