package ask

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrGone is returned by the methods for the user if the request is no longer open.
var ErrGone = errors.New("this question is no longer open")

// ErrInTerminal is returned by them if only the agent's terminal can answer the request.
var ErrInTerminal = errors.New("only the agent's terminal can answer this")

// Incomplete is the error of [Queue.Send] for a draft that does not answer all
// questions.
type Incomplete struct {
	Question int // index
	Why      string
}

func (e *Incomplete) Error() string {
	return fmt.Sprintf("question %d: %s", e.Question+1, e.Why)
}

// Show sets the request that is on screen, 0 for none. A request on screen does not
// disappear by itself.
func (q *Queue) Show(id int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.onScreen == id {
		return
	}
	q.onScreen = id
	if it := q.find(id); it != nil && (it.state == Queued || it.state == Snoozed) {
		it.state, it.snooze = Shown, time.Time{}
	}
	q.changed(false)
}

// SetDraft saves what the user has entered. It counts as a key press in the request. It
// does nothing while an answer is held back.
func (q *Queue) SetDraft(id int, d Draft) {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(id)
	if it == nil || it.state == Sending {
		return
	}
	it.set(d.fit(it.req.Questions))
	it.lastKey = time.Now()
	q.changed(true)
}

// answerable returns the open request that the user is about to end. The error is
// [ErrGone] or [ErrInTerminal].
func (q *Queue) answerable(id int) (*item, error) {
	it := q.find(id)
	switch {
	case it == nil:
		return nil, ErrGone
	case it.req.InTerminal():
		return nil, ErrInTerminal
	}
	return it, nil
}

// onlyOnce says why an option is not given that lasts.
const onlyOnce = "the agent's records do not show that it asks this: it can only be allowed once"

// Send answers a request with its draft: at once, or after the hold. The error
// is [ErrGone], [ErrInTerminal] or an [*Incomplete].
func (q *Queue) Send(id int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it, err := q.answerable(id)
	if err != nil {
		return err
	}
	if it.changed {
		return errChanged
	}
	if err := it.asksFirst(); err != nil {
		return err
	}
	if i, why := it.draft.FirstOpen(it.req.Questions); i >= 0 {
		return &Incomplete{Question: i, Why: why}
	}
	if g, ok := it.req.Granted(it.draft.Results(it.req.Questions)); ok && g.Lasts() && it.req.Prompt.Unconfirmed {
		return &Incomplete{Question: 0, Why: onlyOnce}
	}
	if q.holds(it) <= 0 || it.absent == Gone || it.state == Sending {
		q.finish(it, q.answer(it))
		q.changed(true)
		return nil
	}
	it.state, it.sendAt, it.unsent = Sending, time.Now().Add(q.holds(it)), false
	it.draft.Field = NoField
	q.changed(true)
	return nil
}

// holds is how long an answer can be undone. A permission that is given cannot, nor what is
// to be tried again: its agent goes on at once.
func (q *Queue) holds(it *item) time.Duration {
	if g, ok := it.req.Granted(it.draft.Results(it.req.Questions)); ok && (g.Allow || g.Again) {
		return q.opt.AllowHold
	}
	if q.opt.Hold == 0 {
		return defaultHoldFor
	}
	return q.opt.Hold
}

// Undo takes back an answer that is still held: that of request id or, if id is 0, the
// newest. It returns the request's ID, or 0 if there is nothing to undo.
func (q *Queue) Undo(id int) int {
	q.mu.Lock()
	defer q.mu.Unlock()
	var last *item
	for _, it := range q.items {
		if it.state == Sending && (id == 0 || it.id == id) && (last == nil || it.sendAt.After(last.sendAt)) {
			last = it
		}
	}
	if last == nil {
		return 0
	}
	last.state, last.sendAt = Shown, time.Time{}
	last.lastKey = time.Now()
	q.changed(true)
	return last.id
}

// SendHeld sends all answers that are held back.
func (q *Queue) SendHeld() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range slices.Clone(q.items) {
		if it.state == Sending {
			q.finish(it, q.answer(it))
		}
	}
	q.changed(true)
}

