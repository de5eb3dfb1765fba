package ask

import (
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// known finds the open request that req repeats: by its key, or else by the same
// question from the same asker. The same question from another agent is a separate
// request while the first agent may still fetch its answer.
func (q *Queue) known(req *Request, print string) *item {
	key := ownedKey{req.ResumeKey, req.Owner}
	asks := req.asks()
	for _, it := range q.items {
		if key.Key != "" && it.asks == asks && it.opens(key) {
			return it
		}
	}
	for _, it := range q.items {
		if it.absent != Present && it.print == print && !it.belongsToAnother(req) {
			return it
		}
	}
	return nil
}

// opens reports whether the request may be resumed under a key.
func (it *item) opens(key ownedKey) bool {
	return it.req.ResumeKey == key.Key && it.req.Owner == key.Owner || slices.Contains(it.keys, key)
}

// belongsToAnother reports whether an asker other than that of req may still fetch
// the answer.
func (it *item) belongsToAnother(req *Request) bool {
	peer, key := it.req.Peer, it.req.peerKey()
	switch {
	case key != "" && key == req.peerKey(), it.peerLeft:
		return false
	case it.absent == Restarted && it.req.ResumeKey == "":
		return false // it can come back only by asking again
	case it.loaded && it.absent != Restarted && req.ofProcess(peer):
		return false // a call interrupted by a restart comes back with its key
	case it.loaded && peer.Agent != 0:
		return pid.Alive(peer.Agent)
	case peer.Key != "" && !it.loaded:
		return true // its connection is open
	}
	return pid.Alive(peer.PID)
}

// attach connects the asker of req to an open request. Its earlier call with the same
// key ends; calls with other keys keep waiting.
func (q *Queue) attach(it *item, req Request) {
	key := ownedKey{req.ResumeKey, req.Owner}
	it.calls = slices.DeleteFunc(it.calls, func(c *Call) bool {
		if c.key == key {
			c.finish(Reply{}, ErrSuperseded)
		}
		return c.key == key
	})
	if it.absent == Gone || it.absent == Restarted {
		it.askedAgain()
	}
	if old := (ownedKey{it.req.ResumeKey, it.req.Owner}); old.Key != "" && old != key && !slices.Contains(it.keys, old) {
		it.keys = append(it.keys, old)
	}
	it.req.ResumeKey, it.req.Owner = req.ResumeKey, req.Owner
	it.req.From, it.req.Peer, it.req.Plain = req.From, req.Peer, req.Plain
	it.print = it.req.Fingerprint()
	q.back(it)
	it.setTimes(req, time.Now())
}

// wait adds a call that waits for the request.
func (q *Queue) wait(it *item, req Request) *Call {
	c := &Call{q: q, id: it.id, key: ownedKey{req.ResumeKey, req.Owner}, done: make(chan struct{}), released: make(chan struct{})}
	it.calls = append(it.calls, c)
	q.changed(true)
	return c
}

// back records that someone is waiting for the request again.
func (q *Queue) back(it *item) {
	if it.absent == Gone { // it was recorded as withdrawn
		q.history.forget(it.id)
	}
	it.absent, it.why, it.left, it.peerLeft, it.loaded = Present, "", time.Time{}, false, false
}

func (it *item) askedAgain() {
	it.note = "asked again"
	if !it.draft.Empty() {
		it.note = "asked again; your draft is still here"
	}
}

// Left reports that the connection or process identified by a peer's key has ended,
// so nobody waits for its requests on its behalf.
func (q *Queue) Left(key string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if key == "" {
		return
	}
	for i := range q.parked {
		q.parked[i].Left = q.parked[i].Left || q.parked[i].Request.peerKey() == key
	}
	for _, it := range slices.Clone(q.items) {
		if it.req.peerKey() == key && len(it.calls) == 0 && it.absent != Present {
			it.peerLeft = true
			q.mergeTwin(it)
		}
	}
	q.changed(true)
}

// mergeTwin merges two requests into one. Twins arise when an agent's server is killed
// and its successor asks again before that is noticed, or when an agent asks again
// instead of fetching the answer.
func (q *Queue) mergeTwin(it *item) {
	agent, key := it.req.Peer.Agent, it.req.peerKey()
	i := slices.IndexFunc(q.items, func(o *item) bool {
		return o != it && o.print == it.print && agent != 0 && o.req.Peer.Agent == agent && o.req.peerKey() != key && len(o.calls) > 0 && o.id > it.id && o.state != Sending
	})
	if i < 0 {
		return
	}
	twin := q.items[i]
	switch {
	case twin.draft.Empty() && twin.id != q.onScreen:
		it.askedAgain()
		q.attach(it, twin.req)
		it.deadline, it.client = twin.deadline, twin.client
		for _, c := range twin.calls {
			c.id = it.id
		}
		it.calls, twin.calls = twin.calls, nil
		q.remove(twin)
	case it.draft.Empty() && it.id != q.onScreen:
		q.remove(it)
	}
}

// wanted reports whether an asker other than that of req may still fetch the answer.
func (p *parked) wanted(req *Request) bool {
	peer, key := p.Request.Peer, p.Request.peerKey()
	switch {
	case p.Left, key != "" && key == req.peerKey(), p.loaded && req.ofProcess(peer):
		return false
	case peer.Key != "" && peer.Agent == 0:
		return true
	case peer.Key != "":
		return pid.Alive(peer.Agent)
	}
	return pid.Alive(peer.PID)
}

// recall restores what the user entered or answered when the same request was open
// before its asker left.
func (q *Queue) recall(it *item) {
	same := func(p parked) bool {
		return it.req.ResumeKey != "" && it.req.ResumeKey == p.Request.ResumeKey && it.req.Owner == p.Request.Owner ||
			p.Print == it.print && !p.wanted(&it.req)
	}
	for i, p := range q.parked {
		if !same(p) || len(p.Request.Questions) != len(it.req.Questions) {
			continue
		}
		q.parked = slices.Delete(q.parked, i, i+1)
		it.draft, it.parkedAt = p.Draft.fit(it.req.Questions), p.At
		it.note = "you answered this when nobody was waiting; check it and send"
		if q.opt.AutoDeliverParked && time.Since(p.At) < freshParked && p.Reply.Status != Declined {
			q.finish(it, p.Reply)
		}
		return
	}
	subject := ""
	if p := it.req.permission(); p != nil && p.Refused == nil {
		subject = it.req.subject()
	}
	for i, d := range q.drafts {
		if d.Print == it.print || d.Print == subject {
			q.drafts = slices.Delete(q.drafts, i, i+1)
			it.draft = d.Draft.fit(it.req.Questions)
			it.note = "your draft is still here"
			if d.Note {
				it.note = "your last note on this is still here"
			}
			return
		}
	}
}
