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
	own := strings.Contains(it.LentBy, wire.Fingerprint(m.key))
	if !own && !bytes.Equal(it.Draft, e.told.Draft) {
		e.call.Draft(wire.ReadDraft(it.Draft), m.opt.Name)
	}
}
