package ask

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/clients"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Kind is how a question is answered.
type Kind string

// The kinds of questions. Confirm is a choice whose first two options have
// keys of their own.
const (
	Choice  Kind = "choice"
	Text    Kind = "text"
	Confirm Kind = "confirm"
	Form    Kind = "form" // as many values as its schema says
)

// Option is one possible answer.
type Option struct {
	Label       string `json:"label"` // as the asker wrote it; answers carry it unchanged
	Description string `json:"description,omitempty"`
	Preview     string `json:"preview,omitempty"`
}

// Question is one question after [ParseQuestions]: complete and valid.
type Question struct {
	ID          string   `json:"id"`
	Question    string   `json:"question"`
	Header      string   `json:"header,omitempty"` // tab label; empty: made from ID
	Description string   `json:"description,omitempty"`
	Kind        Kind     `json:"kind"`
	Options     []Option `json:"options,omitempty"`
	Multi       bool     `json:"multi,omitempty"`
	Recommended []int    `json:"recommended,omitempty"` // indexes into Options, ascending; at most one unless Multi
	// OtherFirst is set if the asker recommended its own "other" option. The free-text row
	// replaces that option, and the cursor starts there.
	OtherFirst  bool   `json:"otherFirst,omitempty"`
	AllowOther  bool   `json:"allowOther"` // offer the free-text row
	Required    bool   `json:"required"`
	MinSelect   int    `json:"minSelect,omitempty"` // for Multi
	MaxSelect   int    `json:"maxSelect,omitempty"` // for Multi; 0: no limit
	Placeholder string `json:"placeholder,omitempty"`

	Schema json.RawMessage `json:"schema,omitempty"` // of a Form
}

// From is what the asker claims about itself. None of it is verified.
type From struct {
	Client        string `json:"client,omitempty"`
	ClientVersion string `json:"clientVersion,omitempty"`
	Agent         string `json:"agent,omitempty"` // label of a sub-agent
	Session       string `json:"session,omitempty"`
	Cwd           string `json:"cwd,omitempty"`
	Title         string `json:"title,omitempty"`
}

// Peer is what the operating system reports about the asker. The zero Peer is
// "unverified".
type Peer struct {
	PID     int    `json:"pid,omitempty"`
	Program string `json:"program,omitempty"` // of the process that started the peer: the agent
	Cwd     string `json:"cwd,omitempty"`
	Session string `json:"session,omitempty"` // label of the session socket it came through
	Key     string `json:"key,omitempty"`     // what the limit per peer counts by; empty: PID
	Agent   int    `json:"agent,omitempty"`   // process of the agent's program
	// Machine identifies another machine or container; "" is this machine. For such a
	// peer, the system can only report on the process that carries the connection, so
	// only the peer's claims are known.
	Machine string `json:"machine,omitempty"`
	// Host is the name of the machine whose deck the request is of, and whose system reports
	// the rest; "" is this one. Its processes are unknown here.
	Host string `json:"host,omitempty"`
}

// Identity is how reliably the asker is identified.
type Identity string

// Seen is reported by this machine's operating system, Vouched by the deck of another one about
// its own, Claimed by the asker itself.
const (
	Seen    Identity = "seen"
	Vouched Identity = "vouched"
	Claimed Identity = "claimed"
)

