package upstream_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/fake"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// able plays a test with agents that have declared capabilities, over each carrier.
func able(t *testing.T, s stage, can string, play func(t *testing.T, a transporttest.Talker)) {
	t.Helper()
	for name, open := range map[string]func() transporttest.Talker{
		"stdio":  func() transporttest.Talker { return transporttest.OverStream(t, s.host, router.ViewSpec{}, false) },
		"socket": func() transporttest.Talker { return transporttest.OverStream(t, s.host, router.ViewSpec{}, true) },
		"http":   func() transporttest.Talker { return transporttest.OverHTTP(t, s.host, "/") },
	} {
		t.Run(name+" agent", func(t *testing.T) {
			a := open()
			a.Say(t, "initialize", strings.Replace(transporttest.Handshake, `"capabilities":{}`, `"capabilities":`+can, 1), "0")
			a.Tell(t, "notifications/initialized", `{}`)
			play(t, a)
		})
	}
}

// own plays a test with servers of which each agent has its own, so that their requests
// pass to the agent.
func own(t *testing.T, play func(t *testing.T, s stage)) {
	t.Helper()
	children(t, upstream.Options{OnDemand: true, Share: upstream.ShareSession, ElicitAgent: true, SampleAgent: true, Root: "/deck"}, play)
}

func TestAnAgentAnswersWhatItsServerAsks(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		able(t, s, `{"elicitation":{"form":{},"url":{}},"sampling":{"tools":{}}}`, func(t *testing.T, a transporttest.Talker) {
			t.Helper()
			for tool, want := range map[string]string{
				"ask":    `"params":{"message":"Your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}`,
				"url":    `"params":{"mode":"url","elicitationId":"e-1","url":"https://example.org/sign-in?a=b","message":"Please sign in."}`,
				"sample": `"params":{"messages":[],"maxTokens":1.0}`,
			} {
				for _, answer := range []string{`"result":{"z":1.0,"later":"<\u00e9>"}`, `"error":` + fake.OddError} {
					a.Begin(t, "tools/call", `{"name":"one_`+tool+`"}`, "4")
					line := a.Next(t)
					asked, err := rawjson.Parse([]byte(line))
					if err != nil || !strings.Contains(line, want) || asked.Get("id") == nil {
						t.Fatalf("%s: asked %s, want %s", tool, line, want)
					}
					a.Answer(t, `{"jsonrpc":"2.0","id":`+string(asked.Get("id"))+`,`+answer+`}`)
					got := a.Next(t)
					_, passed, _ := strings.Cut(answer, ":")
					quoted := strings.Trim(string(rawjson.Quote(passed)), `"`)
					switch {
					case s.modern && strings.HasPrefix(answer, `"error"`):
						if got != `{"jsonrpc":"2.0","id":4,`+answer+`}` {
							t.Errorf("%s: got %s, want the agent's error", tool, got)
						}
					case !strings.Contains(got, quoted):
						t.Errorf("%s: got %s, want %s in it", tool, got, passed)
					}
				}
			}
		})
	})
}

// When an agent cancels a call, what the server asked during it is withdrawn.
func TestARequestToAnAgentEndsWithItsCall(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		for _, socket := range []bool{false, true} {
			a := transporttest.OverStream(t, s.host, router.ViewSpec{}, socket)
			a.Say(t, "initialize", strings.Replace(transporttest.Handshake, `"capabilities":{}`, `"capabilities":{"sampling":{}}`, 1), "0")
			a.Begin(t, "tools/call", `{"name":"one_sample"}`, "4")
			asked, err := rawjson.Parse([]byte(a.Next(t)))
			if err != nil {
				t.Fatal(err)
			}
			a.Tell(t, "notifications/cancelled", `{"requestId":4}`)
			if got, want := a.Next(t), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(asked.Get("id"))+`}}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestWhatAnAgentDoesNotAnswerIsDeclined(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		able(t, s, `{"elicitation":{}}`, func(t *testing.T, a transporttest.Talker) {
			t.Helper()
			if got := ask(t, a, false, "tools/call", `{"name":"one_url"}`); !strings.Contains(got, `{\"action\":\"decline\"}`) {
				t.Errorf("a page: got %s", got)
			}
			if got := ask(t, a, false, "tools/call", `{"name":"one_sample"}`); !strings.Contains(got, "-32601") && !strings.Contains(got, "the agent does not answer such requests") {
				t.Errorf("a model: got %s", got)
			}
		})
		transporttest.Everywhere(t, s.host, "", func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			if got := ask(t, a, modern, "tools/call", `{"name":"one_ask","_meta":{}}`); !strings.Contains(got, `{\"action\":\"decline\"}`) {
				t.Errorf("a form: got %s", got)
			}
		})
	})
}

