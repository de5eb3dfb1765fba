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
	watchEvery   = 50 * time.Millisecond  // the same, while it has just been answered
	watchClosely = 3 * time.Second
	watchSlowly  = 2 * time.Second
	watchFor     = 5 * time.Minute
	recordedIn   = time.Second // a denial in the terminal is in the transcript
	unrecorded   = recordedIn / 2
	confirmIn    = 2 * time.Second        // its call must be in the transcript
	statusWithin = 5 * time.Second        // its terminal must be waiting, if it still asks
	startWithin  = 250 * time.Millisecond // its hook connects, whose terminal may wait sooner
)

// Why nobody asks any more.
const (
	agentEnded   = "its agent has ended"
	sessionEnded = "its session has ended"
)

// settlement is how a prompt was settled by what an event tells: how it was answered
// elsewhere, or why nobody asks any more.
type settlement struct {
	how, why string
	ran      bool // the tool, which somebody has allowed
}

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

	once       sync.Once
	settled    chan struct{}
	settlement      // set before settled is closed
	ended      bool // it no longer waits for the user; guarded by the adapter

	held   bool      // the terminal does not ask
	since  time.Time // when the terminal began to ask
	waited bool      // the terminal was seen waiting
	idle   time.Time // since when the terminal is seen to do nothing

	printed time.Time // when the hook was given the answer; zero: it was not
	allows  bool      // the answer

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
func (it *item) settle(s settlement) {
	it.once.Do(func() {
		it.settlement = s
		close(it.settled)
	})
}

// conclude tells the queue how the prompt was settled.
func (it *item) conclude() {
	switch s := it.settlement; {
	case s.ran && it.allows && !it.printed.IsZero():
		it.call.Delivered(ask.Delivered)
	case s.how != "":
		it.call.Settled(s.how)
	default:
		it.gone(s.why)
	}
}

