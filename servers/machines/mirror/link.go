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
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// greetWithin is how long a host may take to greet, with all that ssh has to do before.
const greetWithin = 30 * time.Second

// link is a stream to a host that has greeted.
type link struct {
	frames  *wire.Frames
	welcome wire.Welcome
	close   func()          // has the stream end
	lost    context.Context // ends with the stream; the cause is why
	lose    context.CancelCauseFunc

	mu      sync.Mutex
	last    int
	waiting map[int]chan *wire.Reply
}

// greet begins a link on a stream. The stream is the caller's to close.
func greet(ctx context.Context, s io.ReadWriteCloser, key ed25519.PublicKey, program string) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, greetWithin)
	defer cancel()
	l := &link{frames: wire.NewFrames(s, s), close: func() { s.Close() }, waiting: map[int]chan *wire.Reply{}}
	l.lost, l.lose = context.WithCancelCause(context.Background())
	stop := context.AfterFunc(ctx, l.close)
	defer stop()
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
	defer l.lose(errors.New("the link has ended"))
	for {
		var r wire.Reply
		conn, err := l.frames.Read(&r)
		if err == nil {
			err = r.Bound()
		}
		switch {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			l.lose(err)
			return
		}
		l.mu.Lock()
		to := l.waiting[conn]
		delete(l.waiting, conn)
		l.mu.Unlock()
		if to != nil {
			to <- &r
		}
	}
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
		if l.lost.Err() != nil { // reading knows more than writing of why
			err = context.Cause(l.lost)
		}
		return nil, err
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
	case <-l.lost.Done():
		return nil, context.Cause(l.lost)
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the other side: %w", ctx.Err())
	}
}

// each asks for every version of something, one after the other, until the link is of no use. take returns the version that
// came; nil ends it.
func (l *link) each(ctx context.Context, pause time.Duration, request func(*wire.Since) wire.Request, take func(*wire.Reply) *uint64) {
	var known wire.Since
	for {
		r, err := l.ask(ctx, request(&known))
		if err != nil {
			return
		}
		if known.Version = take(r); known.Version == nil || process.Pause(ctx, pause) != nil {
			return
		}
	}
}
