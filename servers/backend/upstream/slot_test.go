package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// shared is a card that is on, over a server inside the test; starts are the folders
// that its program was started for, "deck" for its own list.
type shared struct {
	*Card
	mu     sync.Mutex
	starts []string
	kills  []func()
}

func (s *shared) started() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.starts)
}

func shares(t *testing.T, server *fake.Server, o Options) *shared {
	t.Helper()
	s := &shared{}
	o.Name, o.OnDemand, o.Pins = "fake", true, cmp.Or(o.Pins, filepath.Join(t.TempDir(), "pins.json"))
	o.Hooks.Find = func(f From) (Found, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.starts = append(s.starts, f.Agent+f.Root)
		return Found{Command: process.Command{Program: "fake"}}, nil
	}
	o.Start = func(process.Command) (*process.Child, error) {
		p, err := server.Start()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.kills = append(s.kills, p.Kill)
		return p, err
	}
	s.Card = New(o)
	s.Start(Events{})
	t.Cleanup(func() { _ = s.Stop(t.Context()) })
	s.switchedOn(t)
	synctest.Wait()
	return s
}

func legacy() *fake.Server { return &fake.Server{NoModern: true} }

// counted is how often the agent's child was called by the tool that counts that.
func (s *shared) finished(t *testing.T, f From) string {
	t.Helper()
	r, err := s.Call(t.Context(), Call{Tool: "fake_count", From: f})
	if err != nil || r.IsError || len(r.Content()) != 1 {
		t.Fatalf("got %s, %v", r.Raw, err)
	}
	text := strings.TrimPrefix(string(r.Content()[0]), `{"type":"text","text":"`)
	return strings.TrimSuffix(text, `"}`)
}

func TestWhoSharesAChild(t *testing.T) {
	ada, bob, cy := From{Agent: "ada", Root: "/shop"}, From{Agent: "bob", Root: "/shop"}, From{Agent: "cy", Root: "/else"}
	for _, row := range []struct {
		name   string
		server *fake.Server
		share  Share
		want   string // of calls by ada, bob, cy and ada
		starts []string
	}{
		{"the older era keeps things from one call to the next", legacy(), ShareAuto, "1 1 1 2", []string{"", "ada/shop", "bob/shop", "cy/else"}},
		{"the newer does not", &fake.Server{NoLegacy: true}, ShareAuto, "1 2 1 3", []string{"", "ada/shop", "cy/else"}},
		{"each agent has its own", &fake.Server{NoLegacy: true}, ShareSession, "1 1 1 2", []string{"", "ada/shop", "bob/shop", "cy/else"}},
		{"each project", legacy(), ShareProject, "1 2 1 3", []string{"", "ada/shop", "cy/else"}},
		{"all", legacy(), ShareDeck, "1 2 3 4", []string{""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := shares(t, row.server, Options{Share: row.share})
				var got []string
				for _, f := range []From{ada, bob, cy, ada} {
					got = append(got, s.finished(t, f))
				}
				if strings.Join(got, " ") != row.want || !slices.Equal(s.started(), row.starts) {
					t.Errorf("counted %v, started for %q", got, s.started())
				}
			})
		})
	}
}

// A request says where its agent worked when it was made, which may be some time before it is
// served.
func TestAChildWorksWhereItsAgentDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := legacy()
		s := shares(t, server, Options{Share: ShareSession, Limits: Limits{Keep: time.Hour}})
		s.Subscribed("ada", backend.Subscriptions{Root: "/shop"})
		s.finished(t, From{Agent: "ada", Root: "/before"})
		if got, want := s.started(), []string{"", "ada/shop"}; !slices.Equal(got, want) {
			t.Errorf("started for %q, want %q", got, want)
		}
		s.Off()
		s.Subscribed("ada", backend.Subscriptions{Root: "/else"})
		s.switchedOn(t)
		s.finished(t, From{Agent: "ada", Root: "/else"})
		synctest.Wait()
		if n := server.Count("notifications/roots/list_changed"); n != 1 || len(s.started()) != 2 || s.Status().Children[0].Root != "/else" {
			t.Errorf("told %d times of another project, started for %q, %+v", n, s.started(), s.Status().Children)
		}
	})
}

// A card whose server's era is not known yet learns it from the first child.
func TestTheFirstChildOfTheNewerEraBecomesTheProjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, &fake.Server{NoLegacy: true}, Options{Share: ShareAuto})
		s.update(func() { s.era = "" })
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() { s.finished(t, From{Agent: fmt.Sprint(i), Root: "/shop"}) })
		}
		all.Wait()
		if got := s.finished(t, From{Agent: "late", Root: "/shop"}); got != "5" || len(s.Status().Children) != 1 {
			t.Errorf("counted %s, %d children", got, len(s.Status().Children))
		}
	})
}

