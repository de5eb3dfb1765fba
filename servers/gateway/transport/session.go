package transport

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
)

// session is mcp-go's view of a connection.
type session struct {
	id    string
	conn  *Conn
	agent *router.Agent
	// notify is filled by mcp-go, which drops what does not fit, and read by the
	// connection's writer.
	notify      chan mcp.JSONRPCNotification
	initialized atomic.Bool
	legacy      atomic.Bool // an initialize request was seen

	mu           sync.Mutex // guards what follows
	info         mcp.Implementation
	capabilities mcp.ClientCapabilities
	level        mcp.LoggingLevel
	version      string
	listens      map[string]mcp.SubscriptionFilter
}

var (
	_ server.SessionWithLogging     = (*session)(nil)
	_ server.SessionWithClientInfo  = (*session)(nil)
	_ server.SessionWithElicitation = (*session)(nil)
	_ server.SessionWithRoots       = (*session)(nil)
	_ server.SessionWithSampling    = (*session)(nil)

	_ server.SessionWithProtocolVersion = (*session)(nil)
)

func newSession(c *Conn, agent *router.Agent) *session {
	return &session{
		id: agent.Caller().Agent, conn: c, agent: agent, level: mcp.LoggingLevelError,
		notify:  make(chan mcp.JSONRPCNotification, 512),
		listens: map[string]mcp.SubscriptionFilter{},
	}
}

func (s *session) SessionID() string { return s.id }

func (s *session) NotificationChannel() chan<- mcp.JSONRPCNotification { return s.notify }

func (s *session) Initialize() { s.initialized.Store(true) }

func (s *session) Initialized() bool { return s.initialized.Load() }

func (s *session) SetLogLevel(l mcp.LoggingLevel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.level = l
}

func (s *session) GetLogLevel() mcp.LoggingLevel {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.level
}

func (s *session) GetClientInfo() mcp.Implementation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.info
}

func (s *session) SetClientInfo(i mcp.Implementation) {
	s.mu.Lock()
	s.info = i
	s.mu.Unlock()
	s.agent.Claim(i.Name, i.Version, "")
}

func (s *session) GetClientCapabilities() mcp.ClientCapabilities {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities
}

func (s *session) SetClientCapabilities(c mcp.ClientCapabilities) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.capabilities = c
}

// SetProtocolVersion is called by mcp-go with the version of a handshake.
func (s *session) SetProtocolVersion(v string) {
	s.mu.Lock()
	s.version = v
	s.mu.Unlock()
	s.agent.Claim("", "", v)
}

// ProtocolVersion returns the version of the handshake, or of the first request that
// stated one; "" before.
func (s *session) ProtocolVersion() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// Ask implements [router.Asker].
func (s *session) Ask(ctx context.Context, method string, params json.RawMessage) (result json.RawMessage, err error) {
	err = s.conn.ask(ctx, method, params, &result)
	return result, err
}

func (s *session) RequestElicitation(ctx context.Context, r mcp.ElicitationRequest) (*mcp.ElicitationResult, error) {
	var result mcp.ElicitationResult
	return &result, s.conn.ask(ctx, "elicitation/create", r.Params, &result)
}

func (s *session) ListRoots(ctx context.Context, _ mcp.ListRootsRequest) (*mcp.ListRootsResult, error) {
	var result mcp.ListRootsResult
	return &result, s.conn.ask(ctx, "roots/list", nil, &result)
}

func (s *session) RequestSampling(ctx context.Context, r mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
	var result mcp.CreateMessageResult
	return &result, s.conn.ask(ctx, "sampling/createMessage", r.CreateMessageParams, &result)
}

// listen records the filter of a subscription by its request's ID.
func (s *session) listen(id json.RawMessage, f mcp.SubscriptionFilter) {
	if f.IsEmpty() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listens[string(id)] = f
}

func (s *session) unlisten(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listens, id)
}

// wants decides whether a notification from the server is sent untagged, and to which
// subscriptions, by ID, a tagged copy is sent.
func (s *session) wants(n mcp.JSONRPCNotification) (untagged bool, tags []string) {
	if to, ok := n.Params.AdditionalFields[router.ToMember].(string); ok && to != s.id {
		return false, nil
	}
	kind := listKind(n)
	if kind == nil {
		return true, nil
	}
	uri, _ := param(n, "uri").(string)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.legacy.Load() {
		return n.Method != mcp.MethodNotificationResourceUpdated || s.agent.Subscribed(uri), nil
	}
	for id, f := range s.listens {
		if kind(f, uri) {
			tags = append(tags, id)
		}
	}
	slices.Sort(tags)
	return false, tags
}

// listKind returns how to look up a notification's kind in a filter, or nil for a
// notification that needs no subscription.
func listKind(n mcp.JSONRPCNotification) func(f mcp.SubscriptionFilter, uri string) bool {
	switch n.Method {
	case mcp.MethodNotificationToolsListChanged:
		return func(f mcp.SubscriptionFilter, _ string) bool { return f.ToolsListChanged }
	case mcp.MethodNotificationPromptsListChanged:
		return func(f mcp.SubscriptionFilter, _ string) bool { return f.PromptsListChanged }
	case mcp.MethodNotificationResourcesListChanged:
		return func(f mcp.SubscriptionFilter, _ string) bool { return f.ResourcesListChanged }
	case mcp.MethodNotificationResourceUpdated:
		return func(f mcp.SubscriptionFilter, uri string) bool { return slices.Contains(f.ResourceSubscriptions, uri) }
	}
	return nil
}