// Decline ends a request without an answer.
func (q *Queue) Decline(id int, reason string) error { return Afar{Queue: q}.Decline(id, reason) }

// Decline is [Queue.Decline].
func (e Afar) Decline(id int, reason string) error {
	q := e.Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	it, err := q.answerable(id)
	if err == nil && e.Deck == "" {
		err = it.asksFirst()
	}
	if err != nil {
		return err
	}
	q.finish(it, Reply{Status: Declined, Reason: tidy(reason), After: time.Since(it.arrived), By: e.Deck})
	q.changed(true)
	return nil
}

// SnoozeFor is how long a request is put off where nothing else is said.
func (q *Queue) SnoozeFor() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.snoozeFor()
}

func (q *Queue) snoozeFor() time.Duration {
	if q.opt.Snooze <= 0 {
		return defaultSnooze
	}
	return q.opt.Snooze
}

// Snooze moves a request behind the others for d; 0 is the configured duration.
func (q *Queue) Snooze(id int, d time.Duration) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(id)
	if it == nil || it.state == Sending {
		return ErrGone
	}
	if d <= 0 {
		d = q.snoozeFor()
	}
	q.snoozes++
	it.state, it.snooze, it.snoozeNo = Snoozed, time.Now().Add(d), q.snoozes
	if q.onScreen == id {
		q.onScreen = 0
	}
	q.changed(true)
	return nil
}

// Dismiss removes a request that nobody is waiting for, or an answer that nobody has
// fetched. The draft is kept in case the request comes again.
func (q *Queue) Dismiss(id int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	it := q.find(id)
	if before := len(q.parked); it == nil {
		if q.unpark(id); len(q.parked) < before {
			q.changed(true)
			return nil
		}
	}
	if it == nil || it.absent == Present {
		return ErrGone
	}
	q.keepDraft(it)
	q.remove(it)
	q.changed(true)
	return nil
}

// Answer answers a request with results from outside the interface, without the hold.
// It returns an error if the results are invalid.
func (q *Queue) Answer(id int, results []Result) error { return Afar{Queue: q}.Answer(id, results) }

// Answer is [Queue.Answer].
func (e Afar) Answer(id int, results []Result) error {
	q := e.Queue
	q.mu.Lock()
	defer q.mu.Unlock()
	it, err := q.answerable(id)
	if err != nil {
		return err
	}
	d, err := draftOf(it.req.Questions, results)
	if err != nil {
		return err
	}
	if it.req.permission() != nil && len(d.Answers[0].Chosen) != 1 {
		return fmt.Errorf("a %s is answered with one of its options", it.req.Prompt.Kind)
	}
	if g, ok := it.req.Granted(results); ok && g.Lasts() && it.req.Prompt.Unconfirmed {
		return errors.New(onlyOnce)
	}
	it.set(d)
	r := q.answer(it)
	r.By = e.Deck
	q.finish(it, r)
	q.changed(true)
	return nil
}

func (q *Queue) answer(it *item) Reply {
	r := it.draft.Reply(it.req.Questions)
	r.After = time.Since(it.arrived)
	return r
}

// finish ends a request with the user's decision, or with a timeout. The reply is kept
// until the asker confirms it.
func (q *Queue) finish(it *item, r Reply) {
	q.remove(it)
	at := time.Now()
	if !it.parkedAt.IsZero() {
		at = it.parkedAt
	}
	if it.req.permission() != nil {
		q.keepNote(it)
	}
	// What was allowed at one time is never given at a later one, but to an agent that was told to come back.
	if it.req.permission() == nil || it.req.here() && it.rule == nil {
		q.parked = append(q.parked, parked{ID: it.id, Print: it.print, Request: it.req, Keys: it.keys, Draft: it.draft, Reply: r, At: at, Left: it.peerLeft, sending: len(it.calls) > 0})
	}
	switch {
	case len(it.calls) == 0:
		q.history.record(it, NotTaken, r, it.why)
	case it.rule != nil: // it is on the disk before it is sent
		q.history.record(it, NotKnown, r, "")
		q.history.awaits(it)
	default:
		q.history.record(it, Sent, r, "")
		q.history.awaits(it)
	}
	r.Questions = it.req.Questions
	it.end(r, nil)
}