// To see what a server offers takes a start, but none that stays.
func TestAListingLeavesNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		if st := s.Status(); len(st.Children) != 0 || !st.Listed || len(st.Tools) != 20 || st.Doing() != "idle" {
			t.Errorf("%d children, %d tools, %s", len(st.Children), len(st.Tools), st.Doing())
		}
	})
}

func TestManyRequestsStartOneChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() { s.finished(t, From{Agent: "ada", Root: "/shop"}) })
		}
		all.Wait()
		if got := s.started(); len(got) != 2 {
			t.Errorf("started for %q", got)
		}
	})
}

func TestAnAgentsChildEndsWithItAndNotBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		s.finished(t, From{Agent: "ada", Root: "/shop"})
		s.finished(t, From{Agent: "bob", Root: "/shop"})
		testwait.Pass(24 * time.Hour)
		if st := s.Status(); len(st.Children) != 2 || st.Agents != 2 || st.Doing() != "running, 2 agents" {
			t.Errorf("%d children, %s", len(st.Children), st.Doing())
		}
		if text := s.Status().Text(false); !strings.Contains(text, "link       ready, running, 2 agents\n  -        connected, for 24 h 00 m, in /shop\n") {
			t.Errorf("status\n%s", text)
		}
		s.SessionEnded("ada")
		synctest.Wait()
		if st := s.Status(); len(st.Children) != 1 || st.Doing() != "running, 1 agent" {
			t.Errorf("%d children, %s", len(st.Children), st.Doing())
		}
		if got := s.finished(t, From{Agent: "bob", Root: "/shop"}); got != "2" {
			t.Errorf("bob's counts %s", got)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Call(gone, Call{Tool: "fake_count", From: From{Agent: "ada", Root: "/shop"}}); !errors.Is(err, context.Canceled) {
			t.Errorf("a call from one that is gone: %v", err)
		}
		if got := s.started(); len(got) != 3 {
			t.Errorf("started for %q", got)
		}
	})
}

func TestASharedChildEndsWhenNobodyNeedsIt(t *testing.T) {
	for _, row := range []struct {
		name    string
		options Options
		busy    string // tool that is called, and answers only at the end
		after   time.Duration
		want    int
	}{
		{"it is used", Options{Share: ShareProject}, "", idleLimit - time.Second, 1},
		{"it is idle", Options{Share: ShareProject}, "", idleLimit + time.Second, 0},
		{"all share it", Options{Share: ShareDeck}, "", idleLimit + time.Second, 0},
		{"the settings say when", Options{Share: ShareProject, Limits: Limits{Idle: time.Hour}}, "", time.Hour - time.Second, 1},
		{"the settings say it for an agent's", Options{Share: ShareSession, Limits: Limits{Idle: time.Minute}}, "", time.Minute + time.Second, 0},
		{"it is at work", Options{Share: ShareProject}, "fake_wait", time.Hour, 1},
		{"it waits for the user", Options{Share: ShareProject, Elicit: func(ctx context.Context, _ Elicitation) (Elicited, error) {
			<-ctx.Done()
			return Elicited{}, ctx.Err()
		}}, "fake_ask", time.Hour, 1},
		{"it is to be kept", Options{Share: ShareProject, Warm: true, Root: "/shop"}, "", time.Hour, 2},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := shares(t, legacy(), row.options)
				ada := From{Agent: "ada", Root: "/shop"}
				s.finished(t, ada)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if row.busy != "" {
					go func() { _, _ = s.Call(ctx, Call{Tool: row.busy, From: ada}) }()
				}
				testwait.Pass(row.after)
				if got := len(s.Status().Children); got != row.want {
					t.Errorf("%d children", got)
				}
				cancel()
				synctest.Wait()
			})
		})
	}
}

// Whoever comes first gets the child that is kept, and another one is started.
func TestTheChildThatIsKeptIsTheFirstAgentsOfTheProject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto, Warm: true, Root: "/shop"})
		s.finished(t, From{Agent: "ada", Root: "/shop"})
		synctest.Wait()
		s.finished(t, From{Agent: "cy", Root: "/else"})
		if got := s.started(); !slices.Equal(got, []string{"", "", "cy/else"}) {
			t.Errorf("started for %q", got)
		}
		s.Off()
		testwait.Pass(time.Minute)
		if got := len(s.Status().Children); got != 0 {
			t.Errorf("off: %d children", got)
		}
	})
}

