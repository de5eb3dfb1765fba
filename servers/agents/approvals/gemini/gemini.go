// Package gemini shows in the deck what Gemini CLI asks in its terminal. Its hooks report
// prompts and what a session does; nothing but its terminal can answer.
package gemini

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

const (
	mostSessions = 200 // at a time
	lookEvery    = time.Second
	lookSeldom   = 5 * time.Second // while nothing is asked
)

// agent is the ID of Gemini CLI in the table of clients.
const agent = "gemini"

// Agent returns Gemini CLI.
func Agent() approvals.Agent {
	return approvals.Agent{ID: agent, Env: []string{"GEMINI_"}, New: func(d approvals.Deps) approvals.Adapter { return New(d) }, Usage: usage.Gemini()}
}

// Adapter is the connection to all Gemini CLI processes of the user.
type Adapter struct {
	opt  approvals.Deps
	kick chan struct{} // wakes Run

	behind func(hook int) int // process of Gemini CLI that has started a hook; 0: none has
	alive  func(pid int) bool

	mu       sync.Mutex // guards what follows
	sessions map[string]*session
	pace     approvals.Pace
}

// session is one conversation of a Gemini CLI process.
type session struct {
	snapshot.Session
	asks []ask.Question // of its tool ask_user, which is about to run
	open *ask.Call      // what it waits for; nil: nothing
	chat string         // its file, which grows when a prompt is settled
	size int64          // of chat, when it began to wait
}

// New returns an adapter.
func New(d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	return &Adapter{opt: d, kick: make(chan struct{}, 1), behind: agentOf, alive: pid.Alive, sessions: map[string]*session{}, pace: approvals.Pace{Queue: d.Queue, Agent: agent}}
}

// agentOf returns the nearest process above a hook that is Gemini CLI.
func agentOf(hook int) int {
	for i, pid := range socket.Ancestors(hook) {
		if i > 0 && strings.Contains(socket.Program(pid), agent) {
			return pid
		}
	}
	return 0
}

// Serve implements [hook.Handler]: it handles one event. Gemini CLI waits for its hooks,
// so that each is let go at once.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	pid := a.behind(c.PID) // while the hook runs
	size := a.size(m.Payload.Str("transcript_path"))
	_ = c.Print("") // one that has gone needs nothing
	if pid == 0 {
		a.opt.Log.Info("an event was refused: no Gemini CLI is behind it", "pid", c.PID)
		return
	}
	a.take(m, pid, size)
	notify.Poke(a.kick)
}

// size returns that of a session's file, 0 if there is no such file in Gemini CLI's own
// folder.
func (a *Adapter) size(chat string) int64 {
	rel, err := filepath.Rel(a.opt.Folder, chat)
	if err != nil || !filepath.IsLocal(rel) {
		return 0
	}
	info, err := os.Lstat(chat)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// take handles an event of a process.
func (a *Adapter) take(m hook.Message, pid int, size int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session(m.Payload.Str("session_id"), pid)
	if s == nil {
		return
	}
	if cwd := m.Payload.Str("cwd"); filepath.IsAbs(cwd) {
		s.Folder = cwd
	}
	s.chat = m.Payload.Str("transcript_path")
	switch m.Event {
	case "SessionStart":
		s.to(snapshot.Idle)
	case "BeforeAgent":
		s.settle("", "a new turn has begun")
		s.to(snapshot.Working)
	case "AfterAgent":
		s.settle("", "its turn has ended")
		s.to(snapshot.Idle)
	case "BeforeTool":
		s.asks, _ = questions(m) // those that cannot be shown are left out
	case "AfterTool":
		s.settle("answered in its terminal", "")
		s.LastTool, s.LastSubject = m.Payload.Str("tool_name"), subject(m.Payload)
		s.to(snapshot.Working)
	case "Notification":
		if m.Payload.Str("notification_type") == "ToolPermission" {
			s.settle("", "it asks something else") // it asks one thing at a time
			a.ask(s, m, size)
		}
	case "SessionEnd":
		a.end(s)
		return
	}
	a.opt.Roster.Report(s.Session)
}

// session returns that of a process. It returns nil for one that is another process's,
// and when there are too many.
func (a *Adapter) session(id string, pid int) *session {
	if id == "" || len(id) > 256 {
		return nil
	}
	s := a.sessions[id]
	switch {
	case s != nil && s.PID == pid:
		return s
	case s != nil && a.alive(s.PID):
		return nil
	case s == nil && len(a.sessions) >= mostSessions:
		return nil
	case s != nil:
		s.settle("", "its session has ended")
	}
	for other, o := range a.sessions { // a process has one session at a time
		if o.PID == pid {
			o.settle("", "its session has ended")
			delete(a.sessions, other)
			a.opt.Roster.Gone(agent, other)
		}
	}
	s = &session{Session: snapshot.Session{Agent: agent, ID: id, PID: pid, Verified: true, State: snapshot.Idle, Since: time.Now()}}
	a.sessions[id] = s
	return s
}

func (s *session) to(state snapshot.SessionState) {
	if s.State != state {
		s.State, s.Since, s.WaitingFor = state, time.Now(), ""
	}
}

// settle withdraws what the session waits for: it was answered, or why is not.
func (s *session) settle(how, why string) {
	if s.open != nil {
		if why != "" {
			s.open.Gone(why)
		} else {
			s.open.Settled(how)
		}
		s.open = nil
	}
	if s.State.Waits() {
		s.to(snapshot.Working)
	}
}

// end reports that a session is over.
func (a *Adapter) end(s *session) {
	s.settle("", "its session has ended")
	s.to(snapshot.Ended)
	delete(a.sessions, s.ID)
	a.opt.Roster.Report(s.Session)
}

// Run implements [approvals.Adapter]: it notices what no hook reports, a prompt that is
// denied and a process that is gone.
func (a *Adapter) Run(ctx context.Context) {
	for {
		var next <-chan time.Time
		if wait := a.look(); wait > 0 {
			next = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return
		case <-a.kick:
		case <-next:
		}
	}
}

// look returns how long it may take until the next look; 0: for ever.
func (a *Adapter) look() (wait time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		switch {
		case !a.alive(s.PID):
			a.end(s)
			continue
		case s.open != nil && a.size(s.chat) > s.size: // what is allowed is reported first
			s.settle("answered in its terminal", "")
			s.to(snapshot.Idle)
			a.opt.Roster.Report(s.Session)
		}
		if s.open != nil {
			wait = lookEvery
		} else if wait == 0 {
			wait = lookSeldom
		}
	}
	return wait
}
