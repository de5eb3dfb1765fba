package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Elicitation is a form that the child wants the user to fill in, or a page that it wants
// the user to open.
type Elicitation struct {
	Message string
	Schema  json.RawMessage // of an object, unchecked
	URL     string          // of the page, https or http; "" for a form
	PID     int             // of the child
	Calls   []Call          // in progress; any of them may be the reason
}

// Elicited is the answer to the child. Content is nil unless Action is "accept".
type Elicited struct {
	Action  string // "accept", "decline" or "cancel"
	Content json.RawMessage
	Told    func(reached bool) // called when it is known whether the child has it; may be nil
}

// link is the connection to the server, and the user it may be waiting for.
type link struct {
	*child.Conn
	opts   *Options
	log    *child.Log
	work   *tasks
	passed Answers                // requests passed on to the agent
	root   atomic.Pointer[string] // project reported to the server, absolute; "" if none
	person userWait
	heeded heeded
	modern atomic.Bool // known to be of the newer era; readable before Conn is set
}

// capabilities returns the client capabilities declared to the server, of which roots is the
// one for roots; nil means none.
func (o *Options) capabilities(agent Answers, roots string) json.RawMessage {
	can := agent.capabilities()
	switch {
	case o.Elicit != nil && o.ToolsOnly:
		can = append(can, rawjson.Member{Key: "elicitation", Value: json.RawMessage(`{"form":{}}`)})
	case o.Elicit != nil:
		can = append(can, rawjson.Member{Key: "elicitation", Value: json.RawMessage(`{"form":{},"url":{}}`)})
	}
	if !o.ToolsOnly && !o.NoRoots {
		can = append(can, rawjson.Member{Key: "roots", Value: json.RawMessage(roots)})
	}
	if can == nil {
		return nil
	}
	return can.JSON()
}

// serve answers a request of the child. It may be called before l.Conn is set.
func (l *link) serve(conn *child.Conn, m rpc.Message) {
	switch {
	case m.Method == elicit && l.opts.Elicit != nil:
		e, why := elicitation(m.Params, !l.opts.ToolsOnly)
		if why != "" {
			conn.Offer(badParams(m.ID, why))
			return
		}
		l.person.open(conn, m.ID, func(ctx context.Context, calls []Call) (json.RawMessage, told, error) {
			e.PID, e.Calls = conn.PID, calls
			return l.fill(ctx, e)
		})
	case m.Method == elicit && l.opts.ElicitAgent, m.Method == sample && l.passed.Sampling != "":
		l.person.open(conn, m.ID, func(ctx context.Context, calls []Call) (json.RawMessage, told, error) {
			raw, err := l.passOn(ctx, l.passed, m.Method, m.Params, calls)
			return raw, nil, err
		})
	case m.Method == listRoots && !l.opts.ToolsOnly && !l.opts.NoRoots:
		conn.Offer(rpc.Message{ID: m.ID, Result: l.roots()}.Line())
	default:
		l.log.Note("not answered: " + sanitize.Line(m.Method))
		conn.Offer(child.NoMethod(m))
	}
}

// The requests that servers make.
const (
	elicit    = "elicitation/create"
	listRoots = "roots/list"
	sample    = "sampling/createMessage"
)

// fill has the user fill in a form or open a page.
func (l *link) fill(ctx context.Context, e Elicitation) (json.RawMessage, told, error) {
	answer, err := l.opts.Elicit(ctx, e)
	if e.URL != "" {
		answer.Content = nil // a page has no content
	}
	return answer.JSON(), answer.Told, err
}

// told is [Elicited.Told].
type told func(reached bool)

// aliveFor is how long a child that was sent an answer must last, if it says nothing before,
// to have it.
const aliveFor = 2 * time.Second

// roots returns the folders that the child may work in.
func (l *link) roots() json.RawMessage {
	root := *l.root.Load()
	if root == "" {
		return json.RawMessage(`{"roots":[]}`)
	}
	path := filepath.ToSlash(root)
	if !strings.HasPrefix(path, "/") { // a Windows drive
		path = "/" + path
	}
	at := url.URL{Scheme: "file", Path: path}
	return json.RawMessage(`{"roots":[{"uri":` + string(rawjson.Quote(at.String())) + `,"name":` + string(rawjson.Quote(filepath.Base(root))) + `}]}`)
}

// elicitation parses an elicitation request. Unless pages is set, only forms are allowed.
func elicitation(params json.RawMessage, pages bool) (e Elicitation, why string) {
	o, err := rawjson.SplitObject(params)
	if e.Message = o.Str("message"); err == nil && pages && o.Str("mode") == "url" {
		u, err := url.Parse(o.Str("url"))
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || sanitize.Line(o.Str("url")) != o.Str("url") {
			return e, "only pages with https or http can be shown to the user"
		}
		e.URL = o.Str("url")
		return e, ""
	}
	if err != nil || o.Get("requestedSchema") == nil || o.Str("mode") != "" && o.Str("mode") != "form" {
		return e, "only forms can be shown to the user: use mode form with requestedSchema"
	}
	e.Schema = o.Get("requestedSchema")
	return e, ""
}

