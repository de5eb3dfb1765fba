//go:build unix

package hook

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
)

// told is a log that says when there is something in it.
type told struct {
	slog.Handler
	once sync.Once
	some chan struct{}
}

func (l *told) Handle(context.Context, slog.Record) error {
	l.once.Do(func() { close(l.some) })
	return nil
}

// TestTheSocketGoesOnWhenThereAreFileDescriptorsAgain takes all of the process, connects,
// and gives them back.
func TestTheSocketGoesOnWhenThereAreFileDescriptorsAgain(t *testing.T) {
	dir, err := os.MkdirTemp("", "h")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	log := &told{Handler: slog.NewTextHandler(io.Discard, nil), some: make(chan struct{})}
	path := Path(dir, "")
	s, err := Listen(Options{Path: path, Log: slog.New(log), Handlers: map[string]Handler{"claude": handler(func(_ context.Context, c *Conn) { _ = c.Print("yes") })}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Fatal(err)
	}
	few := was
	few.Cur = 64
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
		t.Skip("the number of files cannot be limited here:", err)
	}
	restore := sync.OnceFunc(func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	})
	defer restore()
	var taken []*os.File
	defer func() {
		for _, f := range taken {
			_ = f.Close()
		}
	}()
	for {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	_ = taken[0].Close() // for the connection's own end
	taken = taken[1:]
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, goodHello+"\n"); err != nil {
		t.Fatal(err)
	}
	<-log.some // it could not accept
	restore()
	for in := bufio.NewScanner(c); in.Scan(); {
		if in.Text() == `{"print":"yes"}` {
			return
		}
	}
	t.Error("the connection was not served")
}
