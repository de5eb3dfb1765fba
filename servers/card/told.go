package card

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

// Wanted is what an agent wants to be told of by the server, beyond the answers to its
// requests.
type Wanted struct {
	Level     string   // the least of log messages; "" before the agent has chosen one
	Resources []string // their URIs, of all servers
}

// Wants has the server tell what an agent wants to hear, in place of what it wanted
// before. A server that is to tell of a resource is started for that. It waits for
// nothing.
func (c *Card) Wants(f From, w Wanted) {
	w.Resources = slices.DeleteFunc(slices.Clone(w.Resources), func(uri string) bool { return !c.Has(uri) })
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted == nil {
		c.wanted = map[string]Wanted{}
	}
	c.wanted[f.Agent] = w
	if c.opts.ToolsOnly || c.mode != On {
		return
	}
	if len(w.Resources) > 0 {
		c.spawn("what agents want", func() { c.watchFor(f) })
		return
	}
	for _, s := range c.all() {
		if l := s.child; l != nil && c.isFor(s, f.Agent) {
			c.spawn("what agents want", func() { c.heed(s, l) })
		}
	}
}

// watchFor has the child that serves f tell of resources, and starts it if need be.
func (c *Card) watchFor(f From) {
	c.mu.Lock()
	life := c.life
	c.mu.Unlock()
	s, l, err := c.reach(life, f, nil, func(now *moment) error {
		_, err := c.offers(now)
		return err
	})
	if err != nil {
		c.log.Note("tell of resources: " + err.Error())
		return
	}
	c.heed(s, l)
	c.leave(s)
}

// isFor tells whether a slot serves an agent.
func (c *Card) isFor(s *slot, agent string) bool {
	return s.key == "" || s.key == "agent "+agent || s.agents[agent]
}

// heeded is what a child was asked to tell.
type heeded struct {
	mu    sync.Mutex // one request at a time, in their order
	level string
	asked string // the least level that a request of an agent of 2026-07-28 has asked for
	uris  map[string]bool

	// due ends when the child has answered the level, or takes too long to; nil when it
	// was asked for none.
	due context.Context
}

// watch notes that the child tells of a resource, or not any more. The caller holds mu.
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

// levels of log messages, the most verbose first.
func levels() []string {
	return []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}
}

// verbose returns that of two levels at which more is said; "" is none.
func verbose(a, b string) string {
	switch i, j := slices.Index(levels(), a), slices.Index(levels(), b); {
	case j < 0, i >= 0 && i < j:
		return a
	default:
		return b
	}
}

// heed has a child tell what the agents want to hear that it serves. What cannot be had
// is noted.
func (c *Card) heed(s *slot, l *link) {
	l.heeded.mu.Lock()
	defer l.heeded.mu.Unlock()
	level, uris := l.heeded.asked, map[string]bool{}
	c.mu.Lock()
	for agent, w := range c.wanted {
		if c.isFor(s, agent) {
			level = verbose(level, w.Level)
			for _, uri := range w.Resources {
				uris[uri] = true
			}
		}
	}
	c.mu.Unlock()
	c.watch(l, uris)
	// One of the newer era is told in every request.
	if level != "" && level != l.heeded.level && l.Era() == child.Legacy && l.Hello().Has("logging") {
		l.heeded.level = level
		l.heeded.due = c.ask(l, "logging/setLevel", rawjson.Object{{Key: "level", Value: rawjson.Quote(level)}})
	}
}

