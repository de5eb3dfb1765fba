package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// ClientOptions say how a [Client] reaches the deck.
type ClientOptions struct {
	Path    string        // of the deck's socket
	Wait    time.Duration // for a deck that is not there yet; 0: 3 s, negative: not at all
	Lost    func() bool   // whether a deck was there and has gone; then it is waited for longer. May be nil
	Session string        // label of the agent's session
	Version string        // of the program
	// Prove asks the user for what a deck wants to be shown before it takes an
	// answer: "pair" or "passphrase".
	Prove func(method string) (string, error)
}

// Client asks through the socket of a deck in another process. A lost deck is
// looked for again, and asked again under the same key.
type Client struct {
	opt ClientOptions

	mu    sync.Mutex
	calls map[string]*RemoteCall // by key and owner; those that may be resumed
	last  *RemoteCall            // the newest
}

// commandWithin is how long a deck may take for one line; a passphrase takes a
// moment to be checked.
const commandWithin = 15 * time.Second

// NewClient returns a client that connects when it is asked something.
func NewClient(opt ClientOptions) *Client {
	if opt.Wait == 0 {
		opt.Wait = defaultWait
	}
	return &Client{opt: opt, calls: map[string]*RemoteCall{}}
}

// Open sends a request to the deck. When there is none and none is waited for,
// the error is [ErrUnavailable]; otherwise the call ends with it.
func (c *Client) Open(req Request) (*RemoteCall, error) {
	if req.ResumeKey == "" {
		req.ResumeKey = NewKey()
	}
	if req.From.Session == "" {
		req.From.Session = c.opt.Session
	}
	return c.start(req)
}

// Resume waits again for a request that was handed over, by this client or by
// one before it. The deck says whether it knows it.
func (c *Client) Resume(key, owner string) (*RemoteCall, error) {
	c.mu.Lock()
	r := c.calls[key+"\x00"+owner]
	c.mu.Unlock()
	if r != nil {
		return r, nil
	}
	return c.start(Request{ResumeKey: key, Owner: owner})
}

// start begins a call; a request without questions is a resumed one.
func (c *Client) start(req Request) (*RemoteCall, error) {
	wait := c.patience(req)
	conn, err := c.dial(context.Background())
	if err != nil && wait <= 0 {
		return nil, err
	}
	r := newRemoteCall(c, req)
	c.mu.Lock()
	c.calls[r.key] = r
	before := c.last
	c.last = r
	c.mu.Unlock()
	safe.Go("ask client", func() {
		if before != nil {
			before.inLine(r, conn != nil)
		}
		if conn == nil {
			if conn, err = c.dialFor(r, wait); err != nil {
				r.finish(Reply{}, err)
				return
			}
		}
		r.run(conn)
	})
	return r, nil
}

// Close withdraws everything that is still asked, and waits a moment for the
// deck to be told.
func (c *Client) Close() {
	c.mu.Lock()
	open := slices.Collect(maps.Values(c.calls))
	c.mu.Unlock()
	late := time.After(closeWithin)
	for _, r := range open {
		r.withdraw("the agent's server exited")
	}
	for _, r := range open {
		select {
		case <-r.done:
		case <-late:
			return
		}
	}
}

func (c *Client) forget(key string) {
	c.mu.Lock()
	delete(c.calls, key)
	c.mu.Unlock()
}

// RemoteCall is a [Call] in another process.
type RemoteCall struct {
	c     *Client
	req   Request
	key   string
	start time.Time
	once  sync.Once
	done  chan struct{}
	acked chan struct{} // closed when the asker has the reply
	ack   sync.Once

	wanted context.Context         // ends when the asker has gone
	leave  context.CancelCauseFunc // says that it has

	reply Reply
	err   error

	placed chan struct{} // closed when the deck has it
	place  sync.Once

	mu     sync.Mutex
	state  State
	since  time.Time // when it became Unreached
	ahead  int
	counts int
}

func newRemoteCall(c *Client, req Request) *RemoteCall {
	r := &RemoteCall{
		c: c, req: req, key: req.ResumeKey + "\x00" + req.Owner, start: time.Now(),
		done: make(chan struct{}), acked: make(chan struct{}), placed: make(chan struct{}),
		state: Unreached, since: time.Now(),
	}
	r.wanted, r.leave = context.WithCancelCause(context.Background())
	return r
}

// Done is closed when there is a reply or an error.
func (r *RemoteCall) Done() <-chan struct{} { return r.done }

// Reply is the end of the request, once Done is closed.
func (r *RemoteCall) Reply() (Reply, error) { return r.reply, r.err }

// Delivered forgets a reply that has arrived.
func (r *RemoteCall) Delivered(d Delivery) {
	if d == Delivered {
		r.ack.Do(func() { close(r.acked) })
		r.c.forget(r.key)
	}
}

// HandOver keeps the request open for [Client.Resume].
func (r *RemoteCall) HandOver() {}

