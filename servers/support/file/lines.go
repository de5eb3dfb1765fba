package file

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// Lines passes on the whole lines from a place to another, with where they begin, and returns
// how long they are together. The text of a line over the longest is nil; one that is not ended
// counts as far as it goes. The bytes are good until do returns.
func Lines(f io.ReaderAt, from, to, longest int64, do func(text []byte, at int64)) (n int64, err error) {
	b := bufio.NewReaderSize(io.NewSectionReader(f, from, to-from), 64<<10)
	var long []byte
	var length int64
	for {
		part, err := b.ReadSlice('\n')
		length += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			if length <= longest {
				long = append(long, part...)
			}
			continue
		case errors.Is(err, io.EOF):
			if length > longest {
				do(nil, from+n)
				return n + length, nil
			}
			return n, nil // the rest is no whole line yet
		case err != nil:
			return n, err
		}
		var text []byte
		if length <= longest {
			if len(long) > 0 {
				part = append(long, part...)
			}
			if text = bytes.TrimSpace(part); text == nil {
				text = part[:0]
			}
		}
		do(text, from+n)
		n += length
		long, length = long[:0], 0
	}
}
