//go:build !windows

package tui

import (
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
)

// suspend goes to the shell. Where there is none, because the terminal runs the
// deck itself, the kernel does not stop the process, and Bubble Tea would wait
// for ever with an empty screen: a signal to go on brings it back. A process
// that was stopped gets the signal after it goes on, when it means nothing.
func suspend() tea.Msg {
	for _, d := range []time.Duration{time.Second / 2, 2 * time.Second} {
		time.AfterFunc(d, func() { _ = syscall.Kill(syscall.Getpid(), syscall.SIGCONT) }) // ourselves: cannot fail
	}
	return tea.Suspend()
}
