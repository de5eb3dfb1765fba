// Package claude brings the prompts of Claude Code to the deck and its answers back, by
// command hooks of its PermissionRequest and Elicitation events, and finds its sessions in
// its own folder.
package claude

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// agent is the ID of Claude Code in the table of clients.
const agent = "claude"

// joinWithin is how soon two equal hooks bring the same prompt.
const joinWithin = 2 * time.Second

// Options configures an [Adapter].
type Options struct {
	approvals.Deps
	// Agents returns what "claude agents --json" prints: a list of sessions. It is asked
	// where no session file tells what a session does; nil: that is not known.
	Agents func(context.Context) ([]byte, error)
	// Changes tells the names of files about processes that have changed; nil: the system does.
	Changes <-chan string
}

// Agent returns Claude Code.
func Agent() approvals.Agent {
	rows := approvals.Measured("TestEveryRowSaysWhatItsAgentShows", "")
	const asks = "TestTheRealClaudeIsAnsweredInTheDeck"
	return approvals.Agent{
		Cells: approvals.Cells{State: rows, Prompt: rows, Answer: approvals.Measured(asks, "shared"), Question: approvals.Measured(asks, "shared, as are plans and servers' forms"), Usage: rows, Last: rows, Send: approvals.Measured("TestTheRealClaudesBackgroundSessionTakesPromptsFromTheDeck", "in the background, of 2.1.330; else in its terminal"), Editor: approvals.InEditor},
		ID:    agent, Env: []string{"CLAUDE_"}, Usage: usage.Claude(), Shapes: shapes(), Ruled: []book.Kind{book.OfCommands, book.OfEdits, book.OfPages, book.OfCalls}, Granted: grants(),
		New: func(d approvals.Deps) approvals.Adapter { return New(Options{Deps: d, Agents: ownList(d)}) },
	}
}

// Adapter is the connection to all Claude Code processes of the user.
type Adapter struct {
	opt  Options
	kick chan struct{} // wakes Run

	twins  approvals.Twins
	shells shells
	at     func(pid int) string // the folder of a process, as the system has it; "": that is not known
	start  func(pid int) approvals.Start
	began  func(pid int) time.Time // when a process began; zero: that is not known

	mu    sync.Mutex // guards what follows
	items map[*item]bool
	waits map[int]time.Time   // when terminals last began to wait, by their process
	known map[string][]string // calls of which it is known what became of them, the newest, by session
	pace  approvals.Pace
	// retries are the records by which sessions were told that they may try something again.
	retries map[string]bool
	agents  agents
}

// New returns an adapter.
func New(o Options) *Adapter {
	o.Log = o.Logger()
	if o.HoldsHeadless == nil {
		o.HoldsHeadless = func(string) bool { return false }
	}
	return &Adapter{opt: o, at: socket.Folder, start: approvals.StartOf, began: pid.Started, kick: make(chan struct{}, 1), items: map[*item]bool{}, waits: map[int]time.Time{}, known: map[string][]string{}, pace: approvals.Pace{Queue: o.Queue, Agent: agent}}
}

// Serve implements [hook.Handler]: it handles one event. All but prompts get no output at
// once.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	switch m.Event {
	case "StatusLine": // it draws one often, and nothing else follows from it
		a.quota(c, m)
		_ = c.Print("")
		return
	case "PermissionRequest", "Elicitation":
		a.prompt(ctx, c, m)
	case "PermissionDenied":
		a.denied(ctx, c, m)
		return
	case "PostToolUse", "PostToolUseFailure":
		if s, ok := a.identify(c, m.Payload.Str("session_id")); ok {
			a.used(s.ID, m.Payload)
		}
	case "Stop":
		if s, ok := a.identify(c, m.Payload.Str("session_id")); ok {
			a.stopped(s.ID)
		}
	case "SessionEnd":
		if s, ok := a.identify(c, m.Payload.Str("session_id")); ok {
			a.end(s.ID)
		}
	}
	_ = c.Print("") // most have been answered; an agent that has gone needs nothing
	a.wake()
}

