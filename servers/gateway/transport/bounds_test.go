package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const initializeBody = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

func post(h http.Handler, session, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestSessionsOverHTTPAreBounded(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &HTTP{Host: running}
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	var ids []string
	for i := range 3 * maxHTTPAgents {
		w := post(h, "", initializeBody)
		id := w.Header().Get("Mcp-Session-Id")
		if w.Code != http.StatusOK || id == "" {
			t.Fatalf("session %d: %d %s", i, w.Code, w.Body)
		}
		ids = append(ids, id)
		if w := post(h, ids[0], ping); w.Code != http.StatusOK { // one stays in use
			t.Fatalf("the session used all the time has ended: %d %s", w.Code, w.Body)
		}
	}
	if n := len(running.Snapshot().Agents); n > maxHTTPAgents+2 || h.sessions.Len() > maxHTTPAgents || len(h.agents) > maxHTTPAgents {
		t.Errorf("%d sessions are kept, %d are shown", h.sessions.Len(), n)
	}
	if w := post(h, ids[1], ping); w.Code != http.StatusNotFound {
		t.Errorf("a session that made room is still served: %d %s", w.Code, w.Body)
	}
	if w := post(h, ids[len(ids)-1], ping); w.Code != http.StatusOK {
		t.Errorf("the newest session is not served: %d", w.Code)
	}
	before := h.sessions.Len()
	for i := range 3 * maxHTTPAgents { // ids that nobody gave out
		post(h, fmt.Sprint("made-up-", i), ping)
	}
	if h.sessions.Len() != before || post(h, ids[0], ping).Code != http.StatusOK {
		t.Errorf("made-up sessions pushed real ones out: %d are kept", h.sessions.Len())
	}
	for i := range 3 * maxHTTPAgents { // clients without a session
		meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c%d","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`, i)
		post(h, "", `{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{`+meta+`}}`)
	}
	if h.clients.Len() > maxHTTPAgents {
		t.Errorf("%d clients are kept", h.clients.Len())
	}
}

func TestSessionsThatWorkMakeNoRoom(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &HTTP{Host: running}
	for range maxHTTPAgents {
		post(h, "", initializeBody)
	}
	busy := func(by int) (id string) {
		for _, a := range h.agents {
			a.open += by
			id = a.key.session
		}
		return id
	}
	busy(1)
	if w := post(h, "", initializeBody); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more session: %d %s", w.Code, w.Body)
	}
	mine := busy(maxInFlight - 1)
	if w := post(h, mine, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); w.Code != http.StatusServiceUnavailable {
		t.Errorf("one more request of a session: %d %s", w.Code, w.Body)
	}
	busy(-maxInFlight)
	if w := post(h, mine, `{"jsonrpc":"2.0","id":2,"method":"ping"}`); w.Code != http.StatusOK {
		t.Errorf("a request when the others have ended: %d %s", w.Code, w.Body)
	}
	if w := post(h, "", initializeBody); w.Code != http.StatusOK || h.sessions.Len() != maxHTTPAgents {
		t.Errorf("a session when the others have nothing to do: %d %s, %d are kept", w.Code, w.Body, h.sessions.Len())
	}
}

func TestABodyMustComeAtARate(t *testing.T) {
	start := time.Unix(0, 0)
	if first := due(start, bodyGrace, 0).Sub(start); first != bodyGrace {
		t.Errorf("the first byte is due after %v", first)
	}
	if all := due(start, bodyGrace, rpc.MaxLine).Sub(start); all < 10*time.Minute || all > time.Hour {
		t.Errorf("the longest body is due after %v", all)
	}
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	h := &HTTP{Host: running, grace: 20 * time.Millisecond}
	served := make(chan error, 1)
	go func() { served <- h.Start(ctx, l, func() string { return "token" }) }()
	defer func() { cancel(); <-served }()
	say := func(head, body string) string {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_ = c.SetDeadline(time.Now().Add(testwait.Patience))
		_, _ = io.WriteString(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\nContent-Type: application/json\r\n"+head+"\r\n\r\n"+body)
		answer, _ := io.ReadAll(io.LimitReader(c, 12)) // it stays open
		return string(answer)
	}
	if got := say("Content-Length: 1000", "{"); !strings.HasSuffix(got, "408") {
		t.Errorf("a body that stops is answered %q", got)
	}
	if got := say("Transfer-Encoding: chunked", "1\r\n{\r\n"); !strings.HasSuffix(got, "408") {
		t.Errorf("a body without a length that stops is answered %q", got)
	}
	if got := say("X: "+strings.Repeat("x", 2*maxHeader)+"\r\nContent-Length: 0", ""); !strings.HasSuffix(got, "431") {
		t.Errorf("a long head is answered %q", got)
	}
}

func TestBodiesBeingReadAreBounded(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &HTTP{Host: running}
	var releases []func()
	refused := 0
	for range 8 { // 20 MiB each
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(strings.Repeat(" ", 20<<20)))
		_, release, status, _ := h.body(httptest.NewRecorder(), r)
		if status == http.StatusServiceUnavailable {
			refused++
			release()
			continue
		}
		releases = append(releases, release)
	}
	if len(releases) != 4 || refused != 4 {
		t.Errorf("%d bodies of 20 MiB were read at once", len(releases))
	}
	for _, one := range releases {
		one()
	}
	if _, release, status, why := h.body(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader("{}"))); status != 0 {
		t.Errorf("a small body is refused: %s", why)
	} else {
		release()
	}
}

// A client that sends all of a body before it listens would otherwise see its
// connection break, and not why.
func TestTheBodyOfARefusedRequestIsHeardOut(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := running.Hold("http", 96<<20); !ok {
		t.Fatal("there is no room to begin with")
	}
	srv := httptest.NewServer(&HTTP{Host: running})
	defer srv.Close()
	c, err := net.Dial("tcp", srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	const size = 20 << 20
	_ = c.SetDeadline(time.Now().Add(testwait.Patience))
	if _, err := fmt.Fprintf(c, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat(" ", size)); err != nil {
		t.Errorf("the body is not taken: %v", err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !strings.Contains(string(body), busyBytes) {
		t.Errorf("got %s, Retry-After %q, body %q, error %v; want 503, when to retry, and %q", answer.Status, answer.Header.Get("Retry-After"), body, err, busyBytes)
	}
}

func TestLargeBodiesOfOneClientLeaveRoomForAnother(t *testing.T) {
	running, err := router.New(router.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &HTTP{Host: running}
	session := func(client string) string {
		return post(h, "", strings.Replace(initializeBody, `"name":"x"`, `"name":"`+client+`"`, 1)).Header().Get("Mcp-Session-Id")
	}
	statusOf := func(session string) int {
		r := httptest.NewRequest(http.MethodPost, "/mcp", strings.NewReader(strings.Repeat(" ", 20<<20)))
		r.Header.Set("Mcp-Session-Id", session)
		_, release, status, _ := h.body(httptest.NewRecorder(), r)
		t.Cleanup(release)
		return status
	}
	greedy, other := session("greedy"), session("other")
	for range 4 {
		if status := statusOf(greedy); status != 0 {
			t.Fatalf("a body within the bounds is refused: %d", status)
		}
	}
	if greedy, other, unknown := statusOf(greedy), statusOf(other), statusOf("made up"); greedy != http.StatusServiceUnavailable || other != 0 || unknown != 0 {
		t.Errorf("the client with its share got %d, another one %d, one without a session %d", greedy, other, unknown)
	}
}
