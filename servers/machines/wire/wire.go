// Package wire is the protocol between a deck and the deck of another machine: what waits there,
// what its agents do, and the user's answers.
//
// The machine where an agent runs, the host, holds its items: its queue decides, and the first
// answer wins. A deck mirrors them and sends answers by the item's key. What travels is what a
// screen needs of a deck and nothing else: there is no message that runs, reads or writes anything
// on either side, but for a prompt that the user sends to a session.
//
// Each line is a [Frame]: a request, which opens a connection with a number of its own, or the one
// reply that ends it. A request that waits for a change ([Since]) is replied to when there is one,
// and a deck sends the next only when it has taken that: so no connection ever has more than one
// message under way, whatever happens on the host. The first request is [Hello].
package wire

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Version is that of the protocol. A side that is offered none of its own says so and hangs up.
const Version = 1

// Control is the name under which the deck's socket serves the protocol.
const Control = "machine"

// Frame is one line.
type Frame struct {
	Conn int             `json:"c"`
	Line json.RawMessage `json:"l,omitempty"`
	End  bool            `json:"end,omitempty"` // nothing more comes of this connection
}

// Request is what a deck asks of a host; one field is set.
type Request struct {
	Hello    *Hello  `json:"hello,omitempty"`
	Items    *Since  `json:"items,omitempty"`
	Sessions *Since  `json:"sessions,omitempty"`
	Answer   *Answer `json:"answer,omitempty"`
	Draft    *Answer `json:"draft,omitempty"`  // whose body is what was entered for its item, an [ask.Draft] as JSON
	Hand     *Answer `json:"hand,omitempty"`   // whose body is an [ask.Handed] as JSON: to which deck its item is given, or null
	Prompt   *Answer `json:"prompt,omitempty"` // whose body is a [Prompt] as JSON, and whose item is a number of its own
	Calls    *Since  `json:"calls,omitempty"`
	Log      *Page   `json:"log,omitempty"`
	Body     *CallID `json:"body,omitempty"`
	Picture  *Shown  `json:"picture,omitempty"`
}

// Reply is what the host says to a [Request]: an error, or the field of the same name.
type Reply struct {
	Error    string    `json:"error,omitempty"`
	Hello    *Welcome  `json:"hello,omitempty"`
	Items    *Items    `json:"items,omitempty"`
	Sessions *Sessions `json:"sessions,omitempty"`
	Answer   *Outcome  `json:"answer,omitempty"`
	Draft    *Outcome  `json:"draft,omitempty"`
	Hand     *Outcome  `json:"hand,omitempty"`
	Prompt   *Outcome  `json:"prompt,omitempty"`
	Calls    *Calls    `json:"calls,omitempty"`
	Log      *Calls    `json:"log,omitempty"`
	Body     *Body     `json:"body,omitempty"`
	Picture  *Picture  `json:"picture,omitempty"`
}

// Unsupported is the error of a request that the host does not know, since it is older, or that does not reach it.
const Unsupported = "unsupported"

// Hello begins a link.
type Hello struct {
	Versions []int             `json:"versions"`
	Program  string            `json:"program"` // version of mcpdeck
	Key      ed25519.PublicKey `json:"key"`     // of the deck
}

// Welcome answers a [Hello].
type Welcome struct {
	Version int    `json:"version"`
	Program string `json:"program"`
	Host    string `json:"host"`            // what the host calls itself in what is signed; it never changes
	Run     string `json:"run,omitempty"`   // what it calls itself until its deck ends, in prompts; "" over a hub
	Answers bool   `json:"answers"`         // whether it takes answers that this deck has signed
	Decks   []Deck `json:"decks,omitempty"` // whose answers it takes
}

// Deck is a deck that may answer on a host.
type Deck struct {
	Name        string `json:"name"`
	Fingerprint string `json:"fingerprint"`
}

// String names the deck to people.
func (d Deck) String() string { return d.Name + " (" + d.Fingerprint + ")" }

