package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/reconnect"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// ClientOptions configures how a [Client] reaches the deck.
type ClientOptions struct {
	Path string        // of the deck's socket
	Wait time.Duration // how long to wait for a deck to start; 0: 3 s, negative: not at all
	Lost func() bool   // reports whether a deck was running and exited, in which case the wait is longer; may be nil
	// Begin starts a deck that others than its user may answer in, if there are any. It is
	// called when none was reached for 3 s, and may be nil.
	Begin   func(context.Context) (begun bool, err error)
	Session string // label of the agent's session
	// Prove asks the user for the proof that the deck requires before it accepts an
	// answer: "pair" or "passphrase".
	Prove func(method string) (string, error)
}

// Client sends questions to a deck in another process over its socket. When the deck
// is lost, Client looks for the next one and sends them again with the same keys.
type Client struct {
	opt ClientOptions

	mu      sync.Mutex
	calls   map[string]*RemoteCall // by key and owner; those that may be resumed
	last    *RemoteCall            // the newest
	talking map[*RemoteCall]bool   // to a deck, or looking for one
}

// NewClient returns a client that connects with its first request.
func NewClient(opt ClientOptions) *Client {
	opt.Wait = cmp.Or(opt.Wait, defaultWait)
	return &Client{opt: opt, calls: map[string]*RemoteCall{}, talking: map[*RemoteCall]bool{}}
}

// Open sends a request to the deck. If no deck is running and the client does not wait
// for one, Open returns [ErrUnavailable]; if it waits in vain, the call ends with that
// error.
func (c *Client) Open(req Request) (*RemoteCall, error) {
	if req.ResumeKey == "" {
		req.ResumeKey = NewKey()
	}
	req.From.Session = cmp.Or(req.From.Session, c.opt.Session)
	return c.start(req)
}

// Resume waits again for a request that this client or an earlier one handed over.
// The call ends with an error if the deck does not know the request.
func (c *Client) Resume(key, owner string) (*RemoteCall, error) {
	c.mu.Lock()
	r := c.calls[key+"\x00"+owner]
	c.mu.Unlock()
	if r != nil {
		r.answered.Store(false)
		return r, nil
	}
	return c.start(Request{ResumeKey: key, Owner: owner})
}

// Move announces that the agents continue without this client: their requests come to
// the deck again with their keys, so the deck does not show that this client leaves.
// The caller calls the returned function once the other calls have left; it releases
// the requests that no call is waiting for. When it returns the deck has read what this
// client sent, which would else end a call that came later.
func (c *Client) Move() (done func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := slices.Collect(maps.Values(c.calls))
	for _, r := range all {
		r.moved.Store(true)
	}
	return func() {
		late := time.After(writeWithin)
		for _, r := range all {
			if r.answered.Load() && r.Unreached().IsZero() {
				r.withdraw("")
			}
			if r.isWanted() {
				continue // it waits for a deck, or for its answer
			}
			select {
			case <-r.done:
			case <-late:
				return
			}
		}
	}
}

// enter registers a call. It returns the call before it, and the call whose question
// this one repeats instead of fetching the answer; either may be nil.
func (c *Client) enter(r *RemoteCall) (last, twin *RemoteCall) {
	asks := r.req.asks()
	c.mu.Lock()
	defer c.mu.Unlock()
	for key, o := range c.calls {
		if o.answered.Load() && o.req.Owner == r.req.Owner && o.req.asks() == asks {
			twin = o
			delete(c.calls, key)
		}
	}
	last, c.last, c.calls[r.key] = c.last, r, r
	c.talking[r] = true
	return last, twin
}

// leaves notes that a call has said to the deck all that it will.
func (c *Client) leaves(r *RemoteCall) {
	c.mu.Lock()
	delete(c.talking, r)
	c.mu.Unlock()
	close(r.over)
}

