package router

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

const (
	progressMessage  = "notifications/progress"
	logMessage       = "notifications/message"
	resourceUpdated  = "notifications/resources/updated"
	toolsChanged     = "notifications/tools/list_changed"
	promptsChanged   = "notifications/prompts/list_changed"
	resourcesChanged = "notifications/resources/list_changed"
)

// reaches reports whether a message of a level goes to whoever wants those from another on.
func reaches(level, least string) bool {
	all := backend.LogLevels()
	from := slices.Index(all, least)
	return from >= 0 && slices.Index(all, level) >= from
}

// Tell sends a client what belongs to no request of its. It must not wait: what the client is
// too slow for is dropped.
type Tell func(method string, params json.RawMessage)

// Attach has the connection of a client, through a view, told what belongs to no request. One
// that has made no handshake is told of no changes: it opens subscriptions.
func (a *Agent) Attach(v *View, tell Tell) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.through, a.tell = v, tell
}

// filter is what a subscription is to be told of.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

func (f filter) empty() bool { return !f.Tools && !f.Prompts && !f.Resources && len(f.URIs) == 0 }

// wants reports whether the subscription is told of something.
func (f filter) wants(method, uri string) bool {
	switch method {
	case toolsChanged:
		return f.Tools
	case promptsChanged:
		return f.Prompts
	case resourcesChanged:
		return f.Resources
	case resourceUpdated:
		return slices.Contains(f.URIs, uri)
	}
	return false
}

// subscription is one that is open.
type subscription struct {
	filter
	through *View
	tell    Tell
}

// listen opens a subscription, which the request acknowledges first, and returns how it is held
// open until the request ends. What changes from now on is told.
func (v *View) listen(a *Agent, r *backend.Request) func(context.Context) backend.Reply {
	var f filter
	if json.Unmarshal(r.Params.Get("notifications"), &f) != nil {
		return func(context.Context) backend.Reply {
			return backend.Failed(rpc.CodeParams, "notifications must be an object with the wanted kinds as keys")
		}
	}
	tag := rawjson.Object{{Key: subscriptionKey, Value: r.ID}}
	acknowledged, _ := rpc.Raw(map[string]any{"notifications": f, "_meta": tag.JSON()}) // always encodes
	r.Client.Notify("notifications/subscriptions/acknowledged", acknowledged)
	if f.empty() {
		return func(context.Context) backend.Reply {
			return backend.Reply{Result: json.RawMessage(`{"_meta":` + string(tag.JSON()) + `,"resultType":"complete"}`)}
		}
	}
	done := a.subscribed(&subscription{f, v, func(method string, params json.RawMessage) { r.Client.Notify(method, withMeta(params, tag)) }})
	return func(ctx context.Context) backend.Reply {
		defer done()
		<-ctx.Done()
		return backend.Reply{}
	}
}

// subscribed notes a subscription until done is called.
func (a *Agent) subscribed(s *subscription) (done func()) {
	a.mu.Lock()
	a.subscriptions = append(a.subscriptions, s)
	a.mu.Unlock()
	if len(s.URIs) > 0 {
		a.publishSubscriptions(a.host.all())
	}
	return func() {
		a.mu.Lock()
		a.subscriptions = slices.DeleteFunc(a.subscriptions, func(o *subscription) bool { return o == s })
		a.mu.Unlock()
		if len(s.URIs) > 0 {
			a.publishSubscriptions(a.host.all())
		}
	}
}

// watches answers a request to subscribe to a resource, or the opposite, that no server knows.
func (a *Agent) watches(r *backend.Request) backend.Reply {
	if r.Key == "" {
		return backend.Failed(rpc.CodeParams, "uri is required")
	}
	a.watch(r.Key, r.Method == subscribe)
	return backend.Reply{Result: json.RawMessage("{}")}
}

// watch notes what the agent did with resources/subscribe and its opposite.
func (a *Agent) watch(uri string, on bool) {
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
	a.publishSubscriptions(a.host.all())
}

// chooses answers the choice of a level of log messages.
func (a *Agent) chooses(level string) backend.Reply {
	if !slices.Contains(backend.LogLevels(), level) {
		return backend.Failed(rpc.CodeParams, fmt.Sprintf("invalid logging level '%s'", level))
	}
	a.mu.Lock()
	a.level = level
	a.mu.Unlock()
	a.publishSubscriptions(a.host.all())
	return backend.Reply{Result: json.RawMessage("{}")}
}

