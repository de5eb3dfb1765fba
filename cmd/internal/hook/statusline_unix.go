//go:build unix

package hook

import (
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// statusLine runs the command of the user's own status line with this program's input, output
// and signals, tells the deck what the input says of quotas, and ends as the command did.
func statusLine(args []string, command string) {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	signals, ends := make(chan os.Signal, 1), []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP}
	signal.Notify(signals, ends...)
	var run *os.Process
	if command != "" {
		run, err = os.StartProcess("/bin/sh", []string{"/bin/sh", "-c", command}, &os.ProcAttr{Files: []*os.File{r, os.Stdout, os.Stderr}})
	}
	_ = r.Close() // the command has it
	told := make(chan struct{})
	recovery.Go("status line", func() {
		defer close(told)
		tell(args, copied(w))
	})
	if err != nil || run == nil {
		signal.Reset()
		wait(told, hook.ReadWithin)
		return
	}
	recovery.Go("signals of the status line", func() {
		for s := range signals {
			_ = run.Signal(s) // it may have ended
		}
	})
	state, err := run.Wait()
	if err != nil {
		return
	}
	wait(told, tellWithin)
	status, _ := state.Sys().(syscall.WaitStatus)
	code := state.ExitCode()
	if status.Signaled() {
		const bySignal = 128 // as shells say it
		code = bySignal + int(status.Signal())
		if slices.Contains(append(ends, syscall.SIGKILL), os.Signal(status.Signal())) {
			signal.Reset()
			_ = syscall.Kill(os.Getpid(), status.Signal()) // as the command
			time.Sleep(time.Second)                        // until it comes
		}
	}
	os.Exit(code)
}

// copied passes standard input on to the command, which need not read it, and returns its
// beginning.
func copied(w *os.File) (input []byte) {
	defer w.Close()
	b := make([]byte, 32<<10)
	for {
		n, err := os.Stdin.Read(b)
		if len(input) < mostInput {
			input = append(input, b[:n]...)
		}
		_, _ = w.Write(b[:n])
		if err != nil {
			return input
		}
	}
}

func wait(told <-chan struct{}, most time.Duration) {
	select {
	case <-told:
	case <-time.After(most):
	}
}