// Leave withdraws the request. It waits a moment for the deck to be told, so
// that nothing of this call reaches it behind a later one for the same question.
func (r *RemoteCall) Leave(why string) {
	r.withdraw(why)
	select {
	case <-r.done:
	case <-time.After(closeWithin):
	}
}

func (r *RemoteCall) withdraw(why string) {
	r.leave(errors.New(why)) // the first counts
	r.c.forget(r.key)
}

// Place is what the deck said last.
func (r *RemoteCall) Place() (state State, ahead, pending int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.ahead, r.counts
}

// Unreached tells since when no deck has the request; zero when one has it.
func (r *RemoteCall) Unreached() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state != Unreached {
		return time.Time{}
	}
	return r.since
}

func (r *RemoteCall) finish(reply Reply, err error) {
	r.once.Do(func() {
		reply.Questions, reply.After = r.req.Questions, time.Since(r.start)
		r.reply, r.err = reply, err
		if err != nil {
			r.c.forget(r.key) // an answer may still be fetched, an error not
		}
		close(r.done)
	})
}

// run talks to the deck until there is an answer, or the deck is gone for good.
func (r *RemoteCall) run(conn net.Conn) {
	err := reconnect.Keep(conn, func(conn net.Conn) bool {
		lost := r.talk(conn)
		_ = conn.Close() // whatever was to be said has been
		r.mu.Lock()
		r.state, r.since = Unreached, time.Now()
		r.mu.Unlock()
		return lost
	}, func() (net.Conn, error) { return r.c.dialFor(r, r.lives()) })
	switch {
	case err == nil:
		err = ErrWithdrawn // unless it has ended before
	case errors.Is(err, ErrUnavailable):
		err = &Error{Code: "shutdown", Message: "mcpdeck has closed"}
	}
	r.finish(Reply{}, err)
}

// talk sends the request and reads until the end; true to try again.
func (r *RemoteCall) talk(conn net.Conn) bool {
	if !r.isWanted() {
		return false
	}
	_ = conn.SetWriteDeadline(time.Now().Add(writeWithin)) // fails only on a closed connection
	if _, err := conn.Write(append(encode(r.wire()), '\n')); err != nil {
		return r.isWanted()
	}
	_ = conn.SetWriteDeadline(time.Time{}) // as above
	lines := make(chan []byte)
	quit := make(chan struct{})
	defer close(quit)
	safe.Go("ask client reader", func() {
		defer close(lines)
		in := &lineReader{r: conn}
		for {
			l, err := in.next()
			if err != nil {
				return
			}
			select {
			case lines <- l:
			case <-quit:
				return
			}
		}
	})
	for {
		select {
		case <-r.wanted.Done():
			why := context.Cause(r.wanted).Error()
			_, _ = conn.Write(append(encode(map[string]string{"type": "cancel", "id": "ask", "reason": why}), '\n')) // closing says the same
			r.finish(Reply{}, ErrWithdrawn)
			return false
		case raw, ok := <-lines:
			if !ok {
				return r.isWanted()
			}
			if over, again := r.hear(conn, raw); over {
				return again && r.isWanted()
			}
		}
	}
}

func (r *RemoteCall) isWanted() bool { return r.wanted.Err() == nil }

// hear takes one line of the deck. over ends the connection; again asks for
// another.
func (r *RemoteCall) hear(conn net.Conn, raw []byte) (over, again bool) {
	var l struct {
		line
		Results []Result `json:"results"`
	}
	if json.Unmarshal(raw, &l) != nil {
		return false, false
	}
	switch l.Type {
	case "status":
		r.place.Do(func() { close(r.placed) })
		r.mu.Lock()
		r.state, r.ahead = State(l.State), max(l.Position-1, 0)
		if l.Pending != nil {
			r.counts = *l.Pending
		}
		r.mu.Unlock()
		return false, false
	case "result":
		status := l.Status
		if status == "" {
			status = Answered
		}
		r.finish(Reply{Status: status, Results: l.Results}, nil)
		select {
		case <-r.acked:
			_, _ = conn.Write([]byte("{\"type\":\"ack\",\"id\":\"ask\"}\n")) // without it the deck keeps the answer, which does no harm
		case <-time.After(ackWithin):
		}
		return true, false
	case "error":
		switch {
		case l.Code == "shutdown" && l.Retry:
			return true, true
		case l.Code == "cancelled":
			r.finish(Reply{Status: Declined, Reason: l.Reason}, nil)
		case l.Code == "timeout":
			r.finish(Reply{Status: TimedOut}, nil)
		default:
			r.finish(Reply{}, &Error{Code: l.Code, Message: l.Message, Retry: l.Retry})
		}
		return true, false
	}
	return false, false
}

