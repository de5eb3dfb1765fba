// Package seen shows in the deck what agents ask whose programs let nothing but their
// terminals answer: their hooks tell of prompts, and of what a session does.
package seen

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

const (
	mostSessions = 200 // at a time
	lookBusy     = time.Second
	lookSeldom   = 5 * time.Second
)

// Program is what differs between such programs.
type Program struct {
	Agent string // its ID in the table of clients
	// Head returns the ID of the session that an event is of, and the folder in which it works; nil:
	// as session_id and cwd.
	Head func(m hook.Message) (id, folder string)
	// Prints is what the hook of an event prints; nil: nothing.
	Prints func(m hook.Message) string
	// Many is set if a process may have several sessions at a time.
	Many bool
	// Find returns the session that a process has, as its program's own files say, and the file in
	// which that is kept; "" if they do not. It may be nil.
	Find func(*approvals.Deps, Process) (id, transcript string)
	// Follow returns what follows a session.
	Follow func(*Session) Follower
}

// Process is one of the program that runs.
type Process struct {
	PID    int
	Folder string // in which it works
	Began  time.Time
}

// Follower follows a session. Its methods are called one after the other.
type Follower interface {
	// Take handles an event.
	Take(m hook.Message)
	// Look notices what no event tells. It returns how long it may take until the next look; 0
	// is seldom.
	Look() time.Duration
}

// Adapter is the connection to all processes of such a program that the user runs.
type Adapter struct {
	program Program
	opt     approvals.Deps
	kick    chan struct{} // wakes Run

	// Behind returns the process of the program that has started a hook, 0 if none has; Alive
	// reports whether it runs, and Running returns all. Tests replace them.
	Behind  func(hook int) int
	Alive   func(pid int) bool
	Running func() []Process

	mu       sync.Mutex // guards what follows
	sessions map[string]*Session
	pace     approvals.Pace
}

// Session is one conversation of a process.
type Session struct {
	snapshot.Session
	Deps     *approvals.Deps
	a        *Adapter
	follower Follower
	open     map[string]*ask.Call // by the program's own IDs
}

// New returns an adapter.
func New(p Program, d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	a := &Adapter{program: p, opt: d, kick: make(chan struct{}, 1), Alive: pid.Alive, sessions: map[string]*Session{}, pace: approvals.Pace{Queue: d.Queue, Agent: p.Agent}}
	a.Behind, a.Running = a.behind, a.running
	return a
}

// is reports whether a process is of the program.
func (a *Adapter) is(pid int) bool {
	c, _ := clients.Find(a.program.Agent)
	of := socket.Program(pid)
	return slices.ContainsFunc(c.Programs, func(name string) bool { return strings.Contains(of, name) })
}

// behind returns the nearest process above a hook that is of the program.
func (a *Adapter) behind(hook int) int {
	for i, pid := range socket.Ancestors(hook) {
		if i > 0 && a.is(pid) {
			return pid
		}
	}
	return 0
}

// Serve implements [hook.Handler]: it handles one event. The program waits for its hooks, so
// that each is let go at once.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	if pid := a.Behind(c.PID); pid != 0 { // while the hook runs
		a.Take(m, pid)
		notify.Poke(a.kick)
	} else {
		a.opt.Log.Info("an event was refused: its program is not behind it", "agent", a.program.Agent, "pid", c.PID)
	}
	text := ""
	if a.program.Prints != nil {
		text = a.program.Prints(m)
	}
	_ = c.Print(text) // one that has gone needs nothing
}

// Take handles an event of a process.
func (a *Adapter) Take(m hook.Message, pid int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, folder := m.Payload.Str("session_id"), m.Payload.Str("cwd")
	if a.program.Head != nil {
		id, folder = a.program.Head(m)
	}
	s := a.session(id, pid)
	if s == nil {
		return
	}
	if filepath.IsAbs(folder) {
		s.Folder = folder
	}
	if s.follower.Take(m); s.State != snapshot.Ended {
		a.opt.Roster.Report(s.Session)
	}
}

