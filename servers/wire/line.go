package wire

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the longest message accepted, in bytes without the line end.
const MaxLine = 32 << 20

// ErrLineTooLong is returned for a line over the limit. The line was skipped;
// reading can go on.
var ErrLineTooLong = errors.New("line is too long")

// lineReader reads messages that end with LF or CRLF.
type lineReader struct {
	r     *bufio.Reader
	limit int
	begun bool
}

func newLineReader(r io.Reader, limit int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// next returns the next non-blank line without its end. The bytes belong to the
// caller. A last line without an end counts. At the end it returns io.EOF.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.line()
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

// whole tells whether next can return another line without waiting for it.
func (l *lineReader) whole() bool { return wholeLine(l.r) }

func wholeLine(r *bufio.Reader) bool {
	b, _ := r.Peek(r.Buffered()) // what is buffered can be looked at
	return bytes.IndexByte(bytes.TrimLeft(b, " \t\r\n"), '\n') >= 0
}

func (l *lineReader) line() ([]byte, error) {
	var whole []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if len(whole)+len(part) > l.limit+2 {
			return nil, l.skip(err)
		}
		whole = append(whole, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return whole, err
		}
	}
}

// skip drops what is left of a line that is too long.
func (l *lineReader) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return ErrLineTooLong
}
