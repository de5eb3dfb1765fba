// Package fake plays an MCP server for tests and the demo. It speaks both eras of the protocol, over
// pipes and over HTTP, and can have the faults of real servers.
package fake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Server is what all connections to the fake share. The zero value speaks both eras
// and has the tools of tools.go.
type Server struct {
	NoLegacy, NoModern bool   // does not know that era
	Sticky             bool   // keeps to the era of its first message
	Silent             bool   // does not answer unknown requests
	Crashes            bool   // has the tool crash, which ends the connection
	Version            string // of the server; "" is 1
	Instructions       string
	Prompts, Templates []string // listed; nil: Prompt and Template
	HTTP               Faults
	// Answer answers requests in place of the fake. It returns false for those that it
	// leaves to the fake; nil leaves all.
	Answer func(c *Call) bool

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
	asked rpc.Pending       // requests to the client

	mu      sync.Mutex
	era     string                        // of the first message
	cancel  map[string]context.CancelFunc // by the ID of a request
	listens map[string]listener           // subscriptions of the newer era, by ID
	watched map[string]bool               // resources, in the older era
	level   string                        // of the log, in the older era
	tasks   map[string]int                // how often the status of each was requested
}

// listener is a subscription of the newer era.
type listener struct {
	uris []string // of resources
	say  func(line []byte)
}

func (s *Server) newSession(id string, tell func([]byte)) *session {
	return &session{s: s, id: id, tell: tell, cancel: map[string]context.CancelFunc{}, listens: map[string]listener{}, watched: map[string]bool{}, tasks: map[string]int{}}
}

// Call is a request to the fake, with what answers it.
type Call struct {
	ID     json.RawMessage
	Method string
	Params rawjson.Object
	Args   rawjson.Object  // of a tool
	Done   <-chan struct{} // closed when the client cancels it, or the connection ends

	*session
	modern bool
	reply  func(line []byte)
}

// Result answers with a result, which is JSON.
func (c *Call) Result(v string) {
	c.reply(rpc.Message{ID: c.ID, Result: json.RawMessage(v)}.Line())
}

// Text answers with the result of a tool that is a text.
func (c *Call) Text(s string) {
	c.Result(`{"content":[{"type":"text","text":` + string(rawjson.Quote(s)) + `}]}`)
}

// Fail answers with an error.
func (c *Call) Fail(code int, message string) {
	c.reply(rpc.Failure(c.ID, rpc.Error{Code: code, Message: message}))
}

// Notify sends a notification before the answer; params are JSON, "" for none.
func (c *Call) Notify(method, params string) { c.reply(notification(method, params)) }

// Ask sends the client a request and returns what comes back as JSON: a result or an error.
// When done is closed first, the request is cancelled, and Ask returns false.
func (c *Call) Ask(done <-chan struct{}, method, params string) (string, bool) {
	r, err := c.asked.Open(nil)
	if err != nil {
		return "", false
	}
	c.reply(rpc.Message{ID: r.RawID(), Method: method, Params: json.RawMessage(params)}.Line())
	select {
	case a := <-r.Reply:
		if e, ok := errors.AsType[*rpc.Error](a.Err); ok {
			return string(e.Raw), true
		}
		return string(a.Result), true
	case <-done:
		r.Forget()
		c.reply(r.Cancelled(""))
		return "", false
	}
}

// Crash ends the connection.
func (c *Call) Crash() { c.crash() }

