package upstream

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
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

// TestACallIsOfTheToolBehindItsName holds which tool the user is asked about.
func TestACallIsOfTheToolBehindItsName(t *testing.T) {
	server := new(fake.Server)
	c := New(Options{
		Name: "git", OnDemand: true, Start: func(process.Command) (*process.Child, error) { return server.Start() },
		Hooks:   Hooks{Find: func(From) (Found, error) { return Found{}, nil }},
		Gateway: Gateway{Tool: "git_tools", Audience: AllClients}, Ask: func(tool string) bool { return tool == "echo" },
	})
	m := NewAdapter(c, AdapterOptions{})
	c.Start(Events{})
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	if _, err := c.Control(t.Context(), Request{Verb: "on"}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []struct {
		key, args   string
		passthrough bool
		want        backend.Called
	}{
		{"git_echo", `{"n":1}`, false, backend.Called{Tool: "echo", Args: json.RawMessage(`{"n":1}`), Ask: true}},
		{"echo", `{"n":1}`, true, backend.Called{Tool: "echo", Args: json.RawMessage(`{"n":1}`), Ask: true}},
		{"git_tools", `{"tool":"git_echo","arguments":{"n":1}}`, false, backend.Called{Tool: "echo", Args: json.RawMessage(`{"n":1}`), Ask: true}},
		{"git_tools", `{"action":"call","tool":"echo","arguments_json":"{\"n\":1}"}`, false, backend.Called{Tool: "echo", Args: json.RawMessage(`{"n":1}`), Ask: true}},
		{"git_tools", `{"action":"describe","tool":"echo"}`, false, backend.Called{Tool: "git_tools", Args: json.RawMessage(`{"action":"describe","tool":"echo"}`)}},
		{"git_gone", `{}`, false, backend.Called{Tool: "gone", Args: json.RawMessage(`{}`)}},
	} {
		got := m.Called(&backend.Request{Key: w.key, Args: json.RawMessage(w.args), Passthrough: w.passthrough})
		if got.Tool != w.want.Tool || string(got.Args) != string(w.want.Args) || got.Ask != w.want.Ask {
			t.Errorf("%s %s: %s with %s, %v", w.key, w.args, got.Tool, got.Args, got.Ask)
		}
	}
}
