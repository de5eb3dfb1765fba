package streamable

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

const (
	drainLimit  = time.Second      // for the end of a stream after its response
	cancelLimit = 10 * time.Second // for the end of a stream after its request was cancelled
)

func trimmed(line []byte) []byte { return bytes.TrimSpace(line) }

// failure is an error response: the status, and the server's message.
type failure struct {
	status *child.StatusError
	err    *rpc.Error // nil if there is no message
}

func (f *failure) error() error {
	if f.err != nil && f.status.Code != http.StatusUnauthorized && f.status.Code != http.StatusForbidden {
		return f.err
	}
	return f.status
}

// lost reports whether the server refused a request because the session is unknown. It has
// then not processed the request.
func (f *failure) lost(session string) bool {
	return f.status.Code == http.StatusNotFound && session != "" && (f.err == nil || f.err.Code != rpc.CodeMethod) ||
		f.status.Code == http.StatusBadRequest && f.err != nil && (f.err.Code == -32000 || f.err.Code == -32001)
}

// newRequest returns a request with the common headers.
func (l *link) newRequest(ctx context.Context, method string, to *url.URL, body []byte, session string) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range l.o.Headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("User-Agent", "mcpdeck/"+l.o.Version)
	r.Header.Set("Accept", "application/json, text/event-stream")
	if method == http.MethodGet {
		r.Header.Set("Accept", "text/event-stream")
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	l.mu.Lock()
	version := l.version
	l.mu.Unlock()
	if version != "" {
		r.Header.Set(headerVersion, version)
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	return r, nil
}

// post sends a message. The error says whether the message may have reached the server.
func (l *link) post(ctx context.Context, m rpc.Message, line []byte, session string) (*http.Response, error) {
	l.mu.Lock()
	to, params := l.url, l.params
	if l.endpoint != nil {
		to = l.endpoint
	}
	var repeated []param
	if m.Method == "tools/call" {
		if o, err := rawjson.SplitObject(m.Params); err == nil {
			repeated = params[o.Str("name")]
		}
	}
	l.mu.Unlock()
	reached := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { reached = true }}
	r, err := l.newRequest(httptrace.WithClientTrace(ctx, trace), http.MethodPost, to, trimmed(line), session)
	if err != nil {
		return nil, err
	}
	switch version := modernVersion(m.Params); {
	case version != "":
		modernHeaders(r.Header, version, m, repeated)
	case m.Method == "initialize":
		r.Header.Del(headerVersion)
	}
	answer, err := l.http.Do(r)
	if err != nil {
		return nil, reachError(ctx, err, reached)
	}
	return answer, nil
}

// reachError explains why there was no response, without the URL, which may contain secrets.
func reachError(ctx context.Context, err error, reached bool) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if errors.Is(err, errElsewhere) || errors.Is(err, errCircles) {
		return err
	}
	if reached {
		return fmt.Errorf("%w: %w", child.ErrBroken, err)
	}
	return fmt.Errorf("%w: %w", child.ErrUnreachable, err)
}

// readFailure reads an error response.
func readFailure(answer *http.Response) *failure {
	body, _ := io.ReadAll(io.LimitReader(answer.Body, maxFailure)) // use what could be read
	f := &failure{status: &child.StatusError{Code: answer.StatusCode, Challenge: answer.Header.Get("WWW-Authenticate")}}
	if m, bad := (rpc.Rules{Lenient: true}).Decode(flat(body)); len(body) > 0 && bad == nil && m.Err != nil {
		f.err = rpc.ReadError(m.Err)
		f.status.Text = sanitize.Cut(sanitize.Line(f.err.Message), child.MaxRunes)
	} else if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); strings.HasPrefix(kind, "text/plain") {
		f.status.Text = sanitize.Cut(sanitize.Line(string(body)), child.MaxRunes)
	}
	return f
}

// request sends a request in its own goroutine, and fails it if there is no response.
func (l *link) request(m rpc.Message, line []byte) {
	id, err := rawjson.Text(m.ID)
	if err != nil {
		return // not a request of this connection
	}
	ctx, cancel := context.WithCancel(l.life)
	l.mu.Lock()
	l.open[id] = &exchange{end: cancel}
	if m.Method == "initialize" || m.Method == "server/discover" {
		l.greets[m.Method] = cancel
	}
	l.mu.Unlock()
	l.spawn("request", func() {
		defer func() {
			cancel()
			l.mu.Lock()
			delete(l.open, id)
			l.mu.Unlock()
		}()
		if err := l.converse(ctx, id, m, line); err != nil {
			l.conn.Fail(id, err)
		}
	})
}

// converse sends a request and processes the response. If the session is lost, it starts a
// new one and repeats the refused request, once.
func (l *link) converse(ctx context.Context, id string, m rpc.Message, line []byte) error {
	starts := m.Method == "initialize"
	if starts {
		l.mu.Lock()
		l.hello = bytes.Clone(m.Params)
		l.mu.Unlock()
	}
	if l.o.Transport == SSE {
		if err := l.connectSSE(); err != nil {
			return err
		}
	}
	for again := false; ; again = true {
		if !starts {
			if err := l.begun(ctx); err != nil {
				return err
			}
		}
		l.mu.Lock()
		session, shaken := l.session, l.version != "" && l.version != modern
		l.mu.Unlock()
		if starts {
			session = ""
		}
		answer, err := l.post(ctx, m, line, session)
		if err != nil {
			return err
		}
		if answer.StatusCode < 300 {
			err := l.hear(ctx, id, m, answer)
			answer.Body.Close()
			return err
		}
		f := readFailure(answer)
		answer.Body.Close()
		switch {
		case starts && l.older(f):
			if l.connectSSE() != nil {
				return f.error()
			}
		case shaken && !starts && !again && f.lost(session):
			if err := l.renew(ctx, session); err != nil {
				return fmt.Errorf("its session was lost, and another could not be begun: %w", err)
			}
		default:
			return f.error()
		}
	}
}

