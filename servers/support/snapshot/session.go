package snapshot

import (
	"cmp"
	"strconv"
	"time"
)

// Session is one conversation of an agent's program, whether or not it is
// connected to the deck.
type Session struct {
	Machine string // name of the machine, if it is another one; its processes and terminals are unknown here
	Agent   string // ID in the table of clients: "claude"
	ID      string // the agent's own; unique among the sessions of one agent
	Version string // of the agent's program; "" if unknown
	PID     int    // of its process, or of the daemon that runs it; 0 if unknown

	State      SessionState
	Since      time.Time // when the state began; zero if unknown
	Started    time.Time // when its process began; zero if unknown
	WaitingFor string    // what a waiting session waits for, in a few words
	Asks       string    // the same in one word, such as "plan?"; "" if only State says it
	Note       string    // why nothing more is known, such as "not set up"; "" if all is

	Folder    string // where it works, absolute
	Title     string // its name, as the agent's program gives it: the user's, or one made of the conversation
	Named     bool   // the user chose Title
	Handle    string // a name that its program made of a folder or an ID, such as "shop-ba"
	Mode      string // of permissions, in the agent's word
	Model     string
	Subagents int // at work

	LastTool, LastSubject string // the last call of a tool, and what it was about

	Usage   Usage
	Cost    Cost
	Shared  Shared
	Context Context
	Place   Place

	Transcript string // path of the file in which its program keeps the conversation; "" if unknown
	Connection string // ID in [Snapshot] of its oldest connection to the deck; "" if it has none

	Record *Record // what its program recorded of the conversation; nil if nothing is known
	Unread bool    // its last turn has ended, and the user has not looked at it since
	Hidden string  // why it has no row of its own; "" if it has one

	Door Door // by which a prompt that the user types in the deck reaches it
	Next Next // such a prompt, until the session has taken it

	Headless bool // it runs without a user at its terminal
	Detached bool // it runs in the background, and a terminal may show it
	Silent   bool // its program does not say which detached session its terminal shows
	Verified bool // the operating system confirms that the agent's program is behind it
}

// Door is how a prompt that the user types in the deck reaches a session. The zero Door is none.
type Door struct {
	Open     bool
	AtRest   bool   // it takes none while it works: the prompt is kept until it is idle
	Commands bool   // its program may run a text that begins with / or !
	Warning  string // what else sending one does, such as "restarts this background session"; "" for nothing
}

// Next is a prompt that the user has sent to a session and that it has not taken.
type Next struct {
	Text  string
	State NextState
	Note  string // why it was not taken; "" if that is not known
}

// NextState is what became of such a prompt.
type NextState string

// The states of prompts. The zero NextState is that of a session to which none is under way.
const (
	NextSending NextState = "sending"
	NextKept    NextState = "kept"    // until the session is idle
	NextUntaken NextState = "untaken" // as far as is known; it is not sent again by itself
)

// NotUnderstood is in the note of a session whose program asks in a way that the deck does not know.
const NotUnderstood = "prompts not understood"

// InItsTerminal ends the sentence why a session takes no prompts from the deck.
const InItsTerminal = " takes messages in its own terminal: J"

// WhyNoPrompt says why no prompt can be sent to the session; "" if one can.
func (s *Session) WhyNoPrompt() string {
	switch {
	case s.State == Ended:
		return "this session has ended"
	case !s.Door.Open:
		return s.Agent + InItsTerminal
	case s.State.Waits():
		return "it waits for an answer: give that first"
	case s.State == StateUnknown:
		return "what it does cannot be seen"
	}
	return ""
}

// Untested begins the note of a session whose agent's program was never run with mcpdeck.
const Untested = "untested"

// SessionState is what a session does.
type SessionState string

// The states of sessions. A session with an open prompt waits, whatever else is known.
const (
	WaitsForPermission SessionState = "permission"
	WaitsForAnswer     SessionState = "answer"
	Waiting            SessionState = "waiting" // for the user, in a way that is not known
	Working            SessionState = "working"
	Background         SessionState = "background" // only something it started still runs
	Idle               SessionState = "idle"
	Ended              SessionState = "ended"
	StateUnknown       SessionState = "unknown"
)

// Waits reports whether the session waits for the user.
func (s SessionState) Waits() bool {
	return s == WaitsForPermission || s == WaitsForAnswer || s == Waiting
}

// To notes what the session does, and since now unless it did that before.
func (s *Session) To(state SessionState) {
	if s.State != state {
		s.State, s.Since, s.WaitingFor, s.Note = state, time.Now(), "", ""
	}
}

// Word is what the session does, in a word: "allow?", "plan?", "working", "done".
func (s *Session) Word() string {
	switch s.State {
	case WaitsForPermission, WaitsForAnswer:
		word := "answer?"
		if s.State == WaitsForPermission {
			word = "allow?"
		}
		return cmp.Or(s.Asks, word)
	case Background:
		return string(Working)
	case Idle:
		if s.Unread {
			return "done"
		}
	case StateUnknown:
		if s.Note == "connected" || s.Connection != "" {
			return "connected"
		}
		return "unseen"
	case Waiting, Working, Ended:
	}
	return string(s.State)
}

// Usage counts the tokens that the models of a session were sent and sent back. In leaves out what
// came from the cache.
type Usage struct {
	In, Out, CacheRead, CacheWrite, Reasoning int64
	Partial                                   bool      // there were more
	Since                                     time.Time // of when the first ones are that count, if there were more
}

// Shared is what a session has in common with another, from which it was forked or the
// other way round.
type Shared struct {
	With string // ID of the other session; "" if nothing is shared
	All  string // ID of a session of which this one has all replies, as one that went to the background has; "" if there is none
	// What of the session's tokens and cost is counted in the other, too. Only one of two
	// sessions has it, so that sums can leave it out.
	Tokens     int64
	USD, Today float64
}

// Cost is what the tokens cost at list prices.
type Cost struct {
	USD      float64
	Today    float64 // what of it was spent since midnight
	Undated  bool    // when some of it was spent is not known; Today leaves that out
	Known    bool    // else a model has no known price
	Partial  bool    // there was more
	Reported bool    // by the agent's program itself
	Source   string  // of the prices
}

// Context is how full a model's context is, in tokens. Window is 0 if unknown.
type Context struct{ Used, Window int64 }

// Place is the terminal in which a session runs. All fields are empty if it has none.
type Place struct {
	TmuxSocket string // path of the server's socket
	TmuxPane   string // such as "%3"
	Tmux       string // for people: "work:1.0"
	TTY        string // device
	Other      string // another terminal's ID of its window: "kitty 3"
}

// CountTokens writes a number of tokens in at most five cells: "950", "14k", "1.2M".
func CountTokens(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 9_950:
		return strconv.FormatFloat(float64(n)/1e3, 'f', 1, 64) + "k"
	case n < 999_500:
		return strconv.FormatInt((n+500)/1e3, 10) + "k"
	case n < 99_950_000:
		return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + "M"
	}
	return strconv.FormatInt((n+500_000)/1e6, 10) + "M"
}
