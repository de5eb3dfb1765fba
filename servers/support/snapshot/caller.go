package snapshot

import (
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// Caller is who is behind a request, for policies and for display.
type Caller struct {
	Agent     string // the connection's id in Snapshot.Agents
	Transport string // "unix", "http", "stdio" (headless) or ByCommand

	// What the operating system says. Zero when it says nothing.
	PID     int
	Program string // name of the program that started the relay: "claude"

	// What the client claims in its handshake or in each request's _meta.
	Client        string
	ClientVersion string

	// Root is the project folder, absolute: the relay's working folder, else
	// the root the client announced, else, if it brought neither, the deck's own
	// folder. It is "" when there is no project; Refused then says why.
	Root    string
	Refused *roots.RefusedError

	// Identity is the same after a reconnect of the same user's same client in
	// the same root; for handles that must not be used by another agent.
	Identity string

	// Hints are the few named variables of the client's environment that the
	// relay's hello carries: PROJECT_PATH, CLAUDE_PROJECT_DIR, MCPDECK_CLIENT_TIMEOUT_MS,
	// client session ids.
	Hints map[string]string
}

// ByCommand is the transport of the deck's own commands, such as mcpdeck call.
const ByCommand = "call"

// Name is what the user reads: see [clients.Name].
func (c Caller) Name() string { return clients.Name(c.Client, c.Program, c.Transport) }

// Folder is where the caller works, which may be no project.
func (c Caller) Folder() string {
	if c.Refused != nil {
		return c.Refused.Dir
	}
	return c.Root
}