// end says that the prompt no longer waits for the user, and releases what joined it.
func (it *item) end() {
	it.a.mu.Lock()
	it.ended = true
	it.a.mu.Unlock()
	close(it.over)
	it.a.wake()
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

// follow waits for the item's end, answers its hook, and then for what becomes of it.
func (it *item) follow(ctx context.Context) {
	it.wait(ctx)
	if it.printed.IsZero() {
		_ = it.conn.Print("") // an agent that has gone needs nothing
	}
	it.end()
	it.watch(ctx)
}

// wait waits until the prompt is answered, or nobody asks any more.
func (it *item) wait(ctx context.Context) {
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
			it.answer()
			return
		case <-gone:
			it.gone("")
			it.answer() // if it was meanwhile
			return
		case <-it.settled:
			it.conclude()
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

// gone ends a prompt that nobody asks any more, or whose hook has ended: its terminal ends it
// when it is denied there, and records that, but something else may have.
func (it *item) gone(why string) {
	deadline := time.Now().Add(unrecorded)
	for {
		switch v := it.recorded(); {
		case v != open:
			it.call.Settled(v.elsewhere())
			return
		case !it.session.alive():
			it.call.Gone(agentEnded)
			return
		case time.Now().After(deadline):
			it.call.Gone(why)
			return
		}
		select {
		case <-time.After(watchEvery):
		case <-it.call.Done(): // the user answers what nobody hears any more
			return
		}
	}
}

// recorded reads what the transcript says of the prompt.
func (it *item) recorded() verdict {
	if it.log == nil {
		return open
	}
	it.log.read()
	it.log.match(it)
	return it.log.verdict()
}

// look finds out whether the prompt was answered elsewhere.
func (it *item) look() {
	now, ok := it.now()
	switch {
	case !it.session.alive():
		it.settle(settlement{why: agentEnded})
		return
	case ok && now.ID != it.session.ID:
		it.settle(settlement{why: sessionEnded}) // the process goes on with another one
		return
	}
	if v := it.recorded(); v != open {
		it.settle(settlement{how: v.elsewhere()})
		return
	}
	if it.log != nil {
		if late := time.Since(it.arrived) >= confirmIn; late && !it.log.matched() && !it.log.doubted && it.asked.unreadable == "" {
			it.log.doubted = true
			it.call.Doubted()
		}
	}
	if !ok || !it.leftWaiting(now) {
		return
	}
	if now.Status != "idle" {
		it.settle(settlement{how: byTerminal})
		return
	}
	if it.idle.IsZero() { // it was denied, and that is recorded soon, or its turn was ended
		it.idle = time.Now()
	}
	if time.Since(it.idle) >= recordedIn {
		it.settle(settlement{why: "its terminal no longer asks"})
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

// answer gives the user's reply to the hook.
func (it *item) answer() {
	reply, err := it.call.Reply()
	if err != nil {
		return
	}
	it.prints = it.asked.answer(&it.req, reply)
	it.allows = it.asked.allows(&it.req, reply)
	it.printed = time.Now()
	if it.conn.Print(it.prints) != nil || it.prints == "" {
		it.printed = time.Time{}
		it.call.Delivered(ask.NotTaken)
	}
}

// watch follows what becomes of a prompt that no longer waits for the user, until the agent's
// own record tells or nothing more will.
func (it *item) watch(ctx context.Context) {
	last := time.NewTimer(watchFor)
	defer last.Stop()
	every := time.NewTicker(watchEvery)
	defer every.Stop()
	slow := time.NewTimer(watchClosely)
	defer slow.Stop()
	settled := it.settled
	for {
		if it.concluded() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-last.C:
			return
		case <-slow.C:
			every.Reset(watchSlowly)
		case <-it.changed:
		case <-every.C:
		case <-settled:
			if settled = nil; it.ran && it.req.Prompt.Kind != ask.OwnQuestion { // a question has several answers
				it.conclude()
				return
			}
		}
	}
}

// concluded reports whether all is known that will be, and says it.
func (it *item) concluded() bool {
	switch v := it.recorded(); {
	case v == open:
	case it.takes(v):
		it.call.Delivered(ask.Delivered)
		return true
	default:
		it.call.Settled(v.elsewhere())
		return true
	}
	now, ok := readSession(it.session.config, it.session.PID)
	switch {
	case !it.session.alive():
		it.call.Gone(agentEnded)
		return true
	case ok && now.ID != it.session.ID:
		it.call.Gone(sessionEnded)
		return true
	}
	if !it.printed.IsZero() && ok && it.wentOn(now) {
		it.call.Delivered(ask.Delivered)
		return it.log == nil || !it.log.matched() // what is recorded later counts more
	}
	return false
}

// takes reports whether a verdict is what the user answered in the deck.
func (it *item) takes(v verdict) bool {
	switch {
	case it.printed.IsZero():
		return false
	case it.allows:
		return v == allowedByHook
	}
	return v == deniedByHook
}

// wentOn reports whether the session works on since the answer was given. A denial is
// recorded at once where there are records, and a tool that was allowed only when it has
// ended: that it works is counted once a denial in the terminal would have been recorded.
func (it *item) wentOn(now session) bool {
	if now.Status != "busy" && now.Status != "shell" || !it.allows && it.log != nil && it.log.matched() {
		return false
	}
	began := it.printed
	if stamp := time.UnixMilli(now.Stamp); !it.held {
		if !it.waited && stamp.Before(it.printed) || it.waited && stamp.Before(it.since) {
			return false
		}
		if stamp.After(began) {
			began = stamp
		}
	}
	return time.Since(began) >= recordedIn
}

// transcriptOf returns the path of the file in which the calls of a session, or of one of
// its sub-agents, are recorded.
func transcriptOf(path, agent string) string {
	if agent != "" && filepath.Base(agent) == agent {
		path = filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-"+agent+".jsonl")
	}
	return path
}
