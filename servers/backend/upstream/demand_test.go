package upstream

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// demanded is a card whose program runs on demand, of which a list was accepted; starts
// counts how often it was started since, and kill ends what was started last.
func demanded(t *testing.T, f scripted) (c *Card, starts *atomic.Int32, kill func()) {
	t.Helper()
	o := Options{OnDemand: true, Pins: filepath.Join(t.TempDir(), "pins.json"), Limits: Limits{Start: 5 * time.Second}}
	first := over(t, works(), o)
	first.switchedOn(t)
	if err := first.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	starts = new(atomic.Int32)
	var last *process.Child
	o.Hooks.Find = func(From) (Found, error) {
		starts.Add(1)
		return Found{Command: process.Command{Program: "git-server"}}, nil
	}
	c = made(t, o, func(cmd process.Command) (*process.Child, error) {
		p, err := f.start(cmd)
		last = p
		return p, err
	})
	return c, starts, func() { last.Kill() }
}

func TestWhatWasAcceptedIsListedWithoutTheProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, starts, _ := demanded(t, works())
		if c.Published().Catalogue() != nil {
			t.Error("listed while off")
		}
		c.switchedOn(t)
		if s := c.Status(); starts.Load() != 0 || !s.Listed || s.Link != NoLink || s.Sign().Tone != Good || c.Published().Catalogue().Tools[0].Name != "git_echo" {
			t.Errorf("started %d times; %s, sign %+v", starts.Load(), s.Link, s.Sign())
		}
		listed := 0
		c.mu.Lock()
		c.events.Listed = func() { listed++ }
		c.mu.Unlock()
		for range 3 {
			if r, err := c.Call(t.Context(), Call{Tool: "git_echo"}); err != nil || r.IsError {
				t.Fatalf("got %s, %v", r.Raw, err)
			}
		}
		if starts.Load() != 1 || listed != 0 {
			t.Errorf("started %d times, %d notifications of an equal list", starts.Load(), listed)
		}
		c.Off()
		testwait.Pass(time.Second)
		if s := c.Status(); s.PID != 0 || s.Listed {
			t.Errorf("off: process %d, listed %v", s.PID, s.Listed)
		}
	})
}

// Its end costs the calls that it was at, and nothing else.
func TestAProgramOnDemandIsStartedAgainByTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, starts, kill := demanded(t, works())
		c.switchedOn(t)
		for range maxFailures + 2 {
			if r, err := c.Call(t.Context(), Call{Tool: "git_echo"}); err != nil || r.IsError {
				t.Fatalf("got %s, %v", r.Raw, err)
			}
			testwait.Pass(stableAfter)
			kill()
			synctest.Wait()
			if s := c.Status(); !s.Listed || s.Link != NoLink {
				t.Fatalf("listed %v, %s", s.Listed, s.Link)
			}
		}
		if starts.Load() != maxFailures+2 {
			t.Errorf("started %d times", starts.Load())
		}
	})
}

// Whoever waits for a program that cannot be started hears why, at once.
func TestACallHearsWhyTheProgramCannotBeStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, starts, _ := demanded(t, scripted{})
		c.switchedOn(t)
		began := time.Now()
		for i := range maxFailures + 2 {
			r, err := c.Call(t.Context(), Call{Tool: "git_echo"})
			if err != nil || !r.IsError || !strings.Contains(string(r.Raw), "git could not be started: git's MCP server failed to start: no answer within 5 s.") {
				t.Fatalf("call %d got %s, %v", i, r.Raw, err)
			}
		}
		if starts.Load() != maxFailures || time.Since(began) != maxFailures*5*time.Second {
			t.Errorf("started %d times in %v", starts.Load(), time.Since(began))
		}
		if s := c.Status(); s.Mode != On || !s.Listed || s.Sign().Tone != Warning {
			t.Errorf("%s, listed %v, sign %+v", s.Mode, s.Listed, s.Sign())
		}
		c.Reconnect() // the user asks for it
		if r, _ := c.Call(t.Context(), Call{Tool: "git_echo"}); starts.Load() < maxFailures+1 || !r.IsError {
			t.Errorf("started %d times", starts.Load())
		}
	})
}

func TestAChangeIsHeldWhenTheProgramIsStarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := works()
		f["tools/list"] = `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"description":"Says it again.","name":"echo"},{"name":"more"}]}}`
		c, _, _ := demanded(t, f)
		c.switchedOn(t)
		if _, err := c.Call(t.Context(), Call{Tool: "git_echo"}); err != nil {
			t.Fatal(err)
		}
		if s := c.Status(); len(s.Tools) != 1 || len(s.Held) != 1 || s.Held[0].Tool != "more" {
			t.Errorf("tools %v, held %v", s.Tools, s.Held)
		}
	})
}

func TestWhoWaitsForTheProgramMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _ := demanded(t, scripted{})
		c.switchedOn(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.Call(ctx, Call{Tool: "git_echo"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

// A server that is on by its settings and cannot be listed is tried again, for nobody is
// there to do it. Its tools are offered from then on, and the user has read why once.
func TestAServerThatIsOnByItsSettingsIsTriedUntilItIsListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := works()
		lists := f["tools/list"]
		f["tools/list"] = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"fetch failed"}}`
		var mu sync.Mutex
		var warned []string
		var starts atomic.Int32
		o := Options{Name: "git", Era: child.Legacy, OnDemand: true, StartOn: true, Start: f.start}
		o.Hooks.Find = func(From) (Found, error) {
			if starts.Add(1) == 3 {
				f["tools/list"] = lists
			}
			return Found{Command: process.Command{Program: "git-server"}}, nil
		}
		c := New(o)
		c.Start(Events{Warn: func(text string) {
			mu.Lock()
			warned = append(warned, text)
			mu.Unlock()
		}})
		t.Cleanup(func() { _ = c.Stop(t.Context()) })
		testwait.Pass(time.Second)
		if s := c.Status(); !s.Broken || s.Error != "git's MCP server failed to start: tools/list: fetch failed" || c.Published().Catalogue() != nil {
			t.Errorf("%s, broken %v: %s", s.Mode, s.Broken, s.Error)
		}
		if got := c.Published().Refuse("git_echo"); got != "git needs the user in mcpdeck: git's MCP server failed to start: tools/list: fetch failed." {
			t.Errorf("a call is told %q", got)
		}
		testwait.Pass(retryFirst)
		if starts.Load() != 2 || c.Published().Catalogue() != nil {
			t.Errorf("started %d times", starts.Load())
		}
		testwait.Pass(2 * retryFirst)
		if starts.Load() != 3 || c.Published().Catalogue() == nil {
			t.Errorf("started %d times: %s", starts.Load(), c.Status().Error)
		}
		testwait.Pass(24 * time.Hour)
		mu.Lock()
		defer mu.Unlock()
		if starts.Load() != 3 || len(warned) != 1 {
			t.Errorf("started %d times, warned %q", starts.Load(), warned)
		}
	})
}

// What the user has seen fail is theirs to try again.
func TestAServerThatTheUserTurnedOnIsTriedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var starts atomic.Int32
		o := Options{OnDemand: true}
		o.Hooks.Find = func(From) (Found, error) { starts.Add(1); return Found{}, errors.New("no such server") }
		c := made(t, o, works().start)
		c.On()
		testwait.Pass(24 * time.Hour)
		if s := c.Status(); starts.Load() != 1 || !s.Broken {
			t.Errorf("started %d times, broken %v", starts.Load(), s.Broken)
		}
	})
}
