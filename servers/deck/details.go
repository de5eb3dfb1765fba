package deck

import "time"

// Details are what the user can look up about a server that can be turned on and off.
type Details struct {
	Runs     string    // the program, or the URL, without secrets
	PID      int       // of the program; 0 while none runs
	Since    time.Time // it is ready
	Server   string    // what it calls itself, with its version; "" before it was asked
	Protocol string    // revision
	Tools    []ToolCost
	Offered  bool     // agents have the tools
	Held     string   // how many definitions wait for the user to accept them; "" for none
	Notes    []string // what is not offered, and why
	Error    string   // the last one
	ErrorAt  time.Time
	Log      []LogLine // oldest first
}

// ToolCost is a tool and what its definition takes of an agent's context.
type ToolCost struct {
	Name  string // as agents know it
	Bytes int    // of the definition as JSON
}

// LogLine is a line that a server wrote, or that the deck notes about it.
type LogLine struct {
	Time       time.Time
	From, Text string
}

// Tokens estimates how many tokens of a model so many bytes of definitions are.
func Tokens(bytes int) int { return bytes / 4 }
