package transport

import (
	"context"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// flight tracks the requests of a session over HTTP that are answered without the
// library, which can only cancel its own. The zero value is ready to use.
type flight struct {
	mu   sync.Mutex
	open map[string]context.CancelFunc // by their ids
}

// cancellable makes serve end when the client cancels its request. The answer is then an
// error, since an HTTP request needs a response.
func (f *flight) cancellable(e *backend.Request, serve func(context.Context) backend.Reply) func(context.Context) backend.Reply {
	if e.Stateless() {
		return serve // it ends with its request
	}
	id := string(e.ID)
	return func(ctx context.Context) backend.Reply {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		f.mu.Lock()
		if f.open == nil {
			f.open = map[string]context.CancelFunc{}
		}
		if f.open[id] != nil {
			f.mu.Unlock()
			return backend.Failed(rpc.CodeInvalid, "a request with this id is already in flight")
		}
		f.open[id] = cancel
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			delete(f.open, id)
			f.mu.Unlock()
		}()
		reply := serve(ctx)
		if ctx.Err() != nil {
			return backend.Failed(rpc.CodeInternal, "the request was cancelled")
		}
		return reply
	}
}

// cancelled ends the request that a notification cancels, if it is in this flight.
func (f *flight) cancelled(e *backend.Request) {
	if e.Method != "notifications/cancelled" {
		return
	}
	f.mu.Lock()
	cancel := f.open[string(e.Params.Get("requestId"))]
	f.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}
