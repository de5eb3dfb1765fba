package socket

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// StoppedError says that the process at the other end is stopped, as by Ctrl+Z, and says
// nothing for as long as it is.
type StoppedError struct{ PID int }

func (e *StoppedError) Error() string {
	return fmt.Sprintf("mcpdeck (process %d) is stopped and cannot answer; let it go on with fg in its terminal, or with: kill -CONT %[1]d", e.PID)
}

// awakeEvery is the time between two looks at the process at the other end.
const awakeEvery = 400 * time.Millisecond

// Awake returns a connection that ends with a [StoppedError] when the process at the other
// end has been stopped for a moment: whoever waits for its answer would wait for ever. Its
// Close must be called.
func Awake(c net.Conn) net.Conn {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return c
	}
	p, err := PeerOf(u)
	if err != nil || p.PID <= 0 {
		return c
	}
	a := &awake{Conn: c, pid: p.PID, done: make(chan struct{})}
	recovery.Go("awake", a.look)
	return a
}

type awake struct {
	net.Conn
	pid     int
	stopped atomic.Bool
	once    sync.Once
	done    chan struct{}
}

func (a *awake) look() {
	t := time.NewTicker(awakeEvery)
	defer t.Stop()
	for was := false; ; {
		select {
		case <-a.done:
			return
		case <-t.C:
		}
		now := pid.Stopped(a.pid)
		if now && was {
			a.stopped.Store(true)
			_ = a.Conn.Close() // what waits on it learns why
			return
		}
		was = now
	}
}

// Cause is why the connection has ended, nil if the process at the other end is not stopped.
func (a *awake) Cause() error {
	if a.stopped.Load() {
		return &StoppedError{a.pid}
	}
	return nil
}

func (a *awake) Read(b []byte) (int, error) {
	n, err := a.Conn.Read(b)
	if cause := a.Cause(); err != nil && cause != nil {
		err = cause
	}
	return n, err
}

func (a *awake) Write(b []byte) (int, error) {
	n, err := a.Conn.Write(b)
	if cause := a.Cause(); err != nil && cause != nil {
		err = cause
	}
	return n, err
}

// Close ends the connection and the looking.
func (a *awake) Close() error {
	a.once.Do(func() { close(a.done) })
	return a.Conn.Close()
}
