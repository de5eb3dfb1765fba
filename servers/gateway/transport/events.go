package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
)

const (
	keptEvents     = 256     // of one session
	keptEventBytes = 4 << 20 // of one session
)

// eventStore keeps the latest messages of each session's streams, so that a client whose
// connection broke receives what it missed. mcp-go's own store keeps everything until
// the session ends.
type eventStore struct {
	receipts *receipts

	mu       sync.Mutex
	seq      int64
	sessions map[string]*sessionEvents
}

type sessionEvents struct {
	events []event
	bytes  int
}

type event struct {
	id, stream string
	message    json.RawMessage
}

var _ server.EventStore = (*eventStore)(nil)

func newEventStore(r *receipts) *eventStore {
	return &eventStore{receipts: r, sessions: map[string]*sessionEvents{}}
}

// envelopeKey is the context key of the request that an event belongs to.
type envelopeKey struct{}

// StoreEvent implements server.EventStore.
func (s *eventStore) StoreEvent(ctx context.Context, session, stream string, message json.RawMessage) (string, error) {
	e, _ := ctx.Value(envelopeKey{}).(*backend.Request) // it may belong to none
	message, receipt := s.receipts.unwrapped(asServed(ctx, e, message))
	defer s.receipts.redeem(receipt) // the library writes it before anything else on the stream
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := s.sessions[session]
	if kept == nil {
		kept = &sessionEvents{}
		s.sessions[session] = kept
	}
	s.seq++
	id := strconv.FormatInt(s.seq, 10)
	kept.events = append(kept.events, event{id, stream, message})
	kept.bytes += len(message)
	for len(kept.events) > 1 && (len(kept.events) > keptEvents || kept.bytes > keptEventBytes) {
		kept.bytes -= len(kept.events[0].message)
		kept.events = kept.events[1:]
	}
	return id, nil
}

// ReplayEventsAfter implements server.EventStore.
func (s *eventStore) ReplayEventsAfter(_ context.Context, session, last string, send func(string, json.RawMessage) error) (string, error) {
	s.mu.Lock()
	var missed []event
	stream, found := "", false
	if kept := s.sessions[session]; kept != nil {
		for _, e := range kept.events {
			switch {
			case e.id == last:
				stream, found = e.stream, true
			case found && e.stream == stream:
				missed = append(missed, e)
			}
		}
	}
	s.mu.Unlock()
	if !found {
		return "", fmt.Errorf("replay after %q: %w", last, server.ErrUnknownEventID)
	}
	for _, e := range missed {
		if err := send(e.id, e.message); err != nil {
			return "", err
		}
	}
	return stream, nil
}

// PurgeSession implements server.EventStore.
func (s *eventStore) PurgeSession(_ context.Context, session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, session)
	return nil
}
