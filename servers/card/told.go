package card

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
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
	Level string // the least of log messages; "" before the agent has chosen one
}

// Wants has the server tell what an agent wants to hear, in place of what it wanted
// before. It waits for nothing.
func (c *Card) Wants(agent string, w Wanted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.wanted == nil {
		c.wanted = map[string]Wanted{}
	}
	c.wanted[agent] = w
	for _, s := range c.all() {
		if l := s.child; l != nil && c.isFor(s, agent) {
			c.spawn("what agents want", func() { c.heed(s, l) })
		}
	}
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
	level := l.heeded.asked
	c.mu.Lock()
	for agent, w := range c.wanted {
		if c.isFor(s, agent) {
			level = verbose(level, w.Level)
		}
	}
	c.mu.Unlock()
	// One of the newer era is told in every request.
	if level != "" && level != l.heeded.level && l.Era() == child.Legacy && l.Hello().Has("logging") {
		l.heeded.level = level
		c.ask(l, "logging/setLevel", rawjson.Object{{Key: "level", Value: rawjson.Quote(level)}})
	}
}

// ask sends a request of the deck's own, whose answer is only noted when it is an error.
// It returns when the request is on its way.
func (c *Card) ask(l *link, method string, params rawjson.Object) {
	ctx, cancel := context.WithTimeout(context.Background(), linkPatience)
	defer cancel()
	r, err := l.Start(ctx, method, func(string) []byte { return params.JSON() }, nil)
	if err != nil {
		return // it is gone, or reads nothing
	}
	c.spawn(method, func() {
		select {
		case a := <-r.Reply:
			if own, ok := errors.AsType[*rpc.Error](a.Err); ok {
				c.log.Note(method + ": " + plain.Line(own.Message))
			}
		case <-l.Gone():
		}
	})
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
	return c.in.Meta
}

// told takes what the child says to nobody in particular. It is called by the goroutine
// that reads, and may be before there is l.Conn.
func (c *Card) told(l *link, method string, params json.RawMessage) {
	switch method {
	case "notifications/cancelled":
		l.person.withdrawn(params)
	case "notifications/message":
		c.logged(l, params)
	default:
		c.log.Note("ignored: " + plain.Line(method))
	}
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