// end ends every call that waits for the request.
func (it *item) end(r Reply, err error) {
	for _, c := range it.calls {
		c.finish(r, err)
	}
	it.calls = nil
}

func (q *Queue) unpark(id int) {
	q.parked = slices.DeleteFunc(q.parked, func(p parked) bool { return p.ID == id })
}

// keepDraft saves the draft of a request that is removed unanswered.
func (q *Queue) keepDraft(it *item) {
	if !it.typed() {
		return
	}
	q.drafts = append(q.drafts, savedDraft{Print: it.print, Draft: it.draft, At: time.Now()})
}

// next returns the time of the item's next timed event.
func (it *item) next() time.Time {
	at := it.ends()
	if it.state == Snoozed && (at.IsZero() || it.snooze.Before(at)) {
		return it.snooze
	}
	return at
}

// ends returns the time of the next timed event other than the end of a snooze.
func (it *item) ends() time.Time {
	switch {
	case it.state == Sending:
		return it.sendAt
	case it.absent == Restarted:
		return it.left.Add(backAfterRestart)
	case it.absent == HandedOver:
		return it.left.Add(backAfterPending)
	case it.absent == Gone:
		return it.expires()
	case !it.deadline.IsZero():
		return it.due()
	}
	return time.Time{}
}

// due returns the time of the timeout, extended while the user is typing, but not beyond
// the time at which the asker gives up.
func (it *item) due() time.Time {
	at := it.deadline
	if it.lastKey.IsZero() {
		return at
	}
	if grace := it.lastKey.Add(graceAfterKey); grace.After(at) {
		at = grace
	}
	if !it.client.IsZero() && it.client.Before(at) && it.client.After(it.deadline) {
		at = it.client
	}
	return at
}

func (it *item) expires() time.Time {
	if it.draft.Empty() {
		return it.left.Add(keepAbandoned)
	}
	return it.left.Add(keepParked)
}

// tick handles the timed events that are due.
func (q *Queue) tick() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	now := time.Now()
	save := false
	for _, id := range q.history.overdue(now) {
		save = q.became(id, NotTaken, "") || save
	}
	for _, it := range slices.Clone(q.items) {
		it.leftAt(now)
		at := it.next()
		if at.IsZero() || at.After(now) {
			continue
		}
		save = true
		switch {
		case it.state == Snoozed && !it.snooze.After(now):
			it.state, it.snooze = Queued, time.Time{}
		case it.state == Sending:
			q.finish(it, q.answer(it))
		case it.absent == Restarted || it.absent == HandedOver:
			it.absent, it.why, it.left = Gone, "the agent did not return", now
			q.history.record(it, Withdrawn, Reply{}, it.why)
			q.mergeTwin(it)
		case it.absent == Gone:
			if it.id == q.onScreen {
				it.left = now
				continue
			}
			q.keepDraft(it)
			q.remove(it)
		default:
			q.expire(it)
		}
	}
	q.changed(save)
}

// expire ends the calls of a request that has timed out. The request stays open if it
// has a draft or is on screen.
func (q *Queue) expire(it *item) {
	r := Reply{Status: TimedOut, After: time.Since(it.arrived)}
	if len(it.calls) == 0 || it.draft.Empty() && it.id != q.onScreen {
		q.keepDraft(it)
		q.finish(it, r)
		return
	}
	it.end(r, nil)
	it.absent, it.why, it.left = Gone, "timed out", time.Now()
	it.deadline = time.Time{}
	q.history.record(it, Withdrawn, r, it.why)
}

// Close sends the answers that are held back, ends all calls with [ErrShutdown], and
// saves the state. Open requests are kept for the next start.
func (q *Queue) Close() error {
	q.SendHeld()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return nil
	}
	q.closed = true
	for _, it := range q.items {
		it.end(Reply{}, ErrShutdown)
	}
	if q.timer != nil {
		q.timer.Stop()
	}
	q.mu.Unlock()
	return q.store.close()
}
