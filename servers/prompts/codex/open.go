package codex

import (
	"cmp"
	"encoding/json"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// open is a request that waits for the user.
type open struct {
	asked *asked
	id    json.RawMessage // of the request, on this connection
	item  string          // whose end tells what became of it; "" if none does
	call  *ask.Call
	ended chan struct{} // closed when Codex no longer waits
	done  chan string   // gets the status with which the item has ended

	answered  bool   // the answer is on its way; the link's lock guards it
	confirmed bool   // Codex has an answer, or has given up, when ended is closed
	why       string // it was withdrawn, when ended is closed
}

// settle ends a prompt that Codex no longer waits for. Who has answered it is not said.
func (o *open) settle() {
	o.confirmed = true
	if !o.answered {
		o.call.Gone("it is no longer asked")
	}
	close(o.ended)
}

// withdraw ends a prompt of which nothing more is heard.
func (o *open) withdraw(why string) {
	if o.why = why; !o.answered {
		o.call.Leave(why)
	}
	close(o.ended)
}

// subscribe joins a thread while it waits for the user, and leaves it some time after.
func (l *link) subscribe(t *thread) {
	wants := t.known && !t.info.Ephemeral && !t.shunned && t.status.waits()
	if wants {
		t.stopLinger()
	}
	switch {
	case t.sub == none && wants:
		t.sub = joining
		safe.Go("Codex subscription", func() { l.join(t) })
	case t.sub == joined && !wants && len(t.open) == 0 && t.linger == nil:
		t.linger = time.AfterFunc(l.a.opt.Linger, func() {
			defer safe.Recover("Codex subscription")
			l.mu.Lock()
			defer l.mu.Unlock()
			if t.linger != nil && t.sub == joined {
				l.leave(t)
			}
		})
	}
}

func (t *thread) stopLinger() {
	if t.linger != nil {
		t.linger.Stop()
		t.linger = nil
	}
}

// join subscribes to a thread. Codex then sends again what is open; the edits that it asks
// about are among the items of the turn.
func (l *link) join(t *thread) {
	raw, err := l.call("thread/resume", map[string]any{
		"threadId": t.info.ID, "excludeTurns": true,
		"initialTurnsPage": map[string]any{"limit": 1, "sortDirection": "desc", "itemsView": "full"},
	}, answerWithin)
	var answer struct {
		ApprovalPolicy json.RawMessage `json:"approvalPolicy"`
		Page           struct {
			Data []struct {
				Items []json.RawMessage `json:"items"`
			} `json:"data"`
		} `json:"initialTurnsPage"`
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	early := t.early
	t.early = nil
	if err != nil || json.Unmarshal(raw, &answer) != nil {
		t.sub, t.shunned = none, true
		l.a.opt.Log.Warn("listen to a session of Codex", "session", t.info.ID, "error", cmp.Or(err, errFormat))
		return
	}
	t.sub, t.mode = joined, cmp.Or(modeOf(answer.ApprovalPolicy), t.mode)
	for _, turn := range answer.Page.Data {
		for _, item := range turn.Items {
			if id, changes := changesOf(item); changes != nil {
				t.changes[id] = changes
			}
		}
	}
	for _, m := range early {
		l.open(t, m)
	}
	l.subscribe(t)
	l.report(t)
}

// leave ends the subscription to a thread.
func (l *link) leave(t *thread) {
	t.stopLinger()
	t.sub, t.changes = leaving, map[string][]change{}
	safe.Go("Codex subscription", func() {
		_, err := l.call("thread/unsubscribe", map[string]any{"threadId": t.info.ID}, answerWithin)
		if err != nil && l.ctx.Err() == nil {
			l.a.opt.Log.Warn("leave a session of Codex", "session", t.info.ID, "error", err)
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.over {
			t.sub = none
			l.subscribe(t)
		}
	})
}

// requested takes a request of the daemon's. What is not for the user is left to other
// clients, without even an error, which would be an answer.
func (l *link) requested(m rpc.Message) {
	id, _ := idsOf(m.Params)
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.threads[id]
	switch {
	case l.over || t == nil:
	case !isPrompt(m.Method):
		l.shun(t)
	case t.sub == joining:
		t.early = append(t.early, m)
	case t.sub == joined:
		l.open(t, m)
	}
}

// shun leaves a thread that asks its clients for what the deck cannot do.
func (l *link) shun(t *thread) {
	t.shunned = true
	for id, o := range t.open {
		delete(t.open, id)
		o.withdraw("answer it in its terminal")
	}
	if t.sub == joined {
		l.leave(t)
	}
}

// open puts a request to the user.
func (l *link) open(t *thread, m rpc.Message) {
	key := string(m.ID)
	if t.open[key] != nil || l.over || t.shunned {
		return
	}
	r := l.root(t)
	if !l.pace.Admit(r.info.ID, r.info.Cwd, 0, l.a.now()) {
		return
	}
	q := read(m, around{
		Home: l.a.opt.Home, Codex: l.home, Folder: t.info.Cwd, OnceOnly: l.a.opt.Rules.Now().OnceOnly,
		Changes: func(item string) []change { return t.changes[item] },
	})
	p := q.req.Prompt
	p.Session, p.Subagent, p.Mode, p.Unconfirmed = r.info.ID, l.a.twins.Name(r.info.ID, t.subagent(), t.info.ID), t.mode, l.program != agent
	q.req.From = ask.From{
		Client: agent, ClientVersion: l.version, Agent: p.Subagent, Session: r.info.ID, Cwd: t.info.Cwd, Title: r.info.Name,
	}
	q.req.Peer = ask.Peer{PID: l.pid, Program: l.program, Cwd: t.info.Cwd, Key: agent + " " + r.info.ID, Agent: l.pid}
	call, err := l.a.opt.Queue.Open(q.req)
	if err != nil {
		l.a.opt.Log.Warn("a prompt of Codex stays in its terminal", "session", r.info.ID, "error", err)
		return
	}
	o := &open{asked: q, id: m.ID, call: call, ended: make(chan struct{}), done: make(chan string, 1)}
	if m.Method == runCommand || m.Method == changeFiles {
		o.item, t.ends[q.ItemID] = q.ItemID, o
	}
	t.open[key] = o
	t.stopLinger()
	safe.Go("prompt of Codex", func() { l.deliver(t, o) })
	l.report(t)
}

// resolved ends a prompt that has its answer, from wherever.
func (l *link) resolved(t *thread, id string) {
	o := t.open[id]
	if o == nil {
		return
	}
	delete(t.open, id)
	o.settle()
	l.subscribe(t)
	l.report(t)
}

// completed takes the end of an item.
func (t *thread) completed(raw json.RawMessage) {
	var item struct{ ID, Status string }
	if json.Unmarshal(raw, &item) != nil {
		return
	}
	if o := t.ends[item.ID]; o != nil {
		delete(t.ends, item.ID)
		o.done <- item.Status
	}
}

// deliver waits for the user's answer, takes it to Codex, and sees what becomes of it.
func (l *link) deliver(t *thread, o *open) {
	defer l.forget(t, o)
	select {
	case <-o.call.Done():
	case <-o.ended:
		if o.confirmed {
			l.elsewhere(t, o)
		}
		return
	}
	reply, err := o.call.Reply()
	if err != nil {
		if <-o.ended; o.confirmed { // whoever has withdrawn it is about to say so
			l.elsewhere(t, o)
		}
		return
	}
	result, note, ok := o.asked.answer(reply)
	if !ok || !l.claim(o) {
		o.call.Delivered(ask.NotTaken)
		return
	}
	noted := note == "" || l.steer(o.asked, note)
	select {
	case <-o.ended: // meanwhile
		o.call.Gone("it was no longer asked")
		return
	default:
	}
	l.conn.Say(rpc.Message{ID: o.id, Result: result})
	select {
	case <-o.ended:
	case <-l.conn.Done():
		<-o.ended
	}
	if !o.confirmed {
		o.call.Gone(o.why)
		return
	}
	if !noted {
		l.a.opt.Queue.Notice("Codex was told your denial, but not your note")
	}
	g, _ := o.asked.req.Granted(reply.Results)
	l.taken(t, o, g.Allow)
}

// taken tells what became of an answer that Codex no longer waits for: another client may
// have been faster with another one. What was denied ends at once.
func (l *link) taken(t *thread, o *open, allow bool) {
	if o.item == "" {
		o.call.Delivered(ask.Delivered) // nothing tells more
		return
	}
	declined, known := l.declined(o, l.a.opt.Confirm)
	if !known {
		if l.works(t) == allow {
			o.call.Delivered(ask.Delivered)
		}
		if declined, known = l.declined(o, recordFor); !known {
			return
		}
	}
	if allow != declined {
		o.call.Delivered(ask.Delivered)
		return
	}
	o.call.Settled(elsewhere(declined))
}

// elsewhere tells what became of a prompt that the deck has not answered.
func (l *link) elsewhere(t *thread, o *open) {
	declined, known := l.declined(o, l.a.opt.Confirm)
	if !known && l.works(t) {
		o.call.Settled("answered elsewhere")
	}
	if !known && o.item != "" {
		declined, known = l.declined(o, recordFor)
	}
	if known {
		o.call.Settled(elsewhere(declined))
	}
}

func elsewhere(declined bool) string {
	if declined {
		return "answered elsewhere: denied"
	}
	return "answered elsewhere: allowed"
}

// recordFor is for how long it is worth knowing how an item ends.
const recordFor = 5 * time.Minute

// declined waits for the end of an item, and reports whether it was declined.
func (l *link) declined(o *open, within time.Duration) (declined, known bool) {
	late := time.NewTimer(within)
	defer late.Stop()
	select {
	case status := <-o.done:
		return status == "declined", true
	case <-late.C:
	case <-l.conn.Done():
	}
	return false, false
}

// works reports whether the turn of a thread goes on, maybe to the next prompt.
func (l *link) works(t *thread) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.over && t.status.Type == "active"
}

// forget stops to follow the item of a prompt.
func (l *link) forget(t *thread, o *open) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.ends[o.item] == o {
		delete(t.ends, o.item)
	}
}

// claim makes the user's answer the one that counts; false if Codex no longer waits.
func (l *link) claim(o *open) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-o.ended:
		return false
	default:
		o.answered = true
		return true
	}
}

// steerWithin is how long a denial waits for its note to arrive.
const steerWithin = time.Second

// steer sends a note, which the model reads with what comes of the request. It reports
// whether Codex has it.
func (l *link) steer(q *asked, note string) bool {
	if q.TurnID == "" {
		return false
	}
	_, err := l.call("turn/steer", map[string]any{
		"threadId": q.ThreadID, "expectedTurnId": q.TurnID,
		"input": []any{map[string]any{"type": "text", "text": note, "text_elements": []any{}}},
	}, steerWithin)
	return err == nil
}
