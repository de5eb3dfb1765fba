package standin

import (
	"errors"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
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
		recovery.Go("stand-in", func() {
			Serve(o, inR, outW, heard{errW})
			p.Kill()
		})
		return p, nil
	}
}

// heard is standard error. Write returns when its reader asks for more, thus has dealt
// with what was written: what the server does next comes after it in every log, which
// two pipes do not promise.
type heard struct{ *io.PipeWriter }

func (h heard) Write(b []byte) (int, error) {
	n, err := h.PipeWriter.Write(b)
	if err == nil {
		_, err = h.PipeWriter.Write(nil) // waits for the reader like any other
	}
	return n, err
}
