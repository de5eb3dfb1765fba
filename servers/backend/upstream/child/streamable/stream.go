package streamable

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	openAgain  = time.Second // before reopening a stream that ended, unless the server sets another delay
	openSeldom = 30 * time.Second
	openOften  = 100 * time.Millisecond
	resumes    = 5 // consecutive attempts to resume a stream without receiving anything new
)

// follow reads the stream that answers a request. If it breaks, follow resumes it, provided
// that the server assigned ids to its events.
func (l *link) follow(ctx context.Context, id string, m rpc.Message, body io.ReadCloser) error {
	stream := newEvents(body, "")
	for failed := 0; ; {
		last, heard := stream.last, stream.heard
		err := l.read(ctx, id, m, stream, body)
		body.Close()
		switch {
		case !l.conn.Waits(id):
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, rpc.ErrTooLarge):
			return err
		}
		l.mu.Lock()
		session, version := l.session, l.version
		l.mu.Unlock()
		if failed++; stream.last != last || stream.heard != heard {
			failed = 0
		}
		if stream.last == "" || version == modern || failed > resumes {
			return fmt.Errorf("%w: the stream ended before the answer", child.ErrBroken)
		}
		wait := openAgain
		if stream.retry > 0 {
			wait = min(max(stream.retry, openOften), openSeldom)
		}
		if process.Pause(ctx, wait) != nil {
			return ctx.Err()
		}
		answer, err := l.get(ctx, session, stream.last)
		switch {
		case err != nil:
			body = http.NoBody
		case answer.StatusCode != http.StatusOK:
			answer.Body.Close()
			return fmt.Errorf("%w: the stream ended before the answer, and cannot be resumed (HTTP status %d)", child.ErrBroken, answer.StatusCode)
		default:
			body = answer.Body
		}
		next := newEvents(body, stream.last)
		next.retry = stream.retry
		stream = next
	}
}

// read reads a stream until it ends, or until shortly after the response. A message over
// the limit fails the request that it answers.
func (l *link) read(ctx context.Context, id string, m rpc.Message, stream *events, body io.Closer) error {
	stop := context.AfterFunc(ctx, func() { body.Close() })
	defer stop()
	for drains := false; ; {
		name, data, err := stream.next()
		long := errors.Is(err, rpc.ErrLineTooLong)
		cancelled := l.cancelled(id)
		switch {
		case err != nil && !long:
			return err
		case name != "" && name != "message" || len(data) == 0 && !long:
			continue
		case long && data == nil && id != "":
			return rpc.ErrTooLarge // whatever it is, it came for this request
		case long:
			l.conn.Skipped(data)
		default:
			l.take(m, flat(data))
		}
		// A request that is cancelled while a message about it is taken has no response yet.
		if id != "" && !drains && !l.conn.Waits(id) && l.cancelled(id) == cancelled {
			drains = true
			t := time.AfterFunc(drainLimit, func() { body.Close() })
			defer t.Stop()
		}
	}
}

// get opens a stream; last is the id of the event after which to resume.
func (l *link) get(ctx context.Context, session, last string) (*http.Response, error) {
	r, err := l.newRequest(ctx, http.MethodGet, l.url, nil, session)
	if err != nil {
		return nil, err
	}
	if last != "" {
		r.Header.Set(headerLast, last)
	}
	answer, err := l.http.Do(r)
	if err != nil {
		return nil, reachError(ctx, err, false)
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")) // if invalid, kind is ""
	if answer.StatusCode == http.StatusOK && kind != "text/event-stream" {
		answer.Body.Close()
		return nil, errors.New("it sent something else than a stream")
	}
	return answer, nil
}

// listen keeps the stream open on which a server of the older era sends notifications and
// requests of its own.
func (l *link) listen() {
	ctx, cancel := context.WithCancel(l.life)
	l.mu.Lock()
	before, session, apart := l.listens, l.session, l.endpoint != nil
	l.listens = cancel
	l.mu.Unlock()
	if before != nil {
		before()
	}
	if apart {
		return
	}
	l.spawn("stream", func() {
		defer cancel()
		l.listening(ctx, session)
	})
}

func (l *link) listening(ctx context.Context, session string) {
	last, opened := "", false
	for wait := openAgain; ; wait = min(2*wait, openSeldom) {
		answer, err := l.get(ctx, session, last)
		switch {
		case err != nil: // may be temporary
		case answer.StatusCode == http.StatusOK:
			opened = true
			stream := newEvents(answer.Body, last)
			_ = l.read(ctx, "", rpc.Message{}, stream, answer.Body) // it is opened again
			answer.Body.Close()
			wait, last = openAgain, stream.last
			if stream.retry > 0 {
				wait = min(max(stream.retry, openOften), openSeldom)
			}
		case answer.StatusCode >= 500:
			answer.Body.Close()
		default:
			f := readFailure(answer)
			answer.Body.Close()
			if !opened || !f.lost(session) {
				return // the server offers no such stream
			}
			if err := l.renew(ctx, session); err != nil && ctx.Err() == nil {
				l.note("another session could not be begun: " + err.Error())
			}
			return // the new session has its own
		}
		if process.Pause(ctx, wait) != nil {
			return
		}
	}
}

// older reports whether a server that refuses initialize may use the older transport.
func (l *link) older(f *failure) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.endpoint != nil || l.o.Transport == HTTP || f.err != nil {
		return false
	}
	switch f.status.Code {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotAcceptable, http.StatusUnsupportedMediaType:
		return true
	}
	return false
}

// connectSSE opens the stream of the older transport and waits for the address to send
// messages to. The link ends when the stream does.
func (l *link) connectSSE() error {
	l.joining.Lock()
	defer l.joining.Unlock()
	l.mu.Lock()
	done := l.endpoint != nil
	l.mu.Unlock()
	if done {
		return nil
	}
	answer, err := l.get(l.life, "", "")
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		defer answer.Body.Close()
		return readFailure(answer).error()
	}
	late := time.AfterFunc(reachLimit, func() { answer.Body.Close() })
	stream := newEvents(answer.Body, "")
	name, data, err := stream.next()
	if !late.Stop() || err != nil || name != "endpoint" {
		answer.Body.Close()
		return errors.New("its stream does not say where to send messages")
	}
	to, err := l.url.Parse(string(data))
	if err != nil || to.Scheme != l.url.Scheme || to.Host != l.url.Host {
		answer.Body.Close()
		return errors.New("it wants messages to be sent to another server")
	}
	if to.User == nil {
		to.User = l.url.User
	}
	l.mu.Lock()
	l.endpoint = to
	l.mu.Unlock()
	l.spawn("stream", func() {
		_ = l.read(l.life, "", rpc.Message{}, stream, answer.Body) // only that it ended matters
		answer.Body.Close()
		l.fall("its stream ended")
	})
	return nil
}
