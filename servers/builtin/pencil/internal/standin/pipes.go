package standin

import (
	"io"
	"os"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// Pipes starts the stand-in inside this process, with more flags than those of the
// command.
func Pipes(flags ...string) func(process.Command) (*process.Child, error) {
	return func(c process.Command) (*process.Child, error) {
		o, code := Parse(append(slices.Clone(c.Args), flags...), io.Discard)
		if code >= 0 {
			return nil, os.ErrInvalid
		}
		p := fake.Program(func(in io.Reader, out, errs io.Writer, _ func()) { Serve(o, in, out, heard{errs}) })
		p.PID = 1
		return p, nil
	}
}

// heard is standard error. Write returns when its reader asks for more, thus has dealt
// with what was written: what the server does next comes after it in every log, which
// two pipes do not promise.
type heard struct{ io.Writer }

func (h heard) Write(b []byte) (int, error) {
	n, err := h.Writer.Write(b)
	if err == nil {
		_, err = h.Writer.Write(nil) // waits for the reader like any other
	}
	return n, err
}
