package claude

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
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
	claimIn      = 2 * watchSlowly        // a prompt that was answered finds its call
	confirmIn    = 2 * time.Second        // its call must be in the transcript
	statusWithin = 5 * time.Second        // its terminal must be waiting, if it still asks
	startWithin  = 250 * time.Millisecond // its hook begins, whose terminal may wait sooner
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

// item is one prompt, from the hook that brings it until it is known what became of it.
type item struct {
	*approvals.Item
	a       *Adapter
	session session
	conn    *hook.Conn
	asked   asked
	agent   string // ID of the sub-agent that asks; "" is the session itself
	same    string // equal for prompts that two hooks of one event bring
	arrived time.Time
	log     *transcript

	claimed string      // call in the transcript that it is about; guarded by the adapter
	told    *settlement // guarded by the adapter
	ended   time.Time   // when it no longer waited for the user, zero before; guarded by the adapter

	held   bool      // the terminal does not ask
	let    bool      // the hook has ended without an answer: the terminal asks alone
	since  time.Time // when the terminal began to ask
	waited bool      // the terminal was seen waiting
	idle   time.Time // since when the terminal is seen to do nothing

	gone    time.Time // since when nobody seems to ask; zero: somebody does
	why     string    // and why
	printed time.Time // when the hook was given the answer; zero: it was not
	allows  bool      // the answer
	closed  time.Time // when the prompt no longer waited for the user

	unwatched bool // nothing tells whether the terminal was answered

	over   chan struct{} // closed when prints is set: joined hooks print the same
	prints string
}

func (a *Adapter) newItem(s session, c *hook.Conn, m hook.Message) *item {
	it := &item{a: a, session: s, conn: c, agent: m.Payload.Str("agent_id"), arrived: c.Arrived, over: make(chan struct{})}
	var req ask.Request
	it.asked, req = a.request(s, m)
	it.Item = approvals.NewItem(req, a.opt.Rules)
	began := it.arrived
	if at := a.began(c.PID); !at.IsZero() && at.Before(began) { // on a busy machine it connects late
		began = at
	}
	it.held, it.since = req.Prompt.Door == ask.Held, began.Add(-startWithin)
	h := sha256.Sum256([]byte(strings.Join([]string{m.Event, m.Payload.Str("prompt_id"), m.Payload.Str("agent_id"), m.Payload.Str("tool_name"), string(m.Payload.Some("tool_input")), string(m.Payload.Some("requested_schema"))}, "\x00")))
	it.same = hex.EncodeToString(h[:])
	if m.Event == "PermissionRequest" {
		it.log = openTranscript(s, m.Payload.Str("transcript_path"), m.Payload.Str("agent_id"))
	}
	return it
}

// settle notes what an event tells of the prompt. The adapter is locked.
func (it *item) settle(s settlement) {
	if it.told == nil {
		it.told = &s
		it.Poke()
	}
}

