package app

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// One cost has one figure: mcpdeck status says what mcpdeck list and the Servers page say.
func TestTheStatusOfAServerCountsWhatAModelGets(t *testing.T) {
	h := built(t, false)
	h.Host.Start()
	s := h.Servers.server("ask")
	if s.Context == 0 || s.Context == s.Bytes {
		t.Fatalf("%d of %d bytes reach a model: the test needs two figures", s.Context, s.Bytes)
	}
	reply, err := h.Servers.controlOwn("ask", "status")
	if want := snapshot.ContextCost(s.Context) + "."; err != nil || !strings.Contains(reply.Text, want) {
		t.Errorf("got %q, %v, want %q", reply.Text, err, want)
	}
}