// Request is a set of one or more questions that are queued, answered and cancelled
// together.
type Request struct {
	Questions []Question `json:"questions"`
	Title     string     `json:"title,omitempty"`
	From      From       `json:"from"`
	Peer      Peer       `json:"peer"`
	// Timeout ends the request after this long; 0: never. [Queue.Open] clamps
	// it to 60 s … 24 h.
	Timeout time.Duration `json:"timeout,omitempty"`
	// ClientDeadline is how long after arrival the asker's client gives up; 0: unknown.
	ClientDeadline time.Duration `json:"clientDeadline,omitempty"`
	// ResumeKey is a secret of the asker that stays the same when it sends the request
	// again. If empty, the asker cannot come back for the answer.
	ResumeKey string `json:"resumeKey,omitempty"`
	// Waited is for how long it has been open where it was asked first.
	Waited time.Duration `json:"-"`
	// Owner is who may use the ResumeKey; empty: anyone who has it.
	Owner string `json:"owner,omitempty"`
	// Local is set if the asker ends with the deck. Such a request is not kept over a
	// restart, since nobody would come back for the answer.
	Local bool `json:"local,omitempty"`
	// Again is set if an earlier deck had this request and was lost. A [Client] then waits
	// longer for the next deck.
	Again bool `json:"-"`
	// Own is set if mcpdeck itself asks. Nothing that comes from outside can set it.
	Own bool `json:"-"`
	// Prompt is set if an agent's own program asks.
	Prompt *Prompt `json:"prompt,omitempty"`
	// Plain is set if the asker understands neither status nor codes.
	Plain bool `json:"plain,omitempty"`
}

// WaitsFor is what the request waits for, in a word: "allow?", "again?", "plan?", "form?" or "answer?".
func (r *Request) WaitsFor() string {
	kind := OwnQuestion
	if r.Prompt != nil {
		kind = r.Prompt.Kind
	}
	switch {
	case kind == Permission && r.Prompt.Refused != nil:
		return "again?"
	case kind == Permission:
		return "allow?"
	case kind == Plan:
		return "plan?"
	case kind == ServerForm || len(r.Questions) > 0 && r.Questions[0].Kind == Form:
		return "form?"
	}
	return "answer?"
}

// Client returns the name of the asker's program, as claimed or as reported by the system:
// see [clients.Name].
func (r *Request) Client() string {
	return clients.Name(r.From.Client, r.Peer.Program, "unverified")
}

// Identity returns how reliably the asker is identified.
func (r *Request) Identity() Identity {
	switch p := &r.Peer; {
	case r.Own:
		return Seen
	case p.Machine != "" || p.Program == "":
		return Claimed
	case p.Host != "":
		return Vouched
	case p.PID != 0:
		return Seen
	}
	return Claimed
}

// Verified reports whether the operating system confirms who is asking.
func (r *Request) Verified() bool { return r.Identity() == Seen }

// Via returns how an asker on another machine is connected, such as "ssh" or
// "container", or "" for an asker on this machine.
func (r *Request) Via() string {
	via, _, _ := strings.Cut(r.Peer.Machine, " ")
	return via
}

// Doubt returns why the asker is unverified, or "" if the system confirms who it is.
func (r *Request) Doubt() string {
	switch {
	case r.Identity() != Claimed:
		return ""
	case r.Via() != "":
		return "unverified, via " + r.Via()
	}
	return "unverified"
}

// Cwd returns the asker's folder: as reported by the system, else as claimed.
func (r *Request) Cwd() string {
	return cmp.Or(r.Peer.Cwd, r.From.Cwd)
}

// Project returns the name of the asker's folder, behind that of its machine if that is another
// one: "build1:shop". Of an asker without a folder it is the machine's alone, or "".
func (r *Request) Project() string {
	cwd := r.Cwd()
	if cwd == "" {
		return r.Peer.Host
	}
	return snapshot.OnMachine(r.Peer.Host, filepath.Base(cwd))
}

// Asker returns a key that identifies the asker, for grouping.
func (r *Request) Asker() string {
	return r.Peer.Host + "\x00" + r.Client() + "\x00" + r.Cwd() + "\x00" + cmp.Or(r.Peer.Session, r.From.Session)
}

// Of reports whether the request is of a session.
func (r *Request) Of(s *snapshot.Session) bool {
	if p := r.Prompt; p != nil {
		return p.Agent == s.Agent && p.Session == s.ID && r.Peer.Host == s.Machine
	}
	return s.Connection != "" && r.Peer.Key == s.Connection
}

