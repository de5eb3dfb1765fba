// Package transporttest plays an agent's program in tests, over each carrier and in both eras
// of the protocol.
package transporttest

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

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Talker is an agent's program over one carrier and in one era. Say sends a message
// and returns all that comes until its answer.
type Talker struct {
	Say    func(t *testing.T, method, params, id string) []string
	Tell   func(t *testing.T, method, params string)     // a notification
	Answer func(t *testing.T, message string)            // to a request of the deck's
	Begin  func(t *testing.T, method, params, id string) // a request whose answer is not waited for
	// Next is what comes next of the answer to what has begun, or on its way.
	Next   func(t *testing.T) string
	Listen func(t *testing.T, params string) (hear func() string) // for the messages that belong to no request
	URL    string
	Header http.Header
}

const token = "0123456789abcdef" // of the listener

// Meta is what a request of a modern client carries.
const Meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}`

// Handshake are the params of initialize of a client of the era before.
const Handshake = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"tester","version":"1"}}`

func line(method, params, id string) string {
	s := `{"jsonrpc":"2.0",`
	if id != "" {
		s += `"id":` + id + `,`
	}
	return s + `"method":"` + method + `","params":` + params + `}`
}

// OverStream talks over a pipe or the deck's socket.
func OverStream(t *testing.T, h *router.Host, spec router.ViewSpec, socket bool) Talker {
	t.Helper()
	return Hinted(t, h, spec, socket, nil)
}

