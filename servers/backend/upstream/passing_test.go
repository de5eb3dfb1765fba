package upstream_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child/streamable"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// stage is a card of the fake, turned on, and the host that offers it.
type stage struct {
	server *fake.Server
	card   *upstream.Card
	host   *router.Host
	modern bool // the server is of the newer era
	web    bool // the server is reached over HTTP
}

// cardOf makes a card of a server.
func cardOf(t *testing.T, s *fake.Server, web bool, o upstream.Options) *upstream.Card {
	t.Helper()
	o.Name, o.Hooks.Find = "one", func(upstream.From) (upstream.Found, error) { return upstream.Found{}, nil }
	o.Start = func(process.Command) (*process.Child, error) { return s.Start() }
	o.Era = child.Legacy
	if s.NoLegacy {
		o.Era = child.Modern
	}
	if web {
		at := httptest.NewServer(s.Handler())
		t.Cleanup(at.Close)
		o.Hooks.Find = func(upstream.From) (upstream.Found, error) {
			return upstream.Found{Open: func(log *child.Log) (child.Link, error) {
				return streamable.Open(streamable.Options{Name: "one", URL: at.URL, Version: "test", Log: log})
			}}, nil
		}
	}
	return upstream.New(o)
}

// on makes a card of a server and turns it on.
func on(t *testing.T, s *fake.Server, web bool, o upstream.Options) stage {
	t.Helper()
	c := cardOf(t, s, web, o)
	h := routertest.Start(t, upstream.NewAdapter(c, upstream.AdapterOptions{}))
	c.On()
	if err := c.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := c.Status(); s.Mode != upstream.On {
		t.Fatalf("%s: %s", s.Mode, s.Error)
	}
	return stage{s, c, h, s.NoLegacy, web}
}

// children plays a test with servers of both eras, over pipes and HTTP.
func children(t *testing.T, o upstream.Options, play func(t *testing.T, s stage)) {
	t.Helper()
	for _, era := range []string{"legacy", "modern"} {
		for _, web := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s server, HTTP %t", era, web), func(t *testing.T) {
				t.Parallel()
				play(t, on(t, &fake.Server{NoLegacy: era == "modern", NoModern: era == "legacy", Instructions: "Greet with greet()."}, web, o))
			})
		}
	}
}

// everywhere plays a test with agents and servers of both eras, over each carrier.
func everywhere(t *testing.T, play func(t *testing.T, s stage, a transporttest.Talker, modern bool)) {
	t.Helper()
	children(t, upstream.Options{}, func(t *testing.T, s stage) {
		t.Helper()
		transporttest.Everywhere(t, s.host, "", func(t *testing.T, a transporttest.Talker, modern bool) { t.Helper(); play(t, s, a, modern) })
	})
}

// ask sends a request and returns the last message that comes to it.
func ask(t *testing.T, a transporttest.Talker, modern bool, method, params string) string {
	t.Helper()
	got := a.Say(t, method, transporttest.With(params, modern), "5")
	if len(got) == 0 {
		t.Fatalf("no answer to %s", method)
	}
	return got[len(got)-1]
}

// whose is what every result has for clients of the newer era.
const whose = `"io.modelcontextprotocol/serverInfo":{"name":"one","version":"test","title":"one"}`

