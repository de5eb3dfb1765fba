package transport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const updated = `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":`

// listener is an agent that subscribes to a resource, and what it hears.
func listener(t *testing.T, a transporttest.Talker, modern bool, uri string) (hear func() string, tag string) {
	t.Helper()
	if !modern {
		hear = a.Listen(t, "")
		if got := a.Say(t, "resources/subscribe", `{"uri":"`+uri+`"}`, "2"); !strings.Contains(strings.Join(got, " "), `"id":2,"result"`) {
			t.Fatalf("subscribe: %s", got)
		}
		return hear, ""
	}
	hear = a.Listen(t, `{"notifications":{"resourceSubscriptions":["`+uri+`"]},"_meta":{`+transporttest.Meta+`}}`)
	if got := hear(); !strings.Contains(got, "acknowledged") {
		t.Fatalf("listen: %s", got)
	}
	return hear, `"_meta":{"io.modelcontextprotocol/subscriptionId":77},`
}

func TestUpdatesReachThoseWhoSubscribedAsTheyAre(t *testing.T) {
	one := newCard("one")
	h := routertest.Start(t, transporttest.NewFixture(), one)
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		hear, tag := listener(t, a, modern, "one://a")
		var id string
		testwait.Until(t, "what the agent wants", func() bool {
			one.mu.Lock()
			defer one.mu.Unlock()
			for agent, w := range one.wanted {
				if slices.Equal(w.Resources, []string{"one://a"}) {
					id = agent
				}
			}
			return id != ""
		})
		for i, pass := range []struct{ agent, uri string }{{"", "one://b"}, {"somebody", "one://a"}, {"", "one://a"}, {id, "one://b"}, {id, "one://a"}} {
			one.events.Notify(pass.agent, "notifications/resources/updated", fmt.Appendf(nil, `{"z":1.0,"uri":%q,"a":"<\u00e9>","pass":%d}`, pass.uri, i))
		}
		one.events.Notify("", "notifications/resources/updated", []byte(`{"uri":"one://b"}`))
		one.events.Notify("", "notifications/resources/updated", []byte(`{"uri":"one://a"}`))
		for _, i := range []int{2, 4} {
			want := updated + `{` + tag + fmt.Sprintf(`"z":1.0,"uri":"one://a","a":"<\u00e9>","pass":%d}}`, i)
			if got := hear(); got != want {
				t.Errorf(" got %s\nwant %s", got, want)
			}
		}
		if got := hear(); got != updated+`{`+tag+`"uri":"one://a"}}` {
			t.Errorf("got %s", got)
		}
		if !modern {
			a.Say(t, "resources/unsubscribe", `{"uri":"one://a"}`, "3")
			testwait.Until(t, "the end of the subscription", func() bool {
				one.mu.Lock()
				defer one.mu.Unlock()
				return len(one.wanted[id].Resources) == 0
			})
			one.events.Notify("", "notifications/resources/updated", []byte(`{"uri":"one://a"}`))
		}
		one.mu.Lock()
		delete(one.wanted, id)
		one.mu.Unlock()
	})
}

func TestLogMessagesReachThoseWhoWantTheirLevel(t *testing.T) {
	one := newCard("one")
	h := routertest.Start(t, transporttest.NewFixture(), one)
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		message := func(level string) string {
			return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"<\u00e9>","level":%q}}`, level)
		}
		call := `{"name":"one_log","_meta":{}}`
		if got := a.Say(t, "tools/call", transporttest.With(call, modern), "4"); len(got) != 1 {
			t.Errorf("no level was chosen: %s", got)
		}
		if modern {
			call = transporttest.With(`{"name":"one_log","_meta":{"io.modelcontextprotocol/logLevel":"warning"}}`, true)
		} else {
			a.Say(t, "logging/setLevel", `{"level":"warning"}`, "5")
		}
		if got := a.Say(t, "tools/call", call, "6"); len(got) != 3 || got[0] != message("warning") || got[1] != message("error") {
			t.Errorf("got %s", got)
		}
		if modern {
			return
		}
		hear := a.Listen(t, "")
		for _, level := range []string{"info", "error"} {
			one.events.Notify("", "notifications/message", fmt.Appendf(nil, `{"data":"<\u00e9>","level":%q}`, level))
		}
		one.events.Notify("somebody", "notifications/message", []byte(`{"level":"error"}`))
		one.events.Notify("", "notifications/message", []byte(`{"data":"<\u00e9>","level":"critical"}`))
		for _, level := range []string{"error", "critical"} {
			if got := hear(); got != message(level) {
				t.Errorf("got %s, want one of level %s", got, level)
			}
		}
		one.mu.Lock()
		defer one.mu.Unlock()
		if !slices.ContainsFunc(values(one.wanted), func(w backend.Subscriptions) bool { return w.Level == "warning" }) {
			t.Errorf("the module was told %v", one.wanted)
		}
	})
}

func values(m map[string]backend.Subscriptions) (all []backend.Subscriptions) {
	for _, w := range m {
		all = append(all, w)
	}
	return all
}
