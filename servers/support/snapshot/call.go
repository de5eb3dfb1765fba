package snapshot

import (
	"encoding/json"
	"time"
)

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
	// Done is how far a running call is, of Total, as its server tells it. Total is 0 where
	// that is not known.
	Done, Total float64
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
