package snapshot

import (
	"encoding/json"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
)

// CallStatus is how a call stands.
type CallStatus string

// A call runs, then ends in exactly one of the others: ToolError is a result
// with isError, Refused a protocol error, Cancelled one withdrawn by the agent or by the user.
// Lost is what the journal makes of one that ran when its deck ended.
const (
	Running   CallStatus = "running"
	OK        CallStatus = "ok"
	ToolError CallStatus = "error"
	Refused   CallStatus = "refused"
	Cancelled CallStatus = "cancelled"
	Lost      CallStatus = "lost"
)

// Failed tells whether the call ended in an error. One that was cancelled or lost
// did not.
func (s CallStatus) Failed() bool { return s == ToolError || s == Refused }

// Call is one tool call, redacted and cut for a list. CallBody has the rest.
type Call struct {
	ID          uint64 // from 1 in this run
	Agent       string // Agent.Agent
	AgentName   string
	Server      string
	Tool        string
	Status      CallStatus
	Started     time.Time
	Duration    time.Duration // 0 while running
	Args        string        // one line, at most 200 runes
	Result      string        // one line, at most 200 runes; the sentence of an error
	ArgsBytes   int
	ResultBytes int
	Images      int  // in the result
	Waiting     bool // for the user
	ByUser      bool // called from the user's shell
	// Done is how far a running call is, of Total, as its server tells it. Total is 0 where
	// that is not known.
	Done, Total float64
	Afar        *Afar // where it was made, if that is another machine
}

// Afar is where a call of another machine was made.
type Afar struct {
	Machine string // its name here
	Project string // "" if that is not known
	Earlier bool   // in an earlier run of the deck there; Call.ID is that of its log
}

// Place is where a call was made, "build1:shop"; "" on this machine.
func (c *Call) Place() string {
	switch {
	case c.Afar == nil:
		return ""
	case c.Afar.Project == "":
		return c.Afar.Machine
	}
	return OnMachine(c.Afar.Machine, c.Afar.Project)
}

// CallBody is what a call carried, redacted.
type CallBody struct {
	Args   json.RawMessage
	Result json.RawMessage // the result object, or the error object; nil while running
	Cut    bool            // bodies were too large to keep; what is here is the beginning as a JSON string
}

// Picture is a picture in the result of a call.
type Picture struct {
	Call   uint64
	Index  int // among the pictures of the call
	Server string
	Tool   string
	Agent  string // name, for people
	Time   time.Time
	MIME   string
	Data   string // base64, as it was sent
}

// Caller is who is behind a request, for policies and for display.
type Caller struct {
	Agent     string // the connection's id in Snapshot.Agents
	Transport string // "unix", "http", "stdio" (headless) or ByCommand
	OnScreen  bool   // the user has called from the deck's own screen

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

	// Shown is what Name returns, once that has been found out.
	Shown string

	// Identity is the same after a reconnect of the same user's same client in
	// the same root; for handles that must not be used by another agent.
	Identity string

	// Session is the client's ID of its session, as its last call named it; "" if it names
	// none.
	Session string

	// Hints are the few named variables of the client's environment that the
	// relay's hello carries: PROJECT_PATH, CLAUDE_PROJECT_DIR, MCPDECK_CLIENT_TIMEOUT_MS,
	// client session ids.
	Hints map[string]string
}

// ByCommand is the transport of the deck's own commands, such as mcpdeck call.
const ByCommand = "call"

// ByUser reports whether the user calls from a shell, and no agent does.
func (c Caller) ByUser() bool {
	return c.Transport == ByCommand && c.Program == "" || c.Client == "curl" && c.Program == ""
}

// Name is what the user reads: see [clients.Name].
func (c Caller) Name() string {
	if c.Shown != "" {
		return c.Shown
	}
	return clients.Name(c.Client, c.Program, c.Transport)
}

// Folder is where the caller works, which may be no project.
func (c Caller) Folder() string {
	if c.Refused != nil {
		return c.Refused.Dir
	}
	return c.Root
}
