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
)

// draftPause is between two looks at what the user enters, who may be typing.
const draftPause = 300 * time.Millisecond

// draftAgain is how often the host is told again that the user is at an item, which it would take for over else.
const draftAgain = 40 * time.Second

// sendDrafts shows the host what the user enters here, if it takes answers of this deck and knows of drafts.
func (m *Mirror) sendDrafts(ctx context.Context, l *link) {
	hints, stop := m.opt.Queue.Hints()
	defer stop()
	for l.welcome.Answers {
		m.sendHanded(ctx, l)
		for key, text := range m.undrafted() {
			_, err := l.ask(ctx, wire.Request{Draft: wire.SignDraft(m.opt.Key, m.opt.Host, key, []byte(text))})
			switch {
			case err == nil:
				m.drafted(key, text)
			case l.isLost():
				return
			case errors.Is(err, errOlder):
				<-ctx.Done()
				return
			} // else it sleeps
		}
		select {
		case <-hints:
		case <-time.After(draftAgain):
		case <-ctx.Done():
			return
		}
		if !rest(ctx, draftPause) {
			return
		}
	}
	<-ctx.Done()
}

// undrafted is what the user has entered here and the host was not sent, or not lately, by item. What was taken away is
// "". Over a hub, where a machine may sleep, text stays here.
func (m *Mirror) undrafted() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]string{}
	for key, e := range m.entries {
		if e.call == nil || e.send != nil || e.taken {
			continue
		}
		if d, own := e.call.Entered(); own {
			if m.opt.Awake != nil && d.Begun() {
				d = ask.Draft{Field: ask.OtherField}
			}
			if text := string(wire.DraftJSON(d)); text != e.draft || text != "" && time.Since(e.drafted) >= draftAgain {
				all[key] = text
			}
		}
	}
	return all
}

// drafted notes that the host was sent a draft.
func (m *Mirror) drafted(key, text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if e := m.entries[key]; e != nil {
		e.draft, e.drafted = text, time.Now()
	}
}

// lent shows here what was entered elsewhere for an item, and who is at it: on its host, or in another deck.
func (m *Mirror) lent(e *entry, it *wire.Item) {
	var at []string
	for _, by := range it.At {
		if !strings.Contains(by, wire.Fingerprint(m.key)) {
			at = append(at, cmp.Or(by, "on "+m.opt.Name))
		}
	}
	e.call.At(at)
	e.call.Handed(m.handed(it.Handed), m.others())
	own := strings.Contains(it.LentBy, wire.Fingerprint(m.key))
	if !own && !bytes.Equal(it.Draft, e.told.Draft) {
		e.call.Draft(wire.ReadDraft(it.Draft), m.opt.Name)
	}
}

// handed is to whom an item was given, as this deck has it: "" is this one, not the host.
func (m *Mirror) handed(h *ask.Handed) *ask.Handed {
	if h == nil {
		return nil
	}
	called := func(deck string) string {
		if strings.Contains(deck, wire.Fingerprint(m.key)) {
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
		if d.Fingerprint != wire.Fingerprint(m.key) {
			all = append(all, d.String())
		}
	}
	return all
}

// sendHanded tells the host to whom the user gives items. One that sleeps is told later.
func (m *Mirror) sendHanded(ctx context.Context, l *link) {
	m.mu.Lock()
	calls := map[string]*ask.Call{}
	for key, e := range m.entries {
		if e.call != nil && e.send == nil && !e.taken {
			calls[key] = e.call
		}
	}
	m.mu.Unlock()
	for key, call := range calls {
		h, due := call.Handing()
		if !due {
			continue
		}
		to := h
		if h != nil && h.To == m.opt.Name {
			to = &ask.Handed{Note: h.Note}
		}
		a, err := wire.SignHand(m.opt.Key, m.opt.Host, key, to)
		if err != nil {
			continue
		}
		if r, err := l.ask(ctx, wire.Request{Hand: a}); errors.Is(err, errOlder) {
			call.Gave(h, err.Error())
		} else if err == nil && r.Hand != nil {
			call.Gave(h, r.Hand.Why)
		}
	}
}
