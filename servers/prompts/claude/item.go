package claude

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/prompts/hook"
)

// Times of an item.
const (
	lookEvery    = 500 * time.Millisecond // at the files that tell what became of it
	confirmIn    = 2 * time.Second        // its call must be in the transcript
	statusWithin = 5 * time.Second        // its terminal must be waiting, if it still asks
	startWithin  = 250 * time.Millisecond // its hook connects, whose terminal may wait sooner
	takenWithin  = 10 * time.Second       // an answer must have had an effect
)

// item is one prompt, from the hook that brings it until it is settled.
type item struct {
	a       *Adapter
	session session
	conn    *hook.Conn
	asked   asked
	agent   string // ID of the sub-agent that asks; "" is the session itself
	req     ask.Request
	same    string // equal for prompts that two hooks of one event bring
	arrived time.Time
	call    *ask.Call
	log     *transcript
	claimed string // call in the transcript that it is about; guarded by the adapter

	once    sync.Once
	settled chan struct{}
	how     string // it was settled; set before settled is closed

	held   bool      // the terminal does not ask
	since  time.Time // when the terminal began to ask
	waited bool      // the terminal was seen waiting

	unwatched bool // nothing tells whether the terminal was answered

	changed chan struct{} // its session's file
	over    chan struct{} // closed when prints is set: joined hooks print the same
	prints  string
}

func (a *Adapter) newItem(s session, c *hook.Conn, m hook.Message) *item {
	it := &item{a: a, session: s, conn: c, agent: m.Payload.Str("agent_id"), arrived: c.Arrived, settled: make(chan struct{}), changed: make(chan struct{}, 1), over: make(chan struct{})}
	it.asked, it.req = a.request(s, m)
	it.held, it.since = it.req.Prompt.Door == ask.Held, it.arrived.Add(-startWithin)
	h := sha256.Sum256([]byte(strings.Join([]string{m.Event, m.Payload.Str("prompt_id"), m.Payload.Str("agent_id"), m.Payload.Str("tool_name"), string(m.Payload.Some("tool_input")), string(m.Payload.Some("requested_schema"))}, "\x00")))
	it.same = hex.EncodeToString(h[:])
	if m.Event == "PermissionRequest" {
		it.log = openTranscript(s, m.Payload.Str("transcript_path"), m.Payload.Str("agent_id"))
	}
	return it
}

// settle records that the prompt was answered, or ended, elsewhere.
func (it *item) settle(how string) {
	it.once.Do(func() {
		it.how = how
		close(it.settled)
	})
}

// close releases what joined the item and what it holds open.
func (it *item) close() {
	close(it.over)
	if it.log != nil {
		it.log.close()
	}
}

// join has a second hook of the same event print what the first does.
func (it *item) join(ctx context.Context, c *hook.Conn) {
	select {
	case <-it.over:
		_ = c.Print(it.prints) // the first has been answered already
	case <-c.Gone():
	case <-ctx.Done():
	}
}

// follow waits for the item's end and answers its hook.
func (it *item) follow(ctx context.Context) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	gone := it.conn.Gone()
	if it.req.InTerminal() {
		_ = it.conn.Print("") // its terminal asks
		gone = nil
	}
	hold, released := it.holds()
	it.look()
	for {
		select {
		case <-it.call.Done():
			it.answer(ctx, look.C)
			return
		case <-gone:
			it.call.Settled(it.ended())
			return
		case <-it.settled:
			it.call.Settled(it.how)
			return
		case <-released:
			_ = it.conn.Print("") // as above
			gone, released, hold = nil, nil, nil
			it.held, it.since = false, time.Now()
		case <-hold:
			if !it.call.LetGo() {
				hold = time.After(it.a.opt.Rules.Now().HoldAgain())
			}
		case <-look.C:
			it.look()
		case <-it.changed:
			it.look()
		case <-ctx.Done():
			it.call.Leave("mcpdeck was closed")
			return
		}
	}
}

// holds returns when a held prompt is let go to its terminal, and by whom else.
func (it *item) holds() (after <-chan time.Time, released <-chan struct{}) {
	if !it.held {
		return nil, nil
	}
	hold := it.a.opt.Rules.Now().Hold
	if hold <= 0 {
		it.call.LetGo()
	}
	return time.After(max(hold, 0)), it.call.Released()
}

// ended tells why the hook of a prompt has ended.
func (it *item) ended() string {
	if !it.session.alive() {
		return "its agent has ended"
	}
	if it.log != nil {
		it.log.read()
		if how := it.log.outcome(); how != "" {
			return how
		}
	}
	return "answered in its terminal"
}

// look finds out whether the prompt was answered elsewhere.
func (it *item) look() {
	now, ok := it.now()
	switch {
	case !it.session.alive():
		it.settle("its agent has ended")
		return
	case ok && now.ID != it.session.ID:
		it.settle("its session has ended") // the process goes on with another one
		return
	}
	if it.log != nil {
		it.log.read()
		it.log.match(it)
		if how := it.log.outcome(); how != "" {
			it.settle(how)
			return
		}
		if late := time.Since(it.arrived) >= confirmIn; late && !it.log.matched() && !it.log.doubted && it.asked.unreadable == "" {
			it.log.doubted = true
			it.call.Doubted()
		}
	}
	if ok && it.leftWaiting(now) {
		it.settle("answered in its terminal")
	}
}

// leftWaiting reports whether the session's terminal has stopped waiting since the prompt
// came. Its status is written late: what it says is only counted if it began after the
// prompt came, and if it is not waiting then, only when it has had the time to.
func (it *item) leftWaiting(now session) bool {
	if now.Status == "" || it.held { // while a prompt is held its terminal is busy
		return false
	}
	stamp := time.UnixMilli(now.Stamp)
	if now.Status == "waiting" {
		it.waited = it.waited || !stamp.Before(it.since)
		return false
	}
	if it.waited {
		return true
	}
	return stamp.After(it.since.Add(statusWithin))
}

// answer gives the user's reply to the hook and watches whether it counted.
func (it *item) answer(ctx context.Context, tick <-chan time.Time) {
	reply, err := it.call.Reply()
	if err != nil {
		return
	}
	it.prints = it.asked.answer(&it.req, reply)
	if it.conn.Print(it.prints) != nil || it.prints == "" {
		it.call.Delivered(ask.NotTaken)
		return
	}
	if it.held {
		it.call.Delivered(ask.Delivered) // its terminal shows nothing that could have answered
		return
	}
	late := time.After(takenWithin)
	for {
		select {
		case <-ctx.Done():
			it.call.Delivered(ask.NotTaken)
			return
		case <-late:
			it.call.Delivered(ask.NotTaken)
			return
		case <-tick:
		}
		if it.taken() {
			it.call.Delivered(ask.Delivered)
			return
		}
	}
}

// taken reports whether the session has gone on.
func (it *item) taken() bool {
	if it.log != nil {
		it.log.read()
		if it.log.outcome() != "" {
			return true
		}
	}
	now, ok := readSession(it.session.config, it.session.PID)
	return ok && now.ID == it.session.ID && now.Status != "" && now.Status != "waiting"
}

// transcriptOf returns the path of the file in which the calls of a session, or of one of
// its sub-agents, are recorded.
func transcriptOf(path, agent string) string {
	if agent != "" && filepath.Base(agent) == agent {
		path = filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
	}
	return path
}
