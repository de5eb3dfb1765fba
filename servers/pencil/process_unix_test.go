//go:build unix

package pencil

import (
	"context"
	"syscall"
	"testing"
	"time"
)

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }

func TestX1_ChildrenAreGoneWithinASecond(t *testing.T) {
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
				go w.Call(context.Background(), Invocation{Tool: "pencil_batch_get"})
				w.until(t, "a call in flight", func(s Status) bool { return s.Running == 1 })
			}
			began := time.Now()
			if err := w.Stop(context.Background()); err != nil {
				t.Fatal(err)
			}
			if alive(pid) {
				t.Error("the child lives")
			}
			t.Logf("gone after %v", time.Since(began))
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}
