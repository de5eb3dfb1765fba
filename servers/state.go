package servers

import (
	"encoding/json"
	"time"
)

// Status is a module's condition in one word.
type Status string

// The conditions a module can be in. NotBuilt is one that this version does
// not have yet.
const (
	Starting Status = "starting"
	Ready    Status = "ready"
	Off      Status = "off"
	Degraded Status = "degraded"
	Failed   Status = "failed"
	NotBuilt Status = "not built"
)

// State is a module's condition with the reason a person needs.
type State struct {
	Status Status
	Reason string // one sentence that says what to do; empty when all is well
	Detail string // a short fact beside the status: "14 tools, menu.pen"
}

// Snapshot is one version of everything the deck knows. It is never changed
// after it was handed out, and its slices must not be changed either.
type Snapshot struct {
	Version   uint64
	Name      string // of the deck; "" for the default one
	Started   time.Time
	Servers   []ServerInfo
	Agents    []AgentInfo // by arrival; those gone for less than a minute at the end
	Calls     []Call      // the newest, oldest first, at most 512
	Total     uint64      // calls since the start
	Errors    uint64      // of these, failed or refused
	Endpoints Endpoints
	Warnings  []Warning // newest last, at most 32
}

// ServerInfo is one module as the screen shows it.
type ServerInfo struct {
	Name, Title string
	State       State
	Tools       int // listed now
	Bytes       int // of the listed definitions as JSON: what an agent's context pays
	Calls       uint64
}

// AgentInfo is one connection.
type AgentInfo struct {
	Caller
	View     []string // the servers asked for; empty: all
	Protocol string   // revision, "" before it is known
	Since    time.Time
	Gone     time.Time // zero while connected
	Calls    uint64
	Errors   uint64
	InFlight []string  // names of tools being called, oldest first
	LastCall time.Time // zero: none yet
	LastTool string
	Waiting  bool // for an answer of the person
	Stale    bool // it did not ask for the tools again when they changed
	Gateway  bool // it has a tool that reaches those it does not list
}

// CallStatus is how a call stands.
type CallStatus string

// A call runs, then ends in exactly one of the others: ToolError is a result
// with isError, Refused a protocol error, Cancelled one withdrawn by the agent.
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
	Agent       string // AgentInfo.Agent
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
	Waiting     bool // for the person
}

// CallBody is what a call carried, redacted.
type CallBody struct {
	Args   json.RawMessage
	Result json.RawMessage // the result object, or the error object; nil while running
	Cut    bool            // bodies were too large to keep; what is here is the beginning as a JSON string
}

// Endpoints is where agents reach the deck.
type Endpoints struct {
	Socket   string // path of the Unix socket; "" when there is none
	HTTP     string // "127.0.0.1:7337"; "" when off
	HTTPNote string // why HTTP is off or on another port
}

// Warning is a sentence for the person.
type Warning struct {
	Time time.Time
	From string // module, "host", "journal"
	Text string
}

// WarningsAfter are the warnings that came after last, the newest last; all of
// them when last is not among those that are kept.
func (s *Snapshot) WarningsAfter(last Warning) []Warning {
	for i := len(s.Warnings) - 1; i >= 0; i-- {
		if s.Warnings[i] == last {
			return s.Warnings[i+1:]
		}
	}
	return s.Warnings
}
