// Package copilot brings what Copilot CLI asks to the deck and its answers back, by an
// extension in its process, or permissions alone by one command hook, and finds its sessions
// and what they do in its own folder.
package copilot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// agent is the ID of Copilot CLI in the table of clients.
const agent = "copilot"

const (
	lookEvery = 500 * time.Millisecond // at what sessions do
	findEvery = 10                     // looks: at which there are
	stirsFor  = 4                      // looks: in which a session may begin after a sign of it
)

// Agent returns Copilot CLI.
func Agent() approvals.Agent {
	const test = "TestTheRealCopilotIsAnsweredInTheDeckOrItsTerminal"
	row, shared := approvals.Measured(test, ""), approvals.Measured("TestTheRealCopilotSharesItsPromptsByItsExtension", "shared")
	return approvals.Agent{
		Cells: approvals.Cells{State: row, Prompt: row, Answer: shared, Question: shared, Usage: row, Last: row, Send: approvals.Measured("TestTheRealCopilotTakesPromptsFromTheDeck", ""), Editor: approvals.InEditor},
		ID:    agent, Env: []string{"COPILOT_"}, New: func(d approvals.Deps) approvals.Adapter { return New(d) },
		Shapes: shapes(), Usage: &usage.Format{Main: eventsOf, Parse: parse},
		Plugin: extension().Plugin(),
		Apart:  &approvals.Plugin{File: hooks, Own: own},
	}
}

// Adapter is the connection to all Copilot CLI processes of the user.
type Adapter struct {
	opt  approvals.Deps
	kick chan struct{} // wakes Run

	// When Copilot CLI's list of sessions last changed, and in how many looks more one may have
	// begun. They are of Run.
	listed time.Time
	stirs  int

	ancestors func(hook int) []int
	alive     func(pid int) bool
	args      func(pid int) []string

	mu       sync.Mutex          // guards what follows
	sessions map[string]*session // of living processes, by ID
	streams  map[*stream]bool
	pace     approvals.Pace
}

// New returns an adapter.
func New(d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	if d.HoldsHeadless == nil {
		d.HoldsHeadless = func(string) bool { return false }
	}
	return &Adapter{
		opt: d, kick: make(chan struct{}, 1), ancestors: socket.Ancestors, alive: pid.Alive, args: process.Args,
		sessions: map[string]*session{}, streams: map[*stream]bool{}, pace: approvals.Pace{Queue: d.Queue, Agent: agent},
	}
}

// folder returns that of a session's own files, "" for what is no ID of one.
func (a *Adapter) folder(id string) string {
	if id == "" || len(id) > 128 || !filepath.IsLocal(id) || filepath.Base(id) != id {
		return ""
	}
	return filepath.Join(a.opt.Folder, "session-state", id)
}

// Serve implements [hook.Handler]: it handles what the extension reports, or one permission
// of a hook. When it returns without having answered, the terminal asks.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode == hook.Stream {
		notify.Poke(a.kick) // its session has begun
		a.stream(ctx, c)
		return
	}
	defer func() { _ = c.Print("") }() // the connection is closed if it has been answered
	m, err := c.Next(ctx)
	if err != nil || m.Event != "permissionRequest" {
		return
	}
	id := m.Payload.Str("sessionId")
	dir := a.folder(id)
	at := slices.IndexFunc(a.ancestors(c.PID), func(p int) bool { return dir != "" && locked(dir, p) })
	if at < 0 {
		a.opt.Log.Info("a prompt was refused: no such session of Copilot CLI is behind it", "pid", c.PID)
		return
	}
	p := a.ancestors(c.PID)[at]
	args := a.args(p)
	headless := slices.ContainsFunc(args, func(s string) bool { return s == "-p" || s == "--prompt" })
	if headless && !a.opt.HoldsHeadless(m.Payload.Str("cwd")) || slices.ContainsFunc(args, allows) {
		return
	}
	it := a.enter(c, m, id, p, headless)
	if it == nil {
		return
	}
	defer a.leave(it)
	it.Ask(ctx, a.opt.Queue, it)
}

// allows reports whether an argument has the program allow all: it runs its hooks all the same.
func allows(arg string) bool {
	return arg == "--allow-all-tools" || arg == "--allow-all" || arg == "--yolo"
}

// locked reports whether a process has a session open.
func locked(dir string, pid int) bool {
	info, err := os.Lstat(filepath.Join(dir, "inuse."+strconv.Itoa(pid)+".lock"))
	return err == nil && info.Mode().IsRegular()
}

// enter counts a prompt in. It returns nil if its session has asked too much.
func (a *Adapter) enter(c *hook.Conn, m hook.Message, id string, pid int, headless bool) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := a.session(id, pid)
	s.Headless = headless
	s.read()
	if s.shared != nil && s.shared.ctx.Err() == nil { // the hook would hold what the extension shares
		return nil
	}
	if !a.pace.Admit(id, s.Folder, s.items, time.Now()) {
		return nil
	}
	s.items++
	return a.newItem(s, c, m)
}

