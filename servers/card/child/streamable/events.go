package streamable

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// events reads a stream of server-sent events.
type events struct {
	lines *bufio.Reader
	last  string        // id of the last complete event; "" if none
	retry time.Duration // how long the server asks clients to wait before reopening the stream; 0 if unset
}

func newEvents(r io.Reader, last string) *events {
	return &events{lines: bufio.NewReaderSize(r, 16<<10), last: last}
}

// next returns the next event that has data. After rpc.ErrLineTooLong, the event's data is
// lost and the next call continues.
func (e *events) next() (name string, data []byte, err error) {
	var id *string
	long := false
	for {
		line, err := e.line(rpc.MaxLine - len(data))
		switch {
		case errors.Is(err, rpc.ErrLineTooLong):
			long, data = true, nil
			continue
		case err != nil:
			return "", nil, err // an event without its final blank line is incomplete
		case len(line) == 0:
			if id != nil {
				e.last = *id
			}
			if long {
				return "", nil, rpc.ErrLineTooLong
			}
			if data != nil {
				return name, data, nil
			}
			name, id = "", nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, value...)
			if data == nil {
				data = []byte{}
			}
		case "id":
			if bytes.IndexByte(value, 0) < 0 {
				text := string(value)
				id = &text
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
}

// line reads a line and strips its line ending.
func (e *events) line(limit int) ([]byte, error) {
	var whole []byte
	long := false
	for {
		part, err := e.lines.ReadSlice('\n')
		if long = long || len(whole)+len(part) > limit+len("data: \r\n"); !long {
			whole = append(whole, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, err
		case long:
			return nil, rpc.ErrLineTooLong
		default:
			return bytes.TrimRight(whole, "\r\n"), nil
		}
	}
}

// flat puts a message on one line: line endings between JSON values are insignificant.
func flat(message []byte) []byte {
	for i, b := range message {
		if b == '\n' || b == '\r' {
			message[i] = ' '
		}
	}
	return bytes.TrimSpace(message)
}
