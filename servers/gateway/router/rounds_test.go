package router

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// stateless is a call by a client that answers forms, with these members of params.
func stateless(members string) *backend.Request {
	r := backend.New(rpc.Message{ID: json.RawMessage("1"), Method: "tools/call", Params: json.RawMessage(`{"name":"a"` + members +
		`,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)})
	r.Client, r.Capabilities = backend.Nobody{}, json.RawMessage(`{"elicitation":{}}`)
	return r
}

func asSession(ctx context.Context, session string) context.Context {
	return backend.WithCall(ctx, backend.Call{Caller: snapshot.Caller{Agent: session}})
}

// asks is a server that asks for a form and returns the answer. declined gets why it has none.
func asks(declined chan error) func(context.Context, *backend.Request) backend.Reply {
	return func(ctx context.Context, r *backend.Request) backend.Reply {
		answer, err := r.Client.Ask(ctx, "elicitation/create", json.RawMessage(`{"message":"Name?"}`))
		if err != nil {
			declined <- err
			return backend.Failed(rpc.CodeInternal, err.Error())
		}
		return backend.Reply{Result: answer}
	}
}

// required returns the state of a reply that asks for one thing.
func required(t *testing.T, reply backend.Reply, err error) string {
	t.Helper()
	o, _ := rawjson.SplitObject(reply.Result)
	if want := `{"request-1":{"method":"elicitation/create","params":{"message":"Name?"}}}`; err != nil || string(o.Get("inputRequests")) != want {
		t.Fatalf("got %s, %v", reply, err)
	}
	return string(o.Get("requestState"))
}

func TestAServerIsDeclinedForAClientThatDoesNotComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s rounds
		declined := make(chan error, 1)
		reply, err := s.serve(t.Context(), t.Context(), stateless(""), asks(declined))
		state := required(t, reply, err)
		testwait.Pass(roundLimit - time.Second)
		if len(declined) > 0 {
			t.Error("the client had time left")
		}
		testwait.Pass(2 * time.Second)
		if len(declined) != 1 {
			t.Error("the server still waits")
		}
		reply, err = s.serve(t.Context(), t.Context(), stateless(`,"requestState":`+state), asks(declined))
		if err != nil || !strings.Contains(string(reply.Error), "no longer in progress") {
			t.Errorf("the client came back and got %s, %v", reply, err)
		}
	})
}

func TestTheRequestsOfASessionEndWithItOrWithTheirServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s rounds
		var declined []chan error
		life, end := context.WithCancel(t.Context())
		defer end()
		for _, session := range []string{"a", "b"} {
			declined = append(declined, make(chan error, 1))
			reply, err := s.serve(asSession(t.Context(), session), life, stateless(""), asks(declined[len(declined)-1]))
			required(t, reply, err)
		}
		s.left("a")
		synctest.Wait()
		if len(declined[0]) != 1 || len(declined[1]) != 0 {
			t.Errorf("the server waits for %d and %d", len(declined[0]), len(declined[1]))
		}
		end()
		synctest.Wait()
		if len(declined[1]) != 1 {
			t.Error("the server waits for the other")
		}
	})
}

func TestACancelledRequestEndsWhatItsServerAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s rounds
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			time.Sleep(time.Second) // beside what waits
			cancel()
		}()
		_, err := s.serve(ctx, t.Context(), stateless(""), func(ctx context.Context, _ *backend.Request) backend.Reply {
			<-ctx.Done()
			close(ended)
			return backend.Reply{}
		})
		<-ended
		if !errors.Is(err, context.Canceled) || len(s.all) != 0 {
			t.Errorf("got %v, and %d requests are kept", err, len(s.all))
		}
	})
}

// waiting is a deck that marks calls as waiting for the user.
type waiting func() (done func())

func (w waiting) WaitForUser() (done func())       { return w() }
func (waiting) OnDelivery(func(bool)) bool         { return false }
func (waiting) Need(context.Context, int64) error  { return nil }
func (waiting) Yield() func(context.Context) error { return nil }

// While the client is to answer, nothing waits in its place, and nothing is said to it.
func TestACallWaitsForTheUserOnlyWhileItIsInProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s rounds
		waits := 0
		call := func(members string) (backend.Reply, error) {
			ctx := backend.WithCall(t.Context(), backend.Call{Deck: waiting(func() func() { waits++; return func() { waits-- } })})
			return s.serve(ctx, t.Context(), stateless(members), func(ctx context.Context, r *backend.Request) backend.Reply {
				defer backend.CallFrom(ctx).WaitForUser()()
				if waits != 1 {
					t.Error("the call is not marked")
				}
				return asks(make(chan error, 1))(ctx, r)
			})
		}
		reply, err := call("")
		state := required(t, reply, err)
		if waits != 0 {
			t.Error("a call that was answered waits for the user")
		}
		reply, err = call(`,"requestState":` + state + `,"inputResponses":{"request-1":{"action":"accept"}}`)
		if err != nil || string(reply.Result) != `{"action":"accept"}` || waits != 0 {
			t.Errorf("got %s, %v", reply, err)
		}
	})
}

func TestARequestOfAClientThatAnswersNothingIsOneRound(t *testing.T) {
	var s rounds
	session := backend.New(rpc.Message{ID: json.RawMessage("1"), Method: "tools/call", Params: json.RawMessage(`{"name":"a"}`)})
	silent := stateless("")
	silent.Capabilities = json.RawMessage(`{}`)
	for _, r := range []*backend.Request{session, silent} {
		reply, err := s.serve(t.Context(), t.Context(), r, func(_ context.Context, got *backend.Request) backend.Reply {
			if got != r {
				t.Error("the server got another request")
			}
			return backend.Reply{Result: json.RawMessage(`{}`)}
		})
		if err != nil || string(reply.Result) != `{}` {
			t.Errorf("got %s, %v", reply, err)
		}
	}
}
