package process

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// leftover is how long a program that has ended may be outlived by what it
// started and what still holds its output.
const leftover = time.Second

// Streams are the standard streams of a program that [Run] waits for; nil ones
// are empty and go nowhere.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
	// Polite is how long the program may take to end after it was asked to,
	// once the context is over; 0: it is not asked.
	Polite time.Duration
}

// Run starts c and waits for its end. When ctx is over it ends the program, its
// group and its descendants, and returns ctx's error. Nothing of its group is
// left when it returns.
func Run(ctx context.Context, c Command, s Streams) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	cmd := c.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.WaitDelay = leftover
	isolate(cmd)
	// The kernel ends a child together with the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return err
	}
	release := adopt(cmd)
	defer release()
	gone, ended := make(chan struct{}), make(chan struct{})
	recovery.Go("end of a program", func() {
		defer close(ended)
		select {
		case <-gone:
			return
		case <-ctx.Done():
		}
		family := descendants(cmd.Process.Pid) // once it is gone, nobody knows them
		if s.Polite > 0 {
			terminate(cmd)
			select {
			case <-gone:
			case <-time.After(s.Polite):
			}
		}
		killTree(cmd)
		endAll(family)
	})
	err := cmd.Wait()
	close(gone)
	<-ended
	kill(cmd) // what it has started
	if ctx.Err() != nil && err != nil {
		return ctx.Err()
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // it ended well; something else held its output
	}
	return err
}

// Foreground is a program that has the terminal while it runs, such as the
// user's editor. It is left alone: it stays in the terminal's group, and when
// mcpdeck ends it may still hold what the user has not saved.
type Foreground struct {
	Command
	Within   time.Duration // after which it is ended; 0: never
	in       io.Reader
	out, err io.Writer
}

// overFile is what reads from or writes to a file and makes something else of it.
type overFile interface{ Unwrap() *os.File }

// SetStdin sets where the program reads. It gets the terminal itself where r
// reads from that, not what r makes of it.
func (f *Foreground) SetStdin(r io.Reader) {
	if t, ok := r.(overFile); ok {
		r = t.Unwrap()
	}
	f.in = r
}

// SetStdout sets where the program writes: the terminal itself where w writes to
// that, so that the program knows it for one.
func (f *Foreground) SetStdout(w io.Writer) {
	if t, ok := w.(overFile); ok {
		w = t.Unwrap()
	}
	f.out = w
}

// SetStderr sets where the program writes its errors.
func (f *Foreground) SetStderr(w io.Writer) { f.err = w }

// ErrLate is how a program ends that has taken longer than it may.
var ErrLate = errors.New("it took too long and was ended")

// Run runs the program to its end.
func (f *Foreground) Run() error {
	cmd := f.command()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = f.in, f.out, f.err
	if f.Within == 0 {
		return cmd.Run()
	}
	cmd.WaitDelay = leftover
	if err := cmd.Start(); err != nil {
		return err
	}
	var late atomic.Bool
	gone := make(chan struct{})
	recovery.Go("end of a program", func() {
		select {
		case <-gone:
			return
		case <-time.After(f.Within):
		}
		late.Store(true)
		if cmd.Process.Signal(os.Interrupt) == nil { // so that it gives the terminal back as it was
			select {
			case <-gone:
			case <-time.After(leftover):
			}
		}
		_ = cmd.Process.Kill() // it may have ended
	})
	err := cmd.Wait()
	close(gone)
	if late.Load() {
		return ErrLate
	}
	return err
}
