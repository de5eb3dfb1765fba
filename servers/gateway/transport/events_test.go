package transport

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// received is a connection and what it has got.
func received() (*rpc.Outbox, func() string) {
	var b bytes.Buffer
	o := &rpc.Outbox{Write: func(m rpc.Outgoing) error { _, err := b.Write(m.Line); return err }}
	return o, func() string {
		_ = o.Close() // nothing fails
		var lines []string
		for line := range strings.Lines(b.String()) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				lines = append(lines, strings.TrimSpace(data))
			}
		}
		return strings.Join(lines, ",")
	}
}

func TestAStreamGoesOnWithAnotherConnection(t *testing.T) {
	var all events
	a, b := &stream{of: &all}, &stream{of: &all}
	first, got := received()
	gone := a.attach(first, 0)
	a.send([]byte("1"), false)
	b.send([]byte("2"), false)
	a.send([]byte("3"), false)
	a.leave(first)
	<-gone
	if got := got(); got != "1,3" {
		t.Errorf("the first connection got %s", got)
	}
	a.send([]byte("4"), false)
	if all.find(1) != a || all.find(2) != b || all.find(9) != nil {
		t.Error("an event is found on another stream")
	}
	second, got := received()
	ended := a.attach(second, 1)
	a.send([]byte("5"), true)
	<-ended
	a.send([]byte("6"), false) // after its end
	if got := got(); got != "3,4,5" {
		t.Errorf("the second connection got %s", got)
	}
	third, got := received()
	<-a.attach(third, 4)
	if got := got(); got != "5" {
		t.Errorf("the third connection got %s", got)
	}
}

func TestOfEventsTheLatestAreKept(t *testing.T) {
	var all events
	s := &stream{of: &all}
	for range 8 {
		s.send([]byte(strings.Repeat("x", 1<<20)), false)
	}
	if all.bytes > keptEventBytes {
		t.Errorf("%d bytes are kept", all.bytes)
	}
	for range 2 * keptEvents {
		s.send([]byte("1"), false)
	}
	if n := len(all.kept); n != keptEvents {
		t.Errorf("%d events are kept", n)
	}
	if all.find(1) != nil {
		t.Error("an event that is gone is found")
	}
	s.send([]byte(strings.Repeat("x", 2*keptEventBytes)), false)
	if len(all.kept) != 1 {
		t.Errorf("%d events are kept beside a long one", len(all.kept))
	}
}
