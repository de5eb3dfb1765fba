package transport_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const setLevel = `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"LEVEL"}}`

// logged is a log message of the fixture.
func logged(data string) []byte {
	return []byte(`{"level":"info","logger":"fixture","data":` + data + `}`)
}

// A server's log goes to the clients that asked for its level and are
// meant, and to no client of the protocol without logging/setLevel.
func TestLogMessages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		old     bool
		level   string
		to      string
		arrives bool
	}{
		{"no level chosen", true, "", "", false},
		{"the message's level", true, "info", "", true},
		{"a lower level", true, "debug", "", true},
		{"a higher level", true, "warning", "", false},
		{"another session is meant", true, "info", "another", false},
		{"this session is meant", true, "info", "this", true},
		{"a client of 2026-07-28", false, "", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := transporttest.NewFixture()
			h := routertest.Start(t, f)
			c := transporttest.Connect(t, h)
			last := transporttest.Call(`9`, "who", `{}`)
			if tt.old {
				c.Initialize()
			} else {
				meta := strings.Replace(transporttest.ModernMeta, `{`, `{"io.modelcontextprotocol/logLevel":"debug",`, 1)
				last = `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{` + meta + `}}`
				c.Send(strings.Replace(last, `"id":9`, `"id":8`, 1))
				c.Next()
			}
			if tt.level != "" {
				c.Send(strings.Replace(setLevel, "LEVEL", tt.level, 1))
				if m := c.Next(); string(m.ID) != "7" || m.Error != nil {
					t.Fatalf("logging/setLevel answers %+v", m)
				}
			}
			if tt.to == "this" {
				tt.to = h.Snapshot().Agents[0].Agent
			}
			f.Events.Notify(tt.to, "notifications/message", logged(`{"status":"diff"}`))
			if tt.arrives {
				m := c.Next()
				if p := string(m.Params); m.Method != "notifications/message" || !strings.Contains(p, `"level":"info"`) || !strings.Contains(p, `"logger":"fixture"`) || !strings.Contains(p, `"status":"diff"`) {
					t.Fatalf("got %s %s", m.Method, p)
				}
			}
			c.Send(last)
			if m := c.Next(); string(m.ID) != "9" {
				t.Fatalf("got %s %s where nothing was wanted", m.Method, m.Params)
			}
		})
	}
}

// Over HTTP the message comes on the session's own stream.
func TestLogMessagesOverHTTP(t *testing.T) {
	f := transporttest.NewFixture()
	url, _ := web(t, f)
	resp, _ := post(t, url, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"web","version":"3"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	ctx, cancel := context.WithTimeout(t.Context(), testwait.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", bearer)
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Mcp-Session-Id", session)
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	f.Events.Notify("", "notifications/message", logged(`"too early"`))
	if _, body := post(t, url, session, strings.Replace(setLevel, "LEVEL", "info", 1)); strings.Contains(body, "error") {
		t.Fatalf("logging/setLevel answers %s", body)
	}
	f.Events.Notify("", "notifications/message", logged(`"in time"`))
	for lines := bufio.NewScanner(stream.Body); ; {
		if !lines.Scan() {
			t.Fatalf("the stream ended: %v", lines.Err())
		}
		if line := lines.Text(); strings.Contains(line, "notifications/message") {
			if !strings.Contains(line, `"in time"`) {
				t.Fatalf("got %s", line)
			}
			return
		}
	}
}
