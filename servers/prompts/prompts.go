// Package prompts brings what agents ask in their own terminals to the deck: permissions,
// questions, plans and the forms of their servers. The packages in it each know one
// agent's program; the answer goes back by that program's own documented way.
package prompts

import (
	"context"

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

// Queue is the part of [ask.Queue] that adapters use.
type Queue interface {
	Open(ask.Request) (*ask.Call, error)
}

// Roster is told about sessions.
type Roster interface {
	// Report replaces what is known of the session with this agent and ID.
	Report(deck.Session)
	// Gone removes a session that another one replaces.
	Gone(agent, id string)
}
