package router

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// roundLimit is how long a request is kept for a client that was asked something.
const roundLimit = 10 * time.Minute

// statePrefix marks the state of a request that is kept here rather than by its server.
const statePrefix = "mcpdeck:"

// rounds are the requests during which their servers may ask the client for something. A client
// without a handshake is asked by a result, and answers with its next request; the server sees
// one request.
type rounds struct {
	mu  sync.Mutex
	all map[string]*parkedRequest // by state
}

// parkedRequest is a request that may take several of the client's. It is the client that the
// server sees.
type parkedRequest struct {
	state, about, session string

	ctx   context.Context //nolint:containedctx // of the whole
	end   context.CancelFunc
	asks  chan struct{} // one slot: there is something to ask
	done  chan struct{} // closed when reply and err are set
	reply backend.Reply
	err   error

	mu     sync.Mutex     // guards what follows
	client backend.Client // of the request in progress; nobody if there is none
	call   backend.Call   // as above
	waits  []func()       // end what of the request in progress waits for the user
	number int
	open   map[string]question
	late   *time.Timer // runs while the client is to answer
}

// question is a request of the server.
type question struct {
	method string
	params json.RawMessage
	answer chan json.RawMessage // one slot
}

// serve has next answer a request without a handshake, in several rounds if it asks the client for something. They
// end with life.
func (s *rounds) serve(ctx, life context.Context, r *backend.Request, next func(context.Context, *backend.Request) backend.Reply) (backend.Reply, error) {
	state := r.Params.Str("requestState")
	parked := strings.HasPrefix(state, statePrefix)
	if !parked && !answersAny(r.Capabilities) {
		return next(ctx, r), nil
	}
	p := s.find(ctx, state, r)
	switch {
	case p == nil && parked:
		return backend.Failed(rpc.CodeParams, "this request is no longer in progress: repeat it without requestState"), nil
	case p == nil:
		p = s.begin(ctx, life, r)
		whole := *r
		whole.Client = p
		during := backend.WithCall(p.ctx, backend.Call{Caller: p.call.Caller, Deck: p})
		recovery.Go("request in rounds", func() {
			defer close(p.done)
			p.err = recovery.Call(r.Method, func() error {
				p.reply = next(during, &whole)
				return nil
			})
		})
	}
	defer p.leave()
	asks, err := p.round(ctx)
	if asks != nil {
		return backend.Reply{Result: asks}, nil
	}
	s.forget(p)
	if err != nil { // the client has cancelled it
		return backend.Reply{}, err
	}
	return p.reply, p.err
}

// answersAny reports whether a client answers any requests, as it has declared.
func answersAny(capabilities json.RawMessage) bool {
	can, _ := rawjson.SplitObject(capabilities) // anything else declares nothing
	return can.Some("elicitation") != nil || can.Some("sampling") != nil || can.Some("roots") != nil
}

// about is what a request's state is bound to, beside the session.
func about(r *backend.Request) string { return r.Method + " " + r.Key }

// begin makes the place of a request.
func (s *rounds) begin(ctx, life context.Context, r *backend.Request) *parkedRequest {
	call := backend.CallFrom(ctx)
	p := &parkedRequest{
		state: statePrefix + rand.Text(), about: about(r), session: call.Caller.Agent, client: r.Client, call: call,
		asks: make(chan struct{}, 1), done: make(chan struct{}), open: map[string]question{},
	}
	var end context.CancelFunc
	p.ctx, end = context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(life, end)
	p.end = func() { stop(); end() }
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*parkedRequest{}
	}
	s.all[p.state] = p
	p.late = time.AfterFunc(roundLimit, func() { s.forget(p) })
	p.late.Stop() // until the client is asked
	return p
}

