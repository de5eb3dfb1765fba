package ask

import (
	"context"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/socket"
)

// How a deck is looked for: often at first, since it may be starting, then now
// and then.
const (
	lostFor      = time.Minute // a new question waits for a deck that has gone
	defaultWait  = 3 * time.Second
	firstPause   = 50 * time.Millisecond
	longPause    = 300 * time.Millisecond
	seldomPause  = 2 * time.Second
	seldomAfter  = time.Minute
	inLineWithin = 2 * time.Second
)

// Unreached is the state of a request that no deck has: it is on nobody's screen.
const Unreached State = "unreached"

// patience is how long a request waits for a deck. One that a deck has had waits
// for as long as it lives.
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

// lives is what is left of the time that the request waits for an answer.
func (r *RemoteCall) lives() time.Duration { return lifetime(r.req) - time.Since(r.start) }

// dial tries once. A socket that another user may have put there counts as none.
func (c *Client) dial() (net.Conn, error) {
	conn, err := socket.Dial(context.Background(), c.opt.Path)
	if err != nil {
		return nil, ErrUnavailable
	}
	return conn, nil
}

// dialFor tries for as long as wait, while r is wanted, and once more at its end.
func (c *Client) dialFor(r *RemoteCall, wait time.Duration) (net.Conn, error) {
	began := time.Now()
	pause := firstPause
	for {
		conn, err := c.dial()
		if err == nil {
			return conn, nil
		}
		left := wait - time.Since(began)
		if left <= 0 {
			return nil, err
		}
		select {
		case <-time.After(min(pause, left)):
		case <-r.left:
			return nil, ErrWithdrawn
		}
		pause = min(2*pause, longPause)
		if time.Since(began) > seldomAfter {
			pause = seldomPause
		}
	}
}

// inLine waits until the deck has the request that was made before next, so that
// the user gets them in their order. A deck that says nothing about it is not
// waited for.
func (r *RemoteCall) inLine(next *RemoteCall, connected bool) {
	if !connected { // nobody is asked anything at the moment
		return
	}
	select {
	case <-r.placed:
	case <-r.done:
	case <-next.left:
	case <-time.After(inLineWithin):
	}
}
