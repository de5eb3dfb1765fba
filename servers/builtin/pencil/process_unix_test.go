//go:build unix

package pencil

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

// No process is left, and how the child ended is no error.
func TestEndedChildrenAreGone(t *testing.T) {
	tests := []struct {
		name  string
		flags []string
		busy  bool
	}{
		{"polite", nil, false},
		{"ignores the end of its input", []string{"--deaf"}, false},
		{"ignores the end of its input and SIGTERM", []string{"--deaf", "--stubborn"}, false},
		{"has a call in flight", []string{"--silent", "1h"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := start(t, tt.flags...)
			w.switchedOn(t)
			pid := w.Status().PID
			if tt.busy {
				go w.Call(context.Background(), upstream.Call{Tool: "pencil_batch_get"})
				w.until(t, "a call in flight", func(s Status) bool { return s.Running == 1 })
			}
			began := time.Now()
			if err := w.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Error("the child lives")
			}
			if e := w.Status().Error; e != "" {
				t.Errorf("its end is an error: %s", e)
			}
			t.Logf("gone after %v", time.Since(began))
		})
	}
}

// What a child has started goes with it, also when it dies by itself.
func TestGrandchildrenGoToo(t *testing.T) {
	for _, how := range []string{"the deck ends it", "it is killed"} {
		t.Run(how, func(t *testing.T) {
			w := start(t, "--brood")
			w.switchedOn(t)
			young := 0
			w.until(t, "the young", func(s Status) bool {
				for _, l := range s.Log {
					if _, err := fmt.Sscanf(l.Text, "young %d", &young); err == nil {
						return true
					}
				}
				return false
			})
			if how == "it is killed" {
				pid := w.Status().PID
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				w.until(t, "another child", func(s Status) bool { return s.PID != pid && s.PID != 0 })
			} else if err := w.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			testwait.Until(t, "what the child has started ends", func() bool { return !runs(young) })
		})
	}
}

// runs tells whether a process runs; one that only waits to be reaped by
// somebody else does not.
func runs(pid int) bool {
	if !alive(pid) {
		return false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return !errors.Is(err, os.ErrNotExist) || runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}
