//go:build !windows

package tui

import (
	"os"
	"os/signal"
	"syscall"
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestSuspendingWithoutAShellGoesOn(t *testing.T) {
	on := make(chan os.Signal, 1)
	signal.Notify(on, syscall.SIGCONT)
	defer signal.Stop(on)
	if _, ok := suspend().(tea.SuspendMsg); !ok {
		t.Fatal("not suspended")
	}
	<-on // nobody else sends it
}
