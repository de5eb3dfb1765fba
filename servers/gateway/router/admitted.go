package router

import (
	"context"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Yield implements [backend.Deck].
func (q *request) Yield() (back func(context.Context) error) { return q.slot().Yield() }

// Need implements [backend.Deck].
func (q *request) Need(ctx context.Context, bytes int64) error { return q.slot().Grow(ctx, bytes) }

// slot is the request's among the deck's work; nil if it has none.
func (q *request) slot() *admission.Slot {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.place
}

// admit waits until the request may run. The error is an *admission.Busy or that of
// ctx.
func (h *Host) admit(ctx context.Context, q *request, class admission.Class) (*admission.Slot, error) {
	place, err := h.admission.Enter(ctx, q.agent.Caller().Identity, class)
	if err != nil {
		return nil, err
	}
	q.mu.Lock()
	q.place = place
	q.mu.Unlock()
	return place, nil
}

// admitted runs what answers a request other than a call of a tool.
func admitted[T any](ctx context.Context, h *Host, class admission.Class, answer func() (T, error)) (none T, err error) {
	q := requestFrom(ctx)
	if q == nil {
		return answer()
	}
	place, err := h.admit(ctx, q, class)
	if err != nil {
		var busy *admission.Busy
		if errors.As(err, &busy) {
			err = &rpc.Error{Code: rpc.CodeBusy, Message: err.Error()}
		}
		return none, err
	}
	defer place.Leave()
	return answer()
}

// Hold counts the bytes of a request that is kept in memory until it is answered;
// false when the agent, or all together, have too many in flight. release must be
// called once.
func (a *Agent) Hold(n int) (release func(), ok bool) {
	return a.host.admission.Hold(a.Caller().Identity, int64(n))
}

// Hold is [Agent.Hold] for bytes of which it is not known yet whose they are.
func (h *Host) Hold(of string, n int) (release func(), ok bool) {
	return h.admission.Hold(of, int64(n))
}
