package rpc

import (
	"encoding/json"
	"errors"
	"strconv"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Pending is the requests of one side that wait for their answers. Their ids are
// strings, which come back as they were. The zero value is ready.
type Pending struct {
	// Prefix begins every id, so that a reader of both sides tells them apart.
	Prefix string

	mu   sync.Mutex
	last uint64
	open map[string]*Request
	end  error // why no request is taken any more
}

// Reply is how a request ended: with Result, or with Err, which is an *Error when
// the other side has answered with one.
type Reply struct {
	Result json.RawMessage
	Err    error
}

// Request is one that waits.
type Request struct {
	ID    string     // also the token of its progress
	Reply chan Reply // gets one

	progress func(params json.RawMessage)
	of       *Pending
}

// Open enters a request. progress, which may be nil, is handed the params of
// notifications of its progress, one after the other, until it has its reply.
func (p *Pending) Open(progress func(params json.RawMessage)) (*Request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.end != nil {
		return nil, p.end
	}
	p.last++
	r := &Request{ID: p.Prefix + strconv.FormatUint(p.last, 10), Reply: make(chan Reply, 1), progress: progress, of: p}
	if p.open == nil {
		p.open = map[string]*Request{}
	}
	p.open[r.ID] = r
	return r, nil
}

// RawID is the id as JSON.
func (r *Request) RawID() json.RawMessage { return rawjson.Quote(r.ID) }

// Forget takes the request out: its reply is dropped when it comes.
func (r *Request) Forget() {
	r.of.mu.Lock()
	delete(r.of.open, r.ID)
	r.of.mu.Unlock()
}

// Waits tells whether the request with that id has no reply yet.
func (p *Pending) Waits(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.open[id] != nil
}

// Cancelled is the line that tells the other side that the reply is not wanted any
// more. The reason, for a log, may be "".
func (r *Request) Cancelled(reason string) []byte {
	params := `{"requestId":` + string(r.RawID())
	if reason != "" {
		params += `,"reason":` + string(rawjson.Quote(reason))
	}
	return Message{Method: "notifications/cancelled", Params: json.RawMessage(params + "}")}.Line()
}

// Resolve hands a response to the request that waits for it, if there is one. A response that
// does not say to what is to the only one that waits.
func (p *Pending) Resolve(m Message) {
	id, err := rawjson.Text(m.ID)
	switch {
	case err != nil && m.ID != nil: // of nobody's request
		return
	case err != nil && m.Err == nil:
		p.answer(p.only(), Reply{Err: ErrUndecodable})
		return
	case err != nil: // the request could not be read
		id = p.only()
	}
	switch {
	case m.Err != nil:
		p.answer(id, Reply{Err: ReadError(m.Err)})
	case m.Result == nil:
		p.answer(id, Reply{Err: errors.New("response without result or error")})
	default:
		p.answer(id, Reply{Result: m.Result})
	}
}

// only is the id of the only request that waits; "" if there is none, or another.
func (p *Pending) only() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.open {
		if len(p.open) == 1 {
			return id
		}
	}
	return ""
}

// answer hands a reply to the request with that id, if it waits.
func (p *Pending) answer(id string, a Reply) {
	p.mu.Lock()
	r := p.open[id]
	delete(p.open, id)
	p.mu.Unlock()
	if r != nil {
		r.Reply <- a
	}
}

// Progress hands the params of a notification of progress to the request they are
// about.
func (p *Pending) Progress(params json.RawMessage) {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return
	}
	p.mu.Lock()
	r := p.open[o.Str("progressToken")]
	p.mu.Unlock()
	if r != nil && r.progress != nil {
		r.progress(params)
	}
}

// cancelled are the lines that cancel all requests that wait.
func (p *Pending) cancelled() (lines [][]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.open {
		lines = append(lines, r.Cancelled(""))
	}
	return lines
}

// Fail ends all requests that wait.
func (p *Pending) Fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, r := range p.open {
		r.Reply <- Reply{Err: err}
		delete(p.open, id)
	}
}

// Close is Fail, also for requests to come.
func (p *Pending) Close(err error) {
	p.mu.Lock()
	p.end = err
	p.mu.Unlock()
	p.Fail(err)
}
