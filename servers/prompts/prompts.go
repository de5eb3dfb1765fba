// Package prompts brings what agents ask in their own terminals to the deck: permissions,
// questions, plans and the forms of their servers. The packages in it each know one
// agent's program; the answer goes back by that program's own documented way.
package prompts

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
)

// Adapter connects the deck to one agent's program. It opens requests with a
// [ask.Request.Prompt] in the queue, settles them when they are answered elsewhere, and
// reports the program's sessions.
type Adapter interface {
	// Agent returns the ID of the agent's program in the table of clients.
	Agent() string
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
	Report(deck.Session)
	// Gone removes a session that another one replaces.
	Gone(agent, id string)
}