// find returns the request that a client continues, with its answers; nil if there is none.
func (s *rounds) find(ctx context.Context, state string, r *backend.Request) *parkedRequest {
	s.mu.Lock()
	p := s.all[state]
	s.mu.Unlock()
	call := backend.CallFrom(ctx)
	if p == nil || p.session != call.Caller.Agent || p.about != about(r) {
		return nil
	}
	answers, _ := rawjson.SplitObject(r.Params.Get("inputResponses")) // none: it is asked again
	p.mu.Lock()
	defer p.mu.Unlock()
	p.late.Stop()
	p.client, p.call = r.Client, call
	for _, a := range answers {
		if q, ok := p.open[a.Key]; ok {
			q.answer <- a.Value
			delete(p.open, a.Key)
		}
	}
	if len(p.open) > 0 {
		p.ask()
	}
	return p
}

// forget ends a request, unless it has ended.
func (s *rounds) forget(p *parkedRequest) {
	s.mu.Lock()
	delete(s.all, p.state)
	s.mu.Unlock()
	p.end()
}

// left forgets the requests of a session that has ended.
func (s *rounds) left(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for state, p := range s.all {
		if p.session == session {
			delete(s.all, state)
			p.end()
		}
	}
}

// leave notes that the client's request in progress is answered.
func (p *parkedRequest) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.client, p.call = backend.Nobody{}, backend.Call{}
	for _, done := range p.waits {
		done()
	}
	p.waits = nil
}

// inProgress is the deck's side of the request in progress.
func (p *parkedRequest) inProgress() backend.Call {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.call
}

// Need implements [backend.Deck].
func (p *parkedRequest) Need(ctx context.Context, bytes int64) error {
	return p.inProgress().Need(ctx, bytes)
}

// Yield implements [backend.Deck].
func (p *parkedRequest) Yield() (back func(context.Context) error) { return p.inProgress().Yield() }

// OnDelivery implements [backend.Deck]. While the client is to answer, nothing reaches it.
func (p *parkedRequest) OnDelivery(told func(reached bool)) bool {
	call := p.inProgress()
	return call.Deck == nil || call.OnDelivery(told)
}

// WaitForUser implements [backend.Deck].
func (p *parkedRequest) WaitForUser() (done func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	done = sync.OnceFunc(p.call.WaitForUser())
	p.waits = append(p.waits, done)
	return done
}

// Notify implements [backend.Client].
func (p *parkedRequest) Notify(method string, params json.RawMessage) {
	p.mu.Lock()
	client := p.client
	p.mu.Unlock()
	client.Notify(method, params)
}

// Ask implements [backend.Client]: the request in progress returns what is asked.
func (p *parkedRequest) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	q := question{method, params, make(chan json.RawMessage, 1)}
	p.mu.Lock()
	p.number++
	key := fmt.Sprintf("request-%d", p.number)
	p.open[key] = q
	p.ask()
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.open, key)
		p.mu.Unlock()
	}()
	select {
	case answer := <-q.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.ctx.Done():
		return nil, errors.New("the agent did not answer")
	}
}

// ask has the request in progress return what is open.
func (p *parkedRequest) ask() {
	select {
	case p.asks <- struct{}{}:
	default: // it will
	}
}

// round waits until the client is to be asked, and returns the result that does so, or until
// the request has ended.
func (p *parkedRequest) round(ctx context.Context) (asks json.RawMessage, err error) {
	stop := context.AfterFunc(ctx, p.end)
	defer stop()
	for {
		select {
		case <-p.done:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.asks:
		}
		p.mu.Lock()
		var requests rawjson.Object
		for key, q := range p.open {
			request := rawjson.Object{{Key: "method", Value: rawjson.Quote(q.method)}}
			if q.params != nil {
				request = append(request, rawjson.Member{Key: "params", Value: q.params})
			}
			requests = append(requests, rawjson.Member{Key: key, Value: request.JSON()})
		}
		if len(requests) > 0 && stop() {
			p.late.Reset(roundLimit)
			p.mu.Unlock()
			return rawjson.Object{
				{Key: "resultType", Value: rawjson.Quote("input_required")},
				{Key: "inputRequests", Value: requests.JSON()},
				{Key: "requestState", Value: rawjson.Quote(p.state)},
			}.JSON(), nil
		}
		p.mu.Unlock() // what was asked is withdrawn
	}
}
