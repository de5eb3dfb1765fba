// Package backend is what the deck's router needs of a server, wherever that runs: requests
// as clients sent them, and replies as they go back.
package backend

import (
	"encoding/json"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Kind is what a request is addressed to.
type Kind string

// The kinds, and what their keys are.
const (
	Tool     Kind = "tool"     // its name
	Prompt   Kind = "prompt"   // its name
	Resource Kind = "resource" // its URI
	Template Kind = "template" // its URI template
	Task     Kind = "task"     // its ID
	// Method is a request that the deck itself does not know, by its method. It is routed
	// in a view of one server alone.
	Method Kind = "method"
)

// Request is a message of a client, parsed once. What it holds are slices of Line.
type Request struct {
	rpc.Message // also of an answer, which has no method, and nothing of what follows

	Line   []byte         // the whole message
	Params rawjson.Object // nil: none, or no object
	Meta   rawjson.Object // their _meta

	Kind Kind // "": the deck's own
	Key  string
	Args json.RawMessage // of a call of a tool; nil: none

	// Version is that of the protocol: what the request states, or else what was negotiated;
	// "" before that.
	Version   string
	stateless bool

	Client Client // the other side; [Nobody] before the transport has set it
	// Capabilities are the client's, as declared in its handshake or with the request; nil:
	// none.
	Capabilities json.RawMessage

	// Passthrough requests have the server's own names: they came through a view of the
	// server as it is without the deck.
	Passthrough bool
}

// Stateless reports whether the request belongs to no handshake: it says of itself what one
// would have settled.
func (r *Request) Stateless() bool { return r.stateless }

// Versions are those of the protocol that the deck speaks, the newest first. The first needs
// no handshake.
func Versions() []string {
	return []string{"2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

// Tool is the name of the tool that the request calls; "" if it calls none.
func (r *Request) Tool() string {
	if r.Method != toolsCall {
		return ""
	}
	return r.Key
}

const (
	toolsCall  = "tools/call"
	complete   = "completion/complete"
	versionKey = "io.modelcontextprotocol/protocolVersion"
)

// New is a request that the deck makes.
func New(m rpc.Message) *Request { return Parse(m.Encode(), m) }

// Parse takes a message apart that was decoded from a line.
func Parse(line []byte, m rpc.Message) *Request {
	r := &Request{Message: m, Line: line, Client: Nobody{}}
	if m.Method == "" {
		return r
	}
	if m.Params != nil {
		r.Params, _ = rawjson.SplitObject(m.Params)            // anything else names nothing
		r.Meta, _ = rawjson.SplitObject(r.Params.Get("_meta")) // as above
	}
	r.Version = r.Meta.Str(versionKey)
	r.stateless = r.Version >= Versions()[0]
	r.Kind, r.Key = addressee(m.Method, r.Params)
	if m.Method == toolsCall {
		r.Args = r.Params.Get("arguments")
	}
	return r
}

// addressed says which member of a request's params says what it is about. A kind of "" is
// the deck's own.
var addressed = map[string]struct {
	kind   Kind
	member string
}{
	toolsCall:               {Tool, "name"},
	"prompts/get":           {Prompt, "name"},
	"resources/read":        {Resource, "uri"},
	"resources/subscribe":   {Resource, "uri"},
	"resources/unsubscribe": {Resource, "uri"},
	"tasks/get":             {Task, "taskId"},
	"tasks/result":          {Task, "taskId"},
	"tasks/cancel":          {Task, "taskId"},
	"tasks/update":          {Task, "taskId"},

	"initialize": {}, "ping": {}, "server/discover": {}, "subscriptions/listen": {}, "logging/setLevel": {},
	"tools/list": {}, "prompts/list": {}, "resources/list": {}, "resources/templates/list": {},
}

// addressee reads what a request is about.
func addressee(method string, params rawjson.Object) (Kind, string) {
	if method == complete {
		ref, _ := rawjson.SplitObject(params.Get("ref")) // anything else names nothing
		if ref.Str("type") == "ref/prompt" {
			return Prompt, ref.Str("name")
		}
		return Template, ref.Str("uri")
	}
	a, known := addressed[method]
	if !known {
		return Method, method
	}
	return a.kind, params.Str(a.member)
}

// Reply is what goes back to the client, as it is: a result, or the error object of
// JSON-RPC.
type Reply struct{ Result, Error json.RawMessage }

// Failed is a Reply with an error of the deck's.
func Failed(code int, message string) Reply {
	raw, _ := rpc.Raw(rpc.Error{Code: code, Message: message}) // always encodes
	return Reply{Error: raw}
}

// Definition is a prompt, a resource or a template that is listed as it stands, a JSON
// object.
type Definition struct {
	Key string // of its Kind
	Raw json.RawMessage
}
