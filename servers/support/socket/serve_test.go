package socket

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// failing is a listener that cannot accept.
type failing struct {
	errors []error // one after the other
	at     []time.Time
}

func (f *failing) AcceptUnix() (*net.UnixConn, error) {
	err := f.errors[len(f.at)]
	f.at = append(f.at, time.Now())
	return nil, err
}

func (f *failing) Close() error { return nil }

func TestOnlyAClosedListenerEndsAServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &failing{}
		for range 12 {
			l.errors = append(l.errors, &net.OpError{Op: "accept", Err: syscall.EMFILE}, errors.New("something else"))
		}
		l.errors = append(l.errors, net.ErrClosed)
		var log bytes.Buffer
		Serve(t.Context(), l, Serving{Name: "test", Log: slog.New(slog.NewTextHandler(&log, nil))})
		if len(l.at) != len(l.errors) {
			t.Fatalf("it gave up at error %d", len(l.at))
		}
		want := retryFirst
		for i := 1; i < len(l.at); i++ {
			if got := l.at[i].Sub(l.at[i-1]); got != want {
				t.Errorf("try %d is after %v, not %v", i, got, want)
			}
			want = min(2*want, retryMost)
		}
		if n := strings.Count(log.String(), "\n"); n != 1 {
			t.Errorf("%d lines in the log: %s", n, &log)
		}
	})
}

func TestAServerEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := &failing{errors: []error{syscall.EMFILE, syscall.EMFILE, errors.New("not reached")}}
		time.AfterFunc(retryFirst+time.Millisecond, cancel)
		Serve(ctx, l, Serving{Name: "test"})
		if len(l.at) > len(l.errors) {
			t.Error("it goes on")
		}
	})
}

// TestConnectionsEndWithTheirListenerUnlessTheyLinger closes a listener that has a
// connection.
func TestConnectionsEndWithTheirListenerUnlessTheyLinger(t *testing.T) {
	for name, linger := range map[string]bool{"they end": false, "they linger": true} {
		t.Run(name, func(t *testing.T) {
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			begun := make(chan struct{})
			go func() {
				defer close(served)
				Serve(t.Context(), l, Serving{Name: "test", Limit: &ConnLimit{}, Linger: linger, Handle: func(_ context.Context, c *net.UnixConn, _ Peer, _ int) {
					close(begun)
					_, _ = io.Copy(c, c) // until either side closes
				}})
			}()
			c, err := net.Dial("unix", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			<-begun
			l.Close()
			if !linger {
				<-served
				return
			}
			if _, err := c.Write([]byte("x")); err != nil {
				t.Error(err)
			}
			if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
				t.Error(err)
			}
			c.Close()
			<-served
		})
	}
}
