package pencil

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// How long a child that waits for nothing may take to end after its input
// was closed, and again after it was asked to; a child with a call in flight
// is not asked, since it would finish the call first.
const (
	endPatience  = 400 * time.Millisecond
	busyPatience = 300 * time.Millisecond
)

// command is what to start.
type command struct {
	program string
	args    []string
	env     []string
	dir     string
}

// process is a running child. In tests it is one in this process, over pipes.
type process struct {
	pid    int
	in     io.WriteCloser
	out    io.ReadCloser
	err    io.ReadCloser
	exited chan struct{} // closed when it is gone
	code   func() string // after exited: how it ended: "code 3", "signal: killed"

	terminate func() // asks it to end
	kill      func() // ends it and what it has started
}

// startProcess starts c in a process group of its own.
//
// The kernel can end a child together with the thread that started it, so on
// Linux the goroutine that starts the child keeps its thread until the child
// is gone.
func startProcess(c command) (*process, error) {
	cmd := exec.Command(c.program, c.args...)
	cmd.Env, cmd.Dir = c.env, c.dir
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
	p := &process{in: files[1], out: files[2], err: files[4], exited: make(chan struct{})}
	started := make(chan error, 1)
	safe.Go("pencil child", func() {
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
		p.pid = cmd.Process.Pid
		release := adopt(cmd)
		p.terminate = func() { terminate(cmd) }
		p.kill = func() { kill(cmd) }
		p.code = func() string { return describeExit(cmd.ProcessState) }
		started <- nil
		cmd.Wait() //nolint:errcheck // how it ended is in ProcessState
		kill(cmd)  // what it has started
		release()
		close(p.exited)
	})
	if err := <-started; err != nil {
		files[1].Close()
		files[2].Close()
		files[4].Close()
		return nil, err
	}
	return p, nil
}

// end ends p: politely when it waits for nothing, at once when it is busy.
// It returns when p is gone, may be called any number of times, and takes at
// most a second.
func (p *process) end(busy bool) {
	p.in.Close()
	if busy {
		if !p.goneWithin(busyPatience) {
			p.kill()
		}
	} else if !p.goneWithin(endPatience) {
		p.terminate()
		if !p.goneWithin(endPatience) {
			p.kill()
		}
	}
	<-p.exited
}

func (p *process) goneWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.exited:
		return true
	case <-t.C:
		return false
	}
}

func describeExit(s *os.ProcessState) string {
	switch {
	case s == nil:
		return "unknown"
	case s.Exited():
		return fmt.Sprintf("code %d", s.ExitCode())
	}
	return s.String()
}

// startReason says in words why a program could not be started.
func startReason(program string, err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, statErr := os.Stat(program); statErr == nil {
			return "the system cannot load this program (missing dynamic loader; NixOS and musl systems need a wrapper)"
		}
		return "no such file"
	case errors.Is(err, os.ErrPermission):
		return "not executable"
	case wrongFormat(err):
		return "built for another processor"
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "exec: ")
}
