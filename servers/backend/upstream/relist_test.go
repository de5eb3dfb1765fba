package upstream

import (
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// counted counts the lines with a text that are written to it.
type counted struct {
	io.WriteCloser
	text string
	n    *atomic.Int32
}

func (w counted) Write(b []byte) (int, error) {
	if strings.Contains(string(b), w.text) {
		w.n.Add(1)
	}
	return w.WriteCloser.Write(b)
}

// A server that says over and over that its tools have changed is asked for them once
// a second, and once more after its last word.
func TestAStormOfChangesIsReadOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := works()
		f["tools/call"] = strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", 1000) + f["tools/call"]
		var lists atomic.Int32
		o := Options{Hooks: Hooks{Find: func(From) (Found, error) { return Found{Command: process.Command{Program: "git-server"}}, nil }}}
		c := made(t, o, func(cmd process.Command) (*process.Child, error) {
			p, err := f.start(cmd)
			p.In = counted{p.In, `"tools/list"`, &lists}
			return p, err
		})
		c.switchedOn(t)
		for range 3 {
			lists.Store(0)
			if _, err := c.Call(t.Context(), Call{Tool: "git_echo"}); err != nil {
				t.Fatal(err)
			}
			testwait.Pass(10 * time.Second)
			if n := lists.Load(); n < 1 || n > 2 {
				t.Errorf("a thousand changes at once: the tools were read %d times", n)
			}
		}
	})
}
