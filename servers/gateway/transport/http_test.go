package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// request sends a request with headers, "NAME: VALUE".
func request(t *testing.T, method, url, body string, headers ...string) (status int, header http.Header, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {bearer}, "Content-Type": {jsonType}, "Accept": {jsonType + ", text/event-stream"}}
	for _, one := range headers {
		name, value, _ := strings.Cut(one, ": ")
		r.Header.Set(name, value)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, answer.Header, string(b)
}

// session opens a session and returns the header that names it.
func session(t *testing.T, url string) string {
	t.Helper()
	_, header, body := request(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":`+transporttest.Handshake+`}`)
	if header.Get("Mcp-Session-Id") == "" {
		t.Fatalf("there is no session: %s", body)
	}
	return "Mcp-Session-Id: " + header.Get("Mcp-Session-Id")
}

const ping = `{"jsonrpc":"2.0","id":7,"method":"ping"}`

func TestASessionEndsWhenItsClientSaysSo(t *testing.T) {
	url, d := web(t, transporttest.NewFixture())
	mine, other := session(t, url), session(t, url)
	over := make(chan error, 1)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {bearer}, "Accept": {"text/event-stream"}, "Mcp-Session-Id": {strings.TrimPrefix(mine, "Mcp-Session-Id: ")}}
	stream, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer stream.Body.Close()
		_, err := io.Copy(io.Discard, stream.Body)
		over <- err
	}()
	if status, _, body := request(t, http.MethodDelete, url, "", mine); status != http.StatusOK {
		t.Errorf("ending it: %d %s", status, body)
	}
	if err := <-over; err != nil {
		t.Errorf("its stream breaks: %v", err)
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		if status, _, body := request(t, method, url, ping, mine); status != http.StatusNotFound {
			t.Errorf("%s after the end: %d %s", method, status, body)
		}
	}
	if status, _, body := request(t, http.MethodPost, url, ping, other); status != http.StatusOK {
		t.Errorf("the other session: %d %s", status, body)
	}
	connected := 0
	for _, a := range d.Host.Snapshot().Agents {
		if a.Gone.IsZero() {
			connected++
		}
	}
	if connected != 1 {
		t.Errorf("%d agents are connected", connected)
	}
}

func TestRequestsThatTheProtocolRulesOutAreRefused(t *testing.T) {
	url, _ := web(t, transporttest.NewFixture())
	mine := session(t, url)
	const version = "Mcp-Protocol-Version: "
	modern := func(method, meta string) string {
		return `{"jsonrpc":"2.0","id":3,"method":"` + method + `","params":{"_meta":{` + meta + `}}}`
	}
	list, mismatch := modern("tools/list", transporttest.Meta), `"code":-32020`
	for _, tt := range []struct {
		name, method, body string
		headers            []string
		status             int
		want               string
	}{
		{"all is right", "POST", list, []string{version + "2026-07-28", "Mcp-Method: tools/list"}, 200, `"name":"echo"`},
		{
			"nobody says who asks", "POST", modern("tools/list", `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`),
			[]string{version + "2026-07-28", "Mcp-Method: tools/list"},
			200, `"name":"echo"`,
		},
		{"a session that there is not", "POST", ping, []string{"Mcp-Session-Id: made-up"}, 404, "unknown session"},
		{"its stream", "GET", "", []string{"Mcp-Session-Id: made-up"}, 404, "unknown session"},
		{"an unknown version", "POST", ping, []string{mine, version + "1999-01-01"}, 400, "Unsupported protocol version: 1999-01-01"},
		{"a stream in an unknown version", "GET", "", []string{mine, version + "1999-01-01"}, 400, "Unsupported protocol version"},
		{"a stream in a version that has none", "GET", "", []string{mine, version + "2026-07-28"}, 405, "subscriptions/listen"},
		{"the end of a session in a version that has none", "DELETE", "", []string{mine, version + "2026-07-28"}, 405, "earlier version"},
		{"an event that is no number", "GET", "", []string{mine, "Last-Event-ID: x"}, 400, "unknown Last-Event-ID"},
		{"an event that there is not", "GET", "", []string{mine, "Last-Event-ID: 99"}, 400, "unknown Last-Event-ID"},
		{"an event in a version without", "POST", list, []string{version + "2026-07-28", "Last-Event-ID: 1", "Mcp-Method: tools/list"}, 400, mismatch},
		{"a version in the request alone", "POST", list, nil, 400, mismatch},
		{"a version in the header alone", "POST", modern("tools/list", ""), []string{version + "2026-07-28"}, 400, `"code":-32602`},
		{"two versions", "POST", list, []string{version + "2025-11-25", "Mcp-Method: tools/list"}, 400, mismatch},
		{"another method in the header", "POST", list, []string{version + "2026-07-28", "Mcp-Method: ping"}, 400, mismatch},
		{"an answer of a client that is asked nothing", "POST", `{"jsonrpc":"2.0","id":3,"result":{}}`, []string{version + "2026-07-28"}, 400, `"code":-32600`},
	} {
		status, header, body := request(t, tt.method, url, tt.body, tt.headers...)
		if status != tt.status || !strings.Contains(body, tt.want) || (header.Get("Allow") == "POST") != (status == http.StatusMethodNotAllowed) {
			t.Errorf("%s: %d %s, want %d %s", tt.name, status, body, tt.status, tt.want)
		}
	}
}

