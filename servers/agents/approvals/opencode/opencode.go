// Package opencode brings what OpenCode, or a program with its contract, asks in its terminal
// to the deck: a plugin in the program's process reports permissions, questions and sessions,
// and posts the answers there.
package opencode

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// family is a program with OpenCode's plugins, events and paths.
type family struct {
	id, title string // as in the table of clients
	env       string // prefix of its variables
	answered  string // the test that answers it
}

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
	a := family{"opencode", "OpenCode", "OPENCODE_", "TestRealOpenCode"}.agent()
	a.Next, a.Granted = next(), grants()
	return a
}

// Kilo returns Kilo CLI.
func Kilo() approvals.Agent { return family{"kilo", "Kilo CLI", "KILO_", "TestRealKilo"}.agent() }

func (f family) agent() approvals.Agent {
	rows, asks := approvals.Measured("TestEveryRowSaysWhatItsAgentShows", ""), approvals.Measured(f.answered, "shared")
	return approvals.Agent{
		Cells: approvals.Cells{State: rows, Prompt: rows, Answer: asks, Question: asks, Usage: rows, Last: rows, Send: approvals.Measured(f.answered+"TakesPromptsFromTheDeck", ""), Editor: approvals.InEditor},
		ID:    f.id, Env: []string{f.env}, Shapes: shapes(), Plugin: f.plugin().Plugin(), Ruled: []book.Kind{book.OfCommands, book.OfEdits},
		New: func(d approvals.Deps) approvals.Adapter {
			d.Log = d.Logger()
			return &Adapter{of: f, opt: d, owners: map[string]*stream{}}
		},
	}
}

// Adapter is the connection to all processes of one program. No prompt is held.
type Adapter struct {
	of    family
	opt   approvals.Deps
	twins approvals.Twins

	mu     sync.Mutex // guards what follows
	owners map[string]*stream
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
		a: a, c: c, ctx: alive, deck: ctx, wait: waitOf(process.Args(c.PID)), verified: strings.Contains(strings.ToLower(socket.Program(c.PID)), a.of.id),
		sessions: map[string]*session{}, open: map[string]*prompt{}, calls: map[call]*prompt{}, pace: approvals.Pace{Queue: a.opt.Queue, Agent: a.of.id},
	}
	for {
		m, err := c.Next(ctx)
		if err != nil {
			break
		}
		s.take(m)
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

// Send implements [approvals.Sender]: the program queues the prompt if the session works.
func (a *Adapter) Send(_ context.Context, s snapshot.Session, text string) error {
	a.mu.Lock()
	in := a.owners[s.ID]
	a.mu.Unlock()
	if in == nil {
		return fmt.Errorf("%w: %s has ended", approvals.ErrUnsent, a.of.title)
	}
	body := map[string]any{"parts": []any{map[string]any{"type": "text", "text": text}}}
	in.mu.Lock()
	if x := in.sessions[s.ID]; x != nil && x.Agent != "" {
		body["agent"] = x.Agent // else the program's first one would take over
	}
	in.mu.Unlock()
	return in.c.Post("/session/"+s.ID+"/prompt_async", body)
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