// JSON returns the answer in the protocol's encoding.
func (e Elicited) JSON() json.RawMessage {
	result := `{"action":` + string(rawjson.Quote(e.Action))
	if e.Content != nil {
		result += `,"content":` + string(e.Content)
	}
	return json.RawMessage(result + "}")
}

func badParams(id json.RawMessage, why string) []byte {
	return rpc.Failure(id, rpc.Error{Code: rpc.CodeParams, Message: why})
}

// maxForms is the maximum number of requests of one child that wait for an answer.
const maxForms = 32

// userWait tracks what the child is waiting for from the user. While it waits, the clocks of
// its calls are stopped.
type userWait struct {
	mu    sync.Mutex
	forms map[string]context.CancelFunc // by id
	since time.Time                     // when the first of forms began
	spent time.Duration                 // on earlier forms
	calls map[*call]func()              // in progress; ends the wait of each, nil if not waiting

	either bool // the wait may be for the agent instead of the user
}

// open passes a request of the child to whoever answers it, and the answer to the child.
func (p *userWait) open(c *child.Conn, id json.RawMessage, ask func(ctx context.Context, calls []Call) (json.RawMessage, told, error)) {
	ctx, cancel := context.WithCancel(context.Background())
	p.mu.Lock()
	why := ""
	switch {
	case p.forms[string(id)] != nil:
		why = "a request with this id is open"
	case len(p.forms) >= maxForms:
		why = fmt.Sprintf("%d requests are open: wait for the answer to one", maxForms)
	}
	if why != "" {
		p.mu.Unlock()
		cancel()
		c.Offer(badParams(id, why))
		return
	}
	p.begin(string(id), cancel)
	var calls []Call
	for at := range p.calls {
		calls = append(calls, at.in)
	}
	p.mu.Unlock()
	recovery.Go("end of a child that asks", func() {
		select {
		case <-c.Done():
			cancel()
		case <-ctx.Done():
		}
	})
	recovery.Go("form of a child", func() {
		defer cancel()
		var answer json.RawMessage
		var told told
		err := recovery.Call("form of a child", func() (err error) {
			answer, told, err = ask(ctx, calls)
			return err
		})
		own, theirs := errors.AsType[*rpc.Error](err)
		withdrawn := ctx.Err() != nil
		p.end(string(id))
		switch {
		case withdrawn: // the child stopped waiting
		case theirs && own.Raw != nil:
			c.Send(rpc.Message{ID: id, Err: own.Raw}.Line())
		case err != nil:
			c.Send(badParams(id, err.Error()))
		default:
			c.Send(rpc.Message{ID: id, Result: answer}.Line())
			if told != nil {
				told(c.Arrives(aliveFor))
			}
		}
	})
}

// begin and end keep track of the time. The caller of begin holds mu.
func (p *userWait) begin(id string, cancel context.CancelFunc) {
	if len(p.forms) == 0 {
		p.forms, p.since = map[string]context.CancelFunc{}, time.Now()
		for c := range p.calls {
			p.calls[c] = c.in.wait()
		}
	}
	p.forms[id] = cancel
}

func (p *userWait) end(id string) {
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

// withdrawn handles the child's notification that it stopped waiting.
func (p *userWait) withdrawn(params json.RawMessage) {
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

// asked reports whether the child is waiting for the user.
func (p *userWait) asked() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.forms) > 0
}

// took returns how long the child has waited for the user in total.
func (p *userWait) took() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.total()
}

// total is took for a caller that holds mu.
func (p *userWait) total() time.Duration {
	if len(p.forms) == 0 {
		return p.spent
	}
	return p.spent + time.Since(p.since)
}

// stillText describes what the child is doing, for a progress message to the agent.
func (p *userWait) stillText() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.forms) > 0 && p.either:
		return "waits for an answer"
	case len(p.forms) > 0:
		return "waits for the user's answer in mcpdeck"
	}
	return "is still working on it"
}

// join makes a call wait for the user whenever the child does, until it leaves. Both return
// how long the child has waited in total.
func (p *userWait) join(c *call) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls == nil {
		p.calls = map[*call]func(){}
	}
	p.calls[c] = nil
	if len(p.forms) > 0 {
		p.calls[c] = c.in.wait()
	}
	return p.total()
}

func (p *userWait) leave(c *call) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if done := p.calls[c]; done != nil {
		done()
	}
	delete(p.calls, c)
	return p.total()
}

// wait records that the call is waiting for the user.
func (in Call) wait() (done func()) {
	if in.WaitForUser == nil {
		return nil
	}
	return in.WaitForUser()
}
