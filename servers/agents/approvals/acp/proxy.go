package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The requests of agents that are mirrored.
const (
	permission  = "session/request_permission"
	elicitation = "elicitation/create"
	withdrawn   = "$/cancel_request"
)

// Between is what a proxy stands between, and the deck that it mirrors requests to.
type Between struct {
	EditorIn io.Reader
	Editor   io.Writer
	AgentOut io.Reader
	Agent    io.WriteCloser

	Command []string // the agent's
	PID     int      // of the agent
	Folder  string   // where it was started
	Socket  string   // path of the deck's prompt socket
}

// Run passes everything on until the agent's output ends. Without a deck, that is all it does.
func Run(ctx context.Context, b Between) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	p := &proxy{toAgent: lane{to: b.Agent}, toEditor: lane{to: b.Editor}, asked: map[string]*request{}}
	p.mirror = newMirror(b, p.answer)
	recovery.Go("mirror of an agent", func() { p.mirror.run(ctx) })
	recovery.Go("editor's input", func() {
		defer p.toAgent.close()
		_ = p.toAgent.pump(b.EditorIn, p.fromEditor, func([]byte) {}) // the agent has gone, or its input ends
	})
	_ = p.toEditor.pump(b.AgentOut, p.fromAgent, p.shown) // the editor has gone, or the agent
}

// proxy is the way of messages.
type proxy struct {
	toAgent, toEditor lane
	mirror            *mirror
	now               *request // that the agent's line makes which is on its way; its pump alone uses it

	mu    sync.Mutex          // guards what follows
	asked map[string]*request // by the agent, by the JSON of their IDs
}

// request is one that the agent has made of the editor. It is answered once.
type request struct {
	id json.RawMessage

	mu     *sync.Mutex // guards what follows
	byDeck bool        // it was answered; the editor's own answer is still to come
	over   bool
}

// isOpen reports whether the request still waits for an answer.
func (r *request) isOpen() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.over && !r.byDeck
}

// mirrored reads a line that may be a request or a notification about one.
func mirrored(line []byte) (m rpc.Message, ok bool) {
	for _, method := range []string{permission, elicitation, withdrawn} {
		if bytes.Contains(line, []byte(method)) {
			m, ok := decode(line)
			return m, ok && m.Method == method
		}
	}
	return rpc.Message{}, false
}

// decode reads a line.
func decode(line []byte) (rpc.Message, bool) {
	m, err := rpc.Rules{Lenient: true, Bare: true}.Decode(bytes.TrimSpace(line))
	return m, err == nil
}

// fromAgent notes what the agent asks before the editor can answer it.
func (p *proxy) fromAgent(line []byte) bool {
	m, ok := mirrored(line)
	p.now = nil
	switch {
	case !ok:
	case m.Method != withdrawn && m.ID != nil:
		p.now = &request{id: m.ID, mu: &p.mu}
		p.mu.Lock()
		p.asked[string(m.ID)] = p.now
		p.mu.Unlock()
	case m.Method == withdrawn:
		var of struct {
			ID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &of) == nil {
			p.settle(of.ID, settled{By: byAgent})
		}
	}
	if p.now == nil { // in order with what the editor says next
		p.mirror.add(note{line: line})
	}
	return true
}

// shown has the deck ask what the editor has been asked.
func (p *proxy) shown(line []byte) {
	if p.now != nil {
		p.mirror.add(note{line: line, request: p.now})
	}
}

// settle ends a request that the deck has not answered. It reports whether a line that
// answers it goes on.
func (p *proxy) settle(id json.RawMessage, how settled) bool {
	p.mu.Lock()
	r := p.asked[string(id)]
	late := r != nil && r.byDeck
	if r != nil && (!late || how.By == byEditor) {
		delete(p.asked, string(id))
		r.over = true
	}
	p.mu.Unlock()
	if r != nil && !late {
		how.ID = r.id
		p.mirror.add(note{settled: &how})
	}
	return !late
}

// fromEditor drops the editor's answer to a request that the deck has answered.
func (p *proxy) fromEditor(line []byte) bool {
	p.mu.Lock()
	none := len(p.asked) == 0
	p.mu.Unlock()
	if !none {
		if m, ok := decode(line); ok && m.Method == "" && m.ID != nil {
			return p.settle(m.ID, settled{By: byEditor, Result: m.Result})
		}
	}
	p.mirror.add(note{line: line, editor: true}) // before the agent replies
	return true
}

// answer gives the deck's answer to a request, unless the editor was faster.
func (p *proxy) answer(id, result json.RawMessage) {
	p.mu.Lock()
	r := p.asked[string(id)]
	first := r != nil && !r.byDeck
	if first {
		r.byDeck = true
	}
	p.mu.Unlock()
	if !first {
		return
	}
	line, err := rpc.Result(id, result)
	if err != nil || p.toAgent.send(line) != nil {
		return // the agent has gone
	}
	p.mirror.add(note{settled: &settled{ID: id, By: byDeck}})
	cancel, err := rpc.Notification(withdrawn, map[string]any{"requestId": id})
	if err == nil {
		_ = p.toEditor.send(cancel) // it may have gone
	}
}