// session returns that of a process. It returns nil for one that is another process's,
// and when there are too many.
func (a *Adapter) session(id string, pid int) *Session {
	if id == "" || len(id) > 256 {
		return nil
	}
	s := a.sessions[id]
	switch {
	case s != nil && s.PID == pid:
		return s
	case s != nil && a.Alive(s.PID):
		return nil
	case s == nil && len(a.sessions) >= mostSessions:
		return nil
	case s != nil:
		s.SettleAll("its session has ended")
	}
	for other, o := range a.sessions {
		if o.PID == pid && !a.program.Many {
			o.SettleAll("its session has ended")
			delete(a.sessions, other)
			a.opt.Roster.Gone(a.program.Agent, other)
		}
	}
	s = &Session{
		Session: snapshot.Session{Agent: a.program.Agent, ID: id, PID: pid, Verified: true, State: snapshot.Idle, Since: time.Now()},
		Deps:    &a.opt, a: a, open: map[string]*ask.Call{},
	}
	s.follower = a.program.Follow(s)
	a.sessions[id] = s
	return s
}

// Waits reports whether a prompt of the session is open.
func (s *Session) Waits() bool { return len(s.open) > 0 }

// Request makes a request of a prompt of the session, which only its terminal answers.
func (s *Session) Request(p *ask.Prompt) ask.Request {
	p.ID, p.Door = ask.NewKey(), ask.InTerminal
	r := approvals.Request(&snapshot.Session{Agent: s.Agent, ID: s.ID, PID: s.PID, Folder: s.Folder, Mode: s.Mode, Verified: true}, p)
	r.Local = true
	return r
}

// Ask shows what the session waits for; the ID is the program's own.
func (s *Session) Ask(id string, r ask.Request) {
	now := time.Now()
	s.State, s.Since, s.WaitingFor = snapshot.WaitsForPermission, now, "permission: "+r.Prompt.Tool
	if r.Prompt.Kind == ask.OwnQuestion {
		s.State, s.WaitingFor = snapshot.WaitsForAnswer, "an answer"
	}
	if s.open[id] != nil || !s.a.pace.Admit(s.ID, s.Folder, len(s.open), now) {
		return
	}
	call, err := s.a.opt.Queue.Open(r)
	if err != nil {
		s.a.opt.Log.Info("a prompt is not shown", "agent", s.Agent, "error", err)
		return
	}
	s.open[id] = call
}

// Settle withdraws a prompt that was answered in the session's terminal.
func (s *Session) Settle(id, how string) {
	if call := s.open[id]; call != nil {
		call.Settled(how)
		delete(s.open, id)
	}
	if s.State.Waits() && !s.Waits() {
		s.To(snapshot.Working)
	}
}

// SettleAll withdraws all that the session asks, for a reason.
func (s *Session) SettleAll(why string) {
	for _, call := range s.open {
		call.Gone(why)
	}
	clear(s.open)
	if s.State.Waits() {
		s.To(snapshot.Working)
	}
}

// End notes that the session is over.
func (s *Session) End() {
	s.SettleAll("its session has ended")
	s.To(snapshot.Ended)
	delete(s.a.sessions, s.ID)
	s.a.opt.Roster.Report(s.Session)
}

// Run implements [approvals.Adapter]: it notices what no hook reports, such as a process that
// is gone.
func (a *Adapter) Run(ctx context.Context) {
	a.find()
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
		if !a.Alive(s.PID) {
			s.End()
			continue
		}
		before := s.Session
		soon := s.follower.Look()
		if s.Session != before {
			a.opt.Roster.Report(s.Session)
		}
		switch {
		case soon > 0:
		case s.State == snapshot.Idle:
			soon = lookSeldom
		default: // its process may end
			soon = lookBusy
		}
		if wait == 0 || soon < wait {
			wait = soon
		}
	}
	return wait
}
