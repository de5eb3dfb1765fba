package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// open is a request of which it is not known yet what became of it.
type open struct {
	*approvals.Item
	link   *link
	thread *thread
	asked  *asked
	id     json.RawMessage // of the request, on this connection
	item   string          // whose end tells what became of it; "" if none does

	// The link's lock guards what follows.
	ended   time.Time // when Codex no longer waited: it has an answer, or has given up
	why     string    // nothing more is heard of it
	status  string    // with which the item has ended
	claimed bool      // the user's answer is the one that counts
	sent    bool
	allow   bool  // what was sent
	unnoted bool  // without the note that belongs to it
	worked  *bool // the turn went on with the item, which had not ended in time
}

// settle notes that Codex no longer waits. Who has answered is not said.
func (o *open) settle() {
	o.ended = time.Now()
	o.Poke()
}

// withdraw notes that nothing more is heard of a prompt.
func (o *open) withdraw(why string) {
	o.why = why
	o.Poke()
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
		recovery.Go("Codex subscription", func() { l.join(t) })
	case t.sub == joined && !wants && len(t.open) == 0 && t.linger == nil:
		t.linger = time.AfterFunc(l.a.opt.Linger, func() {
			defer recovery.Recover("Codex subscription")
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
	recovery.Go("Codex subscription", func() {
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
	in := around{
		Home: l.a.opt.Home, Codex: l.home, Folder: t.info.Cwd, OnceOnly: l.a.opt.Rules.Now().OnceOnly,
		Changes: func(item string) []change { return t.changes[item] },
	}
	if folder, id := t.info.Cwd, t.info.ID; r == t && t.subagent() == "" && slices.Contains([]string{"on-request", "on-failure", "untrusted"}, t.mode) {
		in.Runs = func(shell string, programs []string) string { return l.runs(id, folder, shell, programs) }
	}
	q := read(m, in)
	q.req.Prompt.Subagent = l.a.twins.Name(r.info.ID, t.subagent(), t.info.ID)
	req := approvals.Request(&snapshot.Session{
		Agent: agent, ID: r.info.ID, Version: l.version, PID: l.pid, Folder: t.info.Cwd, Title: r.info.Name, Mode: t.mode, Verified: l.program == agent,
	}, q.req.Prompt)
	req.Peer.Program, req.Questions, req.Local = l.program, q.req.Questions, q.req.Local
	o := &open{Item: approvals.NewItem(req, nil), link: l, thread: t, asked: q, id: m.ID}
	if err := o.Open(l.a.opt.Queue, o); err != nil {
		l.a.opt.Log.Warn("a prompt of Codex stays in its terminal", "session", r.info.ID, "error", err)
		return
	}
	if m.Method == runCommand || m.Method == changeFiles {
		o.item, t.ends[q.ItemID] = q.ItemID, o
	}
	t.open[key] = o
	t.stopLinger()
	recovery.Go("prompt of Codex", func() {
		o.Follow(l.ctx)
		l.forget(o)
	})
	l.report(t)
}

// resolved ends a prompt that has its answer, from wherever, which may be known before the prompt is shown.
func (l *link) resolved(t *thread, id string) {
	t.early = slices.DeleteFunc(t.early, func(m rpc.Message) bool { return string(m.ID) == id })
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
		o.status = item.Status
		o.Poke()
	}
}

// goesOn takes the start of an item: of a command that was denied Codex may tell no end, but it goes on
// to what comes next without having run it. What the user says begins at any time.
func (t *thread) goesOn(raw json.RawMessage) {
	var item struct{ ID, Type string }
	if json.Unmarshal(raw, &item) != nil || item.Type == "userMessage" {
		return
	}
	for id, o := range t.ends {
		if id != item.ID && o.sent && !o.allow && !o.ended.IsZero() && o.worked == nil {
			o.worked = new(bool)
			o.Poke()
		}
	}
}

// Answer implements [approvals.Door]: it takes the user's answer to Codex.
func (o *open) Answer(r ask.Reply) bool {
	l := o.link
	result, note, ok := o.asked.answer(r)
	if !ok || !l.claim(o) {
		return false
	}
	noted := note == "" || l.steer(o.asked, note)
	l.mu.Lock()
	still := o.waits()
	if g, _ := o.Request.Granted(r.Results); still {
		o.sent, o.allow, o.unnoted = true, g.Allow, !noted
	}
	l.mu.Unlock()
	if still {
		l.conn.Say(rpc.Message{ID: o.id, Result: result})
	}
	return true
}

// recordFor is for how long it is worth knowing how an item ends.
const recordFor = 5 * time.Minute

// Look implements [approvals.Door]: it tells what Codex has said of the prompt.
func (o *open) Look() approvals.Fate {
	l := o.link
	l.mu.Lock()
	defer l.mu.Unlock()
	lost := l.ctx.Err() != nil
	switch {
	case o.claimed && !o.sent && !o.waits():
		return approvals.Fate{Is: approvals.Gone, How: "it was no longer asked", Last: true}
	case o.why != "":
		return approvals.Fate{Is: approvals.Left, How: o.why, Last: true}
	case o.ended.IsZero() && lost:
		return approvals.Fate{Is: approvals.Left, How: connectionLost, Last: true}
	case o.ended.IsZero():
		return approvals.Fate{}
	case o.unnoted:
		o.unnoted = false
		l.a.opt.Queue.Notice("Codex was told your denial, but not your message")
	}
	fate := o.unexplained(time.Since(o.ended), lost)
	if declined := o.status == "declined"; o.status != "" && (!o.sent || o.allow == declined) {
		fate = approvals.Fate{Is: approvals.Elsewhere, How: elsewhere(declined), Last: true}
	} else if o.sent && (o.item == "" || o.status != "") {
		fate = approvals.Fate{Is: approvals.Taken, Last: true}
	}
	return fate
}

// unexplained is what can be said of a prompt that Codex has not waited for so long, while its
// item does not tell. Of a denial it may tell nothing until the model says something, which takes as
// long as it takes: Codex has closed the prompt after it, which is enough. Another client may have been
// faster with another answer; how the item ends says so.
func (o *open) unexplained(ago time.Duration, lost bool) approvals.Fate {
	f := approvals.Fate{Last: lost || ago >= o.link.a.opt.Confirm+recordFor, Again: recordFor}
	if !o.sent {
		f.Is, f.How, f.Last = approvals.Gone, "it is no longer asked", f.Last || o.item == "" && ago >= o.link.a.opt.Confirm
	}
	if o.worked == nil && ago < o.link.a.opt.Confirm && !lost {
		f.Again = o.link.a.opt.Confirm - ago
		return f
	}
	if o.worked == nil {
		works := !o.link.over && o.thread.status.Type == "active" // maybe to the next prompt
		o.worked = &works
	}
	switch {
	case o.sent && (*o.worked || !o.allow):
		f.Is = approvals.Taken
	case !o.sent && *o.worked:
		f.Is, f.How = approvals.Elsewhere, "answered elsewhere"
	}
	return f
}

func elsewhere(declined bool) string {
	if declined {
		return "answered elsewhere: denied"
	}
	return "answered elsewhere: allowed"
}

// forget stops to follow the item of a prompt.
func (l *link) forget(o *open) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o.thread.ends[o.item] == o {
		delete(o.thread.ends, o.item)
	}
}

// waits reports whether Codex waits for an answer.
func (o *open) waits() bool { return o.ended.IsZero() && o.why == "" }

// claim makes the user's answer the one that counts; false if Codex no longer waits.
func (l *link) claim(o *open) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.claimed = o.waits()
	return o.claimed
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
		"input": input(note),
	}, steerWithin)
	return err == nil
}