// Since asks for something that has another version than the one known; nil: for what there is.
type Since struct {
	Version *uint64 `json:"version,omitempty"`
}

// Items is what waits on the host, in its order, and what became of what waited.
type Items struct {
	Version uint64  `json:"version"`
	Open    []Item  `json:"open"`
	Ended   []Ended `json:"ended"` // the latest, oldest first
	// Decks are those to which an item may be handed; none: it cannot be, there.
	Decks []Deck `json:"decks,omitempty"`
}

// Item is an open item. What the user reads of it never changes under one key.
type Item struct {
	Asked []byte        `json:"asked"` // an [Asked] as JSON: what a key is made of
	Peer  string        `json:"peer,omitempty"`
	Door  ask.Door      `json:"door,omitempty"`
	Gone  bool          `json:"gone,omitempty"` // nobody waits for the answer any more
	Why   string        `json:"why,omitempty"`  // about Gone
	Age   time.Duration `json:"age"`
	// Absent is why nobody waits for the answer now, where the asker is expected back.
	Absent ask.Absence `json:"absent,omitempty"`
	// Left is how long the asker's client goes on waiting; 0 if that is not known.
	Left        time.Duration `json:"left,omitempty"`
	Unconfirmed bool          `json:"unconfirmed,omitempty"`
	Unwatched   bool          `json:"unwatched,omitempty"`
	Draft       []byte        `json:"draft,omitempty"`  // what was entered for it, an [ask.Draft] as JSON
	LentBy      string        `json:"lentBy,omitempty"` // in which deck, if not on the host
	At          []string      `json:"at,omitempty"`     // where somebody is at it: in which deck, or "" on the host
	Handed      *ask.Handed   `json:"handed,omitempty"` // to and by whom: a deck, or "" for the host
}

// Asked is what the user reads of an item, and what tells it from all others of its host.
type Asked struct {
	ID        int            `json:"id"`
	Arrived   int64          `json:"arrived"` // in ns, by the host's clock
	Title     string         `json:"title,omitempty"`
	Client    string         `json:"client,omitempty"`
	Agent     string         `json:"agent,omitempty"`
	Session   string         `json:"session,omitempty"`
	Folder    string         `json:"folder,omitempty"`
	Via       string         `json:"via,omitempty"`  // what stands between the host and the asker
	Seen      bool           `json:"seen,omitempty"` // the host's system confirms who asks
	Questions []ask.Question `json:"questions"`
	Prompt    *ask.Prompt    `json:"prompt,omitempty"` // without what changes
}

// Ended is what became of an item.
type Ended struct {
	ID       int          `json:"id"`
	Arrived  int64        `json:"arrived"`
	Delivery ask.Delivery `json:"delivery"`
	How      string       `json:"how,omitempty"`
	Answered bool         `json:"answered,omitempty"` // by a user, wherever
	By       string       `json:"by,omitempty"`       // the deck of another machine that has answered
	Said     string       `json:"said,omitempty"`     // what was answered
}

// Sessions are those of the host's agents.
type Sessions struct {
	Version  uint64             `json:"version"`
	Sessions []snapshot.Session `json:"sessions"`
	Spent    float64            `json:"spent"`
	Now      time.Time          `json:"now"` // by the host's clock, which may differ
}

// Answer is what the user decided about an item, signed.
type Answer struct {
	Item string            `json:"item"` // its key
	Body []byte            `json:"body"` // a [Decision] as JSON
	Key  ed25519.PublicKey `json:"key"`  // of the deck
	Sign []byte            `json:"sign"`
}

// Decision is what a user does with an item: answer or decline it, or let it go to its terminal.
type Decision struct {
	Results []ask.Result `json:"results,omitempty"`
	Decline bool         `json:"decline,omitempty"`
	Reason  string       `json:"reason,omitempty"` // of Decline
	Release bool         `json:"release,omitempty"`
}

