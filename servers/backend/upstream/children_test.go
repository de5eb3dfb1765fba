package upstream

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// A client that connects anew for every call does not start a program for each, which
// would all run for as long as their connections are kept.
func TestThereIsABoundOnChildren(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		first := From{Agent: "first", Root: "/shop"}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = s.Call(ctx, Call{Tool: "fake_wait", From: first}) }()
		synctest.Wait()
		for i := range maxChildren + 8 {
			if got := s.finished(t, From{Agent: fmt.Sprint(i), Root: "/shop"}); got != "1" {
				t.Fatalf("%d counts %s", i, got)
			}
			testwait.Pass(time.Second)
		}
		if st := s.Status(); len(st.Children) != maxChildren || st.Running != 1 {
			t.Errorf("%d children, %d calls at work", len(st.Children), st.Running)
		}
		if got := s.finished(t, From{Agent: fmt.Sprint(maxChildren), Root: "/shop"}); got != "2" {
			t.Errorf("one that was used lately counts %s", got)
		}
		if got := s.finished(t, From{Agent: "0", Root: "/shop"}); got != "1" {
			t.Errorf("the first of those that ended counts %s", got)
		}
		for i := range maxChildren - 1 {
			go func() {
				_, _ = s.Call(ctx, Call{Tool: "fake_wait", From: From{Agent: fmt.Sprint("busy", i), Root: "/shop"}})
			}()
			synctest.Wait()
		}
		r, err := s.Call(t.Context(), Call{Tool: "fake_count", From: From{Agent: "late", Root: "/shop"}})
		if err != nil || !r.IsError || !strings.Contains(string(r.Raw), "fake is busy: it is running for 32 other agents.") {
			t.Errorf("got %s, %v", r.Raw, err)
		}
	})
}

// One agent's calls wait for its own.
func TestEachChildHasAQueueOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto, Limits: Limits{InFlight: 1}})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() { _, _ = s.Call(ctx, Call{Tool: "fake_wait", From: From{Agent: "ada", Root: "/shop"}}) }()
		go func() { _, _ = s.Call(ctx, Call{Tool: "fake_wait", From: From{Agent: "ada", Root: "/shop"}}) }()
		synctest.Wait()
		if got := s.finished(t, From{Agent: "bob", Root: "/shop"}); got != "1" {
			t.Errorf("bob's counts %s", got)
		}
		synctest.Wait()
		if st := s.Status(); st.Running != 1 || st.Waiting != 1 {
			t.Errorf("%d at work, %d waiting", st.Running, st.Waiting)
		}
	})
}

// A server that prints where its messages go may lose an answer, and says so nowhere else.
func TestOutputThatIsNoMessageDegradesTheCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		server := legacy()
		s.opts.Start = func(process.Command) (*process.Child, error) {
			p, err := server.Start()
			p.Out = chatty{io.MultiReader(strings.NewReader(strings.Repeat("Server running\n", maxStrays+1)), p.Out), p.Out}
			return p, err
		}
		s.finished(t, From{Agent: "ada", Root: "/shop"})
		if sign := s.Status().Sign(); sign.Tone != Warning || sign.Note != "its output has 11 lines that are not MCP messages" {
			t.Errorf("sign %+v", sign)
		}
	})
}

// chatty is the output of a program that says more than it should.
type chatty struct {
	io.Reader
	io.Closer
}

// A server of the older era is asked for it once, and again when there is another
// version of it.
func TestTheEraOfAServerIsRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, pins := legacy(), filepath.Join(t.TempDir(), "pins.json")
		for i, row := range []struct {
			version string
			asked   int // ever
		}{{"1", 1}, {"1", 1}, {"2", 1}, {"2", 2}, {"2", 2}} {
			server.Version = row.version
			s := shares(t, server, Options{Share: ShareAuto, Pins: pins})
			s.finished(t, From{Agent: "ada", Root: "/shop"})
			if err := s.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := server.Count("server/discover"); got != row.asked {
				t.Errorf("run %d: asked %d times", i, got)
			}
		}
	})
}

func TestWhoSharesAChildIsKnownFromTheLastRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, pins := &fake.Server{NoLegacy: true}, filepath.Join(t.TempDir(), "pins.json")
		if err := shares(t, server, Options{Share: ShareAuto, Pins: pins}).Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		s := shares(t, server, Options{Share: ShareAuto, Pins: pins})
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { s.finished(t, From{Agent: fmt.Sprint(i), Root: "/shop"}) })
		}
		all.Wait()
		if got := s.started(); len(got) != 1 {
			t.Errorf("started for %q", got)
		}
	})
}

// An agent that waits to hear of a resource keeps the child that tells of it, and has it
// started again when it ends by itself.
func TestASubscriptionKeepsAChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareProject})
		s.Subscribed("ada", backend.Subscriptions{Root: "/shop", Resources: []string{"fake://a"}})
		testwait.Pass(time.Hour)
		if got := len(s.Status().Children); got != 1 {
			t.Fatalf("%d children", got)
		}
		s.kills[1]()
		testwait.Pass(time.Minute)
		if got := len(s.Status().Children); got != 1 {
			t.Errorf("%d children after it ended", got)
		}
		s.Subscribed("ada", backend.Subscriptions{Root: "/shop"})
		testwait.Pass(time.Hour)
		if got := len(s.Status().Children); got != 0 {
			t.Errorf("%d children without a subscription", got)
		}
	})
}
