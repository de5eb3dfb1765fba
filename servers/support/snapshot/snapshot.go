// Package snapshot is plain data about a running deck: its servers, the connected
// agents, their calls, and who they are.
//
// The host fills it in and the screen reads it; it knows no protocol.
package snapshot

import (
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
)

// Status is a module's condition in one word.
type Status string

// The conditions a module can be in.
const (
	Starting Status = "starting"
	Ready    Status = "ready"
	Off      Status = "off"
	Degraded Status = "degraded"
	Failed   Status = "failed"
)

// State is a module's condition with the reason a user needs.
type State struct {
	Status Status
	Reason string // one sentence that says what to do; empty when all is well
	Detail string // a short fact beside the status: "14 tools, menu.pen"
	Lacks  string // the reason in a few words, if an optional program is all that is missing: "stamp not installed"
	Held   int    // definitions that wait for the user to accept them
	Adds   Count  // what the module would add while it is off, as counted last
}

// Count is what a server adds to an agent's list.
type Count struct {
	Tools   int `json:"tools"`
	Context int `json:"contextBytes"` // of what a model gets of them, and of the instructions
}

// String is such as "+26 tools ≈ +4.1k tokens", and "" for nothing.
func (n Count) String() string {
	if n == (Count{}) {
		return ""
	}
	return "+" + humanize.Count(n.Tools, "tool") + " ≈ +" + AboutTokens(n.Context) + " tokens"
}

// Snapshot is one version of everything the deck knows. It is never changed
// after it was handed out, and its slices must not be changed either.
type Snapshot struct {
	Version   uint64
	Name      string // of the deck; "" for the default one
	Started   time.Time
	Servers   []Server
	Agents    []Agent // by arrival; those gone for less than a minute at the end
	Calls     []Call  // the newest, oldest first, at most 512
	Total     uint64  // calls since the start
	Errors    uint64  // of these, failed or refused
	Endpoints Endpoints
	Warnings  []Warning // newest last, at most 32
}

// Server is one module as the screen shows it.
type Server struct {
	Name, Title string
	State       State
	Foreign     bool // a program or a URL of somebody else's is behind it
	Lazy        bool // agents find its tools instead of listing them
	Wanted      bool // the user has turned it on, or an agent has called it
	Tools       int  // listed now or, when it is lazy, found
	Bytes       int  // of the listed definitions as JSON
	Context     int  // bytes of what a model gets of them, and of the instructions
}

// Missing says in a few words which optional program is not installed without which the server
// does less, for as long as nobody wants it: then that is no problem. "" if there is none.
func (s *Server) Missing() string {
	if s.Wanted {
		return ""
	}
	return s.State.Lacks
}

// LargeContext is how many bytes of definitions are much for one server: it is better
// lazy.
const LargeContext = 10_000

// Agent is one connection.
type Agent struct {
	Caller
	View     []string // the servers asked for, as far as the profile has them; empty: all
	Profile  string   // "" for none
	Protocol string   // revision, "" before it is known
	Since    time.Time
	Gone     time.Time // zero while connected
	Calls    uint64
	Errors   uint64
	InFlight []string  // names of tools being called, oldest first
	LastCall time.Time // zero: none yet
	LastTool string
	Waiting  bool // for an answer of the user
	Stale    bool // it did not ask for the tools again when they changed
	Gateway  bool // it has a tool that reaches those it does not list
	Got      Got  // by its last list of tools
}

// Got is what an agent has in its list of tools.
type Got struct {
	Tools   int
	Context int  // bytes of the definitions that a model gets, if its client passes all on
	Lazy    Lazy // how it has the tools of servers that are lazy
}

// Lazy is how an agent has the tools of servers that are lazy.
type Lazy string

// An agent finds them with a tool of the deck's or, where its client searches long lists
// by itself, has them in its list, of which its model then gets little. It is "" without
// such servers.
const (
	Finds    Lazy = "finds"
	Searches Lazy = "searches"
)

// Sees tells whether a server is in the agent's view.
func (a *Agent) Sees(server string) bool { return len(a.View) == 0 || slices.Contains(a.View, server) }

// Endpoints is where agents reach the deck.
type Endpoints struct {
	Socket   string // path of the Unix socket; "" when there is none
	HTTP     string // "127.0.0.1:7337"; "" when off
	HTTPNote string // why HTTP is off or on another port
}

// Warning is a sentence for the user.
type Warning struct {
	ID     uint64 // newer ones have higher ones
	Time   time.Time
	From   string // module, "host", "journal"
	Text   string
	Pinned bool // the screen shows it on every page for as long as it is here
}

// WarningsAfter are the warnings that are newer than the one with the given ID,
// the newest last.
func (s *Snapshot) WarningsAfter(id uint64) []Warning {
	i := slices.IndexFunc(s.Warnings, func(w Warning) bool { return w.ID > id })
	if i < 0 {
		return nil
	}
	return s.Warnings[i:]
}

// Pinned is the newest warning that every page shows; nil when there is none.
func (s *Snapshot) Pinned() *Warning {
	for i := len(s.Warnings) - 1; i >= 0; i-- {
		if s.Warnings[i].Pinned {
			return &s.Warnings[i]
		}
	}
	return nil
}

// Agent is the agent with that ID; nil when there is none.
func (s *Snapshot) Agent(id string) *Agent {
	if i := slices.IndexFunc(s.Agents, func(a Agent) bool { return a.Agent == id }); i >= 0 && id != "" {
		return &s.Agents[i]
	}
	return nil
}

// IsOn reports whether a server is on, or is being turned on.
func (s *Server) IsOn() bool { return s.State.Status != Off && s.State.Status != Failed }
