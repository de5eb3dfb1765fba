package upstream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// roundLimit is how long a request is kept for an agent that was asked something.
const roundLimit = 10 * time.Minute

// statePrefix marks the state of a request that is kept here rather than by the server.
const statePrefix = "mcpdeck:"

// kept is a request of an agent of the newer era, during which its server may ask the agent
// for something. Such an agent is asked by a result, and answers with its next request. The
// server, which is of the older era, sees one request.
type kept struct {
	state, about string
	agent        string
	ctx          context.Context // of the whole
	end          context.CancelFunc
	asks         chan struct{} // one slot: there is something to ask
	done         chan struct{} // closed when result and err are set
	result       any
	err          error

	mu     sync.Mutex // guards what follows
	in     Invocation // the agent's request in progress; its functions are nil if there is none
	number int
	open   map[string]*asked
	late   *time.Timer // nil while the agent waits
}

// rounds are the requests that wait for their agents.
type rounds struct {
	mu  sync.Mutex
	all map[string]*kept // by state
}

// asked is a request of the server.
type asked struct {
	method string
	params json.RawMessage
	answer chan json.RawMessage // one slot
}

// inRounds makes a request that may need several of the agent's. about identifies what it is
// addressed to, and input makes the result that asks the agent.
func inRounds[T any](ctx context.Context, c *Card, about string, in Invocation, input func(json.RawMessage) T, work func(context.Context, Invocation) (T, error)) (T, error) {
	var none T
	state := in.More.Str("requestState")
	if !in.Modern || !c.opts.passedWith(in.From).any() && !strings.HasPrefix(state, statePrefix) {
		return work(ctx, in)
	}
	var k *kept
	if strings.HasPrefix(state, statePrefix) {
		if k = c.rounds.find(state, about, in); k == nil {
			return none, &rpc.Error{Code: rpc.CodeParams, Message: "this request is no longer in progress: repeat it without requestState"}
		}
	} else {
		k = c.rounds.keep(ctx, about, in)
		recovery.Go(c.opts.Name+" rounds", func() {
			var result T
			k.err = recovery.Call("request in rounds", func() (err error) {
				result, err = work(k.ctx, k.invocation(in))
				return err
			})
			k.result = result
			close(k.done)
		})
	}
	raw, err := k.round(ctx)
	switch {
	case raw != nil:
		return input(raw), nil
	case err != nil:
		return none, err
	}
	c.rounds.forget(k)
	result, ok := k.result.(T)
	if !ok {
		return none, &rpc.Error{Code: rpc.CodeParams, Message: "requestState belongs to another request"}
	}
	return result, k.err
}

// keep begins a request.
func (r *rounds) keep(ctx context.Context, about string, in Invocation) *kept {
	k := &kept{
		state: statePrefix + rand.Text(), about: about, agent: in.From.Agent, in: in,
		asks: make(chan struct{}, 1), done: make(chan struct{}), open: map[string]*asked{},
	}
	k.ctx, k.end = context.WithCancel(context.WithoutCancel(ctx))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*kept{}
	}
	r.all[k.state] = k
	k.late = time.AfterFunc(roundLimit, func() { r.forget(k) })
	k.late.Stop() // until the agent is asked
	return k
}

// find returns the request that an agent continues, with its answers; nil if there is none.
func (r *rounds) find(state, about string, in Invocation) *kept {
	r.mu.Lock()
	k := r.all[state]
	r.mu.Unlock()
	if k == nil || k.agent != in.From.Agent || k.about != about {
		return nil
	}
	answers, _ := rawjson.SplitObject(in.More.Get("inputResponses")) // none: it is asked again
	k.mu.Lock()
	defer k.mu.Unlock()
	k.late.Stop()
	k.in = in
	for _, a := range answers {
		if to := k.open[a.Key]; to != nil {
			to.answer <- a.Value
			delete(k.open, a.Key)
		}
	}
	if len(k.open) > 0 {
		k.ask()
	}
	return k
}

// forget ends a request, unless it has ended.
func (r *rounds) forget(k *kept) {
	r.mu.Lock()
	delete(r.all, k.state)
	r.mu.Unlock()
	k.end()
}

// invocation is the request as the server gets it, whichever of the agent's is in progress.
func (k *kept) invocation(in Invocation) Invocation {
	progress, said := in.Progress != nil, in.Said != nil
	in.Progress, in.Said, in.WaitForUser, in.Ask = nil, nil, nil, k.request
	if progress {
		in.Progress = func(p child.Progress) {
			if fn := k.now().Progress; fn != nil {
				fn(p)
			}
		}
	}
	if said {
		in.Said = func(method string, params json.RawMessage) {
			if fn := k.now().Said; fn != nil {
				fn(method, params)
			}
		}
	}
	return in
}

func (k *kept) now() Invocation {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.in
}

// ask has the agent's request in progress return what is open.
func (k *kept) ask() {
	select {
	case k.asks <- struct{}{}:
	default: // it will
	}
}

// request asks the agent for something and waits for the answer.
func (k *kept) request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	a := &asked{method, params, make(chan json.RawMessage, 1)}
	k.mu.Lock()
	k.number++
	key := fmt.Sprintf("request-%d", k.number)
	k.open[key] = a
	k.ask()
	k.mu.Unlock()
	defer func() {
		k.mu.Lock()
		delete(k.open, key)
		k.mu.Unlock()
	}()
	select {
	case answer := <-a.answer:
		return answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-k.ctx.Done():
		return nil, errors.New("the agent did not answer")
	}
}

// round waits until the agent is to be asked, and returns the result that does so, or until
// the request has ended.
func (k *kept) round(ctx context.Context) (input json.RawMessage, err error) {
	stop := context.AfterFunc(ctx, k.end)
	defer stop()
	for {
		select {
		case <-k.done:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-k.asks:
		}
		k.mu.Lock()
		var requests rawjson.Object
		for key, a := range k.open {
			about := rawjson.Object{{Key: "method", Value: rawjson.Quote(a.method)}}
			if a.params != nil {
				about = append(about, rawjson.Member{Key: "params", Value: a.params})
			}
			requests = append(requests, rawjson.Member{Key: key, Value: about.JSON()})
		}
		if len(requests) > 0 && stop() {
			k.in = Invocation{}
			k.late.Reset(roundLimit)
			k.mu.Unlock()
			return rawjson.Object{
				{Key: "resultType", Value: rawjson.Quote(inputRequired)},
				{Key: "inputRequests", Value: requests.JSON()},
				{Key: "requestState", Value: rawjson.Quote(k.state)},
			}.JSON(), nil
		}
		k.mu.Unlock() // what was asked is withdrawn
	}
}

// left forgets the requests of an agent that is gone.
func (r *rounds) left(agent string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for state, k := range r.all {
		if k.agent == agent {
			delete(r.all, state)
			k.end()
		}
	}
}
