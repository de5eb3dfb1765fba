package transport_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
)

const (
	testToken = "0123456789abcdef"
	bearer    = "Bearer " + testToken
	jsonType  = "application/json"
)

func TestHTTPGuard(t *testing.T) {
	tests := []struct {
		name, method string
		headers      map[string]string
		host         string
		want         int
	}{
		{"all right", "POST", nil, "127.0.0.1:7337", 200},
		{"by name", "POST", nil, "localhost:7337", 200},
		{"by IPv6", "POST", nil, "[::1]:7337", 200},
		{"own origin", "POST", map[string]string{"Origin": "http://localhost:7337"}, "127.0.0.1", 200},
		{"rebound host", "POST", nil, "evil.example", 403},
		{"host that begins like ours", "POST", nil, "localhost.evil.example:7337", 403},
		{"no host", "POST", nil, "", 403},
		{"foreign origin", "POST", map[string]string{"Origin": "https://evil.example"}, "127.0.0.1:7337", 403},
		{"null origin", "POST", map[string]string{"Origin": "null"}, "127.0.0.1:7337", 403},
		{"no token", "POST", map[string]string{"Authorization": ""}, "127.0.0.1:7337", 401},
		{"wrong token", "POST", map[string]string{"Authorization": "Bearer x"}, "127.0.0.1:7337", 401},
		{"token without its scheme", "POST", map[string]string{"Authorization": testToken}, "127.0.0.1:7337", 401},
		{"form", "POST", map[string]string{"Content-Type": "text/plain"}, "127.0.0.1:7337", 415},
		{"no type", "POST", map[string]string{"Content-Type": ""}, "127.0.0.1:7337", 415},
		{"type with charset", "POST", map[string]string{"Content-Type": jsonType + "; charset=utf-8"}, "127.0.0.1:7337", 200},
		{"preflight", "OPTIONS", nil, "127.0.0.1:7337", 405},
		{"get", "GET", nil, "127.0.0.1:7337", 200},
		{"delete", "DELETE", nil, "127.0.0.1:7337", 200},
		{"put", "PUT", nil, "127.0.0.1:7337", 405},
		{"too large", "POST", map[string]string{"X-Large": "yes"}, "127.0.0.1:7337", 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			reached := false
			g := &transport.Guard{Token: func() string { return testToken }, MaxBody: 100, Next: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })}
			body := &counted{r: strings.NewReader("{}")}
			if tt.headers["X-Large"] != "" {
				body = &counted{r: strings.NewReader(strings.Repeat("x", 101))}
			}
			r := httptest.NewRequest(tt.method, "/mcp", body)
			r.ContentLength = int64(body.r.Len())
			r.Host = tt.host
			r.Header.Set("Authorization", bearer)
			r.Header.Set("Content-Type", jsonType)
			for k, v := range tt.headers {
				r.Header.Set(k, v)
				if v == "" {
					r.Header.Del(k)
				}
			}
			w := httptest.NewRecorder()
			g.ServeHTTP(w, r)
			if w.Code != tt.want || reached != (tt.want == 200) {
				t.Errorf("status %d, handler reached: %v; want %d", w.Code, reached, tt.want)
			}
			if w.Code != 200 && body.read > 0 {
				t.Errorf("%d bytes of the body were read", body.read)
			}
			if v := w.Header().Get("Access-Control-Allow-Origin"); v != "" {
				t.Errorf("CORS header %q", v)
			}
		})
	}
}

type counted struct {
	r    *strings.Reader
	read int
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.read += n
	return n, err
}

// web is a host behind the guard on a real port.
func web(t *testing.T, f *transporttest.Fixture) (url string, h *transporttest.Running) {
	t.Helper()
	host := routertest.Start(t, f)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- (&transport.HTTP{Host: host}).Start(ctx, l, func() string { return testToken }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp", &transporttest.Running{Host: host}
}

func post(t *testing.T, url, session, body string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", bearer)
	r.Header.Set("Content-Type", jsonType)
	r.Header.Set("Accept", jsonType+", text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	client := http.Client{Timeout: time.Minute}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(b)
}

func TestSessionOverHTTP(t *testing.T) {
	url, d := web(t, transporttest.NewFixture())
	resp, body := post(t, url, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"web","version":"3"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	if session == "" || !strings.Contains(body, "fixture-mcp") && !strings.Contains(body, "mcpdeck") {
		t.Fatalf("session %q, body %s", session, body)
	}
	if _, body = post(t, url, session, transporttest.Call(`1`, "who", `{}`)); !strings.Contains(body, "web in /deck") {
		t.Fatalf("got %s", body)
	}
	if _, body = post(t, url, session, transporttest.Call(`2`, "extra_x", `{}`)); !strings.Contains(body, "extra mode is off") {
		t.Fatalf("got %s", body)
	}
	if _, body = post(t, url, session, transporttest.Call(`3`, "ecko", `{}`)); !strings.Contains(body, `did you mean \"echo\"?`) || !strings.Contains(body, "-32602") {
		t.Fatalf("got %s", body)
	}
	agents := d.Host.Snapshot().Agents
	if len(agents) != 1 || agents[0].Name() != "web" || agents[0].Transport != "http" || agents[0].Calls != 3 {
		t.Fatalf("the deck shows %+v", agents)
	}
	if resp, _ = post(t, url+"/nope", session, transporttest.Call(`3`, "who", `{}`)); resp.StatusCode != http.StatusNotFound {
		t.Fatalf("unknown server: %d", resp.StatusCode)
	}
	if resp, body = post(t, url, session, `{"jsonrpc":"2.0","id":4,"method":"ping","method":"tools/list"}`); resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "duplicate key") {
		t.Fatalf("doubled key: %d %s", resp.StatusCode, body)
	}
}

func TestProgressArrivesBeforeTheResult(t *testing.T) {
	t.Parallel()
	url, _ := web(t, transporttest.NewFixture())
	resp, _ := post(t, url, "", `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"web","version":"3"}}}`)
	session := resp.Header.Get("Mcp-Session-Id")
	for i := range 50 {
		_, body := post(t, url, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"t"},"arguments":{}}}`)
		if n := strings.Count(body, "notifications/progress"); n != 5 {
			t.Fatalf("call %d: %d of 5 progress notifications in %s", i, n, body)
		}
	}
}