// wire is the request as it goes over the socket.
func (r *RemoteCall) wire() map[string]any {
	if len(r.req.Questions) == 0 {
		return map[string]any{
			"v": 1, "id": "ask", "type": "resume", "features": features(), "resumeKey": r.req.ResumeKey, "owner": r.req.Owner,
		}
	}
	from := r.req.From
	if from.Title == "" {
		from.Title = r.req.Title
	}
	m := map[string]any{
		"v": 1, "id": "ask", "type": "ask", "questions": wireQuestions(r.req.Questions), "from": from,
		"features": features(), "resumeKey": r.req.ResumeKey, "owner": r.req.Owner,
	}
	if r.req.Timeout > 0 {
		m["timeoutMs"] = r.req.Timeout.Milliseconds()
	}
	if r.req.ClientDeadline > 0 {
		m["clientDeadlineMs"] = r.req.ClientDeadline.Milliseconds()
	}
	return m
}

func features() []string { return []string{"notes", "clarify", "skip", "status", "ack", "resume"} }

// wireQuestions undoes what normalising did, so that the deck gets the same
// questions again.
func wireQuestions(qs []Question) []map[string]any {
	out := make([]map[string]any, len(qs))
	for i, q := range qs {
		options := append([]Option(nil), q.Options...)
		var rec any
		switch {
		case q.OtherFirst:
			rec = len(options)
			options = append(options, Option{Label: "Other"})
		case q.Multi && len(q.Recommended) > 0:
			rec = q.Recommended
		case len(q.Recommended) > 0:
			rec = q.Recommended[0]
		}
		m := map[string]any{
			"id": q.ID, "question": q.Question, "header": q.Header, "description": q.Description, "placeholder": q.Placeholder,
			"kind": q.Kind, "options": options, "multi": q.Multi, "allowOther": q.AllowOther, "required": q.Required,
			"recommended": rec,
		}
		if q.Multi {
			m["minSelect"] = q.MinSelect
			if q.MaxSelect > 0 {
				m["maxSelect"] = q.MaxSelect
			}
		}
		out[i] = m
	}
	return out
}

// List asks the deck for its open requests.
func (c *Client) List() ([]Listed, error) {
	var out struct {
		Items []Listed `json:"items"`
	}
	err := c.command(map[string]any{"type": "list"}, &out)
	return out.Items, err
}

// Answer answers the deck's request id for the user, who is asked for a proof.
func (c *Client) Answer(id int, results []Result) error {
	return c.asUser(map[string]any{"type": "answer", "request": id, "answers": results})
}

// Decline declines the deck's request id for the user, who is asked for a proof.
func (c *Client) Decline(id int, reason string) error {
	return c.asUser(map[string]any{"type": "answer", "request": id, "decline": true, "reason": reason})
}

// asUser sends one line on a connection that has shown a proof.
func (c *Client) asUser(req map[string]any) error {
	conn, err := c.dial(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	d := json.NewDecoder(conn)
	challenge, _, err := exchange(conn, d, map[string]any{"type": "prove"})
	if err != nil {
		return err
	}
	if challenge.Type != "challenge" || c.opt.Prove == nil {
		return errors.New("read mcpdeck's reply: no request for a proof")
	}
	secret, err := c.opt.Prove(challenge.Method)
	if err != nil {
		return err
	}
	if _, _, err := exchange(conn, d, map[string]any{"type": "proof", "secret": secret}); err != nil {
		return err
	}
	_, _, err = exchange(conn, d, req)
	return err
}

// OpenSession returns the path of a new socket for an agent's session.
func (c *Client) OpenSession(label string) (string, error) {
	var out struct {
		Socket string `json:"socket"`
	}
	err := c.command(map[string]any{"type": "session", "label": label}, &out)
	return out.Socket, err
}

// Ping returns the version of the deck that listens and how many requests wait.
func (c *Client) Ping() (version string, waiting int, err error) {
	var out struct {
		App, Version string
		Pending      int
	}
	if err := c.command(map[string]any{"type": "ping"}, &out); err != nil {
		return "", 0, err
	}
	if out.App != "mcpdeck" {
		return "", 0, fmt.Errorf("another program is listening on %s", c.opt.Path)
	}
	return out.Version, out.Pending, nil
}

// command sends one line and reads one.
func (c *Client) command(req map[string]any, into any) error {
	conn, err := c.dial(context.Background())
	if err != nil {
		return err
	}
	defer conn.Close()
	_, raw, err := exchange(conn, json.NewDecoder(conn), req)
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	return nil
}

// exchange sends one line on a connection and reads one.
func exchange(conn net.Conn, d *json.Decoder, req any) (l line, raw json.RawMessage, err error) {
	_ = conn.SetDeadline(time.Now().Add(commandWithin)) // fails only on a closed connection
	if _, err := conn.Write(append(encode(req), '\n')); err != nil {
		return l, nil, fmt.Errorf("send to mcpdeck: %w", err)
	}
	if err := d.Decode(&raw); err != nil {
		return l, nil, fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	if err := json.Unmarshal(raw, &l); err != nil {
		return l, nil, fmt.Errorf("read mcpdeck's reply: %w", err)
	}
	if l.Type == "error" {
		return l, nil, &Error{Code: l.Code, Message: l.Message, Retry: l.Retry}
	}
	return l, raw, nil
}
