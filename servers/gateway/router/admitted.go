package router

import (
	"context"
	"errors"

	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Pause gives the place of the call of ctx among the deck's work to others while it
// waits for something outside. back takes one again; its error is that of its
// context, and means that the call is over.
func Pause(ctx context.Context) (back func(context.Context) error) {
	q := requestFrom(ctx)
	if q == nil {
		return func(context.Context) error { return nil }
	}
	q.mu.Lock()
	place := q.place
	q.mu.Unlock()
	return place.Yield()
}

// Need says that the call of ctx needs so many bytes, where that shows only once its
// arguments are read. It may wait for them; its error is that of ctx, and means that the call
// is over.
func Need(ctx context.Context, bytes int64) error {
	q := requestFrom(ctx)
	if q == nil {
		return nil
	}
	q.mu.Lock()
	place := q.place
	q.mu.Unlock()
	return place.Grow(ctx, bytes)
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
