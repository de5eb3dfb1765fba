// Package approvals brings what agents ask in their own terminals to the deck: permissions,
// questions, plans and the forms of their servers. The packages in it each know one
// agent's program; the answer goes back by that program's own documented way.
package approvals

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Agent is all that the deck knows of one agent's program beside its row in the table of
// clients. Its package exports one; the package agents lists them.
type Agent struct {
	ID  string   // in the table of clients
	Env []string // prefixes of its variables
	// Cells are what of it reaches the deck.
	Cells Cells
	// Ruled is what of its prompts rules of the user may allow; its adapter sets [ask.Prompt.Runs] for no others.
	Ruled []book.Kind
	// Granted is how the program keeps what it was allowed in its own files; nil: that is not known.
	Granted *granted.Model
	// New connects the deck to the program.
	New func(Deps) Adapter
	// Shapes are what the deck reads of what the program writes.
	Shapes Shapes
	// Usage is how the program keeps conversations; nil: it counts itself.
	Usage *usage.Format
	// Plugin is the file by which its prompts reach the deck; nil: it is another way.
	Plugin *Plugin
	// Next is the way of the versions that do not load Plugin; nil: there is none.
	Next *Next
	// Apart is the file of the other way to the deck, if that is a file; nil if not.
	Apart *Plugin
	// Probe says how the program can be reached, for mcpdeck doctor; nil: by its hooks alone.
	// The error is fs.ErrNotExist if it does not run.
	Probe func(context.Context, Deps) (string, error)
}

// Next is the way to the deck of an agent's program from some version on.
type Next struct {
	Plugin *Plugin
	Cells  Cells
}

// Plugin is a file that an agent's program loads.
type Plugin struct {
	// File returns the file; socket is the path of the deck's prompt socket, "" for the
	// default one, and command what a hook runs, as a shell reads it.
	File func(socket, command string) []byte
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
	// Quota is told how much an agent's account has used, Watched reports whether the user
	// looks; nil: nobody wants to know, and that is not known.
	Quota   func(snapshot.Quota)
	Watched func() bool
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

// Sender is an adapter that can send a session its next prompt. The sessions that take one
// have a [snapshot.Door]. Only a text that the user typed in the deck and sent there is sent,
// and once: package reply alone calls it.
type Sender interface {
	// Send hands a text to the program that runs a session. What it returns is no receipt, which
	// the session's record is; with [ErrUnsent], the program certainly has not got the text, and
	// with [ErrQueued] it says that it has.
	Send(ctx context.Context, s snapshot.Session, text string) error
}

// ErrUnsent is why a text that was to be sent has not left the deck, or was refused.
var ErrUnsent = errors.New("not sent")

// ErrQueued is why the record of a session may show a text late: its program reads it once the
// step has ended at which the session works.
var ErrQueued = errors.New("read after the present step")

// Rules say how prompts are handled, as the user has configured it.
type Rules struct {
	// Hold is how long a prompt that its terminal does not show waits for the user; 0: not
	// at all.
	Hold time.Duration
	// HoldDenied is how long an agent waits for the user that was refused something by its own
	// program; 0: not at all.
	HoldDenied time.Duration
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

// Queue is the part of [ask.Queue] that adapters use.
type Queue interface {
	Open(ask.Request) (*ask.Call, error)
	// Refused notes what an agent's program has refused by itself, and why in its words.
	Refused(r ask.Request, why ask.Refusal)
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
