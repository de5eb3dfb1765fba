package router

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

// removal is how calls of a server end that goes while the host runs.
type removal struct {
	ctx context.Context //nolint:containedctx // it lasts as long as the server
	end context.CancelCauseFunc
}

// goneError is why a call ended whose server has gone, or that the user has cancelled.
type goneError struct{ text string }

func (e *goneError) Error() string { return e.text }

// all are the servers there are now. The slice must not be changed.
func (h *Host) all() []*registration { return *h.modules.Load() }

// Add takes in a server while the host runs. Of what it offers, that is hidden which a
// server before it offers too: those given to [New] come first, the others by name.
func (h *Host) Add(s backend.Server) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	id := s.Info()
	switch {
	case h.closing.Load():
		return errors.New("add a server: mcpdeck is shutting down")
	case h.module(id.Name) != nil:
		return fmt.Errorf("add a server: one is named %q already", id.Name)
	}
	g := h.guest(s, id)
	g.start()
	h.set(append(slices.Clone(h.all()), g))
	h.publishSubscriptions(g)
	h.refreshViews(g)
	h.findClashes()
	h.changed()
	return nil
}

// Remove takes away a server that was added. Its calls in flight end with a sentence
// for the agent, clients are told what is listed no more, and within ctx the server
// stops.
func (h *Host) Remove(ctx context.Context, name string) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	m, err := h.added("remove", name)
	if err != nil {
		return err
	}
	h.set(slices.DeleteFunc(slices.Clone(h.all()), func(o *registration) bool { return o == m }))
	m.cancelCalls("was removed from mcpdeck")
	h.refreshViews(m)
	err = m.stop(ctx)
	h.changed()
	return err
}

// Replace puts a server in the place of one of its name that was added. That one stops
// first, within ctx, with its calls; lists change once, to what the new one offers.
func (h *Host) Replace(ctx context.Context, s backend.Server) error {
	h.changing.Lock()
	defer h.changing.Unlock()
	id := s.Info()
	old, err := h.added("replace", id.Name)
	if err != nil {
		return err
	}
	old.cancelCalls("was restarted")
	err = old.stop(ctx)
	g := h.guest(s, id)
	g.start()
	h.set(append(slices.DeleteFunc(slices.Clone(h.all()), func(o *registration) bool { return o == old }), g))
	h.publishSubscriptions(g)
	h.refreshViews(g)
	h.findClashes()
	h.changed()
	return err
}

// added is the server of that name, if it came while the host ran.
func (h *Host) added(verb, name string) (*registration, error) {
	m := h.module(name)
	switch {
	case m == nil:
		return nil, fmt.Errorf("%s %q: %w", verb, name, ErrUnknownServer)
	case m.gone == nil:
		return nil, fmt.Errorf("%s %q: it is part of mcpdeck", verb, name)
	case h.closing.Load():
		return nil, fmt.Errorf("%s %q: mcpdeck is shutting down", verb, name)
	}
	return m, nil
}

func (h *Host) guest(s backend.Server, id backend.Info) *registration {
	ctx, end := context.WithCancelCause(h.ctx)
	g := h.register(s, id)
	g.gone = &removal{ctx, end}
	return g
}

// set puts the servers in their order: those that stay as they were given, then the
// guests by name.
func (h *Host) set(modules []*registration) {
	slices.SortStableFunc(modules, func(a, b *registration) int {
		switch {
		case a.gone == nil && b.gone == nil:
			return 0
		case a.gone == nil:
			return -1
		case b.gone == nil:
			return 1
		}
		return strings.Compare(a.id.Name, b.id.Name)
	})
	h.modules.Store(&modules)
}

// cancelCalls ends the calls of a guest.
func (m *registration) cancelCalls(why string) {
	m.gone.end(&goneError{m.id.Title + " " + why + " during this call. It may have taken effect: check, then retry"})
}
