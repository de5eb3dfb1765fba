package mirror

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// greetWithin is how long a host may take to greet, with all that ssh has to do before.
const greetWithin = 30 * time.Second

// link is a stream to a host that has greeted.
type link struct {
	frames  *wire.Frames
	welcome wire.Welcome
	lost    chan struct{} // closed when the stream has ended; err then says why

	mu      sync.Mutex
	err     error
	last    int
	waiting map[int]chan *wire.Reply
}

// greet begins a link on a stream. The stream is the caller's to close.
func greet(ctx context.Context, s io.ReadWriteCloser, key ed25519.PublicKey, program string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	l := &link{frames: wire.NewFrames(s, s), lost: make(chan struct{}), waiting: map[int]chan *wire.Reply{}}
	recovery.Go("link to another machine", l.read)
	r, err := l.ask(ctx, wire.Request{Hello: &wire.Hello{Versions: []int{wire.Version}, Program: program, Key: key}})
	if err != nil {
		return nil, err
	}
	if r.Hello == nil || r.Hello.Version != wire.Version {
		return nil, errors.New("the other side speaks another protocol")
	}
	l.welcome = *r.Hello
	return l, nil
}

func (l *link) read() {
	var err error
	for err == nil {
		var conn int
		var r wire.Reply
		if conn, err = l.frames.Read(&r); err != nil {
			break
		}
		if err = r.Bound(); err != nil {
			break
		}
		l.mu.Lock()
		to := l.waiting[conn]
		delete(l.waiting, conn)
		l.mu.Unlock()
		if to != nil {
			to <- &r
		}
	}
	if errors.Is(err, io.EOF) {
		err = errors.New("the link has ended")
	}
	l.mu.Lock()
	l.err = err
	l.mu.Unlock()
	close(l.lost)
}

// errOlder is of a request that the host does not know.
var errOlder = errors.New("its mcpdeck is too old for this; update it there")

// ask sends a request and waits for the reply.
func (l *link) ask(ctx context.Context, req wire.Request) (*wire.Reply, error) {
	reply := make(chan *wire.Reply, 1)
	l.mu.Lock()
	l.last++
	conn := l.last
	l.waiting[conn] = reply
	l.mu.Unlock()
	if err := l.frames.Write(conn, req, false); err != nil {
		return nil, l.why(err)
	}
	select {
	case r := <-reply:
		switch r.Error {
		case "":
			return r, nil
		case wire.Unsupported:
			return nil, errOlder
		}
		return nil, errors.New(r.Error)
	case <-l.lost:
		return nil, l.why(nil)
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the other side: %w", ctx.Err())
	}
}

// why is why the stream has ended, if it has: reading knows more of that than writing.
func (l *link) why(err error) error {
	select {
	case <-l.lost:
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.err
	default:
		return err
	}
}

// isLost reports whether the stream has ended.
func (l *link) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}