func notification(method, params string) []byte {
	m := rpc.Message{Method: method}
	if params != "" {
		m.Params = json.RawMessage(params)
	}
	return m.Line()
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
	params, _ := rawjson.SplitObject(m.Params) // may be missing
	switch {
	case m.Method == "":
		c.asked.Resolve(m)
		return
	case m.ID == nil:
		c.mu.Lock()
		cancel := c.cancel[string(params.Get("requestId"))]
		c.mu.Unlock()
		if cancel != nil && m.Method == "notifications/cancelled" {
			cancel()
		}
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := &Call{ID: m.ID, Method: m.Method, Params: params, Done: ctx.Done(), session: c, modern: isModern(m.Params), reply: reply}
	k.Args, _ = rawjson.SplitObject(params.Get("arguments")) // may be missing
	c.mu.Lock()
	c.cancel[string(m.ID)] = cancel
	if c.era == "" && (m.Method == "initialize" || k.modern) {
		c.era = map[bool]string{true: "modern", false: "legacy"}[k.modern]
	}
	era := c.era
	c.mu.Unlock()
	switch {
	case k.modern && c.s.NoModern, !k.modern && c.s.NoLegacy:
		k.unknown()
	case c.s.Sticky && !k.modern && era == "modern":
		k.Fail(-32022, "connection is serving the 2026-07-28 protocol")
	case c.s.Answer == nil || !c.s.Answer(k):
		k.serve()
	}
}

func (c *Call) unknown() {
	if !c.s.Silent {
		c.Fail(rpc.CodeMethod, "Method not found")
	}
}

// serve answers as the fake does.
func (c *Call) serve() {
	about := `"capabilities":` + Capabilities + `,"instructions":` + string(rawjson.Quote(c.s.Instructions))
	info := `{"name":"fake","version":"` + max(c.s.Version, "1") + `"}`
	switch c.Method {
	case "initialize":
		c.Result(`{"protocolVersion":"2025-11-25",` + about + `,"serverInfo":` + info + `}`)
	case "server/discover":
		c.Result(`{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],` + about + `,"_meta":{"io.modelcontextprotocol/serverInfo":` + info + `}}`)
	case "ping":
		c.Result("{}")
	case "tools/list":
		c.Result(`{"tools":[` + strings.Join(c.s.definitions(), ",") + `]}`)
	case "tools/call":
		c.tool()
	case "prompts/list":
		c.Result(`{"prompts":[` + listOf(c.s.Prompts, Prompt) + `]}`)
	case "resources/list":
		c.Result(`{"resources":[` + strings.Join(append([]string{Resource}, c.s.added(`{"uri":"fake://new/%d","name":"new"}`)...), ",") + `]}`)
	case "resources/templates/list":
		c.Result(`{"resourceTemplates":[` + listOf(c.s.Templates, Template) + `]}`)
	case "prompts/get", "resources/read", "completion/complete", "later/method":
		c.Result(`{"z":1.0,"got":` + string(withoutHop(c.Params)) + `,"a":"<\u00e9>"}`)
	case "resources/subscribe", "resources/unsubscribe":
		c.mu.Lock()
		c.watched[c.Params.Str("uri")] = c.Method == "resources/subscribe"
		c.mu.Unlock()
		c.Result("{}")
	case "logging/setLevel":
		c.mu.Lock()
		c.level = c.Params.Str("level")
		c.mu.Unlock()
		c.s.note(Request{Method: LevelSet})
		c.Result("{}")
	case "tasks/get", "tasks/result", "tasks/cancel":
		c.task()
	case "subscriptions/listen":
		c.listen()
	default:
		c.unknown()
	}
}

// added returns what change has added to a list; format has the number of each.
func (s *Server) added(format string) (all []string) {
	for i := range s.grown.Load() {
		all = append(all, fmt.Sprintf(format, i+1))
	}
	return all
}

// listOf is a list of the given definitions, or else of the fake's own one.
func listOf(told []string, own string) string {
	if told == nil {
		return own
	}
	return strings.Join(told, ",")
}

// withoutHop removes from params what every request of the newer era carries.
func withoutHop(params rawjson.Object) json.RawMessage {
	meta, err := rawjson.SplitObject(params.Get("_meta"))
	if err != nil {
		return params.JSON()
	}
	meta = slices.DeleteFunc(meta, func(m rawjson.Member) bool { return strings.HasPrefix(m.Key, "io.modelcontextprotocol/") })
	if len(meta) == 0 {
		return params.Without("_meta").JSON()
	}
	return params.With("_meta", meta.JSON()).JSON()
}

// listen keeps a subscription of the newer era open.
func (c *Call) listen() {
	id := string(c.ID)
	filter, _ := rawjson.SplitObject(c.Params.Get("notifications"))
	of := listener{say: c.reply}
	_ = json.Unmarshal(filter.Get("resourceSubscriptions"), &of.uris) // may be missing
	c.mu.Lock()
	c.listens[id] = of
	c.mu.Unlock()
	c.Notify("notifications/subscriptions/acknowledged", `{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`)
	<-c.Done
	c.mu.Lock()
	delete(c.listens, id)
	c.mu.Unlock()
}

// Change adds a tool and notifies all connections over HTTP.
func (s *Server) Change() {
	s.grown.Add(1)
	for _, c := range s.reached() {
		c.changed()
	}
}

// reached returns all sessions over HTTP, or else the given one.
func (s *Server) reached(one ...*session) []*session {
	s.mu.Lock()
	web := s.web
	s.mu.Unlock()
	if web == nil {
		return one
	}
	return web.sessions()
}

func (c *session) changed() {
	const method = "notifications/tools/list_changed"
	c.tell(notification(method, ""))
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, l := range c.listens {
		l.say(notification(method, `{"_meta":{"io.modelcontextprotocol/subscriptionId":`+id+`}}`))
	}
}
