package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// notifications is what agents want to be notified of.
type notifications struct {
	wanted map[string]backend.Subscriptions // by agent id
}

// subscribed reports whether an agent that a slot serves subscribes to resources.
func (n *notifications) subscribed(s *slot) bool {
	_, uris := n.wants(s)
	return len(uris) > 0
}

// watched reports whether an agent that a slot serves, other than but, subscribes to a
// resource.
func (n *notifications) watched(s *slot, uri, but string) bool {
	for agent, w := range n.wanted {
		if agent != but && s.isFor(agent) && slices.Contains(w.Resources, uri) {
			return true
		}
	}
	return false
}

// wants returns what the agents that a slot serves want.
func (n *notifications) wants(s *slot) (level string, uris map[string]bool) {
	for agent, w := range n.wanted {
		if !s.isFor(agent) {
			continue
		}
		level = verbose(level, w.Level)
		for _, uri := range w.Resources {
			if uris == nil {
				uris = map[string]bool{}
			}
			uris[uri] = true
		}
	}
	return level, uris
}

// audience returns the agents that a slot serves and that want anything.
func (n *notifications) audience(s *slot) (agents []string) {
	for agent := range n.wanted {
		if s.isFor(agent) {
			agents = append(agents, agent)
		}
	}
	return agents
}

// Subscribed is that of [backend.Subscriber]. A server is started if it is to report changes of a
// resource.
func (c *Card) Subscribed(session string, w backend.Subscriptions) {
	f, now := From{Agent: session, Root: w.Root}, c.Published()
	w.Resources = slices.DeleteFunc(slices.Clone(w.Resources), func(uri string) bool { return !now.Has(uri) })
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted[f.Agent] = w
	if c.opts.ToolsOnly || c.mode != On {
		return
	}
	c.moved(f)
	if len(w.Resources) > 0 {
		c.work.spawn("what agents want", func() { c.watchFor(f) })
		return
	}
	for _, s := range c.all() {
		if l := s.child; l != nil && s.isFor(f.Agent) {
			c.work.spawn("what agents want", func() { c.heed(s, l) })
		}
	}
}

// watchFor subscribes to resources at the child that serves f, and starts it if necessary.
func (c *Card) watchFor(f From) {
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	w := &waiter{card: c, from: f}
	defer w.release()
	if err := w.reach(life, isUsable); err != nil {
		c.log.Note("tell of resources: " + err.Error())
		return
	}
	c.heed(w.slot, w.child)
}

// heeded is what a child was asked to report.
type heeded struct {
	mu    sync.Mutex // one request at a time, in order
	level string
	asked string // minimum level that a request of an agent of 2026-07-28 has asked for
	uris  map[string]bool

	// due ends when the child has answered the level request, or is late; nil if none was
	// sent.
	due context.Context
}

// watch records whether the child reports changes of a resource. The caller holds mu.
func (h *heeded) watch(uri string, on bool) {
	if h.uris == nil {
		h.uris = map[string]bool{}
	}
	if on {
		h.uris[uri] = true
	} else {
		delete(h.uris, uri)
	}
}

// verbose returns the more verbose of two log levels; "" means none.
func verbose(a, b string) string {
	levels := backend.LogLevels()
	if i, j := slices.Index(levels, a), slices.Index(levels, b); j < 0 || i >= 0 && i < j {
		return a
	}
	return b
}

// heed asks a child to report what the agents it serves want. Failures are logged.
func (c *Card) heed(s *slot, l *link) {
	l.heeded.mu.Lock()
	defer l.heeded.mu.Unlock()
	c.mu.Lock()
	level, uris := c.wants(s)
	c.mu.Unlock()
	l.heed(verbose(l.heeded.asked, level), uris)
}

// heed asks the child for log messages, and for changes of exactly these resources. The
// caller holds the lock of heeded.
func (l *link) heed(level string, uris map[string]bool) {
	h := &l.heeded
	switch {
	case maps.Equal(uris, h.uris):
	case l.Era() == child.Modern:
		l.Listen(slices.Sorted(maps.Keys(uris)))
	default:
		l.askOf(subscribe, uris, h.uris)
		l.askOf(unsubscribe, h.uris, uris)
	}
	h.uris = uris
	// A child of the newer era is told the level in every request.
	if level != "" && level != h.level && l.Era() == child.Legacy && l.Hello().Has("logging") {
		h.level = level
		h.due = l.ask("logging/setLevel", rawjson.Object{{Key: "level", Value: rawjson.Quote(level)}})
	}
}

// askOf makes a request about each of these resources that is not among others.
func (l *link) askOf(method string, uris, others map[string]bool) {
	for _, uri := range slices.Sorted(maps.Keys(uris)) {
		if !others[uri] {
			l.ask(method, rawjson.Object{{Key: "uri", Value: rawjson.Quote(uri)}})
		}
	}
}

