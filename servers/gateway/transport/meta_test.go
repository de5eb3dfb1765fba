package transport_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
)

// The version of the protocol counts where it belongs, and nowhere else.
func TestOnlyTheMetaOfARequestSaysItsProtocol(t *testing.T) {
	const key = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`
	rest := strings.TrimPrefix(transporttest.ModernMeta, `"_meta":{`+key)
	for name, tt := range map[string]struct {
		params string
		modern bool
	}{
		"in _meta":              {transporttest.ModernMeta, true},
		"with an escape":        {`"_meta":{` + strings.Replace(key, "/", `\/`, 1) + rest, true},
		"_meta with an escape":  {strings.Replace(transporttest.ModernMeta, "_meta", `\u005fmeta`, 1), true},
		"in the arguments":      {`"arguments":{` + key + `}`, false},
		"in a text":             {`"arguments":{"source":"{io.modelcontextprotocol/protocolVersion}"}`, false},
		"deeper in _meta":       {`"_meta":{"x":{` + key + `}}`, false},
		"its value is a number": {`"_meta":{"io.modelcontextprotocol/protocolVersion":20260728}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
			c.Send(`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + tt.params + `}}`)
			if m := c.Next(); (m.Method == "notifications/subscriptions/acknowledged") != tt.modern {
				t.Errorf("got %+v", m)
			}
		})
	}
}

func TestProgressComesForEveryToken(t *testing.T) {
	c := transporttest.Connect(t, routertest.Start(t, transporttest.NewFixture()))
	c.Initialize()
	for _, token := range []string{`"t"`, `"a<b>&c"`, `"a\/b"`, `"\u0074"`, `7`, `"` + "\u2028" + `"`} {
		c.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":` + token + `},"arguments":{}}}`)
		n := 0
		m := c.Next()
		for ; m.Method == "notifications/progress"; m = c.Next() {
			n++
		}
		if string(m.ID) != "1" || n != 5 {
			b, _ := json.Marshal(m)
			t.Errorf("token %s: %d notes of progress, then %s", token, n, b)
		}
	}
}
