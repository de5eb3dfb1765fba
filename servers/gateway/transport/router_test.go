package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// card is a module that answers requests as they came: with what they said.
type card struct {
	name   string
	events backend.Events
	began  chan struct{} // gets one when a call of NAME_wait has begun

	mu     sync.Mutex
	wanted map[string]backend.Subscriptions
}

func (c *card) Subscribed(agent string, w backend.Subscriptions) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.wanted[agent] = w
}

func (c *card) SessionEnded(agent string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.wanted, agent)
}

func newCard(name string) *card {
	return &card{name: name, began: make(chan struct{}, 8), wanted: map[string]backend.Subscriptions{}}
}

func (c *card) Info() backend.Info {
	return backend.Info{Name: c.name, Title: c.name, ServerName: c.name, Foreign: true}
}
func (c *card) Start(_ context.Context, e backend.Events) error { c.events = e; return nil }
func (c *card) Stop(context.Context) error                      { return nil }

// What it lists, in a manner that no encoder would choose.
const (
	cardTool     = `{"later" : 1.50,"name":"%s_%s","inputSchema":{"type":"object","properties":{"n":{"type":"integer","maximum":9007199254740993}}},"x":"<\u00e9>"}`
	cardPrompt   = `{"name":"%s_prompt","later":[1e2,{}],"description":"<p>"}`
	cardResource = `{"uri":"%s://one","size":9007199254740993,"name":"One","later":null}`
	cardTemplate = `{"uriTemplate":"%s://{+path","later":"<t>","name":"broken on purpose"}`
)

func (c *card) Catalogue() *backend.Catalogue {
	all := &backend.Catalogue{
		Prompts:   []backend.Definition{{Key: c.name + "_prompt", Raw: fmt.Appendf(nil, cardPrompt, c.name)}},
		Resources: []backend.Definition{{Key: c.name + "://one", Raw: fmt.Appendf(nil, cardResource, c.name)}},
		Templates: []backend.Definition{{Key: c.name + "://{+path", Raw: fmt.Appendf(nil, cardTemplate, c.name)}},
	}
	for _, name := range []string{"echo", "error", "steps", "wait", "panic", "nothing", "log", "ask", "bare"} {
		all.Tools = append(all.Tools, tool(c.name+"_"+name, fmt.Appendf(nil, cardTool, c.name, name)))
	}
	return all
}

// tool is one that is listed as it stands.
func tool(name string, definition []byte) backend.ToolDefinition {
	return backend.ToolDefinition{Definition: backend.Definition{Key: name, Raw: definition}, Policy: backend.Policy{Load: admission.Waits}}
}

// bare is a card that is also offered as it is.
type bare struct{ *card }

func (b bare) Catalogue() *backend.Catalogue {
	all := b.card.Catalogue()
	all.Passthrough = &backend.Catalogue{
		Tools: []backend.ToolDefinition{tool("echo", []byte(bareTool))}, Prompts: all.Prompts, Instructions: "As it is.",
		ServerInfo:   json.RawMessage(bareInfo),
		Capabilities: json.RawMessage(`{"later":{"z":1.0},"tools":{},"prompts":{"listChanged":false,"x":1}}`),
	}
	return all
}

const (
	bareTool = `{"z":1.0,"name":"echo"}`
	bareInfo = `{"version":"1.0","name":"bare","later":1.0}`
)

