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
	Version string
	// Stateless requests belong to no handshake: they say of themselves what one would have
	// settled. Era is that of the method.
	Stateless bool
	Era       Era

	Client Client // the other side; [Nobody] before the transport has set it
	// Capabilities are the client's, as declared in its handshake or with the request; nil:
	// none.
	Capabilities json.RawMessage

	// The router says the rest. Passthrough requests have the server's own names: they came
	// through a view of the server as it is without the deck. Ordered ones of a connection
	// begin in the order in which they were sent.
	Passthrough, Ordered bool
}

// Era is when the protocol has a method.
type Era uint8

// The eras.
const (
	Always       Era = iota
	BeforeNewest     // in versions with a handshake
	SinceNewest      // in those without
)

// LogLevels returns the levels of log messages, the most verbose first.
func LogLevels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// Newest is the version of the protocol that needs no handshake.
const Newest = "2026-07-28"

// Versions are those of the protocol that the deck speaks, the newest first.
func Versions() []string {
	return []string{Newest, "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}
}

const (
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
	r.Stateless = r.Version >= Newest
	a, known := addressed[m.Method]
	switch {
	case !known:
		r.Kind, r.Key = Method, m.Method
	case m.Method == complete:
		ref, _ := rawjson.SplitObject(r.Params.Get("ref")) // anything else names nothing
		r.Kind, r.Key = Template, ref.Str("uri")
		if ref.Str("type") == "ref/prompt" {
			r.Kind, r.Key = Prompt, ref.Str("name")
		}
	default:
		r.Kind, r.Key, r.Era = a.kind, r.Params.Str(a.member), a.era
	}
	if r.Kind == Tool {
		r.Args = r.Params.Get("arguments")
	}
	return r
}

// addressed says which member of a request's params says what it is about. A kind of "" is
// the deck's own.
var addressed = map[string]struct {
	kind   Kind
	member string
	era    Era
}{
	"tools/call":            {kind: Tool, member: "name"},
	"prompts/get":           {kind: Prompt, member: "name"},
	complete:                {},
	"resources/read":        {kind: Resource, member: "uri"},
	"resources/subscribe":   {Resource, "uri", BeforeNewest},
	"resources/unsubscribe": {Resource, "uri", BeforeNewest},
	"tasks/get":             {kind: Task, member: "taskId"},
	"tasks/result":          {kind: Task, member: "taskId"},
	"tasks/cancel":          {kind: Task, member: "taskId"},
	"tasks/update":          {kind: Task, member: "taskId"},

	"initialize": {era: BeforeNewest}, "ping": {era: BeforeNewest}, "logging/setLevel": {era: BeforeNewest},
	"server/discover": {era: SinceNewest}, "subscriptions/listen": {era: SinceNewest},
	"tools/list": {}, "prompts/list": {}, "resources/list": {}, "resources/templates/list": {},
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