func (a *Agent) wanted() backend.Subscriptions {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := slices.Collect(maps.Keys(a.uris))
	for _, s := range a.subscriptions {
		all = append(all, s.URIs...)
	}
	slices.Sort(all)
	return backend.Subscriptions{Level: a.level, Resources: slices.Compact(all), Root: a.caller.Root}
}

// publishSubscriptions tells servers what the agent wants to be told of, those that it sees. The
// last of several at once has all.
func (a *Agent) publishSubscriptions(modules []*registration) {
	a.telling.Lock()
	defer a.telling.Unlock()
	w, id := a.wanted(), a.Caller().Agent
	for _, m := range modules {
		if l, ok := m.Server.(backend.Subscriber); ok && a.sees(m) {
			_ = recovery.Call(m.id.Name+" told what an agent wants", func() error { l.Subscribed(id, w); return nil })
		}
	}
}

// sees reports whether a server is in the agent's view.
func (a *Agent) sees(m *registration) bool {
	return len(a.view) == 0 || slices.Contains(a.view, m.id.Name)
}

// publishSubscriptions tells a server that has come what the agents there are want.
func (h *Host) publishSubscriptions(m *registration) {
	for _, a := range h.connected() {
		if w := a.wanted(); w.Level != "" || len(w.Resources) > 0 {
			a.publishSubscriptions([]*registration{m})
		}
	}
}

// connected are the agents there are.
func (h *Host) connected() []*Agent {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.agents)
}

// Notify implements [backend.Events].
func (m *registration) Notify(session, method string, params json.RawMessage) {
	if m.isOff() {
		return
	}
	through := m.seen
	switch method {
	case resourceUpdated, logMessage, "notifications/elicitation/complete":
	case "notifications/tasks/status": // agents have tasks of a server that they see as it is
		through = func(v *View) bool { return v.Spec.Passthrough && v.has(m) }
	default:
		return
	}
	params = rawjson.OneLine(params)
	for _, a := range m.host.connected() {
		if session == "" || a.Caller().Agent == session {
			a.hear(through, method, params)
		}
	}
}

// seen reports whether a view has the server.
func (m *registration) seen(v *View) bool { return v.has(m) }

// hear tells the agent something that belongs to no request of its, if it has it from one of
// the views that are meant, and wants it.
func (a *Agent) hear(through func(*View) bool, method string, params json.RawMessage) {
	p, _ := rawjson.SplitObject(params) // something else has no members
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tell != nil && through(a.through) && a.wants(method, p) {
		a.tell(method, params)
	}
	for _, s := range a.subscriptions {
		if s.wants(method, p.Str("uri")) && through(s.through) {
			s.tell(method, params)
		}
	}
}

// wants reports whether the agent's connection is told of something. The caller holds mu.
func (a *Agent) wants(method string, params rawjson.Object) bool {
	switch method {
	case toolsChanged, promptsChanged, resourcesChanged:
		return a.greeted
	case resourceUpdated:
		return a.greeted && a.uris[params.Str("uri")]
	case logMessage:
		return reaches(params.Str("level"), a.level)
	}
	return a.protocol != "" // it has said something
}

// announce tells the agents of the view that a list of its has changed.
func (v *View) announce(method string) {
	for _, a := range v.host.connected() {
		a.hear(func(of *View) bool { return of == v }, method, nil)
	}
}

// withMeta adds members to the _meta of params; all else stays as it is.
func withMeta(params json.RawMessage, more rawjson.Object) json.RawMessage {
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	parts, open, err := rawjson.Split(params)
	if err != nil || open != '{' {
		return params
	}
	for _, p := range parts {
		if p.Key == "_meta" && params[p.From] == '{' {
			return insert(params, p.From+1, more, params[p.From:p.To])
		}
	}
	meta := append(append(json.RawMessage(nil), `{"_meta":`...), insert(json.RawMessage("{}"), 1, more, json.RawMessage("{}"))...)
	if len(parts) == 0 {
		return append(meta, '}')
	}
	return append(append(meta, ','), params[1:]...)
}

// insert puts members at the beginning of the object within raw whose inside begins
// at a place.
func insert(raw json.RawMessage, at int, more rawjson.Object, object json.RawMessage) json.RawMessage {
	out := append(json.RawMessage(nil), raw[:at]...)
	for i, m := range more {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, rawjson.Quote(m.Key)...), ':'), m.Value...)
	}
	if inside, _, err := rawjson.Split(object); err == nil && len(inside) > 0 {
		out = append(out, ',')
	}
	return append(out, raw[at:]...)
}
