package pencil

import (
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widget is what every page has of Pencil mode: its state, and the key that switches it. It
// says nothing while the mode is off.
type Widget struct {
	mode   Mode
	status pencil.Status
}

// NewWidget makes the widget. The screen must have the [Feed],
// which loads what it shows.
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

// Status is the sign, with the number of tools while the mode is on, or what is the matter.
func (w *Widget) Status(f *tui.Frame) string {
	s := w.status.Sign()
	if s.Tone == upstream.Hidden {
		return ""
	}
	said := pencil.Label(s, f.Theme.Glyph.ASCII)
	switch s.Tone {
	case upstream.Good:
		said += " " + strconv.Itoa(len(w.status.Tools))
	case upstream.Warning:
		said += " " + widget.Cut(sanitize.Line(s.Note), 24)
	default:
	}
	return toneStyle(f.Theme, s.Tone).Render(said)
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
		{ID: "pencil.toggle", Title: "Turn Pencil mode on or off", Verb: verb.Pencil, Acts: true, Run: func() tea.Cmd { return toggle(m, status().Mode) }},
		{ID: "pencil.reconnect", Title: "Pencil: reconnect", Acts: true, Run: do(m.Reconnect), Enabled: func() string { return tui.Because(status().Link == upstream.Connecting, "connecting") }},
	}
}

// toggle switches the mode. Where its program is not installed, it says so and where it looked.
func toggle(m Mode, now upstream.Mode) tea.Cmd {
	return func() tea.Msg {
		if now == upstream.Off {
			if _, places, err := m.Find(); err != nil {
				return tui.Open(searched("Pencil is not installed", err.Error(), places))()
			}
		}
		m.Toggle()
		return nil
	}
}

// do runs f off the update loop.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		return func() tea.Msg { f(); return nil }
	}
}
