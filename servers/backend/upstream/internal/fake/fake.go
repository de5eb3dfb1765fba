// Package fake is an MCP server for tests. It speaks both eras of the protocol, over
// pipes and over HTTP, and can have the faults of real servers.
package fake

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Server is what all connections to the fake share. The zero value speaks both eras
// and has the tools below.
//
// Its tools are echo (returns its text), steps (reports three steps of progress), wait
// (waits to be cancelled and never answers), ask (sends the user a form), large (returns
// the given number of bytes), count (counts its calls on the connection), fail (returns
// an error with data), change (changes the list and notifies), headers (has an argument
// that is repeated in a header), and those of more.go.
type Server struct {
	NoLegacy, NoModern bool   // does not know that era
	Sticky             bool   // keeps to the era of its first message
	Silent             bool   // does not answer unknown requests
	Crashes            bool   // has the tool crash, which ends the connection
	Version            string // of the server; "" is 1
	Instructions       string
	Prompts, Templates []string // listed; nil: Prompt and Template
	HTTP               Faults

	grown atomic.Int32 // tools added by change
	mu    sync.Mutex
	seen  []Request
	web   *web
}

// Request is a request that the fake received.
type Request struct {
	Verb, Method string // HTTP's, "" over pipes; MCP's
	Header       map[string][]string
	Line         string
}

// Seen returns the requests and messages received so far.
func (s *Server) Seen() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// Count counts the messages received with a method, or the requests with an HTTP verb.
func (s *Server) Count(what string) (n int) {
	for _, r := range s.Seen() {
		if r.Method == what || r.Verb == what {
			n++
		}
	}
	return n
}

func (s *Server) note(r Request) {
	s.mu.Lock()
	s.seen = append(s.seen, r)
	s.mu.Unlock()
}

// session is one connection: a program's pipes, or an HTTP session.
type session struct {
	s     *Server
	id    string
	tell  func(line []byte) // sends a message that is not a reply
	crash func()            // ends the connection
	calls atomic.Int32      // of count

	mu        sync.Mutex
	era       string // of the first message
	cancelled map[string]context.CancelFunc
	asked     map[string]chan rpc.Message // requests to the client
	listens   map[string]func([]byte)     // subscriptions by id
	filters   map[string]rawjson.Object   // what each subscribes to
	watched   map[string]bool             // resources, in the older era
	level     string                      // of the log, in the older era
	tasks     map[string]*task
	next      int
}

func (s *Server) newSession(id string, tell func([]byte)) *session {
	return &session{
		s: s, id: id, tell: tell, cancelled: map[string]context.CancelFunc{},
		asked: map[string]chan rpc.Message{}, listens: map[string]func([]byte){}, filters: map[string]rawjson.Object{}, watched: map[string]bool{}, tasks: map[string]*task{},
	}
}

func result(id json.RawMessage, v string) []byte {
	return rpc.Message{ID: id, Result: json.RawMessage(v)}.Line()
}

func text(s string) string {
	return `{"content":[{"type":"text","text":` + string(rawjson.Quote(s)) + `}]}`
}

const modernVersion = "2026-07-28"

// isModern reports whether params are of the newer era.
func isModern(params json.RawMessage) bool {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return false
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	return err == nil && meta.Str("io.modelcontextprotocol/protocolVersion") == modernVersion
}

