package wire

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/host"
)

// receiptWait is how long a result waits for the notifications before it to be written.
// A client that reads none of its streams is not waited for longer.
const receiptWait = time.Second

// receipts know which notifications of requests are still to be written. In a session over
// HTTP, two streams take them from one queue of the library: the response to the request,
// and the stream that the session listens on. Without receipts, a result could overtake
// those that the second stream has taken. The zero value is ready to use.
type receipts struct {
	mu   sync.Mutex
	last uint64
	due  map[string]*dueReceipts
}

// dueReceipts are those of one request.
type dueReceipts struct {
	of        *receipts
	listening *atomic.Int32 // open streams that the session listens on

	n    int           // guarded by of.mu, as is what follows
	none chan struct{} // closed when n becomes 0; nil unless somebody waits
}

// issue returns a new receipt, and what takes it back.
func (d *dueReceipts) issue() (id string, void func()) {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	if d.of.due == nil {
		d.of.due = map[string]*dueReceipts{}
	}
	d.of.last++
	id = strconv.FormatUint(d.of.last, 10)
	d.of.due[id] = d
	d.n++
	return id, func() { d.of.redeem(id) }
}

// redeem notes that a notification is written, or will not be.
func (r *receipts) redeem(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.redeemed(id)
}

// stored notes that a notification is kept for a client that comes back. It is written
// as well unless the session listens on no stream, in which case nobody else redeems it.
func (r *receipts) stored(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d := r.due[id]; d != nil && d.listening.Load() == 0 {
		r.redeemed(id)
	}
}

func (r *receipts) redeemed(id string) {
	d := r.due[id]
	if d == nil {
		return
	}
	delete(r.due, id)
	if d.n--; d.n == 0 && d.none != nil {
		close(d.none)
		d.none = nil
	}
}

// before makes serve return its reply once the notifications before it are written.
func (d *dueReceipts) before(serve func(context.Context) host.Reply) func(context.Context) host.Reply {
	return func(ctx context.Context) host.Reply {
		reply := serve(host.WithReceipts(ctx, d.issue))
		d.of.mu.Lock()
		if d.n == 0 {
			d.of.mu.Unlock()
			return reply
		}
		none := make(chan struct{})
		d.none = none
		d.of.mu.Unlock()
		late := time.NewTimer(receiptWait)
		defer late.Stop()
		select {
		case <-none:
		case <-ctx.Done():
		case <-late.C:
		}
		d.of.mu.Lock()
		defer d.of.mu.Unlock()
		for id, other := range d.of.due {
			if other == d {
				delete(d.of.due, id)
			}
		}
		return reply
	}
}