func TestAServerIsShownAsItIsWithoutTheDeck(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), bare{newCard("one")})
	spec := router.ViewSpec{Servers: []string{"one"}, Passthrough: true}
	const capabilities = `"capabilities":{"later":{"z":1.0},"tools":{"listChanged":true},"prompts":{"listChanged":true,"x":1}}`
	transporttest.Carriers(t, func(t *testing.T) transporttest.Talker {
		t.Helper()
		return transporttest.OverStream(t, h, spec, false)
	},
		func(t *testing.T) transporttest.Talker { t.Helper(); return transporttest.OverStream(t, h, spec, true) },
		func(t *testing.T) transporttest.Talker { t.Helper(); return transporttest.OverHTTP(t, h, "/one?as-is") },
		func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			hello := a.Say(t, "initialize", transporttest.Handshake, "1")
			if modern {
				hello = a.Say(t, "server/discover", `{"_meta":{`+transporttest.Meta+`}}`, "1")
			}
			for _, want := range []string{`erverInfo":` + bareInfo, capabilities, `"instructions":"As it is."`} {
				if len(hello) != 1 || !strings.Contains(hello[0], want) {
					t.Errorf("want %s in the introduction %s", want, hello)
				}
			}
			list := a.Say(t, "tools/list", transporttest.With(`{"_meta":{}}`, modern), "2")
			if len(list) != 1 || !strings.Contains(list[0], `"tools":[`+bareTool+`]`) || strings.Contains(list[0], `"mcpdeck"`) {
				t.Errorf("listed: %s", list)
			}
			got := a.Say(t, "tools/call", transporttest.With(`{"name":"echo","_meta":{}}`, modern), "3")
			if len(got) != 1 || !strings.Contains(got[0], `"kind":"tool","params":{"name":"echo"`) {
				t.Errorf("called: %s", got)
			}
		})
	own := transporttest.OverStream(t, h, router.ViewSpec{Servers: []string{"fixture"}, Passthrough: true}, false)
	own.Say(t, "initialize", transporttest.Handshake, "1")
	if got := own.Say(t, "tools/list", `{}`, "2"); !strings.Contains(got[0], `"name":"echo"`) {
		t.Errorf("a server of the deck's own lists %s", got)
	}
	if _, err := h.View(router.ViewSpec{Passthrough: true}); err == nil {
		t.Error("all servers are shown as they are")
	}
}

// What the newer era has no longer is no module's to answer.
func TestTheNewerEraHasNoRequestToSubscribe(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "",
		func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			if !modern {
				a.Say(t, "initialize", transporttest.Handshake, "1")
			}
			for i, method := range []string{"resources/subscribe", "resources/unsubscribe"} {
				got := a.Say(t, method, transporttest.With(`{"uri":"one://one","_meta":{}}`, modern), fmt.Sprint(i+2))
				if len(got) != 1 || strings.Contains(got[0], "-32601") != modern {
					t.Errorf("%s, modern %v: %s", method, modern, got)
				}
			}
		})
}

func (c *card) Owns(kind backend.Kind, key string) bool {
	return kind == backend.Resource && strings.HasPrefix(key, c.name+"://") || kind == backend.Task && strings.HasPrefix(key, c.name+"-") ||
		kind == backend.Method && key == "later/method"
}

// ofModern is what a server of 2026-07-28 puts into each result, or some.
const ofModern = `"resultType":"complete","ttlMs":1.0,"cacheScope":"public","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x"}},`

const oddError = `{"code":-32042,"message":"\u00e9 <no>","data":{"n":9007199254740993,"z":1.0,"a":2},"later":1}`

func (c *card) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	switch strings.TrimPrefix(r.Key, c.name+"_") {
	case "error":
		return backend.Reply{Error: json.RawMessage(oddError)}
	case "steps":
		for i := range 3 {
			r.Client.Notify("notifications/progress", fmt.Appendf(nil, `{"total":3.00,"progressToken":%s,"progress":%d.0,"message":"<\u00e9>"}`, r.Meta.Get("progressToken"), i+1))
		}
	case "wait":
		c.began <- struct{}{}
		<-ctx.Done()
		return backend.Reply{}
	case "log":
		for _, level := range []string{"debug", "warning", "error"} {
			r.Client.Notify("notifications/message", fmt.Appendf(nil, `{"data":"<\u00e9>","level":%q}`, level))
		}
	case "panic":
		panic("boom")
	case "ask":
		result, err := r.Client.Ask(ctx, "sampling/createMessage", json.RawMessage(`{"z":1.0,"n":9007199254740993,"a":"<\u00e9>"}`))
		var refused *rpc.Error
		switch {
		case errors.As(err, &refused):
			return backend.Reply{Error: refused.Raw}
		case err != nil:
			return backend.Failed(-1, err.Error())
		}
		return backend.Reply{Result: result}
	case "nothing":
		return backend.Reply{}
	case "bare":
		return backend.Reply{Result: json.RawMessage(`{"z":1.0,"content":[],"_meta":{"a":1.0}}`)}
	}
	own := ""
	if r.Stateless {
		own = ofModern
	}
	return backend.Reply{Result: fmt.Appendf(nil, `{`+own+`"z":1.0,"kind":%q,"params":%s,"content":[],"a":"<\u00e9>"}`, r.Kind, r.Message.Params)}
}

