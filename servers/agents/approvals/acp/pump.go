package acp

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
)

// maxLine is the longest line that is read on its way, in bytes.
const maxLine = 4 << 20

// lane is one direction of a connection.
type lane struct {
	mu     sync.Mutex // held from the beginning of a line to its end
	to     io.Writer
	closed bool
}

// send writes a line between two others.
func (l *lane) send(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	_, err := l.to.Write(line)
	return err
}

// close ends the lane; no line is cut off.
func (l *lane) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if c, ok := l.to.(io.Closer); ok {
		_ = c.Close() // its reader may have gone
	}
}

// pump passes on what comes from a reader until that ends. see is asked of each line that
// begins like an object whether it goes on, and done is told of it after that. Longer lines,
// and what is no object, pass as they come.
func (l *lane) pump(from io.Reader, see func(line []byte) bool, done func(line []byte)) error {
	var line []byte
	unread := false // in a line that is passed on as it comes, with the lock held
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			part, ended := rest, false
			if i := bytes.IndexByte(rest, '\n'); i >= 0 {
				part, ended = rest[:i+1], true
			}
			rest = rest[len(part):]
			if !unread {
				line = append(line, part...)
				if start := bytes.TrimLeft(line, " \t\r"); len(line) <= maxLine && len(start) > 0 && start[0] == '{' {
					if !ended {
						continue
					}
					if err := l.pass(line, see, done); err != nil {
						return err
					}
					line = nil
					continue
				}
				l.mu.Lock()
				part, line, unread = line, nil, true
			}
			_, failed := l.to.Write(part)
			if ended || failed != nil {
				unread = false
				l.mu.Unlock()
			}
			if failed != nil {
				return failed
			}
		}
		if err == nil {
			continue
		}
		if unread {
			l.mu.Unlock()
		}
		if errors.Is(err, io.EOF) {
			err = nil
		}
		if len(line) > 0 {
			return errors.Join(l.send(line), err)
		}
		return err
	}
}

// pass passes on a whole line.
func (l *lane) pass(line []byte, see func(line []byte) bool, done func(line []byte)) error {
	if !see(line) {
		return nil
	}
	if err := l.send(line); err != nil {
		return err
	}
	done(line)
	return nil
}
