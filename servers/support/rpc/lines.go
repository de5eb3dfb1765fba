package rpc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest message read, in bytes without the line end.
const MaxLine = 32 << 20

// ErrLineTooLong is returned for a line over the limit, with its [Outline]. The line was
// skipped; reading can go on.
var ErrLineTooLong = errors.New("line is too long")

// Lines reads messages that end with LF or CRLF.
type Lines struct {
	r     *bufio.Reader
	limit int
	begun bool
}

// NewLines returns a reader of lines up to limit bytes. It reads no more from a
// bufio.Reader than its lines.
func NewLines(r io.Reader, limit int) *Lines {
	b, ok := r.(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(r, 64<<10)
	}
	return &Lines{r: b, limit: limit}
}

// Next returns the next non-blank line without its end. The bytes belong to the
// caller. A last line without an end counts. At the end it returns io.EOF. With
// ErrLineTooLong comes the line's [Outline].
func (l *Lines) Next() ([]byte, error) {
	for {
		line, err := l.line()
		if errors.Is(err, ErrLineTooLong) {
			return line, err
		}
		if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0) {
			return nil, err
		}
		if !l.begun {
			l.begun = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
		if errors.Is(err, io.EOF) {
			return nil, io.EOF
		}
	}
}

// Whole tells whether Next can return another line without waiting for it.
func (l *Lines) Whole() bool { return WholeLine(l.r) }

// WholeLine is Lines.Whole for a reader whose lines have no limit.
func WholeLine(r *bufio.Reader) bool {
	b, _ := r.Peek(r.Buffered()) // what is buffered can be looked at
	return bytes.IndexByte(bytes.TrimLeft(b, " \t\r\n"), '\n') >= 0
}

func (l *Lines) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(whole)+len(part) > l.limit+2 {
			var o Outline
			_, _ = o.Write(whole) // never fails
			_, _ = o.Write(part)
			err = l.skip(&o, err)
			return o.JSON(), err
		}
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}

// skip drops what is left of a line that is too long.
func (l *Lines) skip(o *Outline, err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		var part []byte
		part, err = l.r.ReadSlice('\n')
		_, _ = o.Write(part) // never fails
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return ErrLineTooLong
}
