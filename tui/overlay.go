package tui

import "slices"

// openOverlay is an overlay that is open.
type openOverlay struct {
	overlay Overlay
	table   table
	undrawn bool // it could not be drawn
	at      Area // on the frame on screen
}

// open puts an overlay on top; one that is open already stays where it is.
func (m *Model) open(o Overlay) {
	for _, r := range m.overlays {
		if r.overlay.ID() == o.ID() {
			return
		}
	}
	m.toasts.leave("")
	m.overlays = append(m.overlays, &openOverlay{overlay: o, table: newTable(o.Actions(), o.ID(), m.keys)})
}

func (m *Model) close(id string) {
	m.overlays = slices.DeleteFunc(m.overlays, func(r *openOverlay) bool { return r.overlay.ID() == id })
}
