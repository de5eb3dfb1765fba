package mirror

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// wait hands on what the user makes of an item.
func (m *Mirror) wait(e *entry, call *ask.Call) {
	select {
	case <-call.Done():
	case <-call.Released():
		m.mu.Lock()
		if e.call == call && !e.let {
			e.let, e.send = true, &wire.Decision{Release: true}
		}
		m.mu.Unlock()
		notify.Poke(m.answered)
		<-call.Done()
	}
	reply, err := call.Reply()
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case e.call != call:
	case err != nil, reply.Status == ask.TimedOut: // nothing was decided
		e.call = nil
		e.refused = mostRefused
	case reply.Status == ask.Declined:
		e.send = &wire.Decision{Decline: true, Reason: reply.Reason}
	default:
		e.send = &wire.Decision{Results: reply.Results}
	}
	notify.Poke(m.answered)
}

// send sends the user's answers. Each is under way by itself: what carries them may hold one for as
// long as the machine sleeps.
func (m *Mirror) send(ctx context.Context, l *link) {
	failed := make(chan struct{}, 1)
	for {
		select {
		case <-m.answered:
		case <-failed:
			return
		case <-l.lost:
			return
		case <-ctx.Done():
			return
		}
		for _, e := range m.unsent(l) {
			recovery.Go("answer to another machine", func() {
				if !m.deliver(ctx, l, e) {
					notify.Poke(failed)
				}
			})
		}
	}
}

// promptWithin is how long a machine may take to say whether it takes a prompt.
const promptWithin = 20 * time.Second

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
	ctx, cancel := context.WithTimeout(context.Background(), promptWithin)
	defer cancel()
	r, err := l.ask(ctx, wire.Request{Prompt: a})
	switch {
	case errors.Is(err, errOlder):
		return "", fmt.Errorf("%s: %w", m.opt.Name, err)
	case err != nil:
		return "", fmt.Errorf("%s does not say whether it was sent: %w", m.opt.Name, err)
	case r.Prompt == nil || !r.Prompt.Taken:
		why := "it takes no prompts"
		if r.Prompt != nil {
			why = r.Prompt.Why
		}
		return "", errors.New(m.opt.Name + ": " + why)
	}
	return r.Prompt.Text, nil
}

// unsent returns the items of which the host has not got the decision, the oldest first, and which
// are not on their way by this link.
func (m *Mirror) unsent(l *link) (all []*entry) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.send != nil && e.by != l {
			e.by = l
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b *entry) int { return cmp.Compare(a.asked.ID, b.asked.ID) })
	return all
}

// deliver sends what the user has decided of an item, and reports whether the link was of use.
func (m *Mirror) deliver(ctx context.Context, l *link, e *entry) bool {
	for {
		m.mu.Lock()
		if e.send == nil {
			e.by = nil
			m.mu.Unlock()
			return true
		}
		d := *e.send
		m.mu.Unlock()
		a, err := wire.Sign(m.opt.Key, m.opt.Host, e.key, d)
		if err != nil {
			return false
		}
		r, err := l.ask(ctx, wire.Request{Answer: a})
		if err != nil || r.Answer == nil {
			return false
		}
		m.outcome(e, &d, r.Answer)
	}
}

// outcome notes what the host made of an answer.
func (m *Mirror) outcome(e *entry, d *wire.Decision, o *wire.Outcome) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if d.Release { // it may have been answered since
		if e.send != nil && e.send.Release {
			e.send = nil
		}
		return
	}
	e.send = nil
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
	default:
		if x := &m.last.Ended[i]; e.taken {
			if e.became(x) {
				return
			}
		} else {
			e.closed(x, m.opt.Name)
		}
	}
	delete(m.entries, e.key)
}

// isOpen reports whether the last list has an item.
func (m *Mirror) isOpen(key string) bool {
	return slices.ContainsFunc(m.last.Open, func(it wire.Item) bool { return wire.KeyOf(it.Asked) == key })
}

// became passes on what the host has seen of the user's answer, and reports whether there may be
// more to see.
func (e *entry) became(x *wire.Ended) (more bool) {
	switch x.Delivery {
	case ask.NotKnown, ask.Sent:
		return true
	case ask.Elsewhere:
		e.call.Settled(x.How)
	case ask.Withdrawn:
		e.call.Gone(x.How)
	case ask.NotTaken:
		if x.How != "" {
			e.call.Gone(x.How)
		} else {
			e.call.Delivered(ask.NotTaken)
		}
		return true
	case ask.Delivered:
		e.call.Delivered(ask.Delivered)
	}
	return false
}

// closed passes on what ended an item that the user has not answered here.
func (e *entry) closed(x *wire.Ended, machine string) {
	switch {
	case x.Delivery == ask.Elsewhere:
		e.call.Settled(x.How)
	case x.Answered && x.By != "":
		e.call.Settled("answered in the deck " + x.By)
	case x.Answered:
		e.call.Settled("answered on " + machine)
	default:
		e.call.Gone(x.How)
	}
}
