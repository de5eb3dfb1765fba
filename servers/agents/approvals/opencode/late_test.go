package opencode_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// startedWith is a process with a word among its arguments.
func startedWith(t *testing.T, word string) (pid int) {
	t.Helper()
	c := exec.Command("sh", "-c", "read line", "sh", word)
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Skip("no shell can be started:", err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = c.Wait() // it has read nothing
	})
	return c.Process.Pid
}

func TestOnlyWhatMayAnswerItselfIsShownLate(t *testing.T) {
	for name, tt := range map[string]struct {
		pid  int
		wait time.Duration
	}{
		"a process that is not opencode run":   {os.Getpid(), 0},
		"one that is":                          {startedWith(t, "run"), 10 * time.Second},
		"one that the system does not tell of": {0, 250 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.pid != 0 && process.Args(tt.pid) == nil {
				t.Skip("this system does not tell how processes were started")
			}
			inDeck(t, approvals.Deps{}, func(w *world) {
				w.pluginOf(tt.pid).say(bash)
				begun := time.Now()
				for len(w.q.Pending().Items) == 0 && time.Since(begun) < time.Minute {
					testwait.Pass(time.Millisecond)
				}
				if took := time.Since(begun).Truncate(10 * time.Millisecond); took != tt.wait {
					t.Errorf("it is shown after %v, want %v", took, tt.wait)
				}
			})
		})
	}
}
