package fake

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Start opens a connection over pipes, like that of a program that ends with its input.
func (s *Server) Start() (*process.Child, error) {
	return Program(func(in io.Reader, out, _ io.Writer, end func()) { s.serve(in, out, end) }), nil
}

// Program returns a child that is a function: it ends when the function returns, or calls end.
func Program(run func(in io.Reader, out, errs io.Writer, end func())) *process.Child {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errR, errW := io.Pipe()
	exited := make(chan struct{})
	end := sync.OnceFunc(func() {
		_ = errors.Join(inR.Close(), outW.Close(), errW.Close()) // none fails
		close(exited)
	})
	recovery.Go("fake", func() {
		defer end() // a test may replace Kill
		run(inR, outW, errW, end)
	})
	return &process.Child{In: inW, Out: outR, Err: errR, Exited: exited, Kill: end, Terminate: end, Code: func() string { return "code 0" }}
}

// Serve serves one connection over a pair of streams, until what it reads ends.
func (s *Server) Serve(in io.Reader, out io.Writer) { s.serve(in, out, func() {}) }

func (s *Server) serve(in io.Reader, out io.Writer, crash func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	say := func(line []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(line) // the reader may be gone
	}
	c := s.newSession("", say)
	c.crash = crash
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	for lines := rpc.NewLines(in, rpc.MaxLine); ; {
		line, err := lines.Next()
		if err != nil {
			return
		}
		m, bad := rpc.Rules{Lenient: true}.Decode(line)
		if bad != nil {
			say(rpc.Failure(nil, *bad))
			continue
		}
		s.note(Request{Method: m.Method, Line: string(line)})
		if m.Method != "tools/call" && m.Method != "subscriptions/listen" {
			c.take(ctx, m, say) // in order
			continue
		}
		work.Add(1)
		recovery.Go("fake", func() {
			defer work.Done()
			c.take(ctx, m, say)
		})
	}
}