// prompt puts a prompt to the user. When it returns without having answered, the terminal
// asks.
func (a *Adapter) prompt(ctx context.Context, c *hook.Conn, m hook.Message) {
	s, ok := a.identify(c, m.Payload.Str("session_id"))
	if !ok {
		a.opt.Log.Info("a prompt was refused: no Claude Code session is behind it", "pid", c.PID)
		return
	}
	if s.headless(c) && !a.opt.HoldsHeadless(s.Folder) {
		return
	}
	it := a.newItem(s, c, m)
	if first := a.enter(it); first != it {
		if first != nil {
			first.join(ctx, c)
		}
		return
	}
	defer a.leave(it)
	if it.Open(a.opt.Queue, it) != nil {
		close(it.over)
		return
	}
	a.wake()
	if it.Request.InTerminal() {
		_, it.let = c.Print(""), true // its terminal asks
	}
	it.Follow(ctx)
}

// enter counts an item in. It returns an open one that it repeats, or nil if its session
// has asked too much.
func (a *Adapter) enter(it *item) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := 0
	for o := range a.items {
		if o.session.ID != it.session.ID {
			continue
		}
		if o.ended.IsZero() {
			open++
		}
		if o.same == it.same && it.arrived.Sub(o.arrived) < joinWithin {
			return o
		}
	}
	if !a.pace.Admit(it.session.ID, it.session.Folder, open, it.arrived) {
		return nil
	}
	a.items[it] = true
	return it
}

// knownCalls is how many calls of a session are remembered when their prompts are settled: the
// transcript of a prompt that came a moment before has them as new.
const (
	knownCalls    = 16
	knownSessions = 256
)

func (a *Adapter) leave(it *item) {
	a.mu.Lock()
	delete(a.items, it)
	if it.claimed != "" {
		if len(a.known) > knownSessions { // of most, nobody has said that they ended
			clear(a.known)
		}
		known := append(a.known[it.session.ID], it.claimed)
		a.known[it.session.ID] = known[max(0, len(known)-knownCalls):]
	}
	a.mu.Unlock()
	if it.log != nil {
		it.log.close()
	}
}

// end withdraws what a session that has ended asked.
func (a *Adapter) end(session string) {
	a.twins.Forget(session)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, session)
	for it := range a.items {
		if it.session.ID == session {
			it.settle(settlement{why: sessionEnded})
		}
	}
}

// used withdraws the oldest prompt for a call that has ended.
func (a *Adapter) used(session string, o rawjson.Object) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, input := o.Str("tool_use_id"), o.Some("tool_input")
	var oldest *item
	for it := range a.items {
		other := it.session.ID != session || it.asked.tool != o.Str("tool_name") || it.claimed != "" && id != "" && it.claimed != id
		switch {
		case other || !claudehooks.SameInput(it.asked.raw, input):
		case id != "" && it.claimed == id:
			it.settle(settlement{how: byTerminal + ": allowed", ran: true})
			return
		case oldest == nil || it.arrived.Before(oldest.arrived):
			oldest = it
		}
	}
	if oldest != nil {
		oldest.settle(settlement{how: byTerminal + ": allowed", ran: true})
	}
}

// stopped withdraws what a session asked in its terminal in a turn that has ended. Its
// sub-agents may go on.
func (a *Adapter) stopped(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for it := range a.items {
		if it.session.ID == session && it.Request.Prompt.Subagent == "" && it.asked.event == "PermissionRequest" {
			it.settle(settlement{why: "its turn has ended"})
		}
	}
}

func (a *Adapter) wake() { notify.Poke(a.kick) }

// folderOf returns the folder of Claude Code's own files for a connection, and whether it
// is the one that the deck was told, not the sender.
func (a *Adapter) folderOf(c *hook.Conn) (folder string, own bool) {
	if dir := c.Hello.Env["CLAUDE_CONFIG_DIR"]; filepath.IsAbs(dir) && filepath.Clean(dir) != filepath.Clean(a.opt.Folder) {
		return filepath.Clean(dir), false
	}
	return a.opt.Folder, true
}