func TestRequestsReachARouterAsTheyCame(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"), newCard("two"))
	odd := `"_meta":{"z":1.0,"a":"<\u00e9>"},"n":9007199254740993,"later":{"b":1,"a":1e2},"inputResponses":{"k":{"z":1.00}},"requestState":"<s>"`
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		for _, tt := range []struct{ method, kind, params string }{
			{"tools/call", "tool", `{"name":"two_echo","arguments":{"z":1.0,"n":9007199254740993,"a":[1e2]},"task":{"ttl":1.0},` + odd + `}`},
			{"tools/call", "tool", `{` + odd + `,"name":"one_echo"}`},
			{"prompts/get", "prompt", `{"name":"two_prompt","arguments":{"z":1.0},` + odd + `}`},
			{"resources/read", "resource", `{"uri":"two://one",` + odd + `}`},
			{"resources/read", "resource", `{"uri":"two://some/where",` + odd + `}`},
			{"completion/complete", "prompt", `{"ref":{"type":"ref/prompt","name":"one_prompt"},"argument":{"name":"x","value":"é"},` + odd + `}`},
			{"completion/complete", "template", `{"ref":{"type":"ref/resource","uri":"one://{+path"},"argument":{"name":"x","value":"é"},` + odd + `}`},
			{"tasks/get", "task", `{"taskId":"two-1",` + odd + `}`},
		} {
			params := transporttest.With(tt.params, modern)
			got := a.Say(t, tt.method, params, "9007199254740993")
			own := ""
			if modern {
				own = ofModern
			}
			want := fmt.Sprintf(`{"jsonrpc":"2.0","id":9007199254740993,"result":{`+own+`"z":1.0,"kind":%q,"params":%s,"content":[],"a":"<\u00e9>"}}`, tt.kind, params)
			if len(got) != 1 || got[0] != want {
				t.Errorf("%s\n got %s\nwant %s", tt.method, got, want)
			}
		}
	})
}

func TestWhatAClientMustFindInAResultIsAdded(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		want := `{"jsonrpc":"2.0","id":1,"result":{"z":1.0,"content":[],"_meta":{"a":1.0}}}`
		if modern {
			want = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","z":1.0,"content":[],"_meta":{"a":1.0,` +
				`"io.modelcontextprotocol/serverInfo":{"name":"mcpdeck","version":"test","title":"mcpdeck"}}}}`
		}
		if got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_bare","_meta":{}}`, modern), "1"); len(got) != 1 || got[0] != want {
			t.Errorf(" got %s\nwant %s", got, want)
		}
	})
}

func TestErrorsOfARouterReachTheAgentAsTheyAre(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		whose := ""
		if modern {
			whose = `"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcpdeck","version":"test","title":"mcpdeck"}},`
		}
		for tool, want := range map[string]string{
			"error":   `"error":` + oddError + `}`,
			"nothing": `"error":{"code":-32603,"message":"one did not answer"}}`,
			"panic":   `"result":{` + whose + `"resultType":"complete","content":[{"type":"text","text":"Error: one_panic: internal error"}],"isError":true}}`,
		} {
			got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_`+tool+`","_meta":{}}`, modern), `"x"`)
			if want = `{"jsonrpc":"2.0","id":"x",` + want; len(got) != 1 || got[0] != want {
				t.Errorf("%s\n got %s\nwant %s", tool, got, want)
			}
		}
		if got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_ecko","_meta":{}}`, modern), `7`); len(got) != 1 || !strings.Contains(got[0], `did you mean \"one_echo\"?`) {
			t.Errorf("an unknown tool: %s", got)
		}
	})
}

