package standin

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Pipes starts the stand-in inside this process, with more flags than those of the
// command.
func Pipes(flags ...string) func(process.Command) (*process.Child, error) {
	return func(c process.Command) (*process.Child, error) {
		o, code := Parse(append(slices.Clone(c.Args), flags...), io.Discard)
		if code >= 0 {
			return nil, os.ErrInvalid
		}
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		errR, errW := io.Pipe()
		p := &process.Child{PID: 1, In: inW, Out: outR, Err: errR, Exited: make(chan struct{})}
		var once sync.Once
		p.Kill = func() {
			once.Do(func() {
				_ = errors.Join(inR.Close(), outW.Close(), errW.Close()) // none fails
				close(p.Exited)
			})
		}
		p.Terminate = p.Kill
		p.Code = func() string { return "code 0" }
		safe.Go("stand-in", func() {
			Serve(o, inR, outW, errW)
			p.Kill()
		})
		return p, nil
	}
}
