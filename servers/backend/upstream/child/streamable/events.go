package streamable

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// events reads a stream of server-sent events.
type events struct {
	lines *bufio.Reader
	last  string        // id of the last complete event; "" if none
	heard int           // number of complete events that said something
	retry time.Duration // how long the server asks clients to wait before reopening the stream; 0 if unset
}

func newEvents(r io.Reader, last string) *events {
	return &events{lines: bufio.NewReaderSize(r, 16<<10), last: last}
}

// next returns the next event that has data. With rpc.ErrLineTooLong comes the outline of
// data over the limit, and the next call continues.
func (e *events) next() (name string, data []byte, err error) {
	var id *string
	var long *rpc.Outline
	skip := func(value []byte) {
		if long == nil {
			long = new(rpc.Outline)
			_, _ = long.Write(data) // never fails
			data = nil
		}
		_, _ = long.Write(value)
	}
	for {
		line, whole, err := e.line(rpc.MaxLine-len(data), skip)
		switch {
		case err != nil:
			return "", nil, err // an event without its final blank line is incomplete
		case !whole:
			continue
		case len(line) == 0:
			if id != nil {
				e.last = *id
			}
			if long != nil {
				e.heard++
				return name, long.JSON(), rpc.ErrLineTooLong
			}
			if data != nil {
				e.heard++
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
			if long != nil {
				skip(append([]byte{' '}, value...))
				continue
			}
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

// line reads a line and strips its line ending. A line of data over the limit goes to skip
// instead, in pieces, and one of anything else is dropped: the line is not whole then.
func (e *events) line(limit int, skip func(value []byte)) (line []byte, whole bool, err error) {
	const field = "data:"
	long, isData := false, false
	for {
		part, err := e.lines.ReadSlice('\n')
		switch {
		case long && isData:
			skip(part)
		case long:
		case len(line)+len(part) > limit+len("data: \r\n"):
			long, isData = true, bytes.HasPrefix(append(line, part...), []byte(field))
			if isData {
				skip(append(line, part...)[len(field):])
			}
			line = nil
		default:
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err != nil:
			return nil, false, err
		default:
			return bytes.TrimRight(line, "\r\n"), !long, nil
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