func TestProgressOfARouterComesAsItIsAndBeforeTheResult(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		for _, token := range []string{`7`, `"t"`, `9007199254740993`} {
			got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_steps","_meta":{"progressToken":`+token+`}}`, modern), `5`)
			if len(got) != 4 || !strings.HasPrefix(got[3], `{"jsonrpc":"2.0","id":5,"result":{`) {
				t.Fatalf("got %q", got)
			}
			for i, step := range got[:3] {
				want := fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"total":3.00,"progressToken":%s,"progress":%d.0,"message":"<\u00e9>"}}`, token, i+1)
				if step != want {
					t.Errorf(" got %s\nwant %s", step, want)
				}
			}
		}
	})
}

func TestDefinitionsOfARouterAreListedAsTheyAre(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("two"), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		for method, definition := range map[string]string{
			"tools/list": strings.Replace(cardTool, "%s_%s", "%s_echo", 1), "prompts/list": cardPrompt, "resources/list": cardResource, "resources/templates/list": cardTemplate,
		} {
			got := a.Say(t, method, transporttest.With(`{"_meta":{}}`, modern), `1`)
			for _, name := range []string{"one", "two"} {
				if want := fmt.Sprintf(definition, name); len(got) != 1 || strings.Count(got[0], want) != 1 {
					t.Errorf("%s: want %s in\n%s", method, want, got)
				}
			}
		}
	})
}

func TestARouterAsksTheAgentAsItIs(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		if modern {
			if got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_ask","_meta":{}}`, modern), "4"); len(got) != 1 || !strings.Contains(got[0], backend.ErrCannotAsk.Error()) {
				t.Errorf("got %s", got)
			}
			return
		}
		for _, answer := range []string{`"result":{"z":1.0,"later":"<\u00e9>","n":9007199254740993}`, `"error":` + oddError} {
			a.Begin(t, "tools/call", `{"name":"one_ask"}`, "4")
			asked, err := rawjson.Parse([]byte(a.Next(t)))
			if err != nil || asked.Str("method") != "sampling/createMessage" || string(asked.Get("params")) != `{"z":1.0,"n":9007199254740993,"a":"<\u00e9>"}` {
				t.Fatalf("asked %s", asked.JSON())
			}
			a.Answer(t, `{"jsonrpc":"2.0","id":`+string(asked.Get("id"))+`,`+answer+`}`)
			if got, want := a.Next(t), `{"jsonrpc":"2.0","id":4,`+answer+`}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
}

func TestOtherMethodsGoToTheOneServerOfAView(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	for name, want := range map[string]string{"": `"code":-32601`, "one": `"kind":"method","params":`} {
		transporttest.Everywhere(t, h, name, func(t *testing.T, a transporttest.Talker, modern bool) {
			t.Helper()
			if got := a.Say(t, "later/method", transporttest.With(`{"_meta":{}}`, modern), `1`); len(got) != 1 || !strings.Contains(got[0], want) {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestWhatARouterServesIsInTheLog(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Say(t, "tools/call", `{"name":"one_echo","arguments":{"n":9007199254740993}}`, "1")
	a.Say(t, "tools/call", `{"name":"one_error","arguments":{}}`, "2")
	a.Say(t, "tools/call", `{"name":"one_panic"}`, "3")
	var calls []snapshot.Call
	testwait.Until(t, "the log has all calls", func() bool {
		calls, _ = h.Calls(0)
		return len(calls) == 3 && !slices.ContainsFunc(calls, func(c snapshot.Call) bool { return c.Status == snapshot.Running })
	})
	if c := calls[0]; c.Server != "one" || c.Tool != "one_echo" || c.Status != snapshot.OK || c.Args != "n=9007199254740993" || c.AgentName != "tester" {
		t.Errorf("the first call is logged as %+v", c)
	}
	if c := calls[1]; c.Status != snapshot.Refused || c.Result != "é <no>" {
		t.Errorf("the second call is logged as %+v", c)
	}
	if c := calls[2]; c.Status != snapshot.ToolError || !strings.Contains(c.Result, "one_panic") {
		t.Errorf("the third call is logged as %+v", c)
	}
}

func TestACancelledRequestOfARouterEnds(t *testing.T) {
	one := newCard("one")
	h := routertest.Start(t, transporttest.NewFixture(), one)
	t.Run("http", func(t *testing.T) {
		a := transporttest.OverHTTP(t, h, "/")
		a.Say(t, "initialize", transporttest.Handshake, "0")
		ended := make(chan []string, 1)
		go func() { ended <- a.Say(t, "tools/call", `{"name":"one_wait"}`, "9007199254740993") }()
		<-one.began
		a.Tell(t, "notifications/cancelled", `{"requestId":9007199254740993}`)
		if got := <-ended; len(got) != 1 || !strings.Contains(got[0], "the request was cancelled") {
			t.Errorf("got %s", got)
		}
	})
	t.Run("stdio", func(t *testing.T) {
		a := transporttest.OverStream(t, h, router.ViewSpec{}, false)
		a.Say(t, "initialize", transporttest.Handshake, "0")
		a.Begin(t, "tools/call", `{"name":"one_wait"}`, "8")
		<-one.began
		a.Tell(t, "notifications/cancelled", `{"requestId":8}`)
		if got := a.Say(t, "tools/call", `{"name":"one_echo"}`, "9"); len(got) != 1 {
			t.Errorf("got %s, and the first is an answer to what was cancelled", got)
		}
	})
}

func TestWhatTheLibraryRefusesReachesNoRouter(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		if !modern {
			return
		}
		for wrong, right := range map[string]string{`"2026-07-29"`: `"2026-07-28"`, `7`: `{}`} {
			got := a.Say(t, "tools/call", strings.Replace(transporttest.With(`{"name":"one_echo","_meta":{}}`, true), right, wrong, 1), "1")
			if len(got) > 1 || len(got) == 1 && !strings.Contains(got[0], `"error"`) {
				t.Errorf("%s instead of %s: %s", wrong, right, got)
			}
		}
		if a.Header == nil {
			return
		}
		a.Header.Set("Mcp-Name", "other")
		if got := a.Say(t, "tools/call", transporttest.With(`{"name":"one_echo","_meta":{}}`, true), "1"); len(got) != 1 || !strings.Contains(got[0], "-32020") {
			t.Errorf("another name in the header: %s", got)
		}
		a.Header.Set("Mcp-Session-Id", "00000000000000000000000000")
		if got := a.Say(t, "tools/call", `{"name":"one_echo"}`, "1"); len(got) != 0 {
			t.Errorf("an unknown session: %s", got)
		}
	})
}

func TestABrokenStreamIsResumedWithWhatTheRouterSaid(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	a := transporttest.OverHTTP(t, h, "/")
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Tell(t, "notifications/initialized", `{}`)
	said := a.Say(t, "tools/call", `{"name":"one_steps","_meta":{"progressToken":"<t>"}}`, "9007199254740993")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, a.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = a.Header.Clone()
	r.Header.Set("Last-Event-ID", "1")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := transporttest.Messages(body); len(said) != 4 || !slices.Equal(got, said[1:]) {
		t.Errorf("resumed with %q, of %q", got, said)
	}
}

func TestAgentsHearOfServersThatComeAndGo(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture())
	a, alone := transporttest.OverStream(t, h, router.ViewSpec{}, false), transporttest.OverHTTP(t, h, "/one")
	a.Say(t, "initialize", transporttest.Handshake, "0")
	a.Tell(t, "notifications/initialized", `{}`)
	a.Say(t, "ping", `{}`, "1")
	if err := h.Add(newCard("one")); err != nil {
		t.Fatal(err)
	}
	// Each kind of list that differs, once.
	got := a.Say(t, "tools/call", `{"name":"one_echo"}`, "2")
	var told []string
	for _, m := range got[:len(got)-1] {
		told = append(told, strings.TrimSuffix(strings.TrimPrefix(m, `{"jsonrpc":"2.0","method":"notifications/`), `/list_changed"}`))
	}
	slices.Sort(told)
	if want := []string{"prompts", "resources", "tools"}; !slices.Equal(slices.Compact(told), want) {
		t.Errorf("told of %q, want %q", told, want)
	}
	if got := alone.Say(t, "tools/call", transporttest.With(`{"name":"one_echo","_meta":{}}`, true), "1"); len(got) != 1 || !strings.Contains(got[0], `"kind":"tool"`) {
		t.Errorf("alone: %s", got)
	}
	if err := h.Remove(t.Context(), "one"); err != nil {
		t.Fatal(err)
	}
	if got := alone.Say(t, "tools/call", transporttest.With(`{"name":"one_echo","_meta":{}}`, true), "1"); len(got) != 0 {
		t.Errorf("alone, once it has gone: %s", got)
	}
	got = a.Say(t, "tools/call", `{"name":"one_echo"}`, "3")
	if answer := got[len(got)-1]; !strings.Contains(answer, "unknown tool") {
		t.Errorf("once it has gone: %s", answer)
	}
}
