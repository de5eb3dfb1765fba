package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// How much of a host's calls is told at a time.
const (
	// MostCalls is how many calls are in one message.
	MostCalls = 300
	// MostPicture is the largest picture, in bytes.
	MostPicture = 4 << 20

	mostBody  = 1 << 20 // of the arguments of a call, and of its result
	mostBrief = 200     // letters of both in a list
	mostShown = 16      // pictures of one call
)

// Calls are calls of the host's agents, as they began.
type Calls struct {
	Run     int64     `json:"run"` // of the host's deck: another one counts its calls anew
	Version uint64    `json:"version"`
	Whole   bool      `json:"whole,omitempty"` // these are all that are told of, not those that have changed
	Calls   []Call    `json:"calls"`
	Now     time.Time `json:"now"` // by the host's clock, which may differ
}

// Call is a call, and where the agent works.
type Call struct {
	snapshot.Call
	Project string `json:"project,omitempty"`
}

// Page asks for calls of earlier runs of the host's deck: the newest of those before one in its log.
type Page struct {
	Before uint64 `json:"before,omitempty"` // 0: of all
}

// CallID names a call of the host.
type CallID struct {
	Run     int64  `json:"run,omitempty"` // of the deck, as it was told
	ID      uint64 `json:"id"`
	Earlier bool   `json:"earlier,omitempty"` // ID is that of the log
}

// Body is what a call carried.
type Body struct {
	Kept     bool            `json:"kept"`
	Args     json.RawMessage `json:"args,omitempty"`
	Result   json.RawMessage `json:"result,omitempty"`
	Cut      bool            `json:"cut,omitempty"`
	Pictures []string        `json:"pictures,omitempty"` // in the result: the hash of each, in order
}

// Shown asks for a picture in the result of a call.
type Shown struct {
	CallID
	Hash string `json:"hash"`
}

// Picture is one, as its server sent it.
type Picture struct {
	Data []byte `json:"data"`
}

// PictureHash is what a picture is asked for by.
func PictureHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// BodyOf is what a call carried, as it travels.
func BodyOf(b snapshot.CallBody, kept bool) *Body {
	out := &Body{Kept: kept, Args: b.Args, Result: b.Result, Cut: b.Cut}
	out.bound()
	return out
}

// bound keeps the beginning of what is too large.
func (b *Body) bound() {
	for _, part := range []*json.RawMessage{&b.Args, &b.Result} {
		if len(*part) > mostBody {
			*part, _ = json.Marshal(string((*part)[:mostBody/8])) // a text is always written
			b.Cut = true
		}
	}
	b.Pictures = b.Pictures[:min(len(b.Pictures), mostShown)]
	for i := range b.Pictures {
		line(&b.Pictures[i], mostName)
	}
}

// statuses are how a call may stand.
var statuses = []snapshot.CallStatus{snapshot.Running, snapshot.OK, snapshot.ToolError, snapshot.Refused, snapshot.Cancelled, snapshot.Lost}

// bound makes of calls what a list can have. It leaves out those of which a later version says
// what is unknown here.
func (c *Calls) bound() {
	c.Calls = c.Calls[max(0, len(c.Calls)-MostCalls):]
	c.Calls = slices.DeleteFunc(c.Calls, func(o Call) bool { return !slices.Contains(statuses, o.Status) || o.ID == 0 || o.ID > mostNumber })
	for i := range c.Calls {
		o := &c.Calls[i]
		o.Afar = nil
		for _, text := range []*string{&o.Agent, &o.AgentName, &o.Server, &o.Tool, &o.Project} {
			line(text, mostName)
		}
		o.Args, o.Result = sanitize.Cut(o.Args, mostBrief), sanitize.Cut(o.Result, mostBrief)
	}
}