func (a *Adapter) leave(it *item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	it.session.items--
	it.log.Close()
}

// session returns that of a process.
func (a *Adapter) session(id string, pid int) *session {
	s := a.sessions[id]
	if s == nil {
		dir := a.folder(id)
		s = &session{dir: dir, log: claudehooks.OpenLog(dir, filepath.Join(dir, "events.jsonl")), open: map[string]bool{}}
		s.Agent, s.ID, s.Verified, s.State = agent, id, true, snapshot.StateUnknown
		a.sessions[id] = s
	}
	s.PID = pid
	return s
}

// Left implements [approvals.Finder].
func (a *Adapter) Left() bool { return len(a.found()) > 0 }

// found returns the processes that have sessions open, by these.
func (a *Adapter) found() map[string]int {
	all := map[string]int{}
	locks, _ := filepath.Glob(filepath.Join(a.opt.Folder, "session-state", "*", "inuse.*.lock")) // the pattern is well formed
	for _, lock := range locks {
		digits := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(lock), "inuse."), ".lock")
		if p, err := strconv.Atoi(digits); err == nil && a.alive(p) { // one that was killed leaves its lock beside that of the next
			all[filepath.Base(filepath.Dir(lock))] = p
		}
	}
	return all
}

// Run implements [approvals.Adapter]: it reports sessions.
func (a *Adapter) Run(ctx context.Context) {
	t := time.NewTicker(lookEvery)
	defer t.Stop()
	all := true
	for n := 0; ; n++ {
		a.look(a.stirred() || all || n%findEvery == 0)
		all = false
		select {
		case <-ctx.Done():
			return
		case <-a.kick:
			all = true
		case <-t.C:
		}
	}
}

// stirred reports whether sessions may have begun: one has a new folder, or the program has
// written which are open. A session is locked a moment later.
func (a *Adapter) stirred() bool {
	last := a.listed
	for _, name := range []string{"session-state", "open-sessions-state.json"} {
		if info, err := os.Lstat(filepath.Join(a.opt.Folder, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	if !last.Equal(a.listed) {
		a.listed, a.stirs = last, stirsFor
	}
	a.stirs--
	return a.stirs >= 0
}

// look reports what sessions do, and, with all, which there are.
func (a *Adapter) look(all bool) {
	found := map[string]int{}
	if all {
		found = a.found()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, p := range found {
		if a.folder(id) != "" {
			a.session(id, p)
		}
	}
	for in := range a.streams {
		if s := a.sessions[in.joined]; s != nil && s.shared != in && slices.Contains(a.ancestors(in.c.PID), s.PID) {
			s.shared = in
		}
	}
	for id, s := range a.sessions {
		s.read()
		s.Door = snapshot.Door{}
		if in := s.shared; in != nil && in.joined == id && a.streams[in] {
			s.Door = snapshot.Door{Open: true, AtRest: true, Commands: true}
		}
		over := !locked(s.dir, s.PID) || !a.alive(s.PID)
		if over {
			s.to(snapshot.Ended, time.Now())
			s.PID = 0
			s.log.Close()
			delete(a.sessions, id)
		}
		if s.spoke { // a start that was never used leaves its files
			a.opt.Roster.Report(s.Session)
		}
	}
}

// session is one conversation, in a process.
type session struct {
	snapshot.Session
	dir   string
	log   *claudehooks.Log
	items int // prompts that are followed

	shared *stream // that shares its prompts; nil: none does

	spoke bool            // it is a conversation
	quiet bool            // its last message called no tool
	open  map[string]bool // what the terminal asks to allow, by ID
	asks  string          // the call that waits for an answer
}

// read takes in what the session has done since.
func (s *session) read() {
	if s.log == nil {
		return
	}
	changed := false
	s.log.Read(func(text []byte) {
		if e, ok := readEvent(text); ok {
			changed = true
			s.take(&e)
		}
	})
	if changed {
		s.name()
	}
}

// name reads the title that the user gave the session.
func (s *session) name() {
	const most = 16 << 10
	b, err := file.Read(filepath.Join(s.dir, "workspace.yaml"), most)
	if text := "\n" + string(b); err == nil && strings.Contains(text, "\nuser_named: true") {
		_, name, _ := strings.Cut(text, "\nname: ")
		name, _, _ = strings.Cut(name, "\n")
		s.Title, s.Named = strings.Trim(name, `"'`), name != ""
	}
}

func (s *session) to(state snapshot.SessionState, when time.Time) {
	if s.State != state {
		s.State, s.Since, s.WaitingFor = state, when, ""
	}
}