// watch has a child tell of these resources alone.
func (c *Card) watch(l *link, uris map[string]bool) {
	h := &l.heeded
	if maps.Equal(uris, h.uris) {
		return
	}
	if l.Era() == child.Modern {
		h.uris = uris
		l.Listen(slices.Sorted(maps.Keys(uris)))
		return
	}
	for _, uri := range slices.Sorted(maps.Keys(uris)) {
		if !h.uris[uri] {
			c.ask(l, "resources/subscribe", rawjson.Object{{Key: "uri", Value: rawjson.Quote(uri)}})
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(h.uris)) {
		if !uris[uri] {
			c.ask(l, "resources/unsubscribe", rawjson.Object{{Key: "uri", Value: rawjson.Quote(uri)}})
		}
	}
	h.uris = uris
}

// ask sends a request of the deck's own, whose answer is only noted when it is an error.
// It returns when the request is on its way; answered ends with the answer, or when it
// is late.
func (c *Card) ask(l *link, method string, params rawjson.Object) (answered context.Context) {
	answered, done := context.WithTimeout(context.Background(), linkPatience)
	r, err := l.Start(answered, method, func(string) []byte { return params.JSON() }, nil)
	if err != nil { // it is gone, or reads nothing
		done()
		return answered
	}
	c.spawn(method, func() {
		defer done()
		select {
		case a := <-r.Reply:
			if own, ok := errors.AsType[*rpc.Error](a.Err); ok {
				c.log.Note(method + ": " + plain.Line(own.Message))
			}
		case <-l.Gone():
		}
	})
	return answered
}

const metaLogLevel = "io.modelcontextprotocol/logLevel"

// wantLog has the child log for a request what its agent wants: in the request itself
// for a child of the newer era, which is returned, else from now on.
func (c *call) wantLog() json.RawMessage {
	meta, _ := rawjson.SplitObject(c.in.Meta) // none will do
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

// awaitLevel waits until the child logs what it was asked to: it may work on a call
// before it has taken in what came earlier.
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
	case <-c.cancelled:
	}
}

// told takes what the child says to nobody in particular. It is called by the goroutine
// that reads, and may be before there is l.Conn.
func (c *Card) told(l *link, method string, params json.RawMessage) {
	switch method {
	case "notifications/cancelled":
		l.person.withdrawn(params)
	case "notifications/message":
		c.logged(l, params)
	case "notifications/resources/updated":
		c.pass(l, method, ofNoSubscription(params))
	default:
		c.log.Note("ignored: " + plain.Line(method))
	}
}

// ofNoSubscription are params without the deck's own subscription, which is none of the
// agent's.
func ofNoSubscription(params json.RawMessage) json.RawMessage {
	o, err := rawjson.SplitObject(params)
	if err != nil {
		return params
	}
	meta, err := rawjson.SplitObject(o.Get("_meta"))
	rest := slices.DeleteFunc(slices.Clone(meta), func(m rawjson.Member) bool { return m.Key == "io.modelcontextprotocol/subscriptionId" })
	if err != nil || len(rest) == len(meta) {
		return params
	}
	o = slices.Clone(o)
	for i := range o {
		if o[i].Key == "_meta" {
			o[i].Value = rest.JSON()
		}
	}
	return slices.DeleteFunc(o, func(m rawjson.Member) bool { return m.Key == "_meta" && len(rest) == 0 }).JSON()
}

// logged passes a log message on. That of a child of the older era is for all who have
// chosen a level, or belongs to requests of agents that choose it there; that of one of
// the newer era always belongs to a request. The protocol does not say to which, so with
// requests of several agents at work nobody gets it.
func (c *Card) logged(l *link, params json.RawMessage) {
	modern := l.Conn != nil && l.Era() == child.Modern
	if !modern {
		c.pass(l, "notifications/message", params)
	}
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

// pass hands what a child says to the agents that it serves and that want it. What comes
// before there are such is for nobody.
func (c *Card) pass(l *link, method string, params json.RawMessage) {
	var agents []string
	c.mu.Lock()
	fn := c.events.Pass
	for _, s := range c.all() {
		if s.child != l {
			continue
		}
		for agent := range c.wanted {
			if c.isFor(s, agent) {
				agents = append(agents, agent)
			}
		}
	}
	c.mu.Unlock()
	if fn == nil {
		return
	}
	for _, agent := range agents {
		fn(agent, method, params)
	}
}