// Hinted is OverStream for a client with hints of its environment.
func Hinted(t *testing.T, h *router.Host, spec router.ViewSpec, socket bool, hints map[string]string) Talker {
	t.Helper()
	connect := piped
	if socket {
		connect = dialled
	}
	conn, in := connect(t, h, spec, hints)
	write := func(t *testing.T, s string) {
		t.Helper()
		if _, err := io.WriteString(conn, s+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	next := func(t *testing.T) string {
		t.Helper()
		_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
		s, err := in.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSuffix(s, "\n")
	}
	return Talker{
		Next: next,
		Say: func(t *testing.T, method, params, id string) (got []string) {
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
		Tell: func(t *testing.T, method, params string) { t.Helper(); write(t, line(method, params, "")) },
		Listen: func(t *testing.T, params string) func() string {
			t.Helper()
			if params != "" {
				write(t, line("subscriptions/listen", params, "77"))
			}
			return func() string { t.Helper(); return next(t) }
		},
		Answer: write,
		Begin:  func(t *testing.T, method, params, id string) { t.Helper(); write(t, line(method, params, id)) },
	}
}

// dialled is a connection to the deck's socket.
func dialled(t *testing.T, h *router.Host, spec router.ViewSpec, hints map[string]string) (conn net.Conn, in *bufio.Reader) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan struct{})
	go func() { defer close(served); (&transport.Server{Host: h, Version: "test"}).Serve(t.Context(), l) }()
	t.Cleanup(func() {
		l.Close()
		<-served
	})
	conn, err = net.Dial("unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, in, err = transport.Greet(conn, transport.Hello{Servers: spec.Servers, Passthrough: spec.Passthrough, Profile: spec.Profile, Cwd: "/deck", Hints: hints}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn, in
}

// piped is a connection of its own, as over stdio.
func piped(t *testing.T, h *router.Host, spec router.ViewSpec, hints map[string]string) (net.Conn, *bufio.Reader) {
	t.Helper()
	view, err := h.View(spec)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	agent := h.Connect(snapshot.Caller{Transport: "stdio", Hints: hints}, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = transport.Serve(context.Background(), theirs, theirs, view, agent) // it ends with the pipe
		agent.Close()
		theirs.Close()
	}()
	t.Cleanup(func() { ours.Close(); <-done })
	return ours, bufio.NewReader(ours)
}

// OverHTTP talks to a listener.
func OverHTTP(t *testing.T, h *router.Host, path string) Talker {
	t.Helper()
	url := listening(t, h) + path
	header := http.Header{"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
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
		return Messages(body)
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
		late := time.AfterFunc(time.Minute, func() { answer.Body.Close() })
		t.Cleanup(func() {
			late.Stop()
			answer.Body.Close()
		})
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
	begin, next, reply := streams(request)
	return Talker{Begin: begin, Next: next, Answer: reply, Say: say, Listen: listen, URL: url, Tell: func(t *testing.T, method, params string) { t.Helper(); say(t, method, params, "") }, Header: header}
}

// streams begins requests over HTTP, and has what comes of them in its order;
// reply answers what is asked meanwhile.
func streams(request func(t *testing.T, method, params, id string) *http.Request) (begin func(t *testing.T, method, params, id string), next func(t *testing.T) string, reply func(t *testing.T, message string)) {
	begun := make(chan string, 64)
	begin = func(t *testing.T, method, params, id string) {
		t.Helper()
		r := request(t, method, params, id)
		go func() {
			answer, err := http.DefaultClient.Do(r)
			if err != nil {
				begun <- err.Error()
				return
			}
			defer answer.Body.Close()
			for in := bufio.NewReader(answer.Body); ; {
				s, err := in.ReadBytes('\n')
				for _, m := range Messages(s) {
					begun <- m
				}
				if err != nil {
					return
				}
			}
		}()
	}
	next = func(t *testing.T) string {
		t.Helper()
		select {
		case s := <-begun:
			return s
		case <-time.After(time.Minute):
			t.Fatal("nothing came")
			return ""
		}
	}
	reply = func(t *testing.T, message string) {
		t.Helper()
		r := request(t, "", "{}", "")
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(message)), int64(len(message))
		answer, err := (&http.Client{Timeout: time.Minute}).Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusAccepted {
			t.Errorf("an answer: %s", answer.Status)
		}
	}
	return begin, next, reply
}

// listening is the address of a listener for a host.
func listening(t *testing.T, h *router.Host) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- (&transport.HTTP{Host: h}).Start(ctx, l, func() string { return token }) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String() + "/mcp"
}

// Messages are those in a body, which may be events.
func Messages(body []byte) (got []string) {
	for s := range bytes.Lines(body) {
		s = bytes.TrimPrefix(bytes.TrimSuffix(s, []byte("\n")), []byte("data: "))
		if bytes.HasPrefix(s, []byte("{")) {
			got = append(got, string(s))
		}
	}
	return got
}

// Everywhere plays a test over each carrier, in both eras, with all servers or the one.
func Everywhere(t *testing.T, h *router.Host, one string, play func(t *testing.T, a Talker, modern bool)) {
	t.Helper()
	var spec router.ViewSpec
	path := "/"
	if one != "" {
		spec.Servers, path = []string{one}, "/"+one
	}
	Carriers(t, func(t *testing.T) Talker { t.Helper(); return OverStream(t, h, spec, false) },
		func(t *testing.T) Talker { t.Helper(); return OverStream(t, h, spec, true) },
		func(t *testing.T) Talker { t.Helper(); return OverHTTP(t, h, path) }, play)
}

// Carriers plays a test over each of them, in both eras.
func Carriers(t *testing.T, stdio, socket, http func(t *testing.T) Talker, play func(t *testing.T, a Talker, modern bool)) {
	t.Helper()
	for name, open := range map[string]func(t *testing.T) Talker{"stdio": stdio, "socket": socket, "http": http} {
		for _, era := range []string{"legacy", "modern"} {
			t.Run(name+" "+era, func(t *testing.T) {
				a := open(t)
				if era == "legacy" {
					a.Say(t, "initialize", Handshake, "0")
					a.Tell(t, "notifications/initialized", `{}`)
				}
				play(t, a, era == "modern")
			})
		}
	}
}

// With puts what a modern request carries into params that have a _meta.
func With(params string, modern bool) string {
	switch {
	case !modern:
		return params
	case strings.Contains(params, `"_meta":{}`):
		return strings.Replace(params, `"_meta":{}`, `"_meta":{`+Meta+`}`, 1)
	}
	return strings.Replace(params, `"_meta":{`, `"_meta":{`+Meta+`,`, 1)
}
