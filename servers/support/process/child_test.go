package process

import (
	"io"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestHowLongAChildMayTakeToEnd(t *testing.T) {
	for _, row := range []struct {
		name     string
		patience time.Duration
		busy     bool
		obeys    bool // goes when it is asked to
		asked    time.Duration
		took     time.Duration
	}{
		{"it waits for nothing", 0, false, false, 400 * time.Millisecond, 800 * time.Millisecond},
		{"it is busy", 0, true, false, -1, 300 * time.Millisecond},
		{"it may take longer", 1500 * time.Millisecond, false, false, 1500 * time.Millisecond, 3 * time.Second},
		{"it may take longer, and is busy", 1500 * time.Millisecond, true, false, 300 * time.Millisecond, 1800 * time.Millisecond},
		{"it goes when asked to", 1500 * time.Millisecond, true, true, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, in := io.Pipe()
				p := &Child{PID: math.MaxInt32, In: in, Out: io.NopCloser(strings.NewReader("")), Exited: make(chan struct{}), Patience: row.patience}
				began, asked := time.Now(), time.Duration(-1)
				p.Kill = func() { close(p.Exited) }
				p.Terminate = func() {
					asked = time.Since(began)
					if row.obeys {
						p.Kill()
					}
				}
				p.End(row.busy)
				if took := time.Since(began); took != row.took || asked != row.asked {
					t.Errorf("asked after %v, gone after %v", asked, took)
				}
			})
		})
	}
}
