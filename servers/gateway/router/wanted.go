package router

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	logMessage      = "notifications/message"
	resourceUpdated = mcp.MethodNotificationResourceUpdated
)

// subscribe notes what the agent did with resources/subscribe and its opposite.
func (a *Agent) subscribe(uri string, on bool) {
	a.mu.Lock()
	if a.uris == nil {
		a.uris = map[string]bool{}
	}
	if on {
		a.uris[uri] = true
	} else {
		delete(a.uris, uri)
	}
	a.mu.Unlock()
	a.tellWanted(a.host.all())
}

// listen is a subscription that is open.
type listen struct {
	uris []string // of resources
	// out is where what it wants to hear goes, nil if that is told to the connection.
	out chan<- mcp.JSONRPCNotification
}

// Listen notes that the agent wants to be told of resources while a subscription is
// open. done must be called once.
func (a *Agent) Listen(uris []string) (done func()) { return a.listen(&listen{uris: uris}) }

func (a *Agent) listen(l *listen) (done func()) {
	if len(l.uris) == 0 {
		return func() {}
	}
	a.mu.Lock()
	if a.listens == nil {
		a.listens = map[*listen]bool{}
	}
	a.listens[l] = true
	a.mu.Unlock()
	a.tellWanted(a.host.all())
	return func() {
		a.mu.Lock()
		delete(a.listens, l)
		a.mu.Unlock()
		a.tellWanted(a.host.all())
	}
}

// listens is the hook by which the library opens a subscription, over HTTP. It has no
// way of its own to tell one of resources.
func listens(ctx context.Context, _ any, r *mcp.SubscriptionsListenRequest) {
	q, session := requestFrom(ctx), server.ClientSessionFromContext(ctx)
	if q == nil || session == nil {
		return
	}
	done := q.agent.listen(&listen{uris: r.Params.Notifications.ResourceSubscriptions, out: session.NotificationChannel()})
	context.AfterFunc(ctx, done)
}

// Subscribed tells whether the agent wants to be told of a resource, by
// resources/subscribe.
func (a *Agent) Subscribed(uri string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.uris[uri]
}

func (a *Agent) wanted() Wanted {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Collect(maps.Keys(a.uris))
	for l := range a.listens {
		all = append(all, l.uris...)
	}
	slices.Sort(all)
	return Wanted{Level: a.level, Resources: slices.Compact(all), Root: a.caller.Root}
}

// tellWanted tells modules what the agent wants to be told of, those that it sees. The
// last of several at once has all.
func (a *Agent) tellWanted(modules []*hosted) {
	a.telling.Lock()
	defer a.telling.Unlock()
	w, id := a.wanted(), a.Caller().Agent
	for _, m := range modules {
		if l, ok := m.Module.(Listener); ok && a.sees(m) {
			_ = recovery.Call(m.id.Name+" told what an agent wants", func() error { l.Wants(id, w); return nil })
		}
	}
}

// sees tells whether a module is in the agent's view.
func (a *Agent) sees(m *hosted) bool { return len(a.view) == 0 || slices.Contains(a.view, m.id.Name) }

// tellWanted tells a module that has come what the agents there are want.
func (h *Host) tellWanted(m *hosted) {
	h.mu.Lock()
	agents := slices.Clone(h.agents)
	h.mu.Unlock()
	for _, a := range agents {
		if w := a.wanted(); w.Level != "" || len(w.Resources) > 0 {
			a.tellWanted([]*hosted{m})
		}
	}
}

// Pass implements [Scope].
func (m *hosted) Pass(agent, method string, params json.RawMessage) {
	to := wrapped(params)
	if agent != "" {
		to[ToMember] = agent
	}
	switch method {
	case resourceUpdated:
		m.broadcast(method, to)
	case logMessage:
		level := levelOf(params)
		m.host.mu.Lock()
		agents := slices.Clone(m.host.agents)
		m.host.mu.Unlock()
		for _, a := range agents {
			a.pass(m, level, to, func(c snapshot.Caller) bool { return agent == "" || c.Agent == agent })
		}
	case "notifications/elicitation/complete":
		m.tell(method, to, func(*View) bool { return true })
	case "notifications/tasks/status": // agents have tasks of a server that they see as it is
		m.tell(method, to, func(v *View) bool { return v.Spec.AsIs })
	}
}

// tell sends a notification to the connections through some of the module's views.
func (m *hosted) tell(method string, params map[string]any, through func(*View) bool) {
	m.host.mu.Lock()
	defer m.host.mu.Unlock()
	for _, v := range m.host.views {
		if v.has(m) && through(v) {
			v.MCP.SendNotificationToAllClients(method, params)
		}
	}
}

// ToMember is the id of the one agent that may get a notification, among its params.
const ToMember = "mcpdeck/to"

// pass sends a log message of a module's server if the agent sees that module, wants the
// message's level, and is one of those meant.
func (a *Agent) pass(m *hosted, level mcp.LoggingLevel, params map[string]any, to func(snapshot.Caller) bool) {
	a.mu.Lock()
	v, session, who, least := a.logs, a.session, a.caller, a.level
	a.mu.Unlock()
	if v != nil && v.has(m) && to(who) && level.ShouldSendTo(least) {
		_ = v.MCP.SendNotificationToSpecificClient(session, logMessage, params) // it is gone, or slow
	}
}

// broadcast sends a notification to all that see the module. The transport knows who
// wants it.
func (m *hosted) broadcast(method string, params map[string]any) {
	h := m.host
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, v := range h.views {
		if v.has(m) {
			v.MCP.SendNotificationToAllClients(method, params)
		}
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method, n.Params.AdditionalFields = method, params
	for _, a := range h.agents {
		if a.sees(m) {
			a.hears(n)
		}
	}
}

// hears tells the agent's subscriptions that are not told with its connection.
func (a *Agent) hears(n mcp.JSONRPCNotification) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for l := range a.listens {
		select {
		case l.out <- n:
		default: // there is none, or it is slow
		}
	}
}

// level is the least level of log messages that the request's agent wants.
func (q *request) level() mcp.LoggingLevel {
	if q.raw != nil && q.raw.Stateless() {
		return mcp.LoggingLevel(q.raw.Meta.Str(mcp.MetaKeyLogLevel))
	}
	q.agent.mu.Lock()
	defer q.agent.mu.Unlock()
	return q.agent.level
}

// levelOf is the level of a log message.
func levelOf(params json.RawMessage) mcp.LoggingLevel {
	p, _ := rawjson.SplitObject(params) // something else has none
	return mcp.LoggingLevel(p.Str("level"))
}
