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
	// A terminal that is being made smaller tells of cells that the frame does not have.
	e.X, e.Y = min(max(e.X, 0), m.w-1), min(max(e.Y, 0), m.h-1)
	switch msg.(type) {
	case tea.MouseClickMsg:
		if e.Button != tea.MouseLeft {
			break
		}
		m.sel = selection{}
		if m.drags(e.X, e.Y) {
			return m.click(e.X, e.Y)
		}
		m.sel.press(e.X, e.Y)
		return nil
	case tea.MouseReleaseMsg:
		return m.endDrag(e.X, e.Y)
	case tea.MouseMotionMsg:
		switch {
		case e.Button == tea.MouseLeft && m.sel.held:
			m.sel.drag(e.X, e.Y)
			return nil
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
		default:
		}
		if d != 0 {
			m.sel = selection{}
			return m.point(e.X, e.Y, func(x, y int) tea.Msg { return WheelMsg{X: x, Y: y, Delta: d} })
		}
	}
	m.unchanged()
	return nil
}

// drags reports whether the page moves something with the mouse at a cell.
func (m *Model) drags(x, y int) bool {
	d, ok := m.page().(Dragger)
	a := m.under(x, y)
	return ok && a != nil && a.Part == areaPage && d.Drags(x-a.X, y-a.Y)
}

func (m *Model) click(x, y int) tea.Cmd {
	if a := m.under(x, y); a != nil && a.Run != nil {
		return a.Run()
	}
	return m.point(x, y, func(x, y int) tea.Msg { return ClickMsg{X: x, Y: y} })
}

// What can be under the mouse beside tabs and hints.
const (
	areaPage    = "page"
	areaCover   = "cover" // what an overlay keeps from the mouse
	areaOverlay = "overlay"
)

// under is what is at a cell of the frame on screen. While an overlay is open that
// is the topmost one or a hint in the footer.
func (m *Model) under(x, y int) *Area {
	l := m.layout()
	areas := Areas{}
	if m.page() != nil && !m.undrawn {
		areas = append(areas, Area{Part: areaPage, Y: l.bodyY, W: m.w, H: l.bodyH})
	}
	areas = append(areas, m.targets...)
	if o := m.top(); o != nil {
		areas = append(areas, Area{Part: areaCover, W: m.w, H: m.h - 1}, o.at)
	}
	return areas.At(x, y)
}

// point gives a message in cells of its receiver to the topmost overlay, else
// to the page.
func (m *Model) point(x, y int, msg func(x, y int) tea.Msg) tea.Cmd {
	a := m.under(x, y)
	switch {
	case a == nil:
		return nil
	case a.Part == areaOverlay:
		return m.tell(m.top().overlay, msg(x-a.X, y-a.Y))
	case a.Part == areaPage:
		return m.tell(m.page(), msg(x-a.X, y-a.Y))
	}
	return nil
}
