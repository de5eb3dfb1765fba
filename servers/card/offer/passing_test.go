package offer_test

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/card"
	"github.com/mcpdeck/mcpdeck/servers/card/child"
	"github.com/mcpdeck/mcpdeck/servers/card/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/card/internal/fake"
	"github.com/mcpdeck/mcpdeck/servers/card/offer"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/host/hosttest"
	"github.com/mcpdeck/mcpdeck/servers/process"
	"github.com/mcpdeck/mcpdeck/servers/wire/wiretest"
)

// stage is a card of the fake that is on, and the host that offers it.
type stage struct {
	server *fake.Server
	card   *card.Card
	host   *host.Host
	modern bool // the server is of the newer era
}

// on makes a card of a server that is on.
func on(t *testing.T, s *fake.Server, web bool, o card.Options) stage {
	t.Helper()
	o.Name, o.Hooks.Find = "one", func(card.From) (card.Found, error) { return card.Found{}, nil }
	o.Start = func(process.Command) (*process.Child, error) { return s.Start() }
	o.Era = child.Legacy
	if s.NoLegacy {
		o.Era = child.Modern
	}
	if web {
		at := httptest.NewServer(s.Handler())
		t.Cleanup(at.Close)
		o.Hooks.Find = func(card.From) (card.Found, error) {
			return card.Found{Open: func(log *child.Log) (child.Link, error) {
				return streamable.Open(streamable.Options{Name: "one", URL: at.URL, Version: "test", Log: log})
			}}, nil
		}
	}
	c := card.New(o)
	h := hosttest.Start(t, offer.New(c, offer.Options{}))
	c.On()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.Status(); s.Mode != card.On {
		t.Fatalf("%s: %s", s.Mode, s.Error)
	}
	return stage{s, c, h, s.NoLegacy}
}

// children plays a test with servers of both eras, behind pipes and HTTP.
func children(t *testing.T, o card.Options, play func(t *testing.T, s stage)) {
	t.Helper()
	for _, era := range []string{"legacy", "modern"} {
		for _, web := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s server, HTTP %t", era, web), func(t *testing.T) {
				t.Parallel()
				play(t, on(t, &fake.Server{NoLegacy: era == "modern", NoModern: era == "legacy"}, web, o))
			})
		}
	}
}

// everywhere plays a test with agents and servers of both eras, over each carrier.
func everywhere(t *testing.T, o card.Options, play func(t *testing.T, s stage, a wiretest.Talker, modern bool)) {
	t.Helper()
	children(t, o, func(t *testing.T, s stage) {
		t.Helper()
		wiretest.Everywhere(t, s.host, "", func(t *testing.T, a wiretest.Talker, modern bool) { t.Helper(); play(t, s, a, modern) })
	})
}

// ask is the last of what comes to a request.
func ask(t *testing.T, a wiretest.Talker, modern bool, method, params string) string {
	t.Helper()
	got := a.Say(t, method, wiretest.With(params, modern), "5")
	if len(got) == 0 {
		t.Fatalf("no answer to %s", method)
	}
	return got[len(got)-1]
}

// whose is what every client of the newer era is told with a result.
const whose = `"io.modelcontextprotocol/serverInfo":{"name":"one","version":"test","title":"one"}`

func TestResultsAndErrorsPassAsTheyAre(t *testing.T) {
	everywhere(t, card.Options{}, func(t *testing.T, _ stage, a wiretest.Talker, modern bool) {
		t.Helper()
		odd := `"result":` + fake.Odd + `}`
		if modern {
			odd = strings.Replace(odd, `"structuredContent"`, `"resultType":"complete","structuredContent"`, 1)
			odd = strings.Replace(odd, `"_meta":{"x":1.0}`, `"_meta":{`+whose+`,"x":1.0}`, 1)
		}
		for tool, want := range map[string]string{"odd": odd, "bad": `"error":` + fake.OddError + `}`} {
			if got := ask(t, a, modern, "tools/call", `{"name":"one_`+tool+`","_meta":{}}`); !sameMembers(got, `{"jsonrpc":"2.0","id":5,`+want) {
				t.Errorf("%s\n got %s\nwant %s", tool, got, want)
			}
		}
		got := ask(t, a, modern, "tools/call", `{"arguments":{"z":1.0,"n":9007199254740993,"a":[1e2]},"later":{"b":1.0},"name":"one_params","inputResponses":{"k":1.00},"requestState":"<s>","_meta":{"x":1.0},"task":{}}`)
		if want := `"got":{"name":"params","arguments":{"z":1.0,"n":9007199254740993,"a":[1e2]},"later":{"b":1.0},"inputResponses":{"k":1.00},"requestState":"<s>","_meta":{"x":1.0}}`; !strings.Contains(got, want) {
			t.Errorf("the server got\n%s, want\n%s", got, want)
		}
	})
}