// settlement returns what an event has told of the prompt; nil: nothing.
func (it *item) settlement() *settlement {
	it.a.mu.Lock()
	defer it.a.mu.Unlock()
	return it.told
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

// Answer implements [approvals.Door]: it gives the user's reply to the hook.
func (it *item) Answer(r ask.Reply) bool {
	if !it.gone.IsZero() {
		return false
	}
	it.prints = it.asked.answer(&it.Request, r)
	it.allows = it.asked.allows(it.prints)
	if it.prints == "" || it.conn.Print(it.prints) != nil {
		return false
	}
	it.printed = time.Now()
	return true
}

// LetGo implements [approvals.Holder].
func (it *item) LetGo() {
	_ = it.conn.Print("") // an agent that has gone needs nothing
	it.let, it.held, it.since = true, false, time.Now()
}

// Gone implements [approvals.Holder].
func (it *item) Gone() <-chan struct{} { return it.conn.Gone() }

// Over implements [approvals.Holder].
func (it *item) Over() {
	if it.printed.IsZero() {
		_ = it.conn.Print("") // as above
	}
	it.a.mu.Lock()
	it.ended = time.Now()
	it.a.mu.Unlock()
	it.closed = time.Now()
	close(it.over)
	it.a.wake()
}

func takenElsewhere(how string) approvals.Fate {
	return approvals.Fate{Is: approvals.Elsewhere, How: how}
}

// Look implements [approvals.Door].
func (it *item) Look() approvals.Fate {
	if !it.closed.IsZero() {
		return it.became()
	}
	fate := approvals.Fate{Again: lookEvery}
	if it.gone.IsZero() {
		fate = it.seen()
	}
	if it.gone.IsZero() {
		return fate
	}
	// Its terminal ends it when it is denied there, and records that, but something else may have.
	switch v := it.recorded(); {
	case v != open:
		return takenElsewhere(v.elsewhere())
	case !it.session.alive():
		return approvals.Fate{Is: approvals.Gone, How: agentEnded}
	case time.Since(it.gone) > unrecorded:
		return approvals.Fate{Is: approvals.Gone, How: it.why}
	}
	return approvals.Fate{Again: watchEvery}
}

// leaves notes that nobody asks any more, it seems.
func (it *item) leaves(why string) approvals.Fate {
	it.gone, it.why = time.Now(), why
	return approvals.Fate{}
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

// seen finds out whether a prompt was answered elsewhere that waits for the user.
func (it *item) seen() approvals.Fate {
	if told := it.settlement(); told != nil {
		if told.how != "" {
			return takenElsewhere(told.how)
		}
		return it.leaves(told.why)
	}
	select {
	case <-it.conn.Gone():
		if !it.let {
			return it.leaves("")
		}
	default:
	}
	now, ok := it.now()
	switch {
	case !it.session.alive():
		return it.leaves(agentEnded)
	case ok && now.ID != it.session.ID:
		return it.leaves(sessionEnded) // the process goes on with another one
	}
	if v := it.recorded(); v != open {
		return takenElsewhere(v.elsewhere())
	}
	if it.log != nil {
		if late := time.Since(it.arrived) >= confirmIn; late && !it.log.matched() && !it.log.doubted && !it.Request.InTerminal() {
			it.log.doubted = true
			it.Call().Doubted()
		}
	}
	if !ok || !it.leftWaiting(now) {
		return approvals.Fate{Again: lookEvery}
	}
	if now.Status != "idle" {
		return takenElsewhere(byTerminal)
	}
	if it.idle.IsZero() { // it was denied, and that is recorded soon, or its turn was ended
		it.idle = time.Now()
	}
	if time.Since(it.idle) >= recordedIn {
		return it.leaves("its terminal no longer asks")
	}
	return approvals.Fate{Again: lookEvery}
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
	if it.waited = it.waited || it.a.waitedSince(it.session.PID, it.since); it.waited {
		return true
	}
	return stamp.After(it.since.Add(statusWithin))
}

// became follows what became of a prompt that no longer waits for the user, until the agent's
// own record tells or nothing more will.
func (it *item) became() approvals.Fate {
	ago := time.Since(it.closed)
	fate := approvals.Fate{Last: ago >= watchFor, Again: watchEvery}
	if ago >= watchClosely {
		fate.Again = watchSlowly
	}
	now, ok := readSession(it.session.config, it.session.PID)
	told := it.settlement()
	switch v := it.recorded(); {
	case v != open && it.takes(v):
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case v != open:
		return approvals.Fate{Is: approvals.Elsewhere, How: v.elsewhere(), Last: true}
	case !it.session.alive():
		return approvals.Fate{Is: approvals.Gone, How: agentEnded, Last: true}
	case ok && now.ID != it.session.ID:
		return approvals.Fate{Is: approvals.Gone, How: sessionEnded, Last: true}
	case !it.printed.IsZero() && ok && it.wentOn(now):
		fate.Is = approvals.Taken
		fate.Last = fate.Last || it.log == nil || !it.log.matched() // what is recorded later counts more
	}
	if told != nil && told.ran && it.Request.Prompt.Kind != ask.OwnQuestion { // a question has several answers
		fate = approvals.Fate{Is: approvals.Elsewhere, How: told.how, Last: true}
		if it.allows && !it.printed.IsZero() {
			fate = approvals.Fate{Is: approvals.Taken, Last: true}
		}
	}
	return fate
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
