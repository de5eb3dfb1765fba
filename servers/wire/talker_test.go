package wire_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/wire"
)

// talker is an agent's program over one carrier and in one era. say sends a message
// and returns all that comes until its answer.
type talker struct {
	say    func(t *testing.T, method, params, id string) []string
	tell   func(t *testing.T, method, params string)              // a notification
	answer func(t *testing.T, message string)                     // to a request of the deck's
	begin  func(t *testing.T, method, params, id string)          // a request whose answer is not waited for
	listen func(t *testing.T, params string) (hear func() string) // for the messages that belong to no request
	url    string
	header http.Header
}

// meta is what a request of a modern client carries.
const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

const handshake = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}`

func line(method, params, id string) string {
	s := `{"jsonrpc":"2.0",`
	if id != "" {
		s += `"id":` + id + `,`
	}
	return s + `"method":"` + method + `","params":` + params + `}`
}

// overStream talks over a pipe or the deck's socket.
func overStream(t *testing.T, h *host.Host, spec host.ViewSpec, socket bool) talker {
	t.Helper()
	var conn net.Conn
	var in *bufio.Reader
	if socket {
		l, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- (&wire.Server{Host: h, Version: "test"}).Serve(t.Context(), l) }()
		t.Cleanup(func() {
			l.Close()
			if err := <-served; err != nil {
				t.Error(err)
			}
		})
		if conn, err = net.Dial("unix", l.Addr().String()); err != nil {
			t.Fatal(err)
		}
		if _, in, err = wire.Greet(conn, wire.Hello{Servers: spec.Servers, AsIs: spec.AsIs, Cwd: "/deck"}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
	} else {
		view, err := h.View(spec)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := net.Pipe()
		agent := h.Connect(deck.Caller{Transport: "stdio"}, nil)
		done := make(chan error, 1)
		go func() {
			err := wire.Serve(context.Background(), theirs, theirs, view, agent)
			agent.Close()
			theirs.Close()
			done <- err
		}()
		conn, in = ours, bufio.NewReader(ours)
		t.Cleanup(func() { ours.Close(); <-done })
	}
	write := func(t *testing.T, s string) {
		t.Helper()
		if _, err := io.WriteString(conn, s+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	return talker{
		say: func(t *testing.T, method, params, id string) (got []string) {
			t.Helper()
			write(t, line(method, params, id))
			_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
			for {
				s, err := in.ReadString('\n')
				if err != nil {
					t.Fatalf("after %q: %v", got, err)
				}
				got = append(got, strings.TrimSuffix(s, "\n"))
				if strings.HasPrefix(s, `{"jsonrpc":"2.0","id":`+id+`,`) {
					return got
				}
			}
		},
		tell: func(t *testing.T, method, params string) { t.Helper(); write(t, line(method, params, "")) },
		listen: func(t *testing.T, params string) func() string {
			t.Helper()
			if params != "" {
				write(t, line("subscriptions/listen", params, "77"))
			}
			return func() string {
				t.Helper()
				_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
				s, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSuffix(s, "\n")
			}
		},
		answer: write,
		begin:  func(t *testing.T, method, params, id string) { t.Helper(); write(t, line(method, params, id)) },
	}
}

// overHTTP talks to a listener.
func overHTTP(t *testing.T, h *host.Host, path string) talker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- (&wire.HTTP{Host: h}).Start(ctx, l, func() string { return testToken }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	url := "http://" + l.Addr().String() + "/mcp" + path
	header := http.Header{"Authorization": {bearer}, "Content-Type": {jsonType}, "Accept": {jsonType + ", text/event-stream"}}
	request := func(t *testing.T, method, params, id string) *http.Request {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(line(method, params, id)))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header.Clone()
		if strings.Contains(params, "protocolVersion\":\"2026") {
			r.Header.Set("MCP-Protocol-Version", "2026-07-28")
			r.Header.Set("Mcp-Method", method)
			p, err := rawjson.Parse([]byte(params))
			if err != nil {
				t.Fatal(err)
			}
			if name := p.Str("name") + p.Str("uri"); name != "" {
				r.Header.Set("Mcp-Name", cmp.Or(header.Get("Mcp-Name"), name))
			}
		}
		return r
	}
	say := func(t *testing.T, method, params, id string) (got []string) {
		t.Helper()
		answer, err := (&http.Client{Timeout: time.Minute}).Do(request(t, method, params, id))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if s := answer.Header.Get("Mcp-Session-Id"); s != "" {
			header.Set("Mcp-Session-Id", s)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return messages(body)
	}
	listen := func(t *testing.T, params string) func() string {
		t.Helper()
		r := request(t, "subscriptions/listen", params, "77")
		if params == "" {
			r.Method, r.Body = http.MethodGet, http.NoBody
			r.ContentLength = 0
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { answer.Body.Close() })
		in := bufio.NewReader(answer.Body)
		return func() string {
			t.Helper()
			for {
				s, err := in.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}
				if s, is := strings.CutPrefix(s, "data: {"); is {
					return "{" + strings.TrimSuffix(s, "\n")
				}
			}
		}
	}
	return talker{say: say, listen: listen, url: url, tell: func(t *testing.T, method, params string) { t.Helper(); say(t, method, params, "") }, header: header}
}

// messages are those in a body, which may be events.
func messages(body []byte) (got []string) {
	for s := range bytes.Lines(body) {
		s = bytes.TrimPrefix(bytes.TrimSuffix(s, []byte("\n")), []byte("data: "))
		if bytes.HasPrefix(s, []byte("{")) {
			got = append(got, string(s))
		}
	}
	return got
}

// everywhere plays a test over each carrier, in both eras, with all servers or the one.
func everywhere(t *testing.T, h *host.Host, one string, play func(t *testing.T, a talker, modern bool)) {
	t.Helper()
	var spec host.ViewSpec
	path := "/"
	if one != "" {
		spec.Servers, path = []string{one}, "/"+one
	}
	carriers(t, func(t *testing.T) talker { t.Helper(); return overStream(t, h, spec, false) },
		func(t *testing.T) talker { t.Helper(); return overStream(t, h, spec, true) },
		func(t *testing.T) talker { t.Helper(); return overHTTP(t, h, path) }, play)
}

// carriers plays a test over each of them, in both eras.
func carriers(t *testing.T, stdio, socket, http func(t *testing.T) talker, play func(t *testing.T, a talker, modern bool)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) talker{"stdio": stdio, "socket": socket, "http": http} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(name+" "+era, func(t *testing.T) {
				a := open(t)
				if era == "legacy" {
					a.say(t, "initialize", handshake, "0")
					a.tell(t, "notifications/initialized", `{}`)
				}
				play(t, a, era == "modern")
			})
		}
	}
}

// with puts what a modern request carries into params that have a _meta.
func with(params string, modern bool) string {
	switch {
	case !modern:
		return params
	case strings.Contains(params, `"_meta":{}`):
		return strings.Replace(params, `"_meta":{}`, `"_meta":{`+meta+`}`, 1)
	}
	return strings.Replace(params, `"_meta":{`, `"_meta":{`+meta+`,`, 1)
}