// Prompt is what the user sends to a session as its next prompt, or takes back.
type Prompt struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Text    string `json:"text,omitempty"`
	Back    bool   `json:"back,omitempty"`
}

// Outcome is what the host's queue made of an [Answer].
type Outcome struct {
	Taken bool   `json:"taken"`
	Why   string `json:"why,omitempty"`  // not
	Open  bool   `json:"open,omitempty"` // the item waits, still
	// Other is set if something else has ended the item before; Why says what.
	Other bool   `json:"other,omitempty"`
	Text  string `json:"text,omitempty"` // of a prompt that was taken back
}

// KeyOf is the key of an item: the digest of what the user reads of it.
func KeyOf(asked []byte) string {
	sum := sha256.Sum256(asked)
	return hex.EncodeToString(sum[:])
}

// maxAsked is the most that a user is given to read of one item.
const maxAsked = 2 << 20

// Read returns what the user reads of an item, if a queue can have it.
func (it *Item) Read() (a Asked, err error) {
	if len(it.Asked) > maxAsked {
		return a, errors.New("the item is too large")
	}
	if err := json.Unmarshal(it.Asked, &a); err != nil {
		return a, fmt.Errorf("read an item: %w", err)
	}
	if err := ask.CheckQuestions(a.Questions); err != nil {
		return a, err
	}
	if p := a.Prompt; p != nil && len(p.Grants) > 0 && (len(a.Questions) != 1 || len(p.Grants) != len(a.Questions[0].Options)) {
		return a, errors.New("the options of a prompt are not those that it says the effect of")
	}
	return a, nil
}

// signed are the bytes under a deck's signature. They name the host, the item and, by its digest,
// all that the user has read, so an answer is of no use for anything else; nor is a prompt.
func signed(kind, host string, a *Answer) []byte {
	subject := "ssh/" + host + "/" + a.Item
	return append([]byte(strings.Join([]string{"mcpdeck-fleet-1", kind, subject, a.Item, ""}, "\n")), a.Body...)
}

// Sign makes the answer to an item of a host.
func Sign(key ed25519.PrivateKey, host, item string, d Decision) (*Answer, error) {
	return sign(key, "answer", host, item, d)
}

// maxDraft is the longest draft that travels. A longer one stays where it is.
const maxDraft = 64 << 10

// DraftJSON is a draft as it travels; nil if the user is not at it, or there is too much.
func DraftJSON(d ask.Draft) []byte {
	d = d.Travels()
	b, err := json.Marshal(d)
	if err != nil || !d.Begun() || len(b) > maxDraft {
		return nil
	}
	return b
}

// ReadDraft reads a draft that has travelled; none is the zero one.
func ReadDraft(b []byte) (d ask.Draft) {
	if len(b) > maxDraft || json.Unmarshal(b, &d) != nil {
		return ask.Draft{}
	}
	return d
}

// SignDraft makes a request to show a draft of [DraftJSON] for an item of a host, and that the user is at it. Nothing can
// make an answer of it.
func SignDraft(key ed25519.PrivateKey, host, item string, draft []byte) *Answer {
	return signBody(key, "draft", host, item, draft)
}

// OpenDraft is Open for a draft.
func (a *Answer) OpenDraft(host string) (ask.Draft, error) {
	err := a.verify("draft", host)
	return ReadDraft(a.Body), err
}

// SignHand makes a request to give an item of a host to another deck, or to take that back.
func SignHand(key ed25519.PrivateKey, host, item string, h *ask.Handed) (*Answer, error) {
	return sign(key, "hand", host, item, h)
}

// OpenHand is Open for what [SignHand] makes.
func (a *Answer) OpenHand(host string) (h *ask.Handed, err error) {
	err = a.open("hand", host, &h)
	return h, err
}

