package upstream

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/internal/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// What belongs to the connection between agent and deck is not passed on.
func TestTheConnectionsOwnMetaIsLeftOut(t *testing.T) {
	raw := backend.Parse(nil, rpc.Message{Method: "tools/call", Params: json.RawMessage(`{"name":"git_echo","arguments":{"n":1.0},"_meta":{"b":1e2,` +
		`"io.modelcontextprotocol/clientInfo":{"name":"x"},"mcpdeck/resumeKey":"secret","progressToken":1,"a":"<t>"}}`)})
	raw.Client = backend.Nobody{}
	if in := invocation(t.Context(), raw, false); in.Tool != "git_echo" || string(in.Args) != `{"n":1.0}` || string(in.Meta) != `{"b":1e2,"a":"<t>"}` || in.Progress == nil {
		t.Errorf("got %s %s", in.Args, in.Meta)
	}
}

// A connection to the card alone always has a tool, but none of the deck's beside the
// server's.
func TestTheStatusToolIsThereWhenThereIsNoOther(t *testing.T) {
	server := new(fake.Server)
	c := New(Options{
		Name: "git", OnDemand: true, Start: func(process.Command) (*process.Child, error) { return server.Start() },
		Hooks: Hooks{Find: func(From) (Found, error) { return Found{}, nil }},
	})
	m := NewAdapter(c, AdapterOptions{})
	c.Start(Events{})
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	stub := func() bool { return len(m.Catalogue().Fallback) == 1 }
	if off := stub(); !off || len(m.Catalogue().Tools) != 0 {
		t.Error("a card that is off does not list the status tool")
	}
	if _, err := c.Control(t.Context(), Request{Verb: "on"}); err != nil {
		t.Fatal(err)
	}
	if on := stub(); on || len(m.Catalogue().Tools) == 0 {
		t.Error("a card that is on lists more than the server does")
	}
}
