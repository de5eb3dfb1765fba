package backendtest

import (
	"encoding/json"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Events keeps what a server reports.
type Events struct {
	mu       sync.Mutex
	changes  int
	states   []snapshot.State
	warnings []string
	said     []Said
}

// Said is a notification that belongs to no request.
type Said struct{ Session, Method, Params string }

// Changed implements [backend.Events].
func (e *Events) Changed() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.changes++
}

// Notify implements [backend.Events].
func (e *Events) Notify(session, method string, params json.RawMessage) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.said = append(e.said, Said{session, method, string(params)})
}

// SetState implements [backend.Events].
func (e *Events) SetState(s snapshot.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.states = append(e.states, s)
}

// Warn implements [backend.Events].
func (e *Events) Warn(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.warnings = append(e.warnings, text)
}

// Changes is how often the catalogue has changed.
func (e *Events) Changes() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.changes
}

// State is the newest; the zero value before the first.
func (e *Events) State() (s snapshot.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.states) > 0 {
		s = e.states[len(e.states)-1]
	}
	return s
}

// Said are the notifications, in order.
func (e *Events) Said() []Said {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Said(nil), e.said...)
}
