package mirror

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
)

// draftPause is between two looks at what the user enters, who may be typing.
const draftPause = 300 * time.Millisecond

// draftAgain is how often the host is told again that the user is at an item, which it would take for over else.
const draftAgain = 40 * time.Second

// sendDrafts tells the host what the user enters here and to whom it is handed over, if it takes answers of this deck and knows
// of drafts.
func (m *Mirror) sendDrafts(ctx context.Context, l *link) {
	hints, stop := m.opt.Queue.Hints()
	defer stop()
	for l.welcome.Answers {
		for e, call := range m.waiting() {
			m.sendHanded(ctx, l, e, call)
			if err := m.sendDraft(ctx, l, e, call); errors.Is(err, errOlder) { // of another error it is told again
				<-ctx.Done()
				return
			}
		}
		select {
		case <-hints:
		case <-time.After(draftAgain):
		case <-ctx.Done():
		}
		if process.Pause(ctx, draftPause) != nil {
			return
		}
	}
	<-ctx.Done()
}

// waiting are the items that wait in the queue.
func (m *Mirror) waiting() map[*entry]*ask.Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[*entry]*ask.Call{}
	for _, e := range m.entries {
		if e.waits() {
			all[e] = e.call
		}
	}
	return all
}

// sendDraft sends what the user has entered here for an item and the host was not sent, or not lately. What was taken away is
// "". Over a hub, where a machine may sleep, text stays here.
func (m *Mirror) sendDraft(ctx context.Context, l *link, e *entry, call *ask.Call) error {
	d, own := call.Entered()
	if m.opt.Awake != nil && d.Begun() {
		d = ask.Draft{Field: ask.OtherField}
	}
	text := wire.DraftJSON(d)
	if !own || bytes.Equal(text, e.draft) && (text == nil || time.Since(e.drafted) < draftAgain) {
		return nil
	}
	_, err := l.ask(ctx, wire.Request{Draft: wire.SignDraft(m.opt.Key, m.opt.Host, e.key, text)})
	if err == nil {
		e.draft, e.drafted = text, time.Now()
	}
	return err
}

// sendHanded tells the host to whom the user gives an item. One that sleeps is told later.
func (m *Mirror) sendHanded(ctx context.Context, l *link, e *entry, call *ask.Call) {
	h, due := call.Handing()
	if !due {
		return
	}
	to := h
	if h != nil && h.To == m.opt.Name {
		to = &ask.Handed{Note: h.Note}
	}
	a, err := wire.SignHand(m.opt.Key, m.opt.Host, e.key, to)
	if err != nil {
		return
	}
	if r, err := l.ask(ctx, wire.Request{Hand: a}); errors.Is(err, errOlder) {
		call.Gave(h, err.Error())
	} else if err == nil && r.Hand != nil {
		call.Gave(h, r.Hand.Why)
	}
}

// own reports whether a deck that the host names is this one.
func (m *Mirror) own(deck string) bool { return strings.Contains(deck, wire.Fingerprint(m.key)) }

// lent shows here what was entered elsewhere for an item, and who is at it: on its host, or in another deck.
func (m *Mirror) lent(e *entry, it *wire.Item) {
	var at []string
	for _, by := range it.At {
		if !m.own(by) {
			at = append(at, cmp.Or(by, "on "+m.opt.Name))
		}
	}
	e.call.At(at)
	e.call.Handed(m.handed(it.Handed), m.others())
	if !m.own(it.LentBy) && !bytes.Equal(it.Draft, e.told.Draft) {
		e.call.Draft(wire.ReadDraft(it.Draft), m.opt.Name)
	}
}

// handed is to whom an item was given, as this deck has it: "" is this one, not the host.
func (m *Mirror) handed(h *ask.Handed) *ask.Handed {
	if h == nil {
		return nil
	}
	called := func(deck string) string {
		if m.own(deck) {
			return ""
		}
		return cmp.Or(deck, m.opt.Name)
	}
	return &ask.Handed{To: called(h.To), From: called(h.From), Note: h.Note}
}

// others are the decks to which an item may be handed: the host's own, and others that may answer there.
func (m *Mirror) others() (all []string) {
	if len(m.last.Decks) == 0 || !m.state.Answers {
		return nil
	}
	all = []string{m.opt.Name}
	for _, d := range m.last.Decks {
		if !m.own(d.Fingerprint) {
			all = append(all, d.String())
		}
	}
	return all
}
