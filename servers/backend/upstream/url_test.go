package upstream

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
)

// In either era, a call finds out that nobody is at the URL any more.
func TestACallOfAURLThatIsGoneFails(t *testing.T) {
	for name, s := range map[string]*fake.Server{"legacy": {NoModern: true}, "modern": {NoLegacy: true}} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(s.Handler())
			defer web.Close()
			c := New(Options{Name: "far", OnDemand: true, Hooks: Hooks{Find: func(From) (Found, error) {
				return Found{Open: func(log *child.Log) (child.Link, error) {
					return streamable.Open(streamable.Options{Name: "far", URL: web.URL, Version: "test", Log: log})
				}}, nil
			}}})
			c.Start(Events{})
			defer func() { _ = c.Stop(t.Context()) }()
			c.switchedOn(t)
			web.CloseClientConnections()
			web.Close()
			if r, err := c.Call(t.Context(), Call{Tool: "far_echo"}); err == nil && !r.IsError {
				t.Errorf("from nowhere came %s", r.Raw)
			}
		})
	}
}

// Each agent has a session of its own at a URL, which ends when the agent leaves.
func TestAgentsHaveSessionsOfTheirOwn(t *testing.T) {
	server := &fake.Server{NoModern: true}
	web := httptest.NewServer(server.Handler())
	defer web.Close()
	c := New(Options{Name: "far", OnDemand: true, Share: ShareSession, Hooks: Hooks{Find: func(From) (Found, error) {
		return Found{Open: func(log *child.Log) (child.Link, error) {
			return streamable.Open(streamable.Options{Name: "far", URL: web.URL, Version: "test", Log: log})
		}}, nil
	}}})
	c.Start(Events{})
	c.switchedOn(t)
	for _, row := range []struct{ agent, want string }{{"ada", "1"}, {"bob", "1"}, {"ada", "2"}} {
		r, err := c.Call(t.Context(), Call{Tool: "far_count", From: From{Agent: row.agent}})
		if err != nil || !strings.Contains(string(r.Raw), `"text":"`+row.want+`"`) {
			t.Errorf("%s got %s, %v", row.agent, r.Raw, err)
		}
	}
	c.SessionEnded("ada")
	if st := c.Status(); len(st.Children) != 1 || st.Agents != 1 {
		t.Errorf("%d children, %d agents", len(st.Children), st.Agents)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if got := server.Count("DELETE"); got != 3 { // and that of the list
		t.Errorf("%d of 3 sessions were ended", got)
	}
}

// A server that refuses because it does not know who the user is says so, at its start
// and in the middle.
func TestAServerThatWantsASignInIsSaidToWantOne(t *testing.T) {
	const want = "it wants a sign-in (HTTP status %d), which mcpdeck cannot do: set a token as its header Authorization in its settings"
	for _, code := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		server := &fake.Server{NoModern: true}
		var closed atomic.Bool
		closed.Store(true)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if closed.Load() {
				w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://x/.well-known/oauth-protected-resource"`)
				w.WriteHeader(code)
				return
			}
			server.Handler().ServeHTTP(w, r)
		}))
		defer web.Close()
		c := New(Options{Name: "far", OnDemand: true, Hooks: Hooks{Find: func(From) (Found, error) {
			return Found{Open: func(log *child.Log) (child.Link, error) {
				return streamable.Open(streamable.Options{Name: "far", URL: web.URL, Version: "test", Log: log})
			}}, nil
		}}})
		c.Start(Events{})
		defer func() { _ = c.Stop(t.Context()) }()
		c.On()
		if err := c.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(want, code)
		if s := c.Status(); s.Error != "far's MCP server cannot be used: "+want {
			t.Errorf("at the start: %s", s.Error)
		}
		closed.Store(false)
		c.switchedOn(t)
		if r, err := c.Call(t.Context(), Call{Tool: "far_echo"}); err != nil || r.IsError {
			t.Fatalf("got %s, %v", r.Raw, err)
		}
		closed.Store(true)
		r, err := c.Call(t.Context(), Call{Tool: "far_echo"})
		if err != nil || !r.IsError || !strings.Contains(string(r.Raw), "far cannot be used: "+want) {
			t.Errorf("in the middle: %s, %v", r.Raw, err)
		}
	}
}
