package transport

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestAgentsOverHTTPGoWhileNobodySendsAnything(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := &HTTP{Host: running}
		view, err := running.View(router.ViewSpec{})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("POST", "/mcp", nil)
		e := backend.New(rpc.Message{ID: []byte("1"), Method: "tools/list", Params: []byte(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`)})
		left, _ := h.enter(r, e, view)
		open, _ := h.enter(httptest.NewRequest("POST", "/mcp", nil), &backend.Request{Message: rpc.Message{Method: "initialize"}}, view)
		h.leave(left)
		go h.expire(ctx)
		shown := func(after time.Duration, want int) {
			t.Helper()
			testwait.Pass(after)
			if n := len(running.Snapshot().Agents); n != want {
				t.Errorf("%d agents are shown, want %d", n, want)
			}
		}
		shown(agentTTL-time.Second, 2)
		shown(agentTTL, 1)
		h.leave(open)
		cancel()
		synctest.Wait()
	})
}

// Few clients say that they end, and one may only have nothing to say.
func TestASessionWithoutAClientIsNotConnected(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &HTTP{Host: running}
	w := post(h, "", initializeBody)
	id := w.Header().Get("Mcp-Session-Id")
	agents := func(want int) {
		t.Helper()
		n := 0
		for _, a := range running.Snapshot().Agents {
			if a.Gone.IsZero() {
				n++
			}
		}
		if n != want {
			t.Fatalf("%d agents are connected, want %d", n, want)
		}
	}
	idle := func(d time.Duration) {
		a := h.agents[agentKey{session: id}]
		a.last = a.last.Add(-d)
		h.forget()
	}
	ping := func(want int) {
		t.Helper()
		if w := post(h, id, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); w.Code != want {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
	}
	agents(1)
	idle(sessionTTL / 2)
	agents(1)
	h.agents[agentKey{session: id}].open++ // it listens
	idle(sessionTTL)
	agents(1)
	h.agents[agentKey{session: id}].open--
	idle(sessionTTL)
	agents(0)
	idle(0)
	agents(0)
	ping(200)
	agents(1)
	if a := running.Snapshot().Agents[len(running.Snapshot().Agents)-1]; a.Client == "" {
		t.Error("it is not known any more who the client is")
	}
	idle(sessionTTL)
	idle(httpIdle)
	agents(0)
	ping(404)
}