// sameMembers compares messages whose members may be in another order.
func sameMembers(a, b string) bool {
	sorted := func(s string) []byte { r := []byte(s); slices.Sort(r); return r }
	return slices.Equal(sorted(a), sorted(b))
}

func TestProgressPassesButForItsToken(t *testing.T) {
	everywhere(t, card.Options{}, func(t *testing.T, _ stage, a wiretest.Talker, modern bool) {
		t.Helper()
		for _, token := range []string{`7`, `"<t>"`, `9007199254740993`} {
			got := a.Say(t, "tools/call", wiretest.With(`{"name":"one_steps","_meta":{"progressToken":`+token+`}}`, modern), "5")
			if len(got) != 4 {
				t.Fatalf("got %q", got)
			}
			for i, step := range got[:3] {
				want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"later":1.0,"progressToken":%s,"progress":%d.0,"total":3}}`, token, i+1)
				if step != want {
					t.Errorf(" got %s\nwant %s", step, want)
				}
			}
		}
	})
}

// A cancelled call ends without an answer, as the protocol says.
func TestACancelledCallReachesTheServer(t *testing.T) {
	children(t, card.Options{}, func(t *testing.T, s stage) {
		t.Helper()
		for _, modern := range []bool{false, true} {
			a := wiretest.OverStream(t, s.host, host.ViewSpec{}, false)
			if !modern {
				a.Say(t, "initialize", wiretest.Handshake, "0")
			}
			before, calls := s.server.Count("notifications/cancelled"), s.server.Count("tools/call")
			a.Begin(t, "tools/call", wiretest.With(`{"name":"one_wait","_meta":{}}`, modern), "8")
			until(t, "the call", func() bool { return s.server.Count("tools/call") > calls })
			a.Tell(t, "notifications/cancelled", `{"requestId":8}`)
			if got := a.Say(t, "tools/call", wiretest.With(`{"name":"one_echo","_meta":{}}`, modern), "9"); len(got) != 1 {
				t.Errorf("got %s", got)
			}
			until(t, "the server to hear of it", func() bool {
				web := s.server.Count("POST") > 0
				return web && s.modern || s.server.Count("notifications/cancelled") > before
			})
		}
	})
}

// until waits for something that happens in another goroutine.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

func TestLogMessagesReachTheAgentsThatWantThem(t *testing.T) {
	everywhere(t, card.Options{}, func(t *testing.T, s stage, a wiretest.Talker, modern bool) {
		t.Helper()
		message := func(level string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"<\u00e9>","level":%q}}`, level)
		}
		want := []string{message("warning"), message("error")}
		call := `{"name":"one_log","_meta":{}}`
		switch {
		case modern:
			call = `{"name":"one_log","_meta":{"io.modelcontextprotocol/logLevel":"warning"}}`
		case s.modern:
			ask(t, a, false, "logging/setLevel", `{"level":"warning"}`)
		default: // the messages belong to no request
			hear := a.Listen(t, "")
			ask(t, a, false, "logging/setLevel", `{"level":"warning"}`)
			until(t, "the level", func() bool { return s.server.Count("logging/setLevel") > 0 })
			var got []string
			if a.Header != nil { // which may bring them with the answer
				got = a.Say(t, "tools/call", call, "6")
				got = got[:len(got)-1]
			} else {
				a.Begin(t, "tools/call", call, "6")
			}
			for len(got) < len(want) {
				if m := hear(); !strings.Contains(m, `"id":6`) {
					got = append(got, m)
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("got %s", got)
			}
			return
		}
		got := a.Say(t, "tools/call", wiretest.With(call, modern), "6")
		if !slices.Equal(got[:len(got)-1], want) {
			t.Errorf("got %s", got)
		}
	})
}

// A server's log is told to no agent that has not asked for it, and of two agents each
// gets the level that it chose.
func TestEachAgentHasItsOwnLevel(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, card.Options{})
	var heard []func() string
	for i, level := range []string{"error", "debug", "none"} {
		a := wiretest.OverStream(t, s.host, host.ViewSpec{}, false)
		a.Say(t, "initialize", wiretest.Handshake, "0")
		a.Tell(t, "notifications/initialized", `{}`)
		if level != "none" {
			a.Say(t, "logging/setLevel", `{"level":"`+level+`"}`, "1")
		}
		heard = append(heard, func() string { return strings.Join(a.Say(t, "ping", `{}`, fmt.Sprint(i)), " ") })
	}
	until(t, "the most verbose level", func() bool {
		seen := s.server.Seen()
		return slices.ContainsFunc(seen, func(r fake.Request) bool { return strings.Contains(r.Line, `"level":"debug"`) })
	})
	if _, err := s.card.Call(t.Context(), card.Invocation{Tool: "one_log"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 4, 0} {
		if got := heard[i](); strings.Count(got, "notifications/message") != want {
			t.Errorf("agent %d heard %s, want %d messages", i, got, want)
		}
	}
}