// Fingerprint is equal for requests with the same questions from the same client in the
// same folder of the same machine.
func (r *Request) Fingerprint() string {
	who := []string{r.Client(), r.Cwd()}
	if p := r.Prompt; p != nil {
		who = append(who, p.Agent, p.Session, p.ID)
	}
	if r.Peer.Machine != "" {
		who = append(who, r.Peer.Machine)
	}
	if r.Peer.Host != "" {
		who = append(who, "host", r.Peer.Host)
	}
	return digest(who, r.Questions)
}

// asks returns a digest of the questions alone.
func (r *Request) asks() string { return digest(r.Questions) }

// digest returns a digest of values that can be encoded as JSON.
func digest(values ...any) string {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, v := range values {
		_ = enc.Encode(v) // hash writers do not fail
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (r *Request) peerKey() string {
	switch {
	case r.Peer.Key != "":
		return r.Peer.Key
	case r.Peer.PID != 0:
		return fmt.Sprintf("pid %d", r.Peer.PID)
	}
	return ""
}

// ofProcess reports whether the agent's process is that of a peer from an earlier run of
// the deck.
func (r *Request) ofProcess(p Peer) bool { return p.Agent != 0 && p.Agent == r.Peer.Agent }

// Result is the answer to one question. SelectedOptions are the asker's own
// labels in option order, never nil.
type Result struct {
	ID              string            `json:"id"`
	SelectedOptions []string          `json:"selectedOptions"`
	CustomInput     string            `json:"customInput,omitempty"`
	Notes           map[string]string `json:"notes,omitempty"` // by label, of chosen options
	Note            string            `json:"note,omitempty"`  // the same, of a single choice
	Skipped         bool              `json:"skipped,omitempty"`
	Clarify         string            `json:"clarify,omitempty"` // the user's question to the asker
	Content         json.RawMessage   `json:"content,omitempty"` // the object that a Form was filled in with
}

// Status is how a request ended.
type Status string

// The outcomes of a request. Partial is an answer in which some questions are skipped
// or asked back.
const (
	Answered Status = "answered"
	Partial  Status = "partial"
	Declined Status = "declined"
	TimedOut Status = "timed_out"
)

// Reply is the outcome of a request, as sent to the asker.
type Reply struct {
	Status  Status        `json:"status"`
	Results []Result      `json:"results,omitempty"` // one per question, in order; none unless answered or partial
	Reason  string        `json:"reason,omitempty"`  // of a decline
	After   time.Duration `json:"after,omitempty"`   // how long the asker waited for the user
	By      string        `json:"by,omitempty"`      // the deck of another machine in which the user answered; "" for this one

	Questions []Question `json:"-"` // what the results answer, in the same order
}

// Error is the error of a request that could not be shown to the user, or that
// something other than the user ended. Its text is suitable for the asker.
type Error struct {
	Code    string // "invalid", "busy", "shutdown", "superseded", "withdrawn", "unknown", "unavailable", "internal" …
	Message string
	Retry   bool // sending it again may work
}

func (e *Error) Error() string { return e.Message }

// Errors of [Queue.Open], [Queue.Resume] and [Call.Reply].
var (
	ErrBusy        = &Error{Code: "busy", Message: fmt.Sprintf("too many pending questions (limit %d)", maxOpen)}
	ErrBusyPeer    = &Error{Code: "busy", Message: fmt.Sprintf("too many pending questions from this agent (limit %d)", maxPerPeer)}
	ErrShutdown    = &Error{Code: "shutdown", Message: "shutting down", Retry: true}
	ErrSuperseded  = &Error{Code: "superseded", Message: "superseded by a newer request"}
	ErrWithdrawn   = &Error{Code: "withdrawn", Message: "withdrawn"}
	ErrUnknownKey  = &Error{Code: "unknown", Message: "no question with this id; it may be older than 24 hours, or belong to another agent"}
	ErrUnavailable = &Error{Code: "unavailable", Message: "mcpdeck is not running"}
)