func TestResultsAndErrorsPassAsTheyAre(t *testing.T) {
	everywhere(t, func(t *testing.T, _ stage, a transporttest.Talker, modern bool) {
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

// sameMembers compares messages, regardless of the order of their members.
func sameMembers(a, b string) bool {
	sorted := func(s string) []byte { r := []byte(s); slices.Sort(r); return r }
	return slices.Equal(sorted(a), sorted(b))
}

func TestProgressPassesButForItsToken(t *testing.T) {
	everywhere(t, func(t *testing.T, _ stage, a transporttest.Talker, modern bool) {
		t.Helper()
		for _, token := range []string{`7`, `"<t>"`, `9007199254740993`} {
			got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_steps","_meta":{"progressToken":`+token+`}}`, modern), "5")
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

// A cancelled call ends without an answer, as the protocol demands.
func TestACancelledCallReachesTheServer(t *testing.T) {
	children(t, upstream.Options{}, func(t *testing.T, s stage) {
		t.Helper()
		for _, modern := range []bool{false, true} {
			a := transporttest.OverStream(t, s.host, router.ViewSpec{}, false)
			if !modern {
				a.Say(t, "initialize", transporttest.Handshake, "0")
			}
			before, calls := s.server.Count("notifications/cancelled"), s.server.Count("tools/call")
			a.Begin(t, "tools/call", transporttest.With(`{"name":"one_wait","_meta":{}}`, modern), "8")
			testwait.Until(t, "the call", func() bool { return s.server.Count("tools/call") > calls })
			a.Tell(t, "notifications/cancelled", `{"requestId":8}`)
			if got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_echo","_meta":{}}`, modern), "9"); len(got) != 1 {
				t.Errorf("got %s", got)
			}
			testwait.Until(t, "the server to hear of it", func() bool {
				web := s.server.Count("POST") > 0
				return web && s.modern || s.server.Count("notifications/cancelled") > before
			})
		}
	})
}

func TestLogMessagesReachTheAgentsThatWantThem(t *testing.T) {
	everywhere(t, func(t *testing.T, s stage, a transporttest.Talker, modern bool) {
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
		default: // log messages belong to no request
			hear := a.Listen(t, "")
			ask(t, a, false, "logging/setLevel", `{"level":"warning"}`)
			testwait.Until(t, "the level", func() bool { return s.server.Count(fake.LevelSet) > 0 })
			var got []string
			if a.Header != nil { // over HTTP they may come with the answer
				got = slices.DeleteFunc(a.Say(t, "tools/call", call, "6"), func(m string) bool { return !strings.Contains(m, "notifications/") })
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
		got := a.Say(t, "tools/call", transporttest.With(call, modern), "6")
		// Over HTTP, a server of the older era sends them on a stream of their own, perhaps
		// too late for the request of an agent of the newer era.
		if late := s.web && !s.modern && len(got) < 3; !late && !slices.Equal(got[:len(got)-1], want) {
			t.Errorf("got %s", got)
		}
	})
}

// Only agents that asked for a server's log get it, each at the level it chose.
func TestEachAgentHasItsOwnLevel(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{})
	var heard []func() string
	for i, level := range []string{"error", "debug", "none"} {
		a := transporttest.OverStream(t, s.host, router.ViewSpec{}, false)
		a.Say(t, "initialize", transporttest.Handshake, "0")
		a.Tell(t, "notifications/initialized", `{}`)
		if level != "none" {
			a.Say(t, "logging/setLevel", `{"level":"`+level+`"}`, "1")
		}
		heard = append(heard, func() string { return strings.Join(a.Say(t, "ping", `{}`, fmt.Sprint(i)), " ") })
	}
	testwait.Until(t, "the most verbose level", func() bool {
		seen := s.server.Seen()
		return slices.ContainsFunc(seen, func(r fake.Request) bool { return strings.Contains(r.Line, `"level":"debug"`) })
	})
	if _, err := s.card.Call(t.Context(), upstream.Call{Tool: "one_log"}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 4, 0} {
		if got := heard[i](); strings.Count(got, "notifications/message") != want {
			t.Errorf("agent %d heard %s, want %d messages", i, got, want)
		}
	}
}

func TestPromptsAndResourcesPassAsTheyAre(t *testing.T) {
	everywhere(t, func(t *testing.T, _ stage, a transporttest.Talker, modern bool) {
		t.Helper()
		for method, want := range map[string]string{
			"prompts/list":             strings.NewReplacer(`"name":"greet"`, `"name":"one_greet"`, `"later" : `, `"later":`, "greet()", "one_greet()").Replace(fake.Prompt),
			"resources/list":           fake.Resource,
			"resources/templates/list": fake.Template,
		} {
			if got := ask(t, a, modern, method, `{"_meta":{}}`); strings.Count(got, want) != 1 {
				t.Errorf("%s: want %s in\n%s", method, want, got)
			}
		}
		for _, tt := range []struct{ method, params, got string }{
			{"prompts/get", `{"name":"one_greet","arguments":{"who":"<\u00e9>"},"later":1.0,"_meta":{"x":1.0}}`, `{"name":"greet","arguments":{"who":"<\u00e9>"},"later":1.0,"_meta":{"x":1.0}}`},
			{"completion/complete", `{"ref":{"later":1.0,"type":"ref/prompt","name":"one_greet"},"argument":{"name":"who","value":"E"},"_meta":{}}`, `{"ref":{"later":1.0,"type":"ref/prompt","name":"greet"},"argument":{"name":"who","value":"E"}}`},
			{"completion/complete", `{"ref":{"type":"ref/resource","uri":"fake://{x}"},"argument":{"name":"x","value":"E"},"_meta":{}}`, `{"ref":{"type":"ref/resource","uri":"fake://{x}"},"argument":{"name":"x","value":"E"}}`},
			{"resources/read", `{"uri":"fake://a","_meta":{}}`, `{"uri":"fake://a"}`},
			{"resources/read", `{"uri":"fake://of-the-template","_meta":{}}`, `{"uri":"fake://of-the-template"}`},
			{"resources/read", `{"uri":"another://place/of it","_meta":{}}`, `{"uri":"another://place/of it"}`},
			{"later/method", `{"n":1.0,"_meta":{}}`, `{"n":1.0}`},
		} {
			if got := ask(t, a, modern, tt.method, tt.params); !strings.Contains(got, `"z":1.0,"got":`+tt.got+`,"a":"<\u00e9>"`) {
				t.Errorf("%s: the server got\n%s, want\n%s", tt.method, got, tt.got)
			}
		}
		if got := ask(t, a, modern, "tasks/get", `{"taskId":"x","_meta":{}}`); !strings.Contains(got, `-32601`) {
			t.Errorf("tasks: %s", got)
		}
	})
}

// An update reaches only the agents that subscribed, whatever their eras and the server's.
func TestUpdatesReachTheSubscriberAlone(t *testing.T) {
	everywhere(t, func(t *testing.T, s stage, a transporttest.Talker, modern bool) {
		t.Helper()
		uri := "fake://" + rand.Text()
		touch := func(uri string) {
			if r, err := s.card.Call(t.Context(), upstream.Call{Tool: "one_touch", Args: []byte(`{"uri":"` + uri + `"}`)}); err != nil || r.IsError {
				t.Fatalf("%s, %v", r.Raw, err)
			}
		}
		tag, params := "", ""
		if modern {
			tag = `"_meta":{"io.modelcontextprotocol/subscriptionId":77},`
			params = transporttest.With(`{"notifications":{"resourceSubscriptions":["`+uri+`"]},"_meta":{}}`, true)
		}
		hear := a.Listen(t, params)
		if modern {
			hear() // the subscription is acknowledged
		} else if got := ask(t, a, false, "resources/subscribe", `{"uri":"`+uri+`"}`); !strings.Contains(got, `"result"`) {
			t.Fatalf("subscribed: %s", got)
		}
		testwait.Until(t, "the subscription", func() bool {
			return slices.ContainsFunc(s.server.Seen(), func(r fake.Request) bool {
				return strings.Contains(r.Line, uri) && (r.Method == "resources/subscribe" || r.Method == "subscriptions/listen")
			})
		})
		heard := make(chan string, 1)
		go func() { heard <- hear() }()
		for told := false; !told; { // in the newer era it takes a moment until a subscription replaces the one before
			touch("fake://of-nobody")
			touch(uri)
			select {
			case got := <-heard:
				if want := `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{` + tag + `"z":1.0,"uri":"` + uri + `"}}`; got != want {
					t.Errorf(" got %s\nwant %s", got, want)
				}
				told = true
			case <-time.After(20 * time.Millisecond):
			}
		}
	})
}

// If one of two agents that share a server unsubscribes, the other still gets updates.
func TestASubscriptionEndsWithItsLastAgent(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{})
	var agents []transporttest.Talker
	for range 2 {
		a := transporttest.OverStream(t, s.host, router.ViewSpec{}, false)
		a.Say(t, "initialize", transporttest.Handshake, "0")
		a.Say(t, "resources/subscribe", `{"uri":"fake://a"}`, "1")
		agents = append(agents, a)
	}
	for i, want := range []int{0, 1} {
		agents[i].Say(t, "resources/unsubscribe", `{"uri":"fake://a"}`, "2")
		if got := s.server.Count("resources/unsubscribe"); got != want {
			t.Errorf("after %d: the server was told %d times, want %d", i+1, got, want)
		}
	}
	if got := s.server.Count("resources/subscribe"); got != 1 {
		t.Errorf("subscribed %d times", got)
	}
}

// Agents are notified once of each kind of list that changes.
func TestAChangeOfAServersListsIsToldOnce(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{})
	a := transporttest.OverStream(t, s.host, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Tell(t, "notifications/initialized", `{}`)
	var told []string
	hear := func(method, params string) string {
		got := a.Say(t, method, params, "1")
		for _, m := range got {
			if _, list, ok := strings.Cut(m, "notifications/"); ok {
				told = append(told, strings.TrimSuffix(list, `/list_changed"}`))
			}
		}
		return got[len(got)-1]
	}
	hear("tools/call", `{"name":"one_change"}`) // the notification may come before the answer
	testwait.Until(t, "the new resource", func() bool { return strings.Contains(hear("resources/list", `{}`), "fake://new/1") })
	s.card.Off()
	testwait.Until(t, "the last list", func() bool { hear("ping", `{}`); return slices.Contains(told, "prompts") })
	slices.Sort(told)
	// The new tool is held; while the card is off, nothing is listed.
	if want := []string{"prompts", "resources", "resources", "tools"}; !slices.Equal(told, want) {
		t.Errorf("told of %q, want %q", told, want)
	}
}

func TestAServerIsShownAsItIs(t *testing.T) {
	children(t, upstream.Options{}, func(t *testing.T, s stage) {
		t.Helper()
		spec := router.ViewSpec{Servers: []string{"one"}, Passthrough: true}
		transporttest.Carriers(t, func(t *testing.T) transporttest.Talker {
			t.Helper()
			return transporttest.OverStream(t, s.host, spec, false)
		},
			func(t *testing.T) transporttest.Talker {
				t.Helper()
				return transporttest.OverStream(t, s.host, spec, true)
			},
			func(t *testing.T) transporttest.Talker {
				t.Helper()
				return transporttest.OverHTTP(t, s.host, "/one?as-is")
			},
			func(t *testing.T, a transporttest.Talker, modern bool) {
				t.Helper()
				hello := a.Say(t, "initialize", transporttest.Handshake, "1")
				if modern {
					hello = a.Say(t, "server/discover", transporttest.With(`{"_meta":{}}`, true), "1")
				}
				for _, want := range []string{`erverInfo":{"name":"fake","version":"1"}`, `"experimental":{"later":{"z":1.0}}`, `"instructions":"Greet with greet()."`} {
					if len(hello) != 1 || !strings.Contains(hello[0], want) {
						t.Errorf("want %s in the introduction %s", want, hello)
					}
				}
				for method, want := range map[string]string{
					"tools/list":               `{"name":"echo","inputSchema":{"type":"object"}}`,
					"prompts/list":             `[` + fake.Prompt + `]`,
					"resources/list":           `[` + fake.Resource + `]`,
					"resources/templates/list": `[` + fake.Template + `]`,
				} {
					if got := ask(t, a, modern, method, `{"_meta":{}}`); strings.Count(got, want) != 1 {
						t.Errorf("%s: want %s in\n%s", method, want, got)
					}
				}
				for _, tt := range []struct{ method, params, want string }{
					{"tools/call", `{"name":"echo","arguments":{"text":"hi"},"_meta":{}}`, `"text":"hi"`},
					{"prompts/get", `{"name":"greet","_meta":{}}`, `"got":{"name":"greet"}`},
					{"completion/complete", `{"ref":{"type":"ref/prompt","name":"greet"},"argument":{"name":"a","value":""},"_meta":{}}`, `"ref":{"type":"ref/prompt","name":"greet"}`},
				} {
					if got := ask(t, a, modern, tt.method, tt.params); !strings.Contains(got, tt.want) {
						t.Errorf("%s: %s, want %s", tt.method, got, tt.want)
					}
				}
			})
	})
}

// The deck answers what a server asks of its client, as the server's era does.
func TestTheDeckAnswersWhatAServerAsks(t *testing.T) {
	var mu sync.Mutex
	var seen []upstream.Elicitation
	o := upstream.Options{Root: "/deck/a b", Elicit: func(_ context.Context, e upstream.Elicitation) (upstream.Elicited, error) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, e)
		return upstream.Elicited{Action: "accept", Content: []byte(`{"name":"<\u00e9>"}`)}, nil
	}}
	t.Cleanup(func() { // after the parallel subtests
		if len(seen) == 0 {
			t.Error("nothing was asked")
		}
		for _, e := range seen {
			if len(e.Calls) != 1 || e.URL != "" && (e.URL != "https://example.org/sign-in?a=b" || e.Message != "Please sign in.") {
				t.Errorf("asked %+v", e)
			}
		}
	})
	children(t, o, func(t *testing.T, s stage) {
		t.Helper()
		transporttest.Everywhere(t, s.host, "", func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			for tool, want := range map[string]string{
				"ask":   `{"action":"accept","content":{"name":"<\u00e9>"}}`,
				"url":   `{"action":"accept"}`,
				"where": `{"roots":[{"uri":"file:///deck/a%20b","name":"a b"}]}`,
			} {
				got := ask(t, a, modern, "tools/call", `{"name":"one_`+tool+`","_meta":{}}`)
				if s.modern {
					want = `state {"it":` + want + `}`
				}
				if !strings.Contains(got, string(rawjson.Quote(want))) {
					t.Errorf("%s: got %s, want %s", tool, got, want)
				}
			}
			if got := ask(t, a, modern, "tools/call", `{"name":"one_sample","_meta":{}}`); !strings.Contains(got, "-32601") && !strings.Contains(got, "which mcpdeck does not answer") {
				t.Errorf("a model: got %s", got)
			}
			if s.modern {
				return // a server of this kind sends no requests
			}
			if got := ask(t, a, modern, "tools/call", `{"name":"one_unheard","_meta":{}}`); !strings.Contains(got, "-32601") {
				t.Errorf("an unknown request: got %s", got)
			}
		})
	})
}

// A tool that can only run as a task answers clients that do not know tasks.
func TestATaskAnswersAsACall(t *testing.T) {
	everywhere(t, func(t *testing.T, s stage, a transporttest.Talker, modern bool) {
		t.Helper()
		if s.modern {
			return // the newer era has no such tasks
		}
		if list := ask(t, a, modern, "tools/list", `{"_meta":{}}`); !strings.Contains(list, `"one_research"`) || strings.Contains(list, "taskSupport") {
			t.Errorf("listed as %s", list)
		}
		got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_research","_meta":{"progressToken":1}}`, modern), "5")
		if len(got) < 2 || !strings.Contains(got[len(got)-1], `"text":"report"`) || !strings.Contains(got[0], `"message":"reading"`) {
			t.Errorf("got %s", got)
		}
	})
}

func TestACallOfAHeldToolSaysThatItIsHeld(t *testing.T) {
	s := on(t, &fake.Server{NoModern: true}, false, upstream.Options{})
	merged, asIs := transporttest.OverStream(t, s.host, router.ViewSpec{}, false), transporttest.OverStream(t, s.host, router.ViewSpec{Servers: []string{"one"}, Passthrough: true}, false)
	merged.Say(t, "initialize", transporttest.Handshake, "0")
	asIs.Say(t, "initialize", transporttest.Handshake, "0")
	ask(t, merged, false, "tools/call", `{"name":"one_change"}`)
	testwait.Until(t, "the tool", func() bool { return len(s.card.Status().Held) == 1 })
	for name, a := range map[string]transporttest.Talker{"one_new_1": merged, "new_1": asIs} {
		want := name + " is hidden until the user accepts it: it is new."
		if got := ask(t, a, false, "tools/call", `{"name":"`+name+`"}`); !strings.Contains(got, want) || !strings.Contains(got, `"isError":true`) {
			t.Errorf("got %s, want %q", got, want)
		}
	}
}
