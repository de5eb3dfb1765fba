package transport

import (
	"errors"
	"fmt"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The members of _meta that mean something to a transport.
const (
	versionKey      = "io.modelcontextprotocol/protocolVersion"
	clientKey       = "io.modelcontextprotocol/clientInfo"
	capabilitiesKey = "io.modelcontextprotocol/clientCapabilities"
	subscriptionKey = "io.modelcontextprotocol/subscriptionId"
)

// rules define which names messages may contain.
type rules struct{ message, hello *rawjson.Rule }

// ruled returns the rules, which are built once. A server may decode these names into
// struct fields and so accept "Name" for "name", while the log, the relay and a child do
// not.
var ruled = sync.OnceValue(func() rules {
	data := &rawjson.Rule{}
	// arguments of a tool or prompt: their own decoders may fold the first level.
	arguments := &rawjson.Rule{Fold: true, Rest: data}
	meta := &rawjson.Rule{Fold: true, Rest: data, Known: rawjson.Names(
		"progressToken", backend.ResumeKeyMeta, versionKey, clientKey, capabilitiesKey, subscriptionKey,
	)}
	body := &rawjson.Rule{Fold: true, Known: rawjson.Names(
		"name", "arguments", "_meta", "uri", "cursor", "task", "ttl", "level", "logger", "protocolVersion", "capabilities", "clientInfo", "version",
		"title", "ref", "type", "argument", "value", "context", "requestId", "reason", "progressToken", "progress", "total", "message",
		"notifications", "toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions", "inputResponses", "requestState",
		"action", "content", "roots", "role", "model", "stopReason", "code", "data",
		"extensions", "experimental", "listChanged", "sampling", "elicitation", "form", "url", "tasks", "list", "cancel", "requests", "tools", "call",
		"createMessage", "create", "description", "websiteUrl", "icons", "src", "mimeType", "sizes", "theme", "resultType",
	)}
	body.Rest = body
	answers := &rawjson.Rule{Rest: body} // keys are IDs that the deck chose
	body.Inner = map[string]*rawjson.Rule{
		"arguments": arguments, "content": arguments, "inputResponses": answers, "_meta": meta,
		"experimental": data, "extensions": data, "data": data, "structuredContent": data,
	}
	meta.Inner = map[string]*rawjson.Rule{clientKey: body, capabilitiesKey: body}
	message := &rawjson.Rule{Fold: true, Rest: data, Known: rawjson.Names("jsonrpc", "id", "method", "params", "result", "error")}
	message.Inner = map[string]*rawjson.Rule{"params": body, "result": body, "error": body}
	hello := &rawjson.Rule{Fold: true, Rest: data, Known: rawjson.Names(
		"mcpdeck", "servers", "gateway", "asIs", "profile", "cwd", "pid", "transport", "hints", "control", "args",
	)}
	return rules{message, hello}
})

// checkNames refuses a message that two parsers could interpret differently.
func checkNames(line []byte) error {
	if err := ruled().message.Check(line); err != nil {
		return fmt.Errorf("message is ambiguous: %w", err)
	}
	return nil
}

// ErrGone is the error of a call that the deck ended before answering.
var ErrGone = errors.New("mcpdeck closed during this call. It may have taken effect: check, then retry")

// TooLong returns what takes the place of a message over the limit, of which only the
// outline is there: the deck's answer to a request, or an error in the place of an answer
// to a request of the deck's. Whoever waits for it must not wait for ever.
func TooLong(outline []byte) (reply []byte, answer rpc.Message) {
	failure := rpc.Error{Code: rpc.CodeInvalid, Message: fmt.Sprintf("message is longer than %d bytes", rpc.MaxLine)}
	m, bad := rpc.Rules{Check: checkNames}.Decode(outline)
	if bad != nil || m.Method != "" || m.ID == nil {
		return rpc.Failure(m.ID, failure), rpc.Message{}
	}
	raw, _ := rpc.Raw(failure) // always encodes
	return nil, rpc.Message{ID: m.ID, Err: raw}
}

// Decode parses a message from a client, for all transports. It refuses names that another
// parser could mistake for names it knows. Of a refused message, the request has the ID if it
// can be answered.
func Decode(line []byte) (*backend.Request, *rpc.Error) {
	m, bad := rpc.Rules{Check: checkNames}.Decode(line)
	if bad != nil {
		return &backend.Request{Message: m}, bad
	}
	return backend.Parse(line, m), nil
}
