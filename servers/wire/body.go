package wire

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/mark3labs/mcp-go/server"
)

// A body must come at a rate, however long it is; the first bytes get a moment.
const (
	bodyGrace = 10 * time.Second
	bodyRate  = 16 << 10 // bytes a second
	bodyFree  = 64 << 10 // bytes that are not counted
	bodyStep  = 1 << 20  // bytes that are counted at a time
)

// due is when a body must have reached more than the bytes read so far.
func due(start time.Time, grace time.Duration, read int) time.Time {
	return start.Add(grace + time.Duration(read)*time.Second/bodyRate)
}

// pace gives a body the time to reach more than the bytes read so far. done
// follows the last of them.
func (h *HTTP) pace(w http.ResponseWriter) (read func(bytes int), done func()) {
	control := http.NewResponseController(w)
	start, grace := time.Now(), cmp.Or(h.grace, bodyGrace)
	// A writer without deadlines, in a test, has no need of one.
	return func(bytes int) { _ = control.SetReadDeadline(due(start, grace, bytes)) },
		func() { _ = control.SetReadDeadline(time.Time{}) }
}

// body reads a request's body. Its bytes are held until release is called, which is
// never nil. With a status above 0 the request is to be refused.
func (h *HTTP) body(w http.ResponseWriter, r *http.Request) (body []byte, release func(), status int, why string) {
	var held []func()
	release = func() {
		for _, one := range held {
			one()
		}
		held = nil
	}
	pace, done := h.pace(w)
	defer done()
	payer := h.payer(r)
	var all bytes.Buffer
	for room := bodyFree; ; {
		if room == 0 {
			one, ok := h.Host.Hold(payer, bodyStep)
			if !ok {
				release()
				hearOut(r.Body, all.Len(), pace)
				return nil, release, http.StatusServiceUnavailable, busyBytes
			}
			held = append(held, one)
			room = bodyStep
		}
		pace(all.Len())
		n, err := io.CopyN(&all, r.Body, int64(min(room, bodyFree)))
		room -= int(n)
		switch {
		case errors.Is(err, io.EOF):
			return bytes.TrimSpace(all.Bytes()), release, 0, ""
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, release, http.StatusRequestTimeout, "the body is arriving too slowly"
		case err != nil:
			return nil, release, http.StatusRequestEntityTooLarge, "the body is too large or was cut short"
		}
	}
}

// payer is who the bytes of a body are counted for: the agent of its session, or all
// without one together.
func (h *HTTP) payer(r *http.Request) string {
	h.mu.Lock()
	a := h.agents["session "+r.Header.Get(server.HeaderKeySessionID)]
	h.mu.Unlock()
	if a == nil {
		return "http"
	}
	return a.Caller().Identity
}

// hearOut reads the rest of a body that is refused and forgets it: a client that sends
// all before it listens would see its connection break, and not why. wait is told how
// much has been read.
func hearOut(body io.Reader, read int, wait func(read int)) {
	for {
		wait(read)
		n, err := io.CopyN(io.Discard, body, bodyFree)
		if read += int(n); err != nil {
			return
		}
	}
}
