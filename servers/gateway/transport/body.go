package transport

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"time"
)

// The minimum rate at which a body must arrive, after a moment for the first bytes.
const (
	bodyGrace = 10 * time.Second
	bodyRate  = 16 << 10 // bytes a second
	bodyFree  = 64 << 10 // bytes that are not counted
	bodyStep  = 1 << 20  // bytes that are counted at a time
)

// due returns when more than the bytes read so far must have arrived.
func due(start time.Time, grace time.Duration, read int) time.Time {
	return start.Add(grace + time.Duration(read)*time.Second/bodyRate)
}

// pace extends the read deadline so that more than the bytes read so far can arrive. done
// is called after the last of them.
func (h *HTTP) pace(w http.ResponseWriter) (read func(bytes int), done func()) {
	control := http.NewResponseController(w)
	start, grace := time.Now(), cmp.Or(h.grace, bodyGrace)
	// A writer that does not support deadlines is one of a test.
	return func(bytes int) { _ = control.SetReadDeadline(due(start, grace, bytes)) },
		func() { _ = control.SetReadDeadline(time.Time{}) }
}

// body reads the body of a request. Its bytes count as reserved until release is called,
// which is never nil. If status is not 0, the request is refused with it.
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
	most := bodyFree // bytes that there is room for
	all := make([]byte, 0, min(max(r.ContentLength, 0), bodyFree)+1)
	for {
		if len(all) == most {
			one, ok := h.Host.Hold(h.payer(r), bodyStep)
			if !ok {
				release()
				hearOut(r.Body, len(all), pace)
				return nil, release, http.StatusServiceUnavailable, busyBytes
			}
			held = append(held, one)
			most += bodyStep
		}
		if len(all) == cap(all) {
			all = slices.Grow(all, bodyFree)
		}
		pace(len(all))
		n, err := r.Body.Read(all[len(all):min(cap(all), most)])
		all = all[:len(all)+n]
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			return bytes.TrimSpace(all), release, 0, ""
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, release, http.StatusRequestTimeout, "the body is arriving too slowly"
		default:
			return nil, release, http.StatusRequestEntityTooLarge, "the body is too large or was cut short"
		}
	}
}

// payer returns the agent that the bytes of a body are charged to: that of the session,
// or a common one for all requests without a session.
func (h *HTTP) payer(r *http.Request) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.agents[sessionOf(r)]
	if a == nil {
		return "http"
	}
	return a.Caller().Identity
}

// hearOut reads and discards the rest of a refused body. A client that sends everything
// before it reads would otherwise see a broken connection and not the reason. wait is
// called with the number of bytes read.
func hearOut(body io.Reader, read int, wait func(read int)) {
	for {
		wait(read)
		n, err := io.CopyN(io.Discard, body, bodyFree)
		if read += int(n); err != nil {
			return
		}
	}
}
