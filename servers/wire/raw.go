package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// lists are the answers that list definitions: the member that holds them, and the one
// of a definition that tells it from others.
var lists = map[string]struct{ member, key string }{
	string(mcp.MethodToolsList):              {"tools", "name"},
	string(mcp.MethodPromptsList):            {"prompts", "name"},
	string(mcp.MethodResourcesList):          {"resources", "uri"},
	string(mcp.MethodResourcesTemplatesList): {"resourceTemplates", "uriTemplate"},
}

// rawList puts definitions that are to be listed as they stand into a message that
// answers a request for a list. What stands around the message, such as the frame of
// an event, stays. Any other message is returned as it is.
func rawList(e envelope, raw map[string]json.RawMessage, message []byte) []byte {
	list, ok := lists[e.Method]
	from, to, found := object(message)
	if len(raw) == 0 || !ok || !found {
		return message
	}
	for _, key := range []string{"result", list.member} {
		if from, to, ok = within(message, from, to, key); !ok {
			return message
		}
	}
	parts, open, err := rawjson.Split(message[from:to])
	if err != nil || open != '[' {
		return message
	}
	out := make([]byte, 0, 2*len(message))
	done := 0
	for _, p := range parts {
		definition, err := rawjson.SplitObject(message[from+p.From : from+p.To])
		if err != nil || raw[definition.Str(list.key)] == nil {
			continue
		}
		out = append(out, message[done:from+p.From]...)
		out = append(out, raw[definition.Str(list.key)]...)
		done = from + p.To
	}
	return append(out, message[done:]...)
}

// object finds the message in what is written, which may stand in the frame of an
// event.
func object(written []byte) (from, to int, ok bool) {
	if from = bytes.IndexByte(written, '{'); from < 0 {
		return 0, 0, false
	}
	to = rawjson.End(written, from)
	return from, to, json.Valid(written[from:to])
}

// asServed puts the reply to the request of ctx, if a module gave it, into what the
// library writes of its own.
func asServed(ctx context.Context, e envelope, written []byte) []byte {
	reply, served := host.Served(ctx)
	from, to, ok := object(written)
	if !served || !ok {
		return written
	}
	if _, _, notification := within(written, from, to, "method"); notification {
		return written
	}
	return slices.Concat(written[:from], replyMessage(e, reply).Encode(), written[to:])
}

// unwrapped puts the params of a notification, if a module gave them, into what the
// library writes of it.
func unwrapped(written []byte) []byte {
	if !bytes.Contains(written, []byte(host.RawMember)) {
		return written
	}
	from, to, ok := object(written)
	if !ok {
		return written
	}
	if _, _, notification := within(written, from, to, "method"); !notification {
		return written
	}
	if from, to, ok = within(written, from, to, "params"); !ok {
		return written
	}
	return slices.Concat(written[:from], host.Unwrap(written[from:to]), written[to:])
}

// introduced has in what the library writes the server of a view that is shown as it is.
func introduced(v *host.View, e envelope, written []byte) []byte {
	if !v.Spec.AsIs {
		return written
	}
	from, to, ok := object(written)
	if !ok {
		return written
	}
	if from, to, ok = within(written, from, to, "result"); !ok {
		return written
	}
	return slices.Concat(written[:from], v.Introduce(e.Method, written[from:to]), written[to:])
}

func replyMessage(e envelope, r host.Reply) rpc.Message {
	return rpc.Message{ID: e.ID, Result: r.Result, Err: r.Error}
}

// served tells how to answer a request without the library, nil if the library does
// that. header is nil where messages have none.
func served(v *host.View, e envelope, header http.Header) func(context.Context) host.Reply {
	if e.ID == nil || e.Method == "" || !e.sound(v, header) {
		return nil // and the library says why
	}
	return v.Route(e.Method, e.Params, e.modern())
}

// sound tells whether the library would look into a request.
func (e envelope) sound(v *host.View, header http.Header) bool {
	version := e.meta.Str(mcp.MetaKeyProtocolVersion)
	if !mcp.IsModernProtocol(version) {
		return true
	}
	var capabilities *mcp.ClientCapabilities
	if !mcp.IsValidProtocolVersion(version) || json.Unmarshal(e.meta.Get(mcp.MetaKeyClientCapabilities), &capabilities) != nil || capabilities == nil {
		return false
	}
	if header == nil {
		return true
	}
	if mcp.ValidateStandardHeaders(header.Get, version, mcp.MCPMethod(e.Method), e.Params) != nil {
		return false
	}
	t := v.MCP.GetTool(toolOf(e))
	return t == nil || mcp.ValidateParamHeadersLookup(func(name string) (string, bool) {
		values := header.Values(name)
		return strings.Join(values[:min(len(values), 1)], ""), len(values) > 0
	}, &t.Tool, e.Params) == nil
}

// within finds the value of a member of the object between two places.
func within(message []byte, from, to int, key string) (int, int, bool) {
	parts, open, err := rawjson.Split(message[from:to])
	if err != nil || open != '{' {
		return 0, 0, false
	}
	for _, p := range parts {
		if p.Key == key {
			return from + p.From, from + p.To, true
		}
	}
	return 0, 0, false
}
