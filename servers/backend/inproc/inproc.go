// Package inproc serves MCP servers of this process, made with mcp-go, to the deck's router.
package inproc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// Options are what the deck knows of a server beyond MCP. All but Info may be nil.
type Options struct {
	Info   backend.Info
	Policy func(tool string) backend.Policy
	Off    func(tool string) string // why a tool is turned off; "": it is not
	Ask    func(tool string) bool   // the user is asked for each call of a tool

	// Start and Stop are those of what is behind the server, see [backend.Server].
	Start func(ctx context.Context, e backend.Events) error
	Stop  func(ctx context.Context) error
	// Subscribed and Ended are those of [backend.Subscriber] and [backend.SessionEnder].
	Subscribed func(session string, s backend.Subscriptions)
	Ended      func(session string)
}

// Server is an MCP server of handlers in this process. Outside the deck, they serve as well by
// the library alone.
type Server struct {
	o      Options
	server *server.MCPServer
	served atomic.Uint64 // requests
	stop   context.CancelFunc

	templates atomic.Pointer[[]*mcp.URITemplate]
}

var _ interface {
	backend.Server
	backend.Resolver
	backend.Subscriber
	backend.SessionEnder
	backend.Namer
} = (*Server)(nil)

// New makes one of a server that build makes with options.
func New(o Options, build func(...server.ServerOption) *server.MCPServer) *Server {
	hooks := &server.Hooks{}
	s := &Server{o: o, stop: func() {}}
	s.hook(hooks)
	s.server = build(server.WithHooks(hooks), server.WithToolHandlerMiddleware(worded))
	s.look()
	return s
}

// Info implements [backend.Server].
func (s *Server) Info() backend.Info { return s.o.Info }

// Start implements [backend.Server].
func (s *Server) Start(ctx context.Context, e backend.Events) error {
	within, stop := context.WithCancel(ctx)
	s.stop = stop
	deck := &listener{said: make(chan mcp.JSONRPCNotification, maxUnheard)}
	if err := s.server.RegisterSession(within, deck); err != nil {
		return fmt.Errorf("listen to %s: %w", s.o.Info.Name, err)
	}
	recovery.Go(s.o.Info.Name+" notifications", func() {
		defer s.server.UnregisterSession(within, deck.SessionID())
		for {
			select {
			case n := <-deck.said:
				s.heard(n, e)
			case <-within.Done():
				return
			}
		}
	})
	if s.o.Start == nil {
		return nil
	}
	return s.o.Start(ctx, e)
}

// heard reports a notification that belongs to no request.
func (s *Server) heard(n mcp.JSONRPCNotification, e backend.Events) {
	if strings.HasSuffix(n.Method, "/list_changed") {
		s.look()
		e.Changed()
		return
	}
	if params, err := rpc.Raw(n.Params); err == nil {
		e.Notify("", n.Method, params)
	}
}

// Stop implements [backend.Server].
func (s *Server) Stop(ctx context.Context) error {
	s.stop()
	if s.o.Stop == nil {
		return nil
	}
	return s.o.Stop(ctx)
}

// Subscribed implements [backend.Subscriber].
func (s *Server) Subscribed(session string, w backend.Subscriptions) {
	if s.o.Subscribed != nil {
		s.o.Subscribed(session, w)
	}
}

// SessionEnded implements [backend.SessionEnder].
func (s *Server) SessionEnded(session string) {
	if s.o.Ended != nil {
		s.o.Ended(session)
	}
}

// Called implements [backend.Namer].
func (s *Server) Called(r *backend.Request) backend.Called {
	return backend.Called{Tool: r.Key, Args: r.Args, Ask: s.o.Ask != nil && s.o.Ask(r.Key)}
}

// Catalogue implements [backend.Server]. It has the tools that are turned off, too, which the
// server itself may hide.
func (s *Server) Catalogue() *backend.Catalogue {
	hello := s.ask("initialize", `{"protocolVersion":"`+mcp.ProtocolVersion20251125+`","capabilities":{},"clientInfo":{"name":"mcpdeck","version":""}}`)
	c := &backend.Catalogue{
		Prompts: s.list("prompts/list", "prompts", "name"), Resources: s.list("resources/list", "resources", "uri"),
		Templates: s.list("resources/templates/list", "resourceTemplates", "uriTemplate"), Instructions: hello.Str("instructions"),
	}
	all := s.server.ListTools()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		raw, _ := rpc.Raw(all[name].Tool) // always encodes
		t := backend.ToolDefinition{Definition: backend.Definition{Key: name, Raw: raw}}
		if s.o.Policy != nil {
			t.Policy = s.o.Policy(name)
		}
		if s.o.Off != nil {
			t.Off = s.o.Off(name)
		}
		c.Tools = append(c.Tools, t)
	}
	return c
}

// list is one of the server's lists; nil if it has none.
func (s *Server) list(method, member, key string) (all []backend.Definition) {
	for cursor := "{}"; ; {
		o := s.ask(method, cursor)
		definitions, _ := rawjson.SplitArray(o.Get(member)) // an error has none
		for _, raw := range definitions {
			d, _ := rawjson.SplitObject(raw) // always one
			all = append(all, backend.Definition{Key: d.Str(key), Raw: raw})
		}
		next := o.Get("nextCursor")
		if next == nil {
			return all
		}
		cursor = `{"cursor":` + string(next) + `}`
	}
}

// ask has the server answer a request of the deck's.
func (s *Server) ask(method, params string) rawjson.Object {
	line := rpc.Message{ID: json.RawMessage("0"), Method: method, Params: json.RawMessage(params)}.Encode()
	m, _ := s.server.HandleMessage(context.Background(), line).(mcp.JSONRPCResponse)
	raw, _ := rpc.Raw(m.Result)      // always encodes
	o, _ := rawjson.SplitObject(raw) // nothing of an error
	return o
}

// look notes which templates there are.
func (s *Server) look() {
	var all []*mcp.URITemplate
	for _, d := range s.list("resources/templates/list", "resourceTemplates", "uriTemplate") {
		all = append(all, mcp.NewResourceTemplate(d.Key, "").URITemplate)
	}
	s.templates.Store(&all)
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

func (s *Server) hook(hooks *server.Hooks) {
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
func (s *Server) matches(uri string) bool {
	return slices.ContainsFunc(*s.templates.Load(), func(t *mcp.URITemplate) bool { return t.Regexp().MatchString(uri) })
}

// escape makes an address fit one of the templates; "" if it need not, or cannot.
func (s *Server) escape(uri string) string {
	if s.matches(uri) {
		return ""
	}
	for _, t := range *s.templates.Load() {
		before, _, _ := strings.Cut(t.Raw(), "{")
		name, ok := strings.CutPrefix(uri, before)
		if escaped := before + strings.ReplaceAll(name, "@", "%40"); ok && t.Regexp().MatchString(escaped) {
			return escaped
		}
	}
	return ""
}

// Owns implements [backend.Resolver].
func (s *Server) Owns(kind backend.Kind, key string) bool {
	return kind == backend.Resource && (s.matches(key) || s.escape(key) != "")
}

// Serve implements [backend.Server].
func (s *Server) Serve(ctx context.Context, r *backend.Request) backend.Reply {
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
