package socket

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// After an error, the next connection is accepted after retryFirst, and after twice the time
// for each further error, up to retryMost.
const (
	retryFirst = 5 * time.Millisecond
	retryMost  = time.Second
)

// Acceptor is what connections come from: a [Listener], or one of another kind in a test.
type Acceptor interface {
	AcceptUnix() (*net.UnixConn, error)
	Close() error
}

// Serving says what [Serve] does with connections.
type Serving struct {
	Name  string       // of the socket
	Limit *ConnLimit   // several listeners may share one
	Log   *slog.Logger // nil: nothing is logged
	// Refused is told of each connection that is not of the user's own processes. It may be
	// nil.
	Refused func()
	// Linger lets connections go on when the listener is closed; else they end with it.
	Linger bool
	// Handle serves a connection, which is closed after that, and when ctx ends. limit is 0
	// or the number of connections that there would be too many of: then the connection is
	// to be told so.
	Handle func(ctx context.Context, c *net.UnixConn, from Peer, limit int)
}

// Serve accepts connections until ctx ends or l is closed, and returns when none is being
// served any more. No error but a closed listener ends it: a process that is out of file
// descriptors goes on when it has some again.
func Serve(ctx context.Context, l Acceptor, s Serving) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = l.Close() }) // it only ends
	defer stop()
	var all sync.WaitGroup
	defer all.Wait()
	for wait := retryFirst; ; {
		c, err := l.AcceptUnix()
		switch {
		case err == nil:
			wait = retryFirst
			s.begin(ctx, c, &all)
		case errors.Is(err, net.ErrClosed) || ctx.Err() != nil:
			if !s.Linger {
				cancel()
			}
			return
		default:
			if wait == retryFirst && s.Log != nil {
				s.Log.Warn("a connection could not be accepted", "socket", s.Name, "error", err)
			}
			again := time.NewTimer(wait)
			select {
			case <-again.C:
			case <-ctx.Done():
				again.Stop()
			}
			wait = min(2*wait, retryMost)
		}
	}
}

// begin serves a connection on a goroutine of its own, or closes it.
func (s *Serving) begin(ctx context.Context, c *net.UnixConn, all *sync.WaitGroup) {
	from, err := PeerOf(c)
	if err != nil || !from.Trusted() {
		if s.Refused != nil {
			s.Refused()
		}
		_ = c.Close() // nobody to tell
		return
	}
	hear, limit := s.Limit.enter(from.PID)
	if !hear {
		s.Limit.leave(from.PID)
		_ = c.Close() // nobody is told
		return
	}
	all.Add(1)
	recovery.Go(s.Name+" connection", func() {
		defer all.Done()
		defer s.Limit.leave(from.PID)
		defer c.Close()
		end := context.AfterFunc(ctx, func() { _ = c.Close() })
		defer end()
		s.Handle(ctx, c, from, limit)
	})
}
