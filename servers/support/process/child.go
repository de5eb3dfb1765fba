package process

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// How long a child that waits for nothing may take to end after its input
// was closed, and again after it was asked to; a child with a call in flight
// is not asked, since it would finish the call first. A [Command] may have a
// patience of its own.
const (
	endPatience  = 400 * time.Millisecond
	busyPatience = 300 * time.Millisecond
)

// Child is a program that runs beside mcpdeck and is spoken to through pipes.
type Child struct {
	PID int
	In  io.WriteCloser
	Out io.ReadCloser
	Err io.ReadCloser

	Exited chan struct{} // closed when it is gone
	Code   func() string // after Exited: how it ended: "code 3", "signal: killed"

	Terminate func() // asks it to end
	Kill      func() // ends it and all that descends from it

	Patience time.Duration // of its [Command]
}

// Start starts c in a process group of its own.
//
// The kernel can end a child together with the thread that started it, so on
// Linux the goroutine that starts the child keeps its thread until the child
// is gone.
func Start(c Command) (*Child, error) {
	cmd := c.command()
	isolate(cmd)
	var files [6]*os.File
	closeAll := func() {
		for _, f := range files {
			if f != nil {
				f.Close()
			}
		}
	}
	for i := 0; i < len(files); i += 2 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll()
			return nil, fmt.Errorf("open pipe: %w", err)
		}
		files[i], files[i+1] = r, w
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	p := &Child{In: files[1], Out: files[2], Err: files[4], Exited: make(chan struct{}), Patience: c.Patience}
	started := make(chan error, 1)
	recovery.Go("child", func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		files[0].Close()
		files[3].Close()
		files[5].Close()
		if err != nil {
			started <- err
			return
		}
		p.PID = cmd.Process.Pid
		release := adopt(cmd)
		p.Terminate = func() { terminate(cmd) }
		p.Kill = func() { killTree(cmd) }
		p.Code = func() string { return describeExit(cmd.ProcessState) }
		started <- nil
		cmd.Wait() //nolint:errcheck // how it ended is in ProcessState
		kill(cmd)  // what it has started
		release()
		close(p.Exited)
	})
	if err := <-started; err != nil {
		files[1].Close()
		files[2].Close()
		files[4].Close()
		return nil, err
	}
	return p, nil
}

// End ends the child and its descendants: politely when it waits for nothing,
// at once when it is busy. It returns when they are gone, may be called any
// number of times, and takes at most a second, or a little more than twice the child's
// patience.
func (p *Child) End(busy bool) {
	patience := cmp.Or(p.Patience, endPatience)
	switch {
	case !busy:
		p.EndIn(patience, patience)
	case p.Patience > 0:
		p.EndIn(busyPatience, patience)
	default:
		p.EndIn(busyPatience, 0)
	}
}

// EndIn is End for who has to hurry: the child may take so long to end after its input
// was closed, and again after it was asked to. When asked is 0 it is not asked.
func (p *Child) EndIn(closed, asked time.Duration) {
	if p.GoneWithin(0) {
		return
	}
	family := descendants(p.PID) // once it is gone, nobody knows them
	p.In.Close()
	gone := p.GoneWithin(closed)
	if !gone && asked > 0 {
		p.Terminate()
		gone = p.GoneWithin(asked)
	}
	if !gone {
		p.Kill()
	}
	<-p.Exited
	endAll(family)
}

// GoneWithin waits for the child's end, at most d.
func (p *Child) GoneWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.Exited:
		return true
	case <-t.C:
		return false
	}
}
