package transport

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// object finds the message in what is written, which may be framed as an event.
func object(written []byte) (from, to int, ok bool) {
	if from = bytes.IndexByte(written, '{'); from < 0 {
		return 0, 0, false
	}
	to = rawjson.End(written, from)
	return from, to, json.Valid(written[from:to])
}

// asServed replaces what the library writes with the raw reply to the request of ctx, if
// a module gave one.
func asServed(ctx context.Context, e *backend.Request, written []byte) []byte {
	reply, served := router.Served(ctx)
	from, to, ok := object(written)
	if !served || !ok {
		return written
	}
	if _, _, notification := within(written, from, to, "method"); notification {
		return written
	}
	return slices.Concat(written[:from], replyMessage(e, reply).Encode(), written[to:])
}

// Members of what an [outlet] wraps a message in: the message, and the receipt for it.
const (
	wrappedMessage = "mcpdeck/message"
	wrappedReceipt = "mcpdeck/receipt"
)

// unwrapped replaces what the library writes by the message that it wraps, with the message's
// receipt, or else the params of a notification by the raw params, if a module gave them.
func (r *receipts) unwrapped(written []byte) (line []byte, receipt string) {
	if !bytes.Contains(written, []byte("mcpdeck/")) {
		return written, ""
	}
	from, to, ok := object(written)
	if !ok {
		return written, ""
	}
	if _, _, called := within(written, from, to, "method"); !called {
		return written, ""
	}
	start, end := from, to
	if from, to, ok = within(written, from, to, "params"); !ok {
		return written, ""
	}
	params, _ := rawjson.SplitObject(written[from:to]) // the library's; if it is no object, it wraps nothing
	for _, wrapper := range []json.RawMessage{written[from:to], params.Get("requestedSchema")} {
		o, _ := rawjson.SplitObject(wrapper)
		receipt := o.Str(wrappedReceipt)
		if message, err := base64.StdEncoding.DecodeString(o.Str(wrappedMessage)); err == nil && r.issued(receipt) {
			return slices.Concat(written[:start], message, written[end:]), receipt
		}
	}
	return slices.Concat(written[:from], router.Unwrap(written[from:to]), written[to:]), ""
}

// introduced inserts the identity of the server into what the library writes for a view
// that shows a server unchanged.
func introduced(v *router.View, e *backend.Request, written []byte) []byte {
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

func replyMessage(e *backend.Request, r backend.Reply) rpc.Message {
	return rpc.Message{ID: e.ID, Result: r.Result, Err: r.Error}
}

// served returns a function that answers a request without the library, or nil if the
// library answers it. header is nil for messages without headers.
func served(v *router.View, e *backend.Request, header http.Header) func(context.Context) backend.Reply {
	if e.ID == nil || e.Method == "" || !sound(e, header) {
		return nil // the library reports why
	}
	if t := v.HeaderTool(e.Tool()); t != nil && header != nil && mcp.IsModernProtocol(e.Version) {
		if err := mcp.ValidateParamHeadersLookup(lookup(header), t, e.Message.Params); err != nil {
			return func(context.Context) backend.Reply { return backend.Failed(mcp.HEADER_MISMATCH, err.Error()) }
		}
	}
	return v.Route(e)
}

// lookup finds the first value of a header, and reports whether it was sent.
func lookup(header http.Header) func(name string) (string, bool) {
	return func(name string) (string, bool) {
		values := header.Values(name)
		return strings.Join(values[:min(len(values), 1)], ""), len(values) > 0
	}
}

// sound reports whether the library would accept a request for handling.
func sound(e *backend.Request, header http.Header) bool {
	if !mcp.IsModernProtocol(e.Version) {
		return true
	}
	var capabilities *mcp.ClientCapabilities
	if !mcp.IsValidProtocolVersion(e.Version) || json.Unmarshal(e.Meta.Get(mcp.MetaKeyClientCapabilities), &capabilities) != nil || capabilities == nil {
		return false
	}
	return header == nil || mcp.ValidateStandardHeaders(header.Get, e.Version, mcp.MCPMethod(e.Method), e.Message.Params) == nil
}

// within finds the value of a member of the object between two offsets.
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