// hear processes the server's response to a request.
func (l *link) hear(ctx context.Context, id string, m rpc.Message, answer *http.Response) error {
	if m.Method == "initialize" {
		l.mu.Lock()
		l.session = answer.Header.Get(headerSession)
		l.mu.Unlock()
	}
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")) // if invalid, kind is ""
	l.mu.Lock()
	apart := l.endpoint != nil
	l.mu.Unlock()
	switch {
	case apart: // the response arrives on the SSE stream
		return nil
	case kind == "text/event-stream":
		return l.follow(ctx, id, m, answer.Body)
	case answer.StatusCode == http.StatusAccepted || answer.StatusCode == http.StatusNoContent:
		return errors.New("the server took the request and sent no answer")
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, rpc.MaxLine+1))
	switch {
	case err != nil:
		return reachError(ctx, err, true)
	case len(body) > rpc.MaxLine:
		return rpc.ErrTooLarge
	}
	l.take(m, flat(body))
	if l.conn.Waits(id) {
		return errors.New("the server sent something else than an answer")
	}
	return nil
}

// take passes a message to the connection, after reading from responses what concerns the
// link itself.
func (l *link) take(m rpc.Message, line []byte) {
	if len(line) == 0 {
		return
	}
	if line[0] == '[' { // a batch, from an earlier revision
		if json.Valid(line) {
			all, _ := rawjson.SplitArray(line) // cannot fail: it is valid
			for _, one := range all {
				l.takeOne(m, one)
			}
			return
		}
	}
	l.takeOne(m, line)
}

func (l *link) takeOne(m rpc.Message, line []byte) {
	switch m.Method {
	case "initialize", "server/discover", "tools/list":
		if a, bad := (rpc.Rules{Lenient: true}).Decode(line); bad == nil && bytes.Equal(a.ID, m.ID) && a.Result != nil {
			l.answered(m.Method, a.Result)
		}
	}
	l.conn.Hear(line)
}

func (l *link) answered(method string, result json.RawMessage) {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return
	}
	switch method {
	case "initialize":
		l.greeted(method, o.Str("protocolVersion"))
	case "server/discover":
		if bytes.Contains(o.Get("supportedVersions"), []byte(`"`+modern+`"`)) {
			l.greeted(method, modern)
		}
	case "tools/list":
		l.learn(result)
	}
}

// greeted takes the version from the answer to a greeting, and ends the other greeting, which
// the server may never answer.
func (l *link) greeted(method, version string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.version = version
	for other, end := range l.greets {
		if other != method {
			end()
		}
	}
}

// notify sends a notification or a response.
func (l *link) notify(ctx context.Context, m rpc.Message, line []byte) {
	l.mu.Lock()
	session := l.session
	l.mu.Unlock()
	answer, err := l.post(ctx, m, line, session)
	if err != nil {
		if l.life.Err() == nil {
			l.note("a message did not arrive: " + err.Error())
		}
		return
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		l.note("a message was refused: " + readFailure(answer).error().Error())
	}
}

// cancel cancels a request. For a server of the newer era, closing the stream is enough. One
// of the older era gets a notification, and may then cancel its own requests on the stream,
// which is therefore read for a little longer.
func (l *link) cancel(m rpc.Message, line []byte) {
	o, err := rawjson.SplitObject(m.Params)
	if err != nil {
		return
	}
	id := o.Str("requestId")
	l.mu.Lock()
	e, version := l.open[id], l.version
	if e != nil {
		e.cancelled = true
	}
	l.mu.Unlock()
	l.conn.Fail(id, context.Canceled) // whatever the server still sends
	if version != modern {
		ctx, stop := context.WithTimeout(l.life, noticeLimit)
		l.notify(ctx, m, line)
		stop()
	}
	switch {
	case e == nil:
	case version == modern || version == "":
		e.end()
	default:
		time.AfterFunc(cancelLimit, e.end)
	}
}

// cancelled reports whether a request in flight was cancelled.
func (l *link) cancelled(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.open[id]
	return e != nil && e.cancelled
}

// begun waits while a lost session is being replaced: until the server knows that the new
// session has begun, it may refuse to serve requests in it.
func (l *link) begun(ctx context.Context) error {
	select {
	case l.renewing <- struct{}{}:
		<-l.renewing
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// renew replaces a lost session, unless another request has already done so.
func (l *link) renew(ctx context.Context, lost string) error {
	select {
	case l.renewing <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-l.renewing }()
	l.mu.Lock()
	done, hello := l.session != lost, l.hello
	l.mu.Unlock()
	if done {
		return nil
	}
	l.note("the server has forgotten the session: beginning another")
	if _, err := l.conn.Call(ctx, "initialize", hello); err != nil {
		return err
	}
	if _, err := l.Write(rpc.Message{Method: "notifications/initialized"}.Line()); err != nil {
		return err
	}
	if l.o.Renewed != nil {
		l.o.Renewed()
	}
	return nil
}
