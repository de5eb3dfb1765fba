// Package approvals brings what agents ask in their own terminals to the deck: permissions,
// questions, plans and the forms of their servers. The packages in it each know one
// agent's program; the answer goes back by that program's own documented way.
package approvals

import (
	"context"
	"log/slog"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Agent is all that the deck knows of one agent's program beside its row in the table of
// clients. Its package exports one; the package agents lists them.
type Agent struct {
	ID  string   // in the table of clients
	Env []string // prefixes of its variables
	// New connects the deck to the program.
	New func(Deps) Adapter
	// Usage is how the program keeps conversations; nil: it counts itself.
	Usage *usage.Format
	// Plugin is the file by which its prompts reach the deck; nil: it is another way.
	Plugin *Plugin
	// Probe says how the program can be reached, for mcpdeck doctor; nil: by its hooks alone.
	// The error is fs.ErrNotExist if it does not run.
	Probe func(context.Context, Deps) (string, error)
}

// Plugin is a file that an agent's program loads.
type Plugin struct {
	// File returns the file; socket is the path of the deck's prompt socket, "" for the
	// default one.
	File func(socket string) []byte
	// Own reports whether a file is as some mcpdeck wrote it, and which version it is.
	Own func(file []byte) (version int, ours bool)
}

// Deps are what adapters work with. Each uses some.
type Deps struct {
	Queue  Queue
	Roster Roster
	Rules  RuleSource
	// HoldsHeadless reports whether what an agent without a terminal asks in a folder waits
	// for the user; nil: nowhere.
	HoldsHeadless func(folder string) bool
	// Frames makes messages of a connection.
	Frames  func(ctx context.Context, c net.Conn) (Frames, error)
	Folder  string   // of the program's own files: ~/.claude
	Alone   bool     // no other folder is looked at that the program may use
	Home    string   // of the user
	Environ []string // of programs that are run
	Version string   // of mcpdeck
	Redact  redact.Rules
	Log     *slog.Logger
}

// Logger returns the log, one that keeps nothing if there is none.
func (d *Deps) Logger() *slog.Logger {
	if d.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return d.Log
}

// Frames carries messages over a connection.
type Frames interface {
	Read(ctx context.Context) ([]byte, error)
	Write(ctx context.Context, message []byte) error
	Close() error
}

// Adapter connects the deck to one agent's program. It opens requests with a
// [ask.Request.Prompt] in the queue as an [Item], settles them when they are answered
// elsewhere, and reports the program's sessions. One that is a hook.Handler also serves what
// comes over the prompt socket from that program.
type Adapter interface {
	// Run works until ctx ends. What it cannot do it says to the roster, as the note of a
	// session; it never fails the deck.
	Run(ctx context.Context)
}

// Finder is an adapter that also finds sessions whose programs do not come to the deck.
type Finder interface {
	// Left reports whether the agent's program has left anything in which there may be some.
	Left() bool
}

// Rules say how prompts are handled, as the user has configured it.
type Rules struct {
	// Hold is how long a prompt that its terminal does not show waits for the user; 0: not
	// at all.
	Hold time.Duration
	// OnceOnly leaves out the options that allow more than one call.
	OnceOnly bool
}

// RuleSource returns the rules of the moment.
type RuleSource func() Rules

// Now returns the rules of the moment, which are the zero Rules of a nil source.
func (s RuleSource) Now() Rules {
	if s == nil {
		return Rules{}
	}
	return s()
}

// HoldAgain is for how long a held prompt waits once more that cannot be let go since the
// user looks at it.
func (r Rules) HoldAgain() time.Duration { return max(r.Hold, time.Second) }

// Queue is the part of [ask.Queue] that adapters use.
type Queue interface {
	Open(ask.Request) (*ask.Call, error)
	// Notice tells the user a sentence.
	Notice(sentence string)
}

// Roster is told about sessions.
type Roster interface {
	// Report replaces what is known of the session with this agent and ID.
	Report(snapshot.Session)
	// Gone removes a session that another one replaces.
	Gone(agent, id string)
	// MarkRead notes that the user has seen what a session said at the end of its last turn.
	MarkRead(agent, id string)
}