// take answers one message; reply sends what belongs to it. It returns after the answer
// was sent.
func (c *session) take(ctx context.Context, m rpc.Message, reply func(line []byte)) {
	modern := isModern(m.Params)
	switch {
	case m.Method == "":
		id, _ := rawjson.Text(m.ID)
		c.mu.Lock()
		to := c.asked[id]
		delete(c.asked, id)
		c.mu.Unlock()
		if to != nil {
			to <- m
		}
		return
	case m.ID == nil:
		if o, err := rawjson.SplitObject(m.Params); err == nil && m.Method == "notifications/cancelled" {
			c.mu.Lock()
			if cancel := c.cancelled[string(o.Get("requestId"))]; cancel != nil {
				cancel()
			}
			c.mu.Unlock()
		}
		return
	}
	c.mu.Lock()
	if c.era == "" && (m.Method == "initialize" || modern) {
		c.era = map[bool]string{true: "modern", false: "legacy"}[modern]
	}
	era := c.era
	c.mu.Unlock()
	switch {
	case modern && c.s.NoModern, !modern && c.s.NoLegacy:
		c.unknown(m, reply)
	case c.s.Sticky && !modern && era == "modern":
		reply(rpc.Failure(m.ID, rpc.Error{Code: -32022, Message: "connection is serving the 2026-07-28 protocol"}))
	default:
		c.serve(ctx, m, modern, reply)
	}
}

func (c *session) unknown(m rpc.Message, reply func([]byte)) {
	if !c.s.Silent {
		reply(rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeMethod, Message: "Method not found"}))
	}
}

func (c *session) serve(ctx context.Context, m rpc.Message, modern bool, reply func([]byte)) {
	about := `"capabilities":` + Capabilities + `,"instructions":` + string(rawjson.Quote(c.s.Instructions))
	info := `{"name":"fake","version":"` + max(c.s.Version, "1") + `"}`
	switch m.Method {
	case "initialize":
		reply(result(m.ID, `{"protocolVersion":"2025-11-25",`+about+`,"serverInfo":`+info+`}`))
	case "server/discover":
		reply(result(m.ID, `{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],`+about+`,"_meta":{"io.modelcontextprotocol/serverInfo":`+info+`}}`))
	case "ping":
		reply(result(m.ID, "{}"))
	case "tools/list":
		reply(result(m.ID, `{"tools":[`+strings.Join(c.s.tools(), ",")+`]}`))
	case "subscriptions/listen":
		c.listen(ctx, m, reply)
	case "tools/call":
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		c.mu.Lock()
		c.cancelled[string(m.ID)] = cancel
		c.mu.Unlock()
		c.call(ctx, m, modern, reply)
	default:
		if !c.serveMore(ctx, m, reply) {
			c.unknown(m, reply)
		}
	}
}

// tools returns the definitions.
func (s *Server) tools() []string {
	all := []string{
		`{"name":"headers","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},"in":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"Number"}}}}}}`,
	}
	for _, name := range []string{"echo", "steps", "wait", "ask", "large", "count", "fail", "change"} {
		all = append(all, `{"name":"`+name+`","inputSchema":{"type":"object"}}`)
	}
	all = append(all, moreTools()...)
	if s.Crashes {
		all = append(all, `{"name":"crash","inputSchema":{"type":"object"}}`)
	}
	for i := range s.grown.Load() {
		all = append(all, fmt.Sprintf(`{"name":"new_%d","inputSchema":{"type":"object"}}`, i+1))
	}
	return all
}