// SignPrompt makes a request to send a prompt on a host. It is of use once, and no longer than run, see [Welcome].
func SignPrompt(key ed25519.PrivateKey, host, run string, p Prompt) (*Answer, error) {
	return sign(key, "prompt", host, run+"."+rand.Text(), p)
}

// OfRun reports whether a prompt was signed for a run of the host, or for any: by an older deck, or over a hub.
func (a *Answer) OfRun(run string) bool {
	of, _, named := strings.Cut(a.Item, ".")
	return !named || of == "" || of == run
}

func sign(key ed25519.PrivateKey, kind, host, item string, v any) (*Answer, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return signBody(key, kind, host, item, body), nil
}

func signBody(key ed25519.PrivateKey, kind, host, item string, body []byte) *Answer {
	public, _ := key.Public().(ed25519.PublicKey) // it is always one
	a := &Answer{Item: item, Body: body, Key: public}
	a.Sign = ed25519.Sign(key, signed(kind, host, a))
	return a
}

// Open returns the decision in an answer, if its key signed it for this host.
func (a *Answer) Open(host string) (Decision, error) {
	var d Decision
	err := a.open("answer", host, &d)
	return d, err
}

// OpenPrompt is Open for a prompt.
func (a *Answer) OpenPrompt(host string) (Prompt, error) {
	var p Prompt
	err := a.open("prompt", host, &p)
	return p, err
}

func (a *Answer) open(kind, host string, v any) error {
	if err := a.verify(kind, host); err != nil {
		return err
	}
	return json.Unmarshal(a.Body, v)
}

func (a *Answer) verify(kind, host string) error {
	if len(a.Key) != ed25519.PublicKeySize || !ed25519.Verify(a.Key, signed(kind, host, a), a.Sign) {
		return errors.New("the signature is not that of this deck's key for this item")
	}
	return nil
}

// Fingerprint is how a key is shown to people.
func Fingerprint(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return "SHA256:" + hex.EncodeToString(sum[:16])
}

// maxLine is the longest frame: a list of items, each with a file's diff.
const maxLine = 16 << 20

// Frames reads and writes frames. One goroutine may read while others write.
type Frames struct {
	lines *rpc.Lines
	mu    sync.Mutex
	w     io.Writer
}

// NewFrames returns the frames on a stream.
func NewFrames(r io.Reader, w io.Writer) *Frames {
	return &Frames{lines: rpc.NewLines(bufio.NewReader(r), maxLine), w: w} // with little room: a deck may have thousands
}

// Read reads the next frame, and v from its line.
func (f *Frames) Read(v any) (conn int, err error) {
	line, err := f.lines.Next()
	if err != nil {
		return 0, err
	}
	var frame Frame
	if err := json.Unmarshal(line, &frame); err != nil {
		return 0, fmt.Errorf("read a frame: %w", err)
	}
	if len(frame.Line) == 0 {
		return frame.Conn, nil
	}
	if err := json.Unmarshal(frame.Line, v); err != nil {
		return 0, fmt.Errorf("read a message: %w", err)
	}
	return frame.Conn, nil
}

// Write writes v as a frame.
func (f *Frames) Write(conn int, v any, end bool) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	b, err := rpc.Line(Frame{Conn: conn, Line: line, End: end})
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err = f.w.Write(b)
	return err
}

// mostRequests is how many requests of one link may be under way: a deck has two, and its answers,
// of which a queue has room for 100.
const mostRequests = 128

// Serve replies to requests until the stream or ctx ends.
func (f *Frames) Serve(ctx context.Context, reply func(context.Context, *Request) Reply) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	places := make(chan struct{}, mostRequests)
	for {
		var req Request
		conn, err := f.Read(&req)
		if err != nil {
			return err
		}
		select {
		case places <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		recovery.Go("request of another machine's deck", func() {
			defer func() { <-places }()
			r := reply(ctx, &req)
			if ctx.Err() == nil {
				_ = f.Write(conn, r, true) // reading tells that the link is gone
			}
		})
	}
}
