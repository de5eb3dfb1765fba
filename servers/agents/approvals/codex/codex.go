// Package codex brings the prompts of Codex to the deck and its answers back, as one more
// client of the daemon that runs Codex's sessions.
//
// It looks at a session only while that waits for the user, and starts, stops and changes
// nothing but what the user answers or sends in the deck.
package codex

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// agent is the ID of Codex in the table of clients.
const agent = "codex"

// Options configures an [Adapter]. Only a prompt that comes by a hook is held.
type Options struct {
	approvals.Deps
	// Homes returns the folders of Codex's own files: ~/.codex, and those of programs that
	// run with another one.
	Homes func() []string

	// Linger is how long a session is listened to after its last prompt; 0: 2 s.
	Linger time.Duration
	// Confirm is how soon Codex says of what was denied that it has ended; 0: 1 s.
	Confirm time.Duration
}

// Agent returns Codex.
func Agent() approvals.Agent {
	rows := approvals.Measured("TestEveryRowSaysWhatItsAgentShows", "")
	const asks = "TestEveryPromptOfCodexIsAnsweredHereAndThere"
	return approvals.Agent{
		Cells: approvals.Cells{State: rows, Prompt: rows, Answer: approvals.Measured(asks, "shared"), Question: approvals.Measured(asks, "shared, as are servers' forms"), Usage: rows, Last: rows, Send: approvals.Measured("TestCodexTakesPromptsFromTheDeck", "")},
		ID:    agent, Env: []string{"CODEX_"}, Usage: usage.Codex(), Shapes: shapes(), Probe: probe, Ruled: []book.Kind{book.OfCommands, book.OfEdits}, Granted: grants(),
		New: func(d approvals.Deps) approvals.Adapter {
			var watch process.Watch
			return New(Options{Deps: d, Homes: func() []string {
				if d.Alone {
					return []string{d.Folder}
				}
				return Homes(d.Folder, watch.All())
			}})
		},
	}
}

// Times of the connections.
const (
	lookEvery  = time.Second      // for a socket that is not there
	homesEvery = 10 * time.Second // for programs that run with other folders
	firstWait  = 250 * time.Millisecond
	longWait   = 5 * time.Second
	endedAfter = 10 * time.Second // without the daemon's process
)

// Adapter is the connection to all daemons of the user's.
type Adapter struct {
	opt    Options
	behind func(pid int) int // behindCodex, but in tests
	now    func() time.Time  // time.Now, but in tests
	twins  approvals.Twins

	mu    sync.Mutex // guards what follows
	links map[string]*link
	pace  approvals.Pace // of sessions that no daemon runs
	alone map[int]string // these sessions, by their process
}

// New returns an adapter.
func New(o Options) *Adapter {
	o.Log = o.Logger()
	o.Linger = cmp.Or(o.Linger, 2*time.Second)
	o.Confirm = cmp.Or(o.Confirm, time.Second)
	return &Adapter{opt: o, behind: behindCodex, now: time.Now, links: map[string]*link{}, alone: map[int]string{}, pace: approvals.Pace{Queue: o.Queue, Agent: agent}}
}

// Run implements [approvals.Adapter].
func (a *Adapter) Run(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	known := map[string]bool{}
	for {
		for _, home := range a.opt.Homes() {
			if known[home] {
				continue
			}
			known[home] = true
			wg.Add(1)
			recovery.Go("sessions of Codex", func() {
				defer wg.Done()
				a.follow(ctx, home)
			})
		}
		if process.Pause(ctx, homesEvery) != nil {
			return
		}
	}
}

// follow keeps a connection to the daemon of one folder.
func (a *Adapter) follow(ctx context.Context, home string) {
	var left lost
	wait, refused := firstWait, ""
	for ctx.Err() == nil {
		l, err := a.connect(ctx, home)
		next := wait
		switch {
		case err == nil:
			left.back(l)
			a.enter(l)
			l.run(ctx)
			a.leave(l)
			if ctx.Err() != nil {
				return
			}
			left = lost{roster: a.opt.Roster, sessions: l.sessions(), pid: l.pid, at: time.Now()}
			left.tell(connectionLost)
			wait, next = firstWait, firstWait
		case errors.Is(err, fs.ErrNotExist):
			wait, next = firstWait, lookEvery
		default:
			wait = min(2*wait, longWait)
		}
		if why := reason(err); why != refused {
			if refused = why; why != "" {
				a.opt.Log.Warn("connect to Codex", "home", home, "error", why)
			}
		}
		left.check()
		if process.Pause(ctx, next) != nil {
			return
		}
	}
}

func reason(err error) string {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return err.Error()
}

func (a *Adapter) enter(l *link) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.links[l.home] = l
}

func (a *Adapter) leave(l *link) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.links, l.home)
}

// lost is what was known when a connection ended.
type lost struct {
	roster   approvals.Roster
	sessions map[string]snapshot.Session
	pid      int
	at       time.Time
}

// tell reports that the state of the sessions is unknown.
func (l *lost) tell(why string) {
	for _, id := range slices.Sorted(maps.Keys(l.sessions)) {
		s := l.sessions[id]
		s.State, s.Since, s.WaitingFor, s.Note = snapshot.StateUnknown, l.at, "", why
		l.roster.Report(s)
	}
}

// check ends the sessions when their process has been gone for a while.
func (l *lost) check() {
	if len(l.sessions) > 0 && time.Since(l.at) > endedAfter && !alive(l.pid) {
		l.end(nil)
	}
}

// back ends the sessions that the next connection has not.
func (l *lost) back(next *link) {
	if len(l.sessions) > 0 {
		l.end(next.loaded)
	}
}

func (l *lost) end(still []string) {
	for id, s := range l.sessions {
		if !slices.Contains(still, id) {
			s.State, s.Since, s.WaitingFor, s.Note = snapshot.Ended, l.at, "", ""
			l.roster.Report(s)
		}
	}
	l.sessions = nil
}
