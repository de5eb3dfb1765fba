package transport_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const setLevel = `{"jsonrpc":"2.0","id":7,"method":"logging/setLevel","params":{"level":"LEVEL"}}`

func everyone(snapshot.Caller) bool { return true }

// A module's log goes to the clients that asked for its level and are
// meant, and to no client of the protocol without logging/setLevel.
func TestLogMessages(t *testing.T) {
	for _, tt := range []struct {
		name    string
		old     bool
		level   string
		to      func(snapshot.Caller) bool
		arrives bool
	}{
		{"no level chosen", true, "", everyone, false},
		{"the message's level", true, "info", everyone, true},
		{"a lower level", true, "debug", everyone, true},
		{"a higher level", true, "warning", everyone, false},
		{"another client is meant", true, "info", func(c snapshot.Caller) bool { return c.Client != "tester" }, false},
		{"this client is meant", true, "info", func(c snapshot.Caller) bool { return c.Client == "tester" }, true},
		{"a client of 2026-07-28", false, "", everyone, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture()
			c := connect(t, routertest.Start(t, f))
			last := call(`9`, "who", `{}`)
			if tt.old {
				c.initialize()
			} else {
				meta := strings.Replace(modernMeta, `{`, `{"io.modelcontextprotocol/logLevel":"debug",`, 1)
				last = `{"jsonrpc":"2.0","id":9,"method":"tools/list","params":{` + meta + `}}`
				c.send(strings.Replace(last, `"id":9`, `"id":8`, 1))
				c.next()
			}
			if tt.level != "" {
				c.send(strings.Replace(setLevel, "LEVEL", tt.level, 1))
				if m := c.next(); string(m.ID) != "7" || m.Error != nil {
					t.Fatalf("logging/setLevel answers %+v", m)
				}
			}
			f.scope.Log("info", map[string]any{"status": "diff"}, tt.to)
			if tt.arrives {
				m := c.next()
				if p := string(m.Params); m.Method != "notifications/message" || !strings.Contains(p, `"level":"info"`) || !strings.Contains(p, `"logger":"fixture"`) || !strings.Contains(p, `"status":"diff"`) {
					t.Fatalf("got %s %s", m.Method, p)
				}
			}
			c.send(last)
			if m := c.next(); string(m.ID) != "9" {
				t.Fatalf("got %s %s where nothing was wanted", m.Method, m.Params)
			}
		})
	}
}

// Over HTTP the message comes on the session's own stream.
func TestLogMessagesOverHTTP(t *testing.T) {
	f := newFixture()
	url, _ := web(t, f)
	resp, _ := post(t, url, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"web","version":"3"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
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
	f.scope.Log("info", "too early", everyone)
	if _, body := post(t, url, session, strings.Replace(setLevel, "LEVEL", "info", 1)); strings.Contains(body, "error") {
		t.Fatalf("logging/setLevel answers %s", body)
	}
	f.scope.Log("info", "in time", everyone)
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
