package upstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// scripted is a server inside the test: it answers each method with a text, in which ID is
// that of the request.
type scripted map[string]string

func (f scripted) start(process.Command) (*process.Child, error) {
	return played(func(method, id string, say func(string)) {
		if answer := f[method]; answer != "" {
			say(answered(answer, id))
		}
	}), nil
}

// played is a server inside the test; take gets its messages, one after the other.
func played(take func(method, id string, say func(line string))) *process.Child {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &process.Child{PID: 7, In: inW, Out: outR, Err: io.NopCloser(strings.NewReader("")), Exited: make(chan struct{}), Code: func() string { return "code 3" }}
	p.Kill = sync.OnceFunc(func() { inR.Close(); outW.Close(); close(p.Exited) })
	p.Terminate = p.Kill
	go func() {
		defer p.Kill()
		lines := rpc.NewLines(inR, rpc.MaxLine)
		for {
			line, err := lines.Next()
			if err != nil {
				return
			}
			o, err := rawjson.Parse(line)
			if err != nil {
				return
			}
			take(o.Str("method"), string(o.Get("id")), func(line string) { fmt.Fprintln(outW, line) })
		}
	}()
	return p
}

// answered is a text of a script as the answer to a request.
func answered(text, id string) string { return strings.ReplaceAll(text, "ID", id) }

func works() scripted {
	return scripted{
		"initialize": `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","serverInfo":{"name":"fake","version":"2"}}}`,
		"tools/list": `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"echo","description":"Says it again."}]}}`,
		"tools/call": `{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"hi"}]}}`,
		"ping":       `{"jsonrpc":"2.0","id":ID,"result":{}}`,
	}
}

// over makes a started card over a server inside the test.
func over(t *testing.T, f scripted, o Options) *Card {
	t.Helper()
	o.Hooks.Find = func(From) (Found, error) { return Found{Command: process.Command{Program: "git-server"}}, nil }
	return made(t, o, f.start)
}

func made(t *testing.T, o Options, start func(process.Command) (*process.Child, error)) *Card {
	t.Helper()
	o.Name, o.Era, o.Start = "git", child.Legacy, start
	c := New(o)
	c.Start(Events{})
	t.Cleanup(func() { _ = c.Stop(context.WithoutCancel(t.Context())) }) // nothing writes in folders that are removed
	return c
}

func (c *Card) switchedOn(t *testing.T) {
	t.Helper()
	c.On()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.Status(); s.Mode != On {
		t.Fatalf("mode %s: %s", s.Mode, s.Error)
	}
}

// finished waits until so many calls are counted, which is a moment after they were answered.
func (c *Card) finished(t *testing.T, calls int) Status {
	t.Helper()
	hint, stop := c.Subscribe()
	defer stop()
	for {
		s := c.Status()
		if s.OK+s.Failed >= calls {
			return s
		}
		select {
		case <-hint:
		case <-time.After(testwait.Patience):
			t.Fatalf("%d calls are counted", s.OK+s.Failed)
		}
	}
}

// Ending is for anybody, as often as they like, also when the child ends itself.
func TestEndingTwice(t *testing.T) {
	c := over(t, works(), Options{})
	c.switchedOn(t)
	child := c.main.child
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if i == 3 {
				child.Kill()
			}
			child.End()
			if err := c.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	child.End()
	if s := c.Status(); s.Mode != Off || s.PID != 0 {
		t.Errorf("mode %s, child %d", s.Mode, s.PID)
	}
}

// A server of which nothing is known needs no more than a name and a program.
func TestACardOffersWhatItsServerLists(t *testing.T) {
	c := over(t, works(), Options{})
	if c.Published().Catalogue() != nil || c.Published().Refuse("git_echo") != "git is off. The user can turn it on in mcpdeck." || c.Published().Refuse("other") != "" {
		t.Errorf("off: listed %v, %q", c.Published().Catalogue(), c.Published().Refuse("git_echo"))
	}
	c.switchedOn(t)
	if tools := c.Published().Catalogue().Tools; len(tools) != 1 || tools[0].Name != "git_echo" {
		t.Fatalf("tools %v", tools)
	}
	r, err := c.Call(t.Context(), Call{Tool: "git_echo"})
	if err != nil || len(r.Content()) != 1 || string(r.Content()[0]) != `{"type":"text","text":"hi"}` {
		t.Errorf("got %s, %v", r.Raw, err)
	}
}

func TestAnErrorOfTheProtocolIsKeptAsAFailedCall(t *testing.T) {
	f := works()
	f["tools/call"] = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32042,"message":"Look elsewhere"}}`
	c := over(t, f, Options{})
	c.switchedOn(t)
	_, _ = c.Call(t.Context(), Call{Tool: "git_echo"}) // the contract says how it is answered
	if s := c.finished(t, 1); s.Failed != 1 {
		t.Errorf("counted: %d as failed", s.Failed)
	}
}

func TestMetaPassesButForTheToken(t *testing.T) {
	tests := []struct {
		name, meta, want string
	}{
		{"none", "", `{"progressToken":"7"}`},
		{"fields", `{"a":9007199254740993,"progressToken":"agent's"}`, `{"progressToken":"7","a":9007199254740993}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(withProgress(json.RawMessage(tt.meta), "7")); got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestAServerMayHaveAStatusToolOfItsOwn(t *testing.T) {
	f := works()
	f["tools/list"] = `{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"status"},{"name":"git_log"}]}}`
	c := over(t, f, Options{Name: "git", OnDemand: true})
	c.switchedOn(t)
	if got := c.Status().Tools; len(got) != 2 || got[1].Name != "git_status" {
		t.Errorf("offered: %+v, left out: %v", got, c.Status().Notes)
	}
}

// A server answers no request that was cancelled, as the protocol has it.
func TestACancelledCallKeepsItsPlaceForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := works()
		delete(f, "tools/call")
		c := over(t, f, Options{})
		c.switchedOn(t)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		if _, err := c.Call(ctx, Call{Tool: "git_echo"}); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if s := c.Status(); s.Running != 1 {
			t.Errorf("%d calls run", s.Running)
		}
		testwait.Pass(cancelGrace)
		if s := c.Status(); s.Running != 0 || s.Failed != 1 {
			t.Errorf("%d calls run, %d are counted as failed", s.Running, s.Failed)
		}
	})
}

// Nothing of what a server offers is known before it has listed it for the first time.
func TestACallOfAServerThatIsTurningOnSaysThatItIsStarting(t *testing.T) {
	f := works()
	delete(f, "tools/list")
	c := over(t, f, Options{OnDemand: true})
	c.On()
	const want = "git is starting. Try again in a moment."
	if got := c.Published().Refuse("git_echo"); got != want {
		t.Errorf("refused with %q", got)
	}
	r, err := c.Call(t.Context(), Call{Tool: "git_echo"})
	if err != nil || !r.IsError || len(r.Content()) != 1 || !strings.Contains(string(r.Content()[0]), want) {
		t.Errorf("got %s, %v", r.Raw, err)
	}
	c.Off()
	if got := c.Published().Refuse("git_echo"); got != "git is off. The user can turn it on in mcpdeck." {
		t.Errorf("off: refused with %q", got)
	}
}
