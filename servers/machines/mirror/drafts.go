package mirror

import (
	"bytes"
	"context"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
)

// draftPause is between two looks at what the user enters, who may be typing.
const draftPause = 300 * time.Millisecond

// sendDrafts shows the host what the user enters here, if it takes answers of this deck and knows of drafts.
func (m *Mirror) sendDrafts(ctx context.Context, l *link) {
	hints, stop := m.opt.Queue.Hints()
	defer stop()
	for l.welcome.Answers {
		for key, text := range m.undrafted() {
			_, err := l.ask(ctx, wire.Request{Draft: wire.SignDraft(m.opt.Key, m.opt.Host, key, []byte(text))})
			if err != nil {
				if !l.isLost() { // it is older, or a hub is between
					<-ctx.Done()
				}
				return
			}
			m.drafted(key, text)
		}
		select {
		case <-hints:
		case <-ctx.Done():
			return
		}
		if !rest(ctx, draftPause) {
			return
		}
	}
	<-ctx.Done()
}

// undrafted is what the user has entered here and the host was not sent, by item. What was taken away is "".
func (m *Mirror) undrafted() map[string]string {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := map[string]string{}
	for key, e := range m.entries {
		if e.call == nil || e.send != nil || e.taken {
			continue
		}
		if d, own := e.call.Entered(); own {
			if text := string(wire.DraftJSON(d)); text != e.draft {
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
		e.draft = text
	}
}

// lent shows here what was entered elsewhere for an item: on its host, or in another deck.
func (m *Mirror) lent(e *entry, it *wire.Item) {
	own := strings.Contains(it.LentBy, wire.Fingerprint(m.key))
	if !own && !bytes.Equal(it.Draft, e.told.Draft) {
		e.call.Draft(wire.ReadDraft(it.Draft), m.opt.Name)
	}
}
