package tui

import tea "charm.land/bubbletea/v2"

// wheelRows is how far one notch of the wheel goes.
const wheelRows = 3

// mouse hands clicks and the wheel to what is under them on the frame on screen.
func (m *Model) mouse(msg tea.MouseMsg) tea.Cmd {
	e := msg.Mouse()
	if m.blind() {
		m.unchanged()
		return nil
	}
	switch msg.(type) {
	case tea.MouseClickMsg:
		if e.Button == tea.MouseLeft {
			return m.click(e.X, e.Y)
		}
	case tea.MouseMotionMsg:
		switch {
		case e.Button == tea.MouseLeft:
			return m.point(e.X, e.Y, func(x, y int) tea.Msg { return DragMsg{X: x, Y: y} })
		case e.Button == tea.MouseNone && m.hovers():
			return m.point(e.X, e.Y, func(x, y int) tea.Msg { return HoverMsg{X: x, Y: y} })
		}
	case tea.MouseWheelMsg:
		d := 0
		switch e.Button {
		case tea.MouseWheelUp:
			d = -wheelRows
		case tea.MouseWheelDown:
			d = wheelRows
		}
		if d != 0 {
			return m.point(e.X, e.Y, func(x, y int) tea.Msg { return WheelMsg{X: x, Y: y, Delta: d} })
		}
	}
	m.unchanged()
	return nil
}

// hovers tells whether the page wants to hear of a mouse without a button.
func (m *Model) hovers() bool {
	h, ok := m.page().(Hoverer)
	return ok && m.top() == nil && h.Hovers()
}

func (m *Model) click(x, y int) tea.Cmd {
	for _, t := range m.targets {
		if y == t.y && x >= t.x && x < t.x+t.w && (m.top() == nil || y == m.h-1) {
			return t.run()
		}
	}
	return m.point(x, y, func(x, y int) tea.Msg { return ClickMsg{X: x, Y: y} })
}

// point gives a message in cells of its receiver to the topmost overlay, else
// to the page.
func (m *Model) point(x, y int, msg func(x, y int) tea.Msg) tea.Cmd {
	if o := m.top(); o != nil {
		if x >= o.x && x < o.x+o.w && y >= o.y && y < o.y+o.h {
			return m.tell(o.overlay, msg(x-o.x, y-o.y))
		}
		return nil
	}
	l := m.layout()
	p := m.page()
	if p == nil || y < l.bodyY || y >= l.bodyY+l.bodyH || m.undrawn {
		return nil
	}
	return m.tell(p, msg(x, y-l.bodyY))
}
