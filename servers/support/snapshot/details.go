package snapshot

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Details are what the user can look up about a server.
type Details struct {
	Runs     string    // the program, or the URL, without secrets; "" for a part of mcpdeck
	PID      int       // of the program; 0 while none runs
	Since    time.Time // it is ready
	Server   string    // what it calls itself, with its version; "" before it was asked
	Protocol string    // revision
	Era      string    // of the protocol: "legacy", "modern", "" before it is known
	Terms    Terms

	Tools        []Tool // of the server, whoever may use them, as it lists them
	Resources    []Item // templates among them
	Prompts      []Item
	Without      []Kind // that the user has turned off
	Instructions string // for agents

	Offered bool   // agents have the tools
	Holding string // how many definitions wait for the user to accept them, and since what; "" for none
	Held    []Held
	Asked   []string // programs that wait for them to be accepted
	Notes   []string // what is not offered, and why, beyond what is said of a tool

	Children []Child // that run, or are connected

	Error   string // the last one
	ErrorAt time.Time
	Log     []LogLine // oldest first
}

// Child is a running program of a server, or a connection to one.
type Child struct {
	Name    string // in the log
	PID     int    // 0: a connection
	Since   time.Time
	Root    string   // the project it works in; "" for the deck's own folder
	Agents  []string // the connections it serves, as in Snapshot.Agents
	Running int      // calls
}

// String describes it for the user.
func (c Child) String() string {
	text := "connected"
	if c.PID != 0 {
		text = fmt.Sprintf("process %d", c.PID)
	}
	text += ", for " + humanize.Took(time.Since(c.Since))
	if c.Root != "" {
		text += ", in " + c.Root
	}
	if n := len(c.Agents); n != 1 {
		text += ", " + humanize.Count(n, "agent")
	}
	if c.Running > 0 {
		text += fmt.Sprintf(", %d running", c.Running)
	}
	return text
}

// Kind is what a server offers besides tools.
type Kind string

// The kinds that the user turns off as a whole; templates are resources.
const (
	Resources Kind = "resources"
	Prompts   Kind = "prompts"
)

// Verdict is whether agents may use a tool.
type Verdict string

// Tools are allowed but for those that the user has turned off, those that are held
// until the user accepts their definition, and those that cannot be offered.
const (
	Allow  Verdict = "allow"
	Denied Verdict = "off"
	OnHold Verdict = "held"
	Hidden Verdict = "hidden"
)

// Tool is a tool of a server.
type Tool struct {
	Name        string // as agents know it
	Original    string // as the server lists it
	Description string
	Input       json.RawMessage // schema of its arguments
	Output      json.RawMessage // schema of its results; nil when there is none
	Annotations json.RawMessage // nil when there are none

	Context int // bytes of the definition that a model gets: name, description, arguments
	Bytes   int // of the definition as JSON
	Trimmed int // bytes that the user's settings leave out of it
	Verdict Verdict
	Why     string // it is not offered; "" when the verdict says all
	Figures Figures
}

// Figures are what calls came to.
type Figures struct {
	Calls, Failed uint64
	P50, P95      time.Duration // of the newest calls; 0 for none
}

// Item is a resource, a template of resources or a prompt.
type Item struct {
	Key         string // by which agents ask for it: a URI, the template of one, or a name
	Name        string
	Description string
	Args        []string // of a prompt; those that are required end in *
	Bytes       int      // of the definition as JSON
}

// Held is a definition that is not offered until the user accepts it.
type Held struct {
	Kind   string // "prompt" or "template"; "" for a tool and for the instructions
	Tool   string // as the server lists it; "" for the instructions of the server
	What   string // whether it is new or has changed, and its size
	Diff   []DiffLine
	Digest string // of what was compared, which is what gets accepted
}

// DiffLine is one line of a comparison: Mark is '-' for what went, '+' for what came
// and ' ' for what stayed.
type DiffLine struct {
	Mark byte
	Text string // safe to show
}

// LogLine is a line that a server wrote, or that the deck notes about it.
type LogLine struct {
	Time       time.Time
	Child      string // that it is about; "" for the server as a whole
	From, Text string
}

// Tokens estimates how many tokens of a model so many bytes of definitions are.
func Tokens(bytes int) int { return bytes / 4 }

// AboutTokens is that estimate to two digits: "540", "4.1k".
func AboutTokens(bytes int) string {
	n := Tokens(bytes)
	switch {
	case n < 100:
		return strconv.Itoa(n)
	case n < 995:
		return strconv.Itoa((n + 5) / 10 * 10)
	case n < 9950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.0fk", float64(n)/1000)
}

// ContextCost is the size of definitions in bytes, and about how many tokens those are.
func ContextCost(bytes int) string {
	return humanize.Bytes(bytes) + " ≈ " + AboutTokens(bytes) + " tokens"
}

// Terms are what a server of somebody else's runs and may do: what the user agrees to by
// turning it on.
type Terms struct {
	Digest  string // of all that the facts are about; "" for a server that needs no consent
	Agreed  bool   // the user has turned it on as it is
	Changed bool   // the user has turned it on as it was before
	Facts   []Fact // all of it
}

// ErrNotAgreed says that a server stays off because the user has not been shown what it runs as
// it is now.
var ErrNotAgreed = errors.New("look at what it runs first (space on the Servers page)")

// Fact is something about a server. The value is as it was written, which is not safe to show.
type Fact struct {
	Name, Value string
	Means       string `json:",omitempty"` // what goes on after the value in words of mcpdeck's own
}
