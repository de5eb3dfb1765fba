package router

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// inproc is a [Router] in this process: an MCP server of handlers.
type inproc struct {
	server    *server.MCPServer
	templates []mcp.ResourceTemplate
	served    atomic.Uint64 // requests
}

// handled is a call of a handler while it is answered.
type handled struct {
	address string     // of the resource as the client wrote it, where it is read under another
	err     *rpc.Error // that the handler has chosen; nil: none
}

type handledKey struct{}

func handledFrom(ctx context.Context) *handled {
	h, _ := ctx.Value(handledKey{}).(*handled)
	return h
}

// routed is the offer with a router for all of it: what has handlers is served by a server
// made of them.
func (o Offer) routed(id Identity, version string) Offer {
	s := &inproc{}
	hooks := &server.Hooks{}
	s.server = server.NewMCPServer(id.ServerName, version, server.WithHooks(hooks),
		server.WithToolCapabilities(false), server.WithPromptCapabilities(false), server.WithResourceCapabilities(true, false), server.WithCompletions())
	s.hook(hooks)
	some := false
	for _, tools := range []*[]Tool{&o.Tools, &o.Stub, &o.Gateway} {
		*tools = slices.Clone(*tools)
		for i := range *tools {
			t := &(*tools)[i]
			if t.Handler == nil {
				continue
			}
			s.server.AddTool(t.Tool, worded(t.Handler))
			t.Raw, t.Handler, t.router, some = t.definition(), nil, s, true
		}
	}
	for _, r := range o.Resources {
		s.server.AddResource(r.Resource, r.Handler)
		o.RawResources = append(o.RawResources, backend.Definition{Key: r.Resource.URI, Raw: encoded(r.Resource)})
	}
	for _, t := range o.Templates {
		s.server.AddResourceTemplate(t.Template, t.Handler)
		s.templates = append(s.templates, t.Template)
		o.RawTemplates = append(o.RawTemplates, backend.Definition{Key: t.Template.URITemplate.Raw(), Raw: encoded(t.Template)})
	}
	for _, p := range o.Prompts {
		s.server.AddPrompt(p.Prompt, p.Handler)
		o.RawPrompts = append(o.RawPrompts, backend.Definition{Key: p.Prompt.Name, Raw: encoded(p.Prompt)})
	}
	if o.PromptCompletion != nil {
		server.WithPromptCompletionProvider(o.PromptCompletion)(s.server)
	}
	if o.ResourceCompletion != nil {
		server.WithResourceCompletionProvider(o.ResourceCompletion)(s.server)
	}
	some = some || len(o.Resources)+len(o.Templates)+len(o.Prompts) > 0
	o.Resources, o.Templates, o.Prompts = nil, nil, nil
	if some && o.Router == nil {
		o.Router = s
	}
	return o
}

// worded has a tool say in its result why it has failed, where its handler chose no error of
// its own.
func worded(next server.ToolHandlerFunc) server.ToolHandlerFunc {
	return func(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		result, err := next(ctx, r)
		if _, chosen := errors.AsType[*rpc.Error](err); err != nil && !chosen && ctx.Err() == nil {
			return mcp.NewToolResultError("Error: " + err.Error()), nil
		}
		return result, err
	}
}

func (s *inproc) hook(hooks *server.Hooks) {
	hooks.AddOnError(func(ctx context.Context, _ any, _ mcp.MCPMethod, _ any, err error) {
		h := handledFrom(ctx)
		if chosen, ok := errors.AsType[*rpc.Error](err); ok && h != nil {
			h.err = &rpc.Error{Code: chosen.Code, Message: strings.TrimPrefix(err.Error(), "request error: "), Data: chosen.Data}
		}
	})
	// Clients may write the variable part of a resource's address as it stands: mcp-go knows a
	// template's address only with its reserved characters escaped, palette/%40nes and not
	// palette/@nes. The answer carries the address that was asked for.
	hooks.AddBeforeReadResource(func(ctx context.Context, _ any, r *mcp.ReadResourceRequest) {
		if h, escaped := handledFrom(ctx), s.escape(r.Params.URI); h != nil && escaped != "" {
			h.address, r.Params.URI = r.Params.URI, escaped
		}
	})
	hooks.AddAfterReadResource(func(ctx context.Context, _ any, r *mcp.ReadResourceRequest, result *mcp.ReadResourceResult) {
		h := handledFrom(ctx)
		if h == nil || h.address == "" || result == nil {
			return
		}
		for i, c := range result.Contents {
			if text, ok := c.(mcp.TextResourceContents); ok && text.URI == r.Params.URI {
				text.URI = h.address
				result.Contents[i] = text
			}
		}
	})
}

// matches reports whether an address fits a template.
func (s *inproc) matches(uri string) bool {
	return slices.ContainsFunc(s.templates, func(t mcp.ResourceTemplate) bool { return t.URITemplate.Regexp().MatchString(uri) })
}

// escape makes an address fit one of the templates; "" if it need not, or cannot.
func (s *inproc) escape(uri string) string {
	if s.matches(uri) {
		return ""
	}
	for _, t := range s.templates {
		before, _, _ := strings.Cut(t.URITemplate.Raw(), "{")
		name, ok := strings.CutPrefix(uri, before)
		if escaped := before + strings.ReplaceAll(name, "@", "%40"); ok && t.URITemplate.Regexp().MatchString(escaped) {
			return escaped
		}
	}
	return ""
}

// Owns implements [Router].
func (s *inproc) Owns(kind backend.Kind, key string) bool {
	return kind == backend.Resource && (s.matches(key) || s.escape(key) != "")
}

// Serve implements [Router].
func (s *inproc) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	h, client := &handled{}, s.session(ctx, r)
	ctx = s.server.WithContext(context.WithValue(ctx, handledKey{}, h), client)
	m := s.server.HandleMessage(ctx, r.Line)
	client.drain()
	switch m := m.(type) {
	case mcp.JSONRPCResponse:
		if result, err := rpc.Raw(m.Result); err == nil {
			return backend.Reply{Result: result}
		}
	case mcp.JSONRPCError:
		failure := rpc.Error{Code: m.Error.Code, Message: m.Error.Message, Data: m.Error.Data}
		if h.err != nil {
			failure = *h.err
		}
		if r.Kind == backend.Resource && failure.Data == nil && (failure.Code == mcp.INVALID_PARAMS || failure.Code == mcp.RESOURCE_NOT_FOUND) {
			failure.Data = map[string]string{"uri": r.Key}
		}
		if raw, err := rpc.Raw(failure); err == nil {
			return backend.Reply{Error: raw}
		}
	}
	return backend.Failed(rpc.CodeInternal, "the result cannot be encoded")
}

var _ Router = (*inproc)(nil)

// bare is a result of an inproc without what it says of the answer itself.
func bare(result json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(result)
	if err != nil {
		return result
	}
	o = slices.DeleteFunc(o, func(m rawjson.Member) bool {
		return m.Key == "_meta" || m.Key == "resultType" && string(m.Value) == `"complete"`
	})
	return o.JSON()
}
