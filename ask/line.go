package ask

import (
	"bytes"
	"errors"
	"io"
)

const (
	maxLine   = 1 << 20 // of a request, in bytes without the line end
	maxBlank  = 64      // lines before a request
	readChunk = 32 << 10
)

// Ends of reading a request line.
var (
	errProbe   = errors.New("closed before any byte")
	errTooLong = errors.New("line too long")
	errPartial = errors.New("closed in the middle of a request")
)

// lineReader reads lines of at most maxLine bytes. It never buffers more than that
// plus one read.
type lineReader struct {
	r    io.Reader
	buf  []byte // read and not yet returned
	err  error  // of the last read, once buf is used up
	seen bool   // any byte at all
}

// request returns the first line that is not blank, without its line ending and a
// byte-order mark. At the end of input, an unterminated line counts if it is a complete
// JSON object.
func (l *lineReader) request() ([]byte, error) {
	first := true
	for range maxBlank + 1 {
		line, err := l.next()
		if first && len(line) > 0 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			first = false
		}
		switch {
		case err == nil && len(bytes.TrimSpace(line)) == 0:
			continue
		case err == nil || errors.Is(err, errTooLong):
			return line, err
		case len(bytes.TrimSpace(line)) > 0 && isObject(line):
			return line, nil
		case !l.seen && errors.Is(err, io.EOF):
			return nil, errProbe
		}
		if errors.Is(err, io.EOF) {
			return nil, errPartial
		}
		return nil, err
	}
	return nil, errPartial
}

// next returns the next line. At the end of input it returns the rest with the error.
func (l *lineReader) next() ([]byte, error) {
	from := 0
	for {
		if i := bytes.IndexByte(l.buf[from:], '\n'); i >= 0 {
			line := l.buf[:from+i]
			l.buf = l.buf[from+i+1:]
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(line) > maxLine {
				return nil, errTooLong
			}
			return line, nil
		}
		from = len(l.buf)
		if from > maxLine+1 || from == maxLine+1 && l.buf[maxLine] != '\r' {
			return nil, errTooLong
		}
		if l.err != nil {
			rest := l.buf
			l.buf = nil
			return rest, l.err
		}
		l.fill()
	}
}

func (l *lineReader) fill() {
	chunk := make([]byte, readChunk)
	n, err := l.r.Read(chunk)
	l.seen = l.seen || n > 0
	l.buf = append(l.buf[:len(l.buf):len(l.buf)], chunk[:n]...)
	l.err = err
}

// drop discards the buffer, so that a peer that never stops sending does not fill
// memory.
func (l *lineReader) drop() { l.buf = nil }

func isObject(b []byte) bool {
	v, err := decode(b)
	if err != nil {
		return false
	}
	_, ok := v.(map[string]any)
	return ok
}
