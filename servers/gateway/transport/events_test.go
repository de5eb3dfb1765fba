package transport

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/server"
)

func TestEventStore(t *testing.T) {
	ctx := context.Background()
	s := newEventStore(&receipts{})
	store := func(stream, text string) string {
		t.Helper()
		id, err := s.StoreEvent(ctx, "s", stream, json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	first := store("a", "1")
	store("b", "2")
	store("a", "3")
	var got []string
	stream, err := s.ReplayEventsAfter(ctx, "s", first, func(_ string, m json.RawMessage) error {
		got = append(got, string(m))
		return nil
	})
	if err != nil || stream != "a" || strings.Join(got, ",") != "3" {
		t.Errorf("replayed %v of %q: %v", got, stream, err)
	}
	large := `"` + strings.Repeat("x", 1<<20) + `"`
	for range 8 {
		store("a", large)
	}
	if n := s.sessions["s"].bytes; n > keptEventBytes {
		t.Errorf("%d bytes are kept", n)
	}
	for range 2 * keptEvents {
		store("a", "1")
	}
	if n := len(s.sessions["s"].events); n != keptEvents {
		t.Errorf("%d events are kept", n)
	}
	if _, err := s.ReplayEventsAfter(ctx, "s", first, nil); !errors.Is(err, server.ErrUnknownEventID) {
		t.Errorf("an event that is gone: %v", err)
	}
	if err := s.PurgeSession(ctx, "s"); err != nil || len(s.sessions) != 0 {
		t.Errorf("after the purge: %v %v", s.sessions, err)
	}
}
