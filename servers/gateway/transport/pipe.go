package transport

import (
	"errors"
	"io"
)

// Stream is a connection whose sending side can be closed separately.
type Stream interface {
	io.ReadWriteCloser
	CloseWrite() error
}

// Pipe returns the two ends of an in-process stream.
func Pipe() (a, b Stream) {
	ar, bw := io.Pipe()
	br, aw := io.Pipe()
	return &pipeEnd{ar, aw}, &pipeEnd{br, bw}
}

type pipeEnd struct {
	r *io.PipeReader
	w *io.PipeWriter
}

func (p *pipeEnd) Read(b []byte) (int, error) { return p.r.Read(b) }

func (p *pipeEnd) Write(b []byte) (int, error) { return p.w.Write(b) }

func (p *pipeEnd) CloseWrite() error { return p.w.Close() }

func (p *pipeEnd) Close() error { return errors.Join(p.r.Close(), p.w.Close()) }