// What a proxy reads in a header is what the tool gets.
func TestAnArgumentInAHeaderIsThatOfTheCall(t *testing.T) {
	schema := `{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}`
	f := transporttest.NewFixture()
	f.AddWith("place", schema, func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("in " + r.GetString("region", "")), nil
	})
	url, _ := web(t, f)
	call := transporttest.With(`{"name":"place","arguments":{"region":"north"},"_meta":{}}`, true)
	for header, want := range map[string]string{"north": "in north", "south": `"code":-32020`, "": `"code":-32020`} {
		_, _, body := request(t, http.MethodPost, url, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":`+call+`}`,
			"Mcp-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: place", "Mcp-Param-Region: "+header)
		if !strings.Contains(body, want) {
			t.Errorf("%q: %s, want %s", header, body, want)
		}
	}
}

func TestAnIDNamesOneRequestOfASessionAtATime(t *testing.T) {
	f := transporttest.NewFixture()
	url, _ := web(t, f)
	mine, other := session(t, url), session(t, url)
	answers := make(chan string, 2)
	for _, whose := range []string{mine, other} {
		go func() {
			_, _, body := request(t, http.MethodPost, url, transporttest.Call("5", "block", `{}`), whose)
			answers <- body
		}()
	}
	testwait.Until(t, "the calls of both sessions begin", func() bool { return f.Blocked.Load() == 2 })
	if _, _, body := request(t, http.MethodPost, url, transporttest.Call("5", "echo", `{"text":"x"}`), mine); !strings.Contains(body, "already in flight") {
		t.Errorf("the same id: %s", body)
	}
	close(f.Release)
	for range 2 {
		if body := <-answers; !strings.Contains(body, "released") {
			t.Errorf("a call that began before: %s", body)
		}
	}
	if _, _, body := request(t, http.MethodPost, url, transporttest.Call("5", "echo", `{"text":"again"}`), mine); !strings.Contains(body, "again") {
		t.Errorf("the id again after its answer: %s", body)
	}
}

func TestAQuestionIsTakenBackWhenItsCallIsCancelled(t *testing.T) {
	h := routertest.Start(t, transporttest.NewFixture(), newCard("one"))
	transporttest.Everywhere(t, h, "", func(t *testing.T, a transporttest.Talker, modern bool) {
		t.Helper()
		if modern {
			return // nobody can be asked
		}
		a.Begin(t, "tools/call", `{"name":"one_ask"}`, "4")
		asked, err := rawjson.Parse([]byte(a.Next(t)))
		if err != nil {
			t.Fatal(err)
		}
		a.Tell(t, "notifications/cancelled", `{"requestId":4}`)
		got, err := rawjson.Parse([]byte(a.Next(t)))
		if err != nil || got.Str("method") != "notifications/cancelled" || !strings.Contains(string(got.Get("params")), `"requestId":`+string(asked.Get("id"))) {
			t.Errorf("after the question %s came %s, %v", asked.Get("id"), got.JSON(), err)
		}
	})
}

// broken is a listener whose system has run out of something.
type broken struct {
	net.Listener
	error
}

func (b broken) Accept() (net.Conn, error) { return nil, b.error }

func TestAListenerThatBreaksIsReported(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	why := errors.New("out of sockets")
	if err := (&transport.HTTP{}).Start(t.Context(), broken{l, why}, nil); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}
