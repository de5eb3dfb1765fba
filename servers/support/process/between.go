package process

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Direct is a program that runs as if whoever started mcpdeck had started it: with all of
// mcpdeck's environment, and in its group. It is told what mcpdeck is told, and ends by
// itself.
type Direct struct {
	PID int

	cmd     *exec.Cmd
	signals chan os.Signal
	told    atomic.Bool
}

// StartDirect starts a program with these files.
func StartDirect(c Command, in *os.File, out *os.File, err io.Writer) (*Direct, error) {
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, slices.Concat(c.Own, c.Extra)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, err
	d := &Direct{cmd: cmd, signals: make(chan os.Signal, 8)}
	signal.Notify(d.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // before it starts, or one could end mcpdeck alone
	if err := cmd.Start(); err != nil {
		signal.Stop(d.signals)
		return nil, err
	}
	d.PID = cmd.Process.Pid
	recovery.Go("signals for "+c.Program, func() {
		for s := range d.signals {
			d.told.Store(true)
			d.Signal(s)
		}
	})
	return d, nil
}

// Signal sends a signal to the program. One that has ended needs none.
func (d *Direct) Signal(s os.Signal) { _ = d.cmd.Process.Signal(s) }

// End has the program end: by itself, where the system can ask it to.
func (d *Direct) End() {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = d.cmd.Process.Kill() // it may have ended
	}
}

// Told reports whether mcpdeck was told something that the program was told then.
func (d *Direct) Told() bool { return d.told.Load() }

// Wait returns the program's exit code at its end, and that of a shell for one that a signal
// has ended.
func (d *Direct) Wait() (code int) {
	_ = d.cmd.Wait() // how it ended is in its state
	signal.Stop(d.signals)
	close(d.signals)
	const bySignal = 128
	state := d.cmd.ProcessState
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return bySignal + int(s.Signal())
	}
	return state.ExitCode()
}
