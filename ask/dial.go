package ask

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

const (
	lostFor      = time.Minute // how long a new question waits for a deck that exited
	defaultWait  = 3 * time.Second
	inLineWithin = 2 * time.Second
)

// pauses returns the pauses between attempts to reach a deck, short at first, since it
// may be starting.
func pauses() reconnect.Pauses {
	return reconnect.Pauses{First: 50 * time.Millisecond, Most: 300 * time.Millisecond, SeldomAfter: time.Minute, Seldom: 2 * time.Second}
}

// Unreached is the state of a request that no deck has, so it is on no screen.
const Unreached State = "unreached"

// patience returns how long a request waits for a deck. A request that a deck has had
// waits until it times out.
func (c *Client) patience(req Request) time.Duration {
	lost := c.opt.Lost != nil && c.opt.Lost()
	switch {
	case lost && (req.Again || len(req.Questions) == 0):
		return lifetime(req)
	case lost:
		return max(lostFor, c.opt.Wait)
	}
	return c.opt.Wait
}

func lifetime(req Request) time.Duration {
	if req.Timeout > 0 {
		return min(max(req.Timeout, minTimeout), maxTimeout)
	}
	return maxTimeout
}

// lives returns how much longer the request waits for an answer.
func (r *RemoteCall) lives() time.Duration { return lifetime(r.req) - time.Since(r.start) }

// dial tries once. It ignores a socket that another user may have created.
func (c *Client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := socket.Dial(ctx, c.opt.Path)
	if err != nil {
		return nil, ErrUnavailable
	}
	return conn, nil
}

// dialFor tries until wait has passed or r is no longer wanted, and once more at the
// end. If a deck can be started, that is done each time there was none for a while.
func (c *Client) dialFor(r *RemoteCall, wait time.Duration) (net.Conn, error) {
	next := time.Now().Add(defaultWait)
	conn, err := reconnect.Dial(r.wanted, pauses(), max(wait, 0), func(ctx context.Context) (net.Conn, error) {
		conn, err := c.dial(ctx)
		if err == nil || c.opt.Begin == nil || time.Now().Before(next) {
			return conn, err
		}
		next = time.Now().Add(defaultWait)
		begun, failed := c.opt.Begin(ctx)
		if failed != nil {
			slog.Warn("start a deck for a question", "error", failed)
		}
		if begun {
			conn, err = reconnect.Dial(ctx, pauses(), defaultWait, c.dial)
		}
		return conn, err
	})
	if err != nil && !r.isWanted() {
		err = ErrWithdrawn
	}
	return conn, err
}

// inLine waits until the deck has the request made before next, so that the user gets
// them in order. It does not wait for a deck that reports no status.
func (r *RemoteCall) inLine(next *RemoteCall, connected bool) {
	if !connected { // there are no requests at the moment
		return
	}
	select {
	case <-r.placed:
	case <-r.done:
	case <-next.wanted.Done():
	case <-time.After(inLineWithin):
	}
}