// listen keeps a subscription of the newer era open.
func (c *session) listen(ctx context.Context, m rpc.Message, reply func([]byte)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.mu.Lock()
	c.cancelled[string(m.ID)], c.listens[string(m.ID)] = cancel, reply
	params, _ := rawjson.SplitObject(m.Params)
	c.filters[string(m.ID)], _ = rawjson.SplitObject(params.Get("notifications"))
	c.mu.Unlock()
	reply(rpc.Message{Method: "notifications/subscriptions/acknowledged", Params: json.RawMessage(`{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `}}`)}.Line())
	<-ctx.Done()
	c.mu.Lock()
	delete(c.listens, string(m.ID))
	delete(c.filters, string(m.ID))
	c.mu.Unlock()
}

// Change adds a tool and notifies all connections over HTTP.
func (s *Server) Change() {
	s.grown.Add(1)
	s.notify(nil)
}

// notify tells all connections over HTTP, or else one, that lists have changed.
func (s *Server) notify(c *session) {
	s.mu.Lock()
	web := s.web
	s.mu.Unlock()
	switch {
	case web != nil:
		for _, c := range web.sessions() {
			c.changed()
		}
	case c != nil:
		c.changed()
	}
}

func (c *session) changed() {
	c.tell(rpc.Message{Method: "notifications/tools/list_changed"}.Line())
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, reply := range c.listens {
		reply(rpc.Message{Method: "notifications/tools/list_changed", Params: json.RawMessage(`{"_meta":{"io.modelcontextprotocol/subscriptionId":` + id + `}}`)}.Line())
	}
}

// call calls a tool.
func (c *session) call(ctx context.Context, m rpc.Message, modern bool, reply func([]byte)) {
	params, err := rawjson.SplitObject(m.Params)
	if err != nil {
		reply(rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeParams, Message: err.Error()}))
		return
	}
	args, _ := rawjson.SplitObject(params.Get("arguments")) // may be missing
	switch params.Str("name") {
	case "echo", "headers":
		reply(result(m.ID, text(args.Str("text"))))
	case "steps":
		meta, _ := rawjson.SplitObject(params.Get("_meta")) // may be missing
		for i := range 3 {
			if token := meta.Get("progressToken"); token != nil {
				reply(rpc.Message{Method: "notifications/progress", Params: json.RawMessage(fmt.Sprintf(`{"later":1.0,"progressToken":%s,"progress":%d.0,"total":3}`, token, i+1))}.Line())
			}
		}
		reply(result(m.ID, text("done")))
	case "wait":
		<-ctx.Done()
	case "ask":
		c.ask(ctx, m, params, modern, reply)
	case "large":
		n, _ := strconv.Atoi(string(args.Get("bytes")))
		reply(result(m.ID, text(strings.Repeat("x", n))))
	case "crash":
		c.crash()
	case "count":
		reply(result(m.ID, text(strconv.Itoa(int(c.calls.Add(1))))))
	case "fail":
		reply(rpc.Failure(m.ID, rpc.Error{Code: -32042, Message: "as told", Data: json.RawMessage(`{"n":1.0}`)}))
	case "change":
		c.s.grown.Add(1)
		reply(result(m.ID, text("changed")))
		c.s.notify(c)
	default:
		if !c.callMore(ctx, m, params, modern, reply) {
			reply(rpc.Failure(m.ID, rpc.Error{Code: rpc.CodeParams, Message: "Unknown tool: " + params.Str("name")}))
		}
	}
}

const form = `{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`

// ask asks the user as the era does, and answers with their reply.
func (c *session) ask(ctx context.Context, m rpc.Message, params rawjson.Object, modern bool, reply func([]byte)) {
	if modern {
		if said := params.Get("inputResponses"); said != nil {
			reply(result(m.ID, text(params.Str("requestState")+" "+string(said))))
			return
		}
		reply(result(m.ID, `{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":`+form+`}},"requestState":"state"}`))
		return
	}
	if a, ok := c.request(ctx, "elicitation/create", form, reply); ok {
		reply(result(m.ID, text(string(a.Result)+string(a.Err))))
	}
}

// request sends the client a request and waits for the response.
func (c *session) request(ctx context.Context, method, params string, reply func([]byte)) (rpc.Message, bool) {
	c.mu.Lock()
	c.next++
	id := fmt.Sprintf("fake-%d", c.next)
	answer := make(chan rpc.Message, 1)
	c.asked[id] = answer
	c.mu.Unlock()
	reply(rpc.Message{ID: rawjson.Quote(id), Method: method, Params: json.RawMessage(params)}.Line())
	select {
	case a := <-answer:
		return a, true
	case <-ctx.Done():
		reply(rpc.Message{Method: "notifications/cancelled", Params: json.RawMessage(`{"requestId":` + string(rawjson.Quote(id)) + `}`)}.Line())
		return rpc.Message{}, false
	}
}
