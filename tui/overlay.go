package tui

import (
	"slices"
	"time"
)

// Overlays that nobody asked for drop keys until the user has stopped typing
// for graceQuiet, but no longer than graceMost.
const (
	graceQuiet = 400 * time.Millisecond
	graceMost  = 1500 * time.Millisecond
)

// raised is an overlay that is open.
type raised struct {
	overlay Overlay
	table   table
	opened  time.Time
	unasked bool
	undrawn bool // it could not be drawn
	at      Area // on the frame on screen
}

// graceful tells whether a key at now was not meant for the overlay: when it
// opened by itself and the user has not paused since.
func (r *raised) graceful(now, lastKey time.Time) bool {
	if !r.unasked {
		return false
	}
	since := r.opened
	if lastKey.After(since) {
		since = lastKey
	}
	if now.Sub(since) >= graceQuiet || now.Sub(r.opened) >= graceMost {
		r.unasked = false
	}
	return r.unasked
}

func (m *Model) top() *raised {
	if len(m.overlays) == 0 {
		return nil
	}
	return m.overlays[len(m.overlays)-1]
}

// open puts an overlay on top; one that is open already stays where it is.
func (m *Model) open(o Overlay, unasked bool) {
	for _, r := range m.overlays {
		if r.overlay.ID() == o.ID() {
			return
		}
	}
	m.overlays = append(m.overlays, &raised{
		overlay: o,
		table:   newTable(o.Actions(), o.ID(), m.keys),
		opened:  time.Now(), unasked: unasked,
	})
}

func (m *Model) close(id string) {
	m.overlays = slices.DeleteFunc(m.overlays, func(r *raised) bool { return r.overlay.ID() == id })
}
