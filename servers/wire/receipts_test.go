package wire_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/host/hosttest"
	"github.com/mcpdeck/mcpdeck/servers/wire"
	"github.com/mcpdeck/mcpdeck/servers/wire/wiretest"
)

// written notes what a server writes to all its streams, in order.
type written struct {
	mu  sync.Mutex
	all []string
}

type noting struct {
	http.ResponseWriter
	*written
	slow time.Duration // before it writes
}

func (n noting) Unwrap() http.ResponseWriter { return n.ResponseWriter }

func (n noting) Flush() { _ = http.NewResponseController(n.ResponseWriter).Flush() } // the client may be gone

func (n noting) Write(p []byte) (int, error) {
	time.Sleep(n.slow)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, string(p))
	return n.ResponseWriter.Write(p)
}

// A session over HTTP that listens has two streams on which progress can come.
func TestNoResultOvertakesItsProgressOnAnotherStream(t *testing.T) {
	web := &wire.HTTP{Host: hosttest.Start(t, newFixture(), newCard("one"))}
	var w written
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := noting{rw, &w, 0}
		if r.Method == http.MethodGet {
			n.slow = 5 * time.Millisecond // what it has taken would come too late
		}
		web.ServeHTTP(n, r)
	}))
	defer srv.Close()
	session := ""
	say := func(method, body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Mcp-Session-Id": {session}}
		if session == "" {
			r.Header.Del("Mcp-Session-Id")
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return answer
	}
	post := func(message string) *http.Response {
		t.Helper()
		answer := say(http.MethodPost, message)
		defer answer.Body.Close()
		if _, err := io.ReadAll(answer.Body); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	session = post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":` + wiretest.Handshake + `}`).Header.Get("Mcp-Session-Id")
	post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	stream := say(http.MethodGet, "")
	defer stream.Body.Close()
	if stream.StatusCode != http.StatusOK {
		t.Fatal(stream.Status)
	}
	const calls = 50
	for i := 1; i <= calls; i++ {
		post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"one_steps","_meta":{"progressToken":"<%d>"}}}`, i, i))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	all := strings.Join(w.all, "")
	if strings.Contains(all, "mcpdeck/") {
		t.Error("the client got a member of the deck's own")
	}
	for i := 1; i <= calls; i++ {
		result := strings.Index(all, fmt.Sprintf(`"id":%d,"result"`, i))
		token := fmt.Sprintf(`"progressToken":"<%d>"`, i)
		if n := strings.Count(all[:max(result, 0)], token); result < 0 || n < 3 {
			t.Fatalf("call %d: %d of 3 steps were written before its result, %d after", i, n, strings.Count(all[max(result, 0):], token)-1)
		}
	}
	srv.CloseClientConnections()
}