// A child that ends takes its own calls with it, which hear how.
func TestTheEndOfAChildIsItsOwnAgentsMatter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		ada, bob := From{Agent: "ada", Root: "/shop"}, From{Agent: "bob", Root: "/shop"}
		s.finished(t, ada)
		s.finished(t, bob)
		ended := make(chan Result, 1)
		go func() {
			r, _ := s.Call(t.Context(), Call{Tool: "fake_wait", From: ada})
			ended <- r
		}()
		synctest.Wait()
		s.kills[1]()
		if r := <-ended; string(r.Raw) != `{"content":[{"type":"text","text":"fake stopped (code 0). The call may have taken effect: check, then retry."}],"isError":true}` {
			t.Errorf("got %s", r.Raw)
		}
		if got := s.finished(t, bob); got != "2" {
			t.Errorf("bob's counts %s", got)
		}
		if got := s.finished(t, ada); got != "1" {
			t.Errorf("ada's new one counts %s", got)
		}
	})
}

// Calls that wait in the queue of a child that ends get the next one, after a pause that
// grows with each failure.
func TestALostChildIsStartedAgainForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto, Limits: Limits{InFlight: 1}})
		ada := From{Agent: "ada", Root: "/shop"}
		s.finished(t, ada)
		go func() { _, _ = s.Call(t.Context(), Call{Tool: "fake_wait", From: ada}) }()
		synctest.Wait()
		count := make(chan string, 1)
		go func() { count <- s.finished(t, ada) }()
		synctest.Wait()
		began := time.Now()
		s.kills[1]()
		if got := <-count; got != "1" || time.Since(began) < 500*time.Millisecond {
			t.Errorf("counted %s after %v", got, time.Since(began))
		}
	})
}

func TestRestartingEndsEveryChild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		s.finished(t, From{Agent: "ada", Root: "/shop"})
		if _, err := s.Control(t.Context(), Request{Verb: "reconnect"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := len(s.Status().Children); got != 0 {
			t.Errorf("%d children", got)
		}
		if got := s.finished(t, From{Agent: "ada", Root: "/shop"}); got != "1" {
			t.Errorf("the new one counts %s", got)
		}
	})
}

// What one agent's child cannot do is shown, and does not concern the others.
func TestAChildThatCannotStartDegradesTheCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto})
		s.finished(t, From{Agent: "bob", Root: "/shop"})
		s.opts.Hooks.Find = func(From) (Found, error) { return Found{}, errors.New("it needs ${root}") }
		r, err := s.Call(t.Context(), Call{Tool: "fake_count", From: From{Agent: "ada", Root: ""}})
		if err != nil || !r.IsError || !strings.Contains(string(r.Raw), "fake could not be started: it needs ${root}.") {
			t.Errorf("got %s, %v", r.Raw, err)
		}
		if sign := s.Status().Sign(); sign.Tone != Warning || sign.Note != "it needs ${root}" {
			t.Errorf("sign %+v", sign)
		}
		if got := s.finished(t, From{Agent: "bob", Root: "/shop"}); got != "2" {
			t.Errorf("bob's counts %s", got)
		}
		s.SessionEnded("ada")
		if sign := s.Status().Sign(); sign.Tone != Good {
			t.Errorf("without it: %+v", sign)
		}
	})
}

func TestWhoWaitsForAStartIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shares(t, legacy(), Options{Share: ShareAuto, Limits: Limits{Start: 12 * time.Second}})
		s.opts.Start = scripted{}.start // it says nothing
		var notes []string
		in := Call{Tool: "fake_count", From: From{Agent: "ada", Root: "/shop"}}
		in.Progress = func(p child.Progress) { notes = append(notes, p.Message) }
		if _, err := s.Call(t.Context(), in); err != nil {
			t.Fatal(err)
		}
		if want := []string{"starting fake", "starting fake (5 s)", "starting fake (10 s)"}; !slices.Equal(notes, want) {
			t.Errorf("told %q", notes)
		}
	})
}

// stubborn is the input of a program that does not end with it.
type stubborn struct{ io.Writer }

func (stubborn) Close() error { return nil }

// A server that does not end by itself is given time, but less when the deck ends.
func TestHowLongTheEndOfAServerTakes(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(c *Card)
		want time.Duration
	}{
		{"it is turned off", (*Card).Off, 3 * time.Second},
		{"the deck ends", (*Card).Quit, 1800 * time.Millisecond},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := legacy()
				s := shares(t, server, Options{Share: ShareSession})
				gone := make(chan time.Time, 2)
				s.opts.Start = func(process.Command) (*process.Child, error) {
					p, err := server.Start()
					kill := p.Kill
					p.Patience, p.In, p.Terminate = 1500*time.Millisecond, stubborn{p.In}, func() {}
					p.Kill = func() { kill(); gone <- time.Now() }
					return p, err
				}
				s.finished(t, From{Agent: "ada", Root: "/shop"})
				s.finished(t, From{Agent: "bob", Root: "/shop"})
				began := time.Now()
				row.end(s.Card)
				for range 2 { // side by side
					if took := (<-gone).Sub(began); took != row.want {
						t.Errorf("gone after %v", took)
					}
				}
			})
		})
	}
}
