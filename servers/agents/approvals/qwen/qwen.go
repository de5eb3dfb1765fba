// Package qwen brings the permissions of Qwen Code to the deck and its answers back, by
// command hooks, and finds its sessions in its own folder.
package qwen

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// agent is the ID of Qwen Code in the table of clients.
const agent = "qwen"

// lookAround is how often sessions are looked at of which no event tells.
const lookAround = 5 * time.Second

// Agent returns Qwen Code.
func Agent() approvals.Agent {
	const test = "TestTheRealQwenIsAnsweredInTheDeckOrItsTerminal"
	row := approvals.Measured(test, "")
	return approvals.Agent{
		Cells: approvals.Cells{State: row, Prompt: row, Answer: approvals.Measured(test, "held"), Question: approvals.Impossible("in its terminal"), Usage: row, Last: row, Send: approvals.Impossible("in its terminal"), Editor: approvals.InEditor},
		ID:    agent, Env: []string{"QWEN_"}, New: func(d approvals.Deps) approvals.Adapter { return New(d) },
		Shapes: shapes(), Usage: &usage.Format{Main: chatOf, Subagents: subagentsOf, Parse: parse},
	}
}

// Adapter is the connection to all Qwen Code processes of the user.
type Adapter struct {
	opt   approvals.Deps
	kick  chan struct{} // wakes Run
	twins approvals.Twins

	behind func(hook int) (process, bool) // that has started a hook
	alive  func(*process) bool

	mu       sync.Mutex          // guards what follows
	sessions map[string]*session // of living processes, by ID
	pace     approvals.Pace
}

// session is one conversation, in a process.
type session struct {
	snapshot.Session
	process process
	items   map[*item]bool
	claimed map[string]bool // calls that prompts are about
}

// New returns an adapter.
func New(d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	if d.HoldsHeadless == nil {
		d.HoldsHeadless = func(string) bool { return false }
	}
	a := &Adapter{opt: d, kick: make(chan struct{}, 1), alive: (*process).alive, sessions: map[string]*session{}, pace: approvals.Pace{Queue: d.Queue, Agent: agent}}
	a.behind = a.processBehind
	return a
}

// Serve implements [hook.Handler]: it handles one event. All but permissions get no output
// at once.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	defer func() { _ = c.Print("") }() // the connection is closed if it has been answered
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	p, ok := a.behind(c.PID) // while the hook runs
	if !ok || p.ID != m.Payload.Str("session_id") {
		a.opt.Log.Info("an event was refused: no such session of Qwen Code is behind it", "pid", c.PID)
		return
	}
	if m.Event == "PermissionRequest" {
		a.prompt(ctx, c, m, p)
		return
	}
	_ = c.Print("") // one that has gone needs nothing
	a.take(m, p)
	notify.Poke(a.kick)
}

// prompt puts a permission to the user. When it returns without having answered, the
// terminal asks.
func (a *Adapter) prompt(ctx context.Context, c *hook.Conn, m hook.Message, p process) {
	if p.headless() && !a.opt.HoldsHeadless(p.Folder) {
		return
	}
	it := a.enter(c, m, p)
	if it == nil {
		return
	}
	defer a.leave(it)
	it.Ask(ctx, a.opt.Queue, it)
}

// enter counts a prompt in. It returns nil if its session has asked too much.
func (a *Adapter) enter(c *hook.Conn, m hook.Message, p process) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.moved(&p) {
		return nil
	}
	s, open := a.session(p), 0
	s.told(m)
	for it := range s.items {
		if it.Waits() {
			open++
		}
	}
	if !a.pace.Admit(s.ID, s.Folder, open, time.Now()) {
		return nil
	}
	it := a.newItem(s, c, m)
	s.items[it] = true
	a.opt.Roster.Report(s.Session)
	return it
}

func (a *Adapter) leave(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(it.session.items, it)
	it.log.Close()
}

// event is what is read of events that ask nothing.
type event struct {
	Model  string
	Type   string                    `json:"notification_type"`
	Used   int64                     `json:"input_tokens"`
	Window int64                     `json:"context_limit"`
	Tasks  []struct{ Status string } `json:"background_tasks"` // nil: it does not tell
}

// take handles an event that asks nothing.
func (a *Adapter) take(m hook.Message, p process) {
	var e event
	_ = json.Unmarshal(m.Raw, &e) // what has another shape tells nothing
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.moved(&p) {
		return
	}
	s := a.session(p)
	s.told(m)
	switch {
	case m.Event == "SessionStart":
		if s.Model = e.Model; s.State == snapshot.StateUnknown || s.State == snapshot.Ended {
			s.To(snapshot.Idle)
		}
	case m.Event == "UserPromptSubmit": // also before each request of a turn
		s.To(snapshot.Working)
	case e.Type == "permission_prompt":
		s.To(snapshot.WaitsForPermission)
	case e.Type == "idle_prompt":
		s.rest(&e)
	case m.Event == "Stop":
		s.Context = snapshot.Context{Used: e.Used, Window: e.Window}
		s.rest(&e)
	case m.Event == "SessionEnd":
		a.end(s)
		return
	}
	a.opt.Roster.Report(s.Session)
}

// told takes in what every event of the session itself tells.
func (s *session) told(m hook.Message) {
	if m.Payload.Str("agent_id") == "" {
		s.Mode = m.Payload.Str("permission_mode")
	}
}

// rest notes that a turn has ended. What it has started in the background may go on.
func (s *session) rest(e *event) {
	switch {
	case slices.ContainsFunc(e.Tasks, func(t struct{ Status string }) bool { return t.Status == "running" }):
		s.To(snapshot.Background)
	case e.Tasks != nil || s.State != snapshot.Background:
		s.To(snapshot.Idle)
	}
	s.settle(turnOver, func(it *item) bool { return it.Let() && it.agent == "" })
}

// settle withdraws what the session asks.
func (s *session) settle(why string, which func(*item) bool) {
	for it := range s.items {
		if which(it) {
			it.ended.Store(&why)
			it.Poke()
		}
	}
}

func every(*item) bool { return true }
