package pencil

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// Elicitation is a form that the child wants a person to fill in.
type Elicitation struct {
	Message string
	Schema  json.RawMessage // of an object with flat properties, not checked
	PID     int             // of the child
	Calls   []Invocation    // at work, of which one may be the reason
}

// Elicited is what the child is told. Content is nil unless Action is "accept".
type Elicited struct {
	Action  string // "accept", "decline" or "cancel"
	Content json.RawMessage
}

// serveChild answers a request of the child, on the reading goroutine.
func (l *link) serveChild(m rpc.Message) {
	switch {
	case m.Method == "ping":
		l.Offer(rpc.Message{ID: m.ID, Result: json.RawMessage("{}")}.Line())
	case m.Method == "elicitation/create" && l.elicit != nil:
		l.person.open(l, m.ID, m.Params)
	default:
		l.Offer(rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeMethod, Message: "method not found"}))
	}
}

func badParams(id json.RawMessage, why string) []byte {
	return rpc.Failure(id, rpc.Error{Code: rpc.CodeParams, Message: why})
}

// person is what the child waits for a person for. While it does, the clocks of
// its calls stand still.
type person struct {
	mu    sync.Mutex
	forms map[string]context.CancelFunc // by id
	since time.Time                     // of the first of forms
	spent time.Duration                 // by earlier ones
	calls map[*call]func()              // at work; ends the wait of each, nil while it does not wait
}

// open puts a form to the person, and the outcome to the child.
func (p *person) open(l *link, id, params json.RawMessage) {
	o, err := rawjson.SplitObject(params)
	if err != nil || o.Get("requestedSchema") == nil || o.Str("mode") != "" && o.Str("mode") != "form" {
		l.Offer(badParams(id, "only forms can be put to the person: mode form, with requestedSchema"))
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	if p.forms[string(id)] != nil {
		p.mu.Unlock()
		cancel()
		l.Offer(badParams(id, "a request with this id is open"))
		return
	}
	p.begin(string(id), cancel)
	e := Elicitation{Message: o.Str("message"), Schema: o.Get("requestedSchema"), PID: l.proc.PID}
	for c := range p.calls {
		e.Calls = append(e.Calls, c.in)
	}
	p.mu.Unlock()
	safe.Go("pencil child's end", func() {
		select {
		case <-l.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	safe.Go("pencil form", func() {
		defer cancel()
		var answer Elicited
		err := safe.Call("pencil form", func() (err error) {
			answer, err = l.elicit(ctx, e)
			return err
		})
		withdrawn := ctx.Err() != nil
		p.end(string(id))
		switch {
		case withdrawn: // the child waits no more
		case err != nil:
			l.Send(badParams(id, err.Error()))
		default:
			result := `{"action":` + string(rawjson.Quote(answer.Action))
			if answer.Content != nil {
				result += `,"content":` + string(answer.Content)
			}
			l.Send(rpc.Message{ID: id, Result: json.RawMessage(result + "}")}.Line())
		}
	})
}

// begin and end keep the time; the caller of begin holds mu.
func (p *person) begin(id string, cancel context.CancelFunc) {
	if len(p.forms) == 0 {
		p.forms, p.since = map[string]context.CancelFunc{}, time.Now()
		for c := range p.calls {
			p.calls[c] = c.in.wait()
		}
	}
	p.forms[id] = cancel
}

func (p *person) end(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.forms, id)
	if len(p.forms) > 0 {
		return
	}
	p.spent += time.Since(p.since)
	for c, done := range p.calls {
		if done != nil {
			done()
			p.calls[c] = nil
		}
	}
}

// withdrawn is the child's word that it waits no more.
func (p *person) withdrawn(params json.RawMessage) {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if cancel := p.forms[string(o.Get("requestId"))]; cancel != nil {
		cancel()
	}
}

// took is how long the child has waited for the person, ever.
func (p *person) took() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.forms) == 0 {
		return p.spent
	}
	return p.spent + time.Since(p.since)
}

// stillText is a sign of life to the agent.
func (p *person) stillText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.forms) > 0 {
		return "Pencil waits for the user's answer in mcpdeck"
	}
	return "Pencil is still working on it"
}

// join makes a call wait for the person whenever the child does, until the
// returned function is called.
func (p *person) join(c *call) (leave func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[*call]func(){}
	}
	p.calls[c] = nil
	if len(p.forms) > 0 {
		p.calls[c] = c.in.wait()
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if done := p.calls[c]; done != nil {
			done()
		}
		delete(p.calls, c)
	}
}

// wait says that the call waits for the person.
func (in Invocation) wait() (done func()) {
	if in.WaitForUser == nil {
		return nil
	}
	return in.WaitForUser()
}