// What a server says of a page or of a task is for the one agent that it belongs to.
func TestNewsOfAPageOrATaskIsForItsAgent(t *testing.T) {
	own(t, func(t *testing.T, s stage) {
		t.Helper()
		for name, spec := range map[string]router.ViewSpec{"merged": {}, "as it is": {Servers: []string{"one"}, Passthrough: true}} {
			t.Run(name, func(t *testing.T) {
				var agents []transporttest.Talker
				for range 2 {
					a := transporttest.OverStream(t, s.host, spec, false)
					a.Say(t, "initialize", transporttest.Handshake, "0")
					a.Tell(t, "notifications/initialized", `{}`)
					agents = append(agents, a)
				}
				tool, want := "one_news", []string{`"method":"notifications/elicitation/complete","params":` + fake.PageNews}
				if spec.Passthrough {
					tool = "news"
					want = append(want, `"method":"notifications/tasks/status","params":`+fake.TaskNews)
				}
				if got := ask(t, agents[1], false, "tools/call", `{"name":"`+strings.TrimSuffix(tool, "news")+`echo"}`); !strings.Contains(got, "result") {
					t.Fatal(got)
				}
				got := agents[0].Say(t, "tools/call", `{"name":"`+tool+`"}`, "1")
				testwait.Until(t, "the news", func() bool { // over HTTP it has a stream of its own
					got = append(got, agents[0].Say(t, "ping", `{}`, "2")...)
					all := strings.Join(got, "\n")
					return !slices.ContainsFunc(want, func(w string) bool { return !strings.Contains(all, w) })
				})
				if all := strings.Join(got, "\n"); !spec.Passthrough && strings.Contains(all, "tasks/status") {
					t.Errorf("an agent that knows no tasks was told %s", all)
				}
				if others := agents[1].Say(t, "ping", `{}`, "2"); len(others) != 1 {
					t.Errorf("the other agent was told %q", others)
				}
			})
		}
	})
}

// A server is told that the project of its agent is another.
func TestAServerIsToldOfAnotherProject(t *testing.T) {
	for _, web := range []bool{false, true} {
		s := on(t, &fake.Server{NoModern: true}, web, upstream.Options{OnDemand: true, Share: upstream.ShareSession, Root: "/deck"})
		a := transporttest.OverStream(t, s.host, router.ViewSpec{}, false)
		a.Say(t, "initialize", strings.Replace(transporttest.Handshake, `"capabilities":{}`, `"capabilities":{"roots":{"listChanged":true}}`, 1), "0")
		for i, root := range []string{"/src/shop", "/src/other"} {
			if i == 0 {
				a.Tell(t, "notifications/initialized", `{}`)
			} else {
				a.Tell(t, "notifications/roots/list_changed", `{}`)
			}
			asked, err := rawjson.Parse([]byte(a.Next(t)))
			if err != nil || asked.Str("method") != "roots/list" {
				t.Fatalf("asked %s, %v", asked.JSON(), err)
			}
			a.Answer(t, `{"jsonrpc":"2.0","id":`+string(asked.Get("id"))+`,"result":{"roots":[{"uri":"file://`+root+`"}]}}`)
			testwait.Until(t, "the project "+root, func() bool {
				return strings.Contains(ask(t, a, false, "tools/call", `{"name":"one_where"}`), `file://`+root)
			})
		}
		testwait.Until(t, "the word of it", func() bool { return s.server.Count("notifications/roots/list_changed") > 0 })
	}
}
