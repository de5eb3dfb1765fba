// Package opencode brings what OpenCode asks in its terminal to the deck: a plugin in
// OpenCode's process reports permissions, questions and sessions, and posts the answers
// there.
package opencode

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// agent is the ID of OpenCode in the table of clients.
const agent = "opencode"

// mostSessions is how many sessions one process may report.
const mostSessions = 500

const (
	// settled is how long a prompt waits before it is shown that may be of "opencode run":
	// that answers its own at once.
	settled = 250 * time.Millisecond
	// settledByRun is the same of one that is, however busy the machine.
	settledByRun = 10 * time.Second
)

// Agent returns OpenCode.
func Agent() approvals.Agent {
	return approvals.Agent{
		ID: agent, Env: []string{"OPENCODE_"}, New: func(d approvals.Deps) approvals.Adapter { return New(d) },
		Plugin: &approvals.Plugin{File: Plugin, Own: Own},
	}
}

// Adapter is the connection to all OpenCode processes of the user.
type Adapter struct {
	opt   approvals.Deps
	twins approvals.Twins

	mu     sync.Mutex // guards what follows
	owners map[string]*stream
}

// New returns an adapter. No prompt is held.
func New(d approvals.Deps) *Adapter {
	d.Log = d.Logger()
	return &Adapter{opt: d, owners: map[string]*stream{}}
}

// Run implements [approvals.Adapter]. All work is done in Serve.
func (a *Adapter) Run(ctx context.Context) { <-ctx.Done() }

// Serve implements [hook.Handler]: it handles what the plugin of one process reports.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Stream {
		return
	}
	alive, hungUp := context.WithCancel(ctx)
	s := &stream{
		a: a, c: c, ctx: alive, deck: ctx, wait: waitOf(process.Args(c.PID)), verified: strings.Contains(strings.ToLower(socket.Program(c.PID)), agent),
		sessions: map[string]*session{}, open: map[string]*prompt{}, calls: map[call]*prompt{}, pace: approvals.Pace{Queue: a.opt.Queue, Agent: agent},
	}
	for {
		m, err := c.Next(ctx)
		if err != nil {
			break
		}
		if m.Event != "" {
			s.take(m)
		}
	}
	hungUp()
	s.wg.Wait()
	s.end()
}

// waitOf returns how long the prompts of a process wait before they are shown, by its
// command line, which may be unknown.
func waitOf(line []string) time.Duration {
	switch {
	case len(line) == 0:
		return settled
	case slices.Contains(line[1:], "run"):
		return settledByRun
	}
	return 0
}

// owns reports whether a session is that of a connection: of the first that reported it,
// for as long as that lasts.
func (a *Adapter) owns(s *stream, id string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if o := a.owners[id]; o != nil {
		return o == s
	}
	a.owners[id] = s
	return true
}

// leave gives up all sessions of a connection.
func (a *Adapter) leave(s *stream) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, o := range a.owners {
		if o == s {
			delete(a.owners, id)
		}
	}
}
