package acp

import "encoding/json"

// Name is what proxies call themselves at the prompt socket.
const Name = "acp"

// The events that a proxy reports to the deck.
const (
	eventAgent   = "agent"   // about
	eventSession = "session" // state
	eventSaid    = "said"    // said
	eventTool    = "tool"    // called
	eventAsked   = "asked"   // asked
	eventSettled = "settled" // settled
)

// about is the agent that a proxy has started, and the editor that has started the proxy.
type about struct {
	PID     int      `json:"pid"`
	Command []string `json:"command"`
	Name    string   `json:"name,omitempty"`
	Version string   `json:"version,omitempty"`
	Editor  string   `json:"editor,omitempty"`
}

// state is what is known of a session.
type state struct {
	ID      string   `json:"sessionId"`
	Folder  string   `json:"folder,omitempty"`
	Title   string   `json:"title,omitempty"`
	Mode    string   `json:"mode,omitempty"`
	Model   string   `json:"model,omitempty"`
	Working bool     `json:"working"`
	Since   int64    `json:"since"` // in milliseconds, like all times
	Used    int64    `json:"used,omitempty"`
	Size    int64    `json:"size,omitempty"`
	Cost    *float64 `json:"cost,omitempty"` // in dollars
}

// said is what the user asked, or what the agent answered.
type said struct {
	Session string `json:"sessionId"`
	At      int64  `json:"at"`
	Prompt  string `json:"prompt,omitempty"`
	Said    string `json:"said,omitempty"`
	Again   bool   `json:"again,omitempty"` // it was said before the deck was there, or in a session that is loaded
}

// called is a call of a tool.
type called struct {
	Session string          `json:"sessionId"`
	At      int64           `json:"at"`
	Call    json.RawMessage `json:"toolCall"`
}

// asked is a request of the agent. A call of a tool has all that was said of it.
type asked struct {
	ID      json.RawMessage `json:"id"`
	Session string          `json:"sessionId"`
	Method  string          `json:"method"`
	Params  json.RawMessage `json:"params"`
	Large   bool            `json:"large,omitempty"` // Params has but a little of it
}

// Who settled a request.
const (
	byAgent  = "agent" // it asks no more
	byDeck   = "deck"
	byEditor = "editor"
)

// settled is the end of a request.
type settled struct {
	ID     json.RawMessage `json:"id"`
	By     string          `json:"by"`
	Result json.RawMessage `json:"result,omitempty"` // the editor's; nil: an error
}

// toolCall is what an agent says of a call of a tool.
type toolCall struct {
	ID      string `json:"toolCallId"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Kind    string `json:"kind"`
	Status  string `json:"status"`
	Content []struct {
		Type    string
		Content struct{ Text string }
		Path    string
		Old     string `json:"oldText"`
		New     string `json:"newText"`
	}
	Locations []struct{ Path string }
	Input     json.RawMessage `json:"rawInput"`
}
