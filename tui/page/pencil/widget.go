package pencil

import (
	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/pencil"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is the line about Pencil mode on the deck's page. It takes no room
// while the mode is off.
type Widget struct {
	mode   Mode
	status pencil.Status
}

// NewWidget makes the line. The screen must have the [Feed],
// which loads what the line shows.
func NewWidget(m Mode) *Widget { return &Widget{mode: m} }

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

// Line draws the sign, what is the matter, and how to switch off.
func (w *Widget) Line(f *tui.Frame, width int) string {
	s := w.status.Sign()
	if s.Tone == card.Hidden {
		return ""
	}
	th := f.Theme
	style := toneStyle(th, s.Tone)
	left := style.Render(pencil.Label(s, th.Glyph.ASCII))
	if s.Note != "" {
		left += th.Muted.Render("  " + plain.Line(s.Note))
	}
	if w.status.File != "" && s.Tone == card.Good {
		left += th.Faint.Render(" " + th.Glyph.Dot + " " + plain.Line(w.status.File))
	}
	if w.status.Listed {
		right := th.Faint.Render(tui.Bytes(w.status.Bytes) + " of each agent's context")
		if widget.Width(left)+widget.Width(right)+2 <= width {
			return widget.Ends(left, right, width)
		}
	}
	return widget.Fit(left, width)
}

func toneStyle(th *theme.Theme, t card.Tone) theme.Style {
	switch t {
	case card.Good:
		return th.Good
	case card.Warning:
		return th.Warn
	case card.Bad:
		return th.Bad
	default:
		return th.Muted
	}
}

// modeActions switch the mode and reconnect.
func modeActions(m Mode, status func() pencil.Status) []tui.Action {
	return []tui.Action{
		{ID: "pencil.toggle", Title: "Turn Pencil mode on or off", Hint: "pencil", Keys: []string{"p"}, Acts: true, Run: do(m.Toggle)},
		{ID: "pencil.reconnect", Title: "Pencil: reconnect", Acts: true, Run: do(m.Reconnect), Enabled: func() string {
			if status().Link == card.Connecting {
				return "connecting"
			}
			return ""
		}},
	}
}

// do runs f off the update loop.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		return func() tea.Msg { f(); return nil }
	}
}
