package upstream

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// A server may work on what follows before it has taken in the level. One that never
// answers holds up its first call for a few seconds.
func TestACallIsSentOnceTheLevelOfItsLogIsSet(t *testing.T) {
	for _, slow := range []time.Duration{0, time.Second, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { levelled(t, slow) })
		})
	}
}

func levelled(t *testing.T, slow time.Duration) {
	t.Helper()
	answers := works()
	answers["initialize"] = strings.Replace(answers["initialize"], `"serverInfo"`, `"capabilities":{"logging":{}},"serverInfo"`, 1)
	answers["logging/setLevel"] = answers["ping"]
	var mu sync.Mutex
	set, early := false, 0
	o := Options{OnDemand: true, Hooks: Hooks{Find: func(From) (Found, error) { return Found{Command: process.Command{Program: "git-server"}}, nil }}}
	c := made(t, o, func(process.Command) (*process.Child, error) {
		inR, inW := io.Pipe()
		outR, outW := io.Pipe()
		p := &process.Child{PID: 7, In: inW, Out: outR, Err: io.NopCloser(strings.NewReader("")), Exited: make(chan struct{}), Code: func() string { return "code 3" }}
		p.Kill = sync.OnceFunc(func() { inR.Close(); outW.Close(); close(p.Exited) })
		p.Terminate = p.Kill
		go func() {
			defer p.Kill()
			for in := rpc.NewLines(inR, rpc.MaxLine); ; {
				line, err := in.Next()
				if err != nil {
					return
				}
				o, _ := rawjson.Parse(line) // of the deck
				answer := func() {
					if text := answers[o.Str("method")]; text != "" {
						fmt.Fprintln(outW, strings.ReplaceAll(text, "ID", string(o.Get("id"))))
					}
				}
				switch o.Str("method") {
				case "logging/setLevel":
					time.AfterFunc(slow, func() {
						mu.Lock()
						set = true
						mu.Unlock()
						answer()
					})
					continue
				case "tools/call":
					mu.Lock()
					if !set {
						early++
					}
					mu.Unlock()
				}
				answer()
			}
		}()
		return p, nil
	})
	c.switchedOn(t)
	from := From{Agent: "a"}
	c.Subscribed(from.Agent, backend.Subscriptions{Level: "debug"})
	for i := range 2 {
		began := time.Now()
		if r, err := c.Call(t.Context(), Call{Tool: "git_echo", Args: json.RawMessage(`{}`), From: from}); err != nil || r.IsError {
			t.Errorf("call %d: %s, %v", i+1, r.Raw, err)
		}
		switch took := time.Since(began); {
		case slow > linkPatience && i == 0 && took != linkPatience:
			t.Errorf("of a silent server: the first call took %s", took)
		case slow > linkPatience && i > 0 && took > 0:
			t.Errorf("of a silent server: the next call took %s", took)
		}
	}
	if slow < linkPatience && early > 0 {
		t.Errorf("%d calls were sent before the level was set", early)
	}
}
