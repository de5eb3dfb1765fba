package wire

import (
	"context"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rpc"
)

func TestAgentsOverHTTPGoWhileNobodySendsAnything(t *testing.T) {
	running, err := host.New(host.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := &HTTP{Host: running, agents: map[string]*httpAgent{}}
		view, err := running.View(host.ViewSpec{})
		if err != nil {
			t.Fatal(err)
		}
		v := &httpView{view: view}
		r := httptest.NewRequest("POST", "/mcp", nil)
		e := envelope{Message: rpc.Message{ID: []byte("1"), Method: "tools/list"}}
		left, open := h.enter(r, e, v), h.enter(httptest.NewRequest("POST", "/mcp", nil), envelope{Message: rpc.Message{Method: "initialize"}}, v)
		h.leave(left)
		go h.expire(ctx)
		shown := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
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