// start starts a call. A request without questions resumes an earlier one.
func (c *Client) start(req Request) (*RemoteCall, error) {
	wait := c.patience(req)
	conn, err := c.dial(context.Background())
	if err != nil && wait <= 0 {
		return nil, err
	}
	r := newRemoteCall(c, req)
	last, twin := c.enter(r)
	if twin != nil {
		twin.moved.Store(true)
		twin.leave(errors.New(""))
	}
	recovery.Go("ask client", func() {
		defer c.leaves(r)
		if last != nil {
			last.inLine(r, conn != nil)
		}
		if twin != nil { // first, so that the deck joins the two
			twin.Leave("")
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

// Close withdraws all open requests and briefly waits until the deck has been told, also
// of those whose reply was taken.
func (c *Client) Close() {
	c.mu.Lock()
	open, talking := slices.Collect(maps.Values(c.calls)), slices.Collect(maps.Keys(c.talking))
	c.mu.Unlock()
	late := time.After(closeWithin)
	for _, r := range open {
		r.withdraw("the agent's server exited")
	}
	for _, r := range talking {
		select {
		case <-r.over:
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

// RemoteCall is a [Call] on a deck in another process.
type RemoteCall struct {
	c     *Client
	req   Request
	key   string
	start time.Time
	once  sync.Once
	done  chan struct{}
	over  chan struct{} // closed when the deck has been told all
	acked chan struct{} // closed when the asker has the reply
	ack   sync.Once

	moved    atomic.Bool // the agent continues elsewhere
	answered atomic.Bool // with an ID by which the answer can be fetched

	wanted context.Context         // done when the asker is gone
	leave  context.CancelCauseFunc // ends wanted

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
		done: make(chan struct{}), over: make(chan struct{}), acked: make(chan struct{}), placed: make(chan struct{}),
		state: Unreached, since: time.Now(),
	}
	r.wanted, r.leave = context.WithCancelCause(context.Background())
	return r
}

// Done returns a channel that is closed when there is a reply or an error.
func (r *RemoteCall) Done() <-chan struct{} { return r.done }

// Reply returns the outcome of the request once Done is closed.
func (r *RemoteCall) Reply() (Reply, error) { return r.reply, r.err }

// Delivered forgets a reply once it has arrived.
func (r *RemoteCall) Delivered(d Delivery) {
	if d == Delivered {
		r.ack.Do(func() { close(r.acked) })
		r.c.forget(r.key)
	}
}

// HandOver keeps the request open for [Client.Resume].
func (r *RemoteCall) HandOver() { r.answered.Store(true) }

// Leave withdraws the request. It briefly waits until the deck has been told, so that
// nothing from this call arrives after a later call with the same question.
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

// Place returns what the deck reported last.
func (r *RemoteCall) Place() (state State, ahead, pending int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.ahead, r.counts
}

// Unreached returns the time since which no deck has the request, or the zero time if a
// deck has it.
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

// run talks to decks until there is an answer or none can be reached any more.
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

// talk sends the request and reads until the connection ends. It reports whether to try
// again.
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
	recovery.Go("ask client reader", func() {
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
	heard := false
	for {
		select {
		case <-r.wanted.Done():
			bye := map[string]any{"type": "cancel", "id": "ask", "reason": context.Cause(r.wanted).Error()}
			if r.moved.Load() {
				bye = map[string]any{"type": "handover", "id": "ask", "answered": r.answered.Load()}
			}
			_, _ = conn.Write(append(encode(bye), '\n')) // closing says the same
			if !heard {
				select {
				case <-lines: // the deck has the request
				case <-time.After(writeWithin):
				}
			}
			r.finish(Reply{}, ErrWithdrawn)
			return false
		case raw, ok := <-lines:
			if !ok {
				return r.isWanted()
			}
			heard = true
			if over, again := r.hear(conn, raw); over {
				return again && r.isWanted()
			}
		}
	}
}

func (r *RemoteCall) isWanted() bool { return r.wanted.Err() == nil }

// hear handles one line from the deck. It reports whether the connection is over and
// whether to try another one.
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
		status := cmp.Or(l.Status, Answered)
		r.finish(Reply{Status: status, Results: l.Results}, nil)
		select {
		case <-r.acked:
		case <-r.wanted.Done():
		case <-time.After(ackAtLast):
		}
		select {
		case <-r.acked: // also when the asker has left since
			_, _ = conn.Write([]byte("{\"type\":\"ack\",\"id\":\"ask\"}\n")) // without it the deck keeps the answer, which does no harm
		default:
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

// wire returns the request as sent over the socket.
func (r *RemoteCall) wire() map[string]any {
	if len(r.req.Questions) == 0 {
		return map[string]any{
			"v": 1, "id": "ask", "type": "resume", "features": features(), "resumeKey": r.req.ResumeKey, "owner": r.req.Owner,
		}
	}
	from := r.req.From
	from.Title = cmp.Or(from.Title, r.req.Title)
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

// wireQuestions reverses normalization, so that the deck parses the same questions
// again.
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