// ask sends a request of mcpdeck's own, whose response is logged only if it is an error. It
// returns when the request has been sent; answered ends with the response, or when that is
// late.
func (l *link) ask(method string, params rawjson.Object) (answered context.Context) {
	answered, done := context.WithTimeout(context.Background(), linkPatience)
	r, err := l.Start(answered, method, func(string) rawjson.Object { return params }, nil)
	if err != nil { // it is gone, or is not reading
		done()
		return answered
	}
	l.work.spawn(method, func() {
		defer done()
		select {
		case a := <-r.Reply:
			if own, ok := errors.AsType[*rpc.Error](a.Err); ok {
				l.log.Note(method + ": " + sanitize.Line(own.Message))
			}
		case <-l.Gone():
		}
	})
	return answered
}

const (
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
)

// wantLog has the child log at the level that the agent wants for a request. For a child of
// the newer era, that is part of the request's _meta, which is returned; otherwise the level
// applies from then on.
func (c *call) wantLog() json.RawMessage {
	meta, _ := rawjson.SplitObject(c.in.Meta) // invalid: treated as empty
	level := meta.Str(metaLogLevel)
	modern := c.child.Era() == child.Modern
	switch {
	case level == "" && modern && !c.in.Modern:
		c.card.mu.Lock()
		level = c.card.wanted[c.in.From.Agent].Level
		c.card.mu.Unlock()
		if level != "" {
			meta = append(slices.Clip(meta), rawjson.Member{Key: metaLogLevel, Value: rawjson.Quote(level)})
			return meta.JSON()
		}
	case level != "" && !modern:
		h := &c.child.heeded
		h.mu.Lock()
		h.asked = verbose(h.asked, level)
		h.mu.Unlock()
	}
	c.card.heed(c.slot, c.child)
	c.awaitLevel()
	return c.in.Meta
}

// awaitLevel waits until the child has set its log level: it might otherwise start a call
// before it has processed the earlier request.
func (c *call) awaitLevel() {
	h := &c.child.heeded
	h.mu.Lock()
	due := h.due
	h.mu.Unlock()
	if due == nil {
		return
	}
	select {
	case <-due.Done():
	case <-c.ctx.Done():
	}
}

// handleNotification handles a notification that is not part of a request. It is called by the reading
// goroutine, possibly before l.Conn is set.
func (c *Card) handleNotification(l *link, method string, params json.RawMessage) {
	switch method {
	case "notifications/cancelled":
		l.person.withdrawn(params)
	case "notifications/message":
		if !l.modern.Load() {
			c.pass(l, false, method, params)
		}
		l.logged(params)
	case "notifications/resources/updated":
		c.pass(l, false, method, ofNoSubscription(params))
	case "notifications/elicitation/complete", "notifications/tasks/status":
		c.pass(l, true, method, params)
	default:
		l.log.Note("ignored: " + sanitize.Line(method))
	}
}

// pass passes a notification to those agents the child serves that want it or, if it is for
// the owner, to the agent that has the child to itself, which alone knows what it is about.
// If there are no such agents yet, it is dropped.
func (c *Card) pass(l *link, toOwner bool, method string, params json.RawMessage) {
	var agents []string
	c.mu.Lock()
	fn := c.events.Pass
	switch s := c.slotOf(l); {
	case s == nil:
	case !toOwner:
		agents = c.audience(s)
	case s.owner() != "":
		agents = []string{s.owner()}
	}
	c.mu.Unlock()
	if fn == nil {
		return
	}
	for _, agent := range agents {
		fn(agent, method, params)
	}
}

// ofNoSubscription returns params without the id of mcpdeck's own subscription, which the
// agent does not know.
func ofNoSubscription(params json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return params
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	rest := meta.Without(metaSubscription)
	switch {
	case err != nil || len(rest) == len(meta):
		return params
	case len(rest) == 0:
		return o.Without("_meta").JSON()
	}
	return o.With("_meta", rest.JSON()).JSON()
}

// logged passes on a log message that belongs to a request: any from a child of the newer
// era, and of the older era one for an agent that sets levels per request. The protocol does
// not say which request, so if those of several agents are in progress, nobody gets it.
func (l *link) logged(params json.RawMessage) {
	modern := l.modern.Load()
	l.person.mu.Lock()
	defer l.person.mu.Unlock()
	agent := ""
	for at := range l.person.calls {
		if agent = cmp.Or(agent, at.in.From.Agent); agent != at.in.From.Agent {
			return
		}
	}
	for at := range l.person.calls {
		if at.in.Said != nil && (modern || at.in.Modern) {
			at.in.Said("notifications/message", params)
			return
		}
	}
}
