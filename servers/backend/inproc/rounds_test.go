package inproc_test

import (
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// Whether a handler asks by a request or by a result, a stateless client is asked by a result,
// and answers with its next request.
func TestAStatelessClientIsAskedByAResult(t *testing.T) {
	h := routertest.Start(t, inproc.New(inproc.Options{Info: backend.Info{Name: "plain", Title: "Plain", ServerName: "plain"}}, plain))
	for carrier, a := range map[string]transporttest.Talker{
		"stdio": transporttest.OverStream(t, h, router.ViewSpec{}, false), "socket": transporttest.OverStream(t, h, router.ViewSpec{}, true), "http": transporttest.OverHTTP(t, h, "/"),
	} {
		for _, tool := range []string{"ask", "askagain"} {
			say := func(members string) rawjson.Object {
				params := transporttest.With(`{"name":"`+tool+`"`+members+`,"_meta":{}}`, true)
				got := a.Say(t, "tools/call", strings.Replace(params, `clientCapabilities":{}`, `clientCapabilities":{"elicitation":{}}`, 1), "5")
				m, err := rawjson.Parse([]byte(got[len(got)-1]))
				result, _ := rawjson.SplitObject(m.Get("result"))
				if err != nil || result == nil {
					t.Fatalf("%s over %s: got %q", tool, carrier, got)
				}
				return result
			}
			asked := say("")
			requests, err := rawjson.SplitObject(asked.Get("inputRequests"))
			if err != nil || len(requests) != 1 || !strings.Contains(string(requests[0].Value), "Your name?") {
				t.Fatalf("%s over %s: got %s", tool, carrier, asked.JSON())
			}
			got := say(`,"inputResponses":{"` + requests[0].Key + `":{"action":"accept","content":{"name":"Ada"}}},"requestState":` + string(asked.Get("requestState")))
			if got.Str("resultType") != "complete" || !strings.Contains(string(got.Get("content")), "Ada") {
				t.Errorf("%s over %s: got %s", tool, carrier, got.JSON())
			}
		}
	}
}
