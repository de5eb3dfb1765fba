package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
)

// wait hands on what the user makes of an item.
func (m *Mirror) wait(e *entry, call *ask.Call) {
	select {
	case <-call.Done():
	case <-call.Released():
		m.mu.Lock()
		there := e.let
		e.let = true
		m.mu.Unlock()
		if !there {
			m.deliver(e, wire.Decision{Release: true}) // it may have ended since
		}
		<-call.Done()
	}
	reply, err := call.Reply()
	m.mu.Lock()
	is := e.call == call
	if is && (err != nil || reply.Status == ask.TimedOut) { // nothing was decided
		e.call, e.refused, is = nil, mostRefused, false
	}
	e.decided = e.decided || is
	m.mu.Unlock()
	if !is {
		return
	}
	d := wire.Decision{Results: reply.Results}
	if reply.Status == ask.Declined {
		d = wire.Decision{Decline: true, Reason: reply.Reason}
	}
	if o := m.deliver(e, d); o != nil {
		m.outcome(e, o)
	}
}

// deliver sends what the user has decided of an item, by one link after the other until the host says what it has made of
// that; nil if it never does. What carries it may hold it for as long as the machine sleeps.
func (m *Mirror) deliver(e *entry, d wire.Decision) *wire.Outcome {
	a, err := wire.Sign(m.opt.Key, m.opt.Host, e.key, d)
	if err != nil {
		return nil
	}
	for l := m.next(nil); l != nil; l = m.next(l) {
		r, err := l.ask(l.lost, wire.Request{Answer: a})
		if err == nil && r.Answer != nil {
			return r.Answer
		}
		l.close()
	}
	return nil
}

// Prompt sends a prompt to a session of the machine, or takes one back and returns its text. It is
// not sent again by itself.
func (m *Mirror) Prompt(p wire.Prompt) (string, error) {
	m.mu.Lock()
	l, answers := m.link, m.state.Answers
	m.mu.Unlock()
	if l == nil || !answers {
		return "", errors.New(m.opt.Name + " is away, or takes no answers of this deck: nothing was sent")
	}
	a, err := wire.SignPrompt(m.opt.Key, m.opt.Host, l.welcome.Run, p)
	if err != nil {
		return "", err
	}
	r, err := m.now(context.Background(), l, wire.Request{Prompt: a})
	switch {
	case errors.Is(err, errOlder):
		return "", fmt.Errorf("%s: %w", m.opt.Name, err)
	case err != nil:
		return "", fmt.Errorf("%s does not say whether it was sent: %w", m.opt.Name, err)
	}
	o := cmp.Or(r.Prompt, &wire.Outcome{Why: "it takes no prompts"})
	if !o.Taken {
		return "", errors.New(m.opt.Name + ": " + o.Why)
	}
	return o.Text, nil
}

// outcome notes what the host made of an answer.
func (m *Mirror) outcome(e *entry, o *wire.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	e.decided = false
	switch {
	case o.Taken:
		e.taken = true
		m.end(e) // the list may have come first
	case o.Other && o.Why != "":
		e.call.Settled(o.Why)
		delete(m.entries, e.key)
	case o.Other:
		m.end(e)
	default:
		e.call.Gone(o.Why)
		e.call = nil
		e.refused++
		notify.Poke(m.again)
	}
}

// end tells the queue what became of an item that is not open on the host any more.
func (m *Mirror) end(e *entry) {
	if m.last == nil {
		return
	}
	i := slices.IndexFunc(m.last.Ended, func(x wire.Ended) bool { return x.ID == e.asked.ID && x.Arrived == e.asked.Arrived })
	switch {
	case e.call == nil:
	case i < 0 && m.isOpen(e.key): // the list is older
		return
	case i < 0 && e.taken: // it is long ago
	case i < 0:
		e.call.Gone("")
	case m.became(e, &m.last.Ended[i]):
		return
	}
	delete(m.entries, e.key)
}

// isOpen reports whether the last list has an item.
func (m *Mirror) isOpen(key string) bool {
	return slices.ContainsFunc(m.last.Open, func(it wire.Item) bool { return wire.KeyOf(it.Asked) == key })
}

// became passes on what the host has seen of the user's answer, or what ended an item that the user has not answered here,
// and reports whether there may be more to see.
func (m *Mirror) became(e *entry, x *wire.Ended) (more bool) {
	switch is := x.Delivery; {
	case is == ask.Elsewhere:
		e.call.Settled(x.How)
	case !e.taken && x.Answered:
		how := "answered on " + m.opt.Name
		if x.By != "" {
			how = "answered in the deck " + x.By
		}
		if x.Said != "" { // an older host does not tell
			how += ": " + x.Said
		}
		e.call.Settled(how)
	case !e.taken, is == ask.Withdrawn, is == ask.NotTaken && x.How != "":
		e.call.Gone(x.How)
	case is == ask.NotTaken, is == ask.Delivered:
		e.call.Delivered(is)
	}
	return e.taken && slices.Contains([]ask.Delivery{ask.NotKnown, ask.Sent, ask.NotTaken}, x.Delivery)
}
