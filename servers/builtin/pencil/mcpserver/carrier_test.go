package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// client is an agent's program, whose every word is noted.
type client struct {
	p       *play
	name    string // in the transcript
	meta    string // of a modern request
	program string
	id      int
	conn    carrier
}

// carrier takes messages to the deck and back. send returns where the messages
// come that belong to it; it is closed after the last, if there is a last.
type carrier interface {
	send(ctx context.Context, method, line string) <-chan string
	heard() <-chan string // what belongs to no request
}

// connect makes a client of all servers, or of one, and introduces it.
func (p *play) connect(program, server string, more ...string) *client {
	p.t.Helper()
	c := &client{p: p, program: program, name: strings.Join(append([]string{program, "of", server}, more...), " ")}
	if server == "" {
		c.name = strings.Join(append([]string{program, "of all"}, more...), " ")
	}
	spec := router.ViewSpec{Gateway: len(more) > 0}
	if server != "" {
		spec.Servers = []string{server}
	}
	switch p.carrier {
	case "http":
		c.conn = p.overHTTP(server)
	case "socket":
		c.conn = p.overSocket(spec)
	default:
		c.conn = p.overPipe(spec)
	}
	c.introduce()
	if p.era == "legacy" {
		c.write("notifications/initialized", ``)
	} else {
		c.listen()
	}
	return c
}

func (c *client) introduce() {
	c.p.t.Helper()
	info := fmt.Sprintf(`{"name":%q,"version":"1"}`, c.program)
	if c.p.era == "legacy" {
		c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":`+info+`}`)
		return
	}
	c.meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":` + info + `,"io.modelcontextprotocol/clientCapabilities":{}`
	c.request("server/discover", `{}`)
}

// listen asks for changes of lists.
func (c *client) listen() {
	c.p.t.Helper()
	c.id++
	h, ok := c.conn.(*httpCarrier)
	in := c.conn.send(c.p.t.Context(), "subscriptions/listen", c.line("subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`, fmt.Sprint(c.id)))
	if ok {
		h.stream = in
	}
	c.hears("notifications/subscriptions/acknowledged")
}

// line is a message as it is sent.
func (c *client) line(method, params, id string) string {
	if c.meta != "" && params != "" {
		rest := strings.TrimPrefix(params, "{")
		switch before, after, has := strings.Cut(params, `"_meta":{`); {
		case has:
			params = before + `"_meta":{` + c.meta + "," + after
		case rest == "}":
			params = `{"_meta":{` + c.meta + "}}"
		default:
			params = `{"_meta":{` + c.meta + "}," + rest
		}
	}
	out := `{"jsonrpc":"2.0"`
	if id != "" {
		out += `,"id":` + id
	}
	out += `,"method":"` + method + `"`
	if params != "" {
		out += `,"params":` + params
	}
	return out + "}"
}

func (c *client) write(method, params string) {
	c.p.t.Helper()
	for got := range c.conn.send(c.p.t.Context(), method, c.line(method, params, "")) {
		c.p.note("%s <- %s", c.name, got)
	}
}

// request sends a request and notes all that comes until its answer.
func (c *client) request(method, params string) {
	c.p.t.Helper()
	c.id++
	c.p.note("%s -> %d %s %s", c.name, c.id, method, params)
	id := fmt.Sprint(c.id)
	in := c.conn.send(c.p.t.Context(), method, c.line(method, params, id))
	if in == nil {
		in = c.conn.heard()
	}
	for {
		got, open := c.next(in, "the answer to "+method)
		if !open {
			return
		}
		c.p.note("%s <- %s", c.name, got)
		o, err := rawjson.Parse([]byte(got))
		if err == nil && string(o.Get("id")) == id && o.Get("method") == nil {
			return
		}
	}
}

// next waits for a message.
func (c *client) next(in <-chan string, what string) (message string, open bool) {
	c.p.t.Helper()
	select {
	case message, open = <-in:
	case <-time.After(testwait.Patience):
		c.p.t.Fatalf("%s waited in vain for %s\n%.3000s", c.name, what, c.p.said.String())
	}
	return message, open
}

// begin sends a request whose answer is not waited for. withdraw takes it back.
func (c *client) begin(method, params string) (withdraw func()) {
	c.p.t.Helper()
	c.id++
	c.p.note("%s -> %d %s %s", c.name, c.id, method, params)
	id := fmt.Sprint(c.id)
	ctx, cancel := context.WithCancel(c.p.t.Context())
	in := c.conn.send(ctx, method, c.line(method, params, id))
	return func() {
		defer cancel()
		if c.p.carrier != "http" {
			c.p.note("%s -> withdraws it", c.name)
			c.write("notifications/cancelled", `{"requestId":`+id+`}`)
			return
		}
		c.p.note("%s -> hangs up", c.name)
		cancel()
		for got := range in {
			c.p.note("%s <- %s", c.name, got)
		}
	}
}

// hears waits for a message that belongs to no request, and notes it.
func (c *client) hears(method string) {
	c.p.t.Helper()
	got, _ := c.next(c.conn.heard(), method)
	c.p.note("%s <- %s", c.name, got)
	o, err := rawjson.Parse([]byte(got))
	if err != nil || o.Str("method") != method {
		c.p.t.Fatalf("%s heard %s, want %s", c.name, got, method)
	}
}

// stream carries one message a line.
type stream struct {
	t    *testing.T
	conn io.Writer
	in   chan string
}

func (s *stream) send(_ context.Context, _, line string) <-chan string {
	s.t.Helper()
	if _, err := io.WriteString(s.conn, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
	if strings.Contains(line, `"id":`) {
		return nil // with all else
	}
	none := make(chan string)
	close(none)
	return none
}

func (s *stream) heard() <-chan string { return s.in }

// read takes lines until the end.
func (s *stream) read(r io.Reader) {
	defer close(s.in)
	b := bufio.NewReader(r)
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			return
		}
		s.in <- strings.TrimSuffix(line, "\n")
	}
}

// overPipe is a program that was started by its client, as `mcpdeck mcp` without a
// deck.
func (p *play) overPipe(spec router.ViewSpec) carrier {
	p.t.Helper()
	view, err := p.host.View(spec)
	if err != nil {
		p.t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	a := p.host.Connect(snapshot.Caller{Transport: "stdio"}, spec.Servers)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := transport.Serve(context.Background(), theirs, theirs, view, a); err != nil {
			p.t.Error(err)
		}
		a.Close()
		theirs.Close()
	}()
	p.ends = append(p.ends, func() { ours.Close(); <-served })
	s := &stream{p.t, ours, make(chan string, 64)}
	go s.read(ours)
	return s
}

func (p *play) overSocket(spec router.ViewSpec) carrier {
	p.t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(p.t.TempDir(), "s"), Net: "unix"})
	if err != nil {
		p.t.Fatal(err)
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		(&transport.Server{Host: p.host, Version: "test"}).Serve(p.t.Context(), l)
	}()
	ours, err := net.Dial("unix", l.Addr().String())
	if err != nil {
		p.t.Fatal(err)
	}
	_, r, err := transport.Greet(ours, transport.Hello{Servers: spec.Servers, Gateway: spec.Gateway, Cwd: "/deck"})
	if err != nil {
		p.t.Fatal(err)
	}
	p.ends = append(p.ends, func() { ours.Close(); l.Close(); <-served })
	s := &stream{p.t, ours, make(chan string, 64)}
	go s.read(r)
	return s
}

// httpCarrier carries one request a message; what belongs to none comes in a
// stream of its own.
type httpCarrier struct {
	p       *play
	url     string
	session string
	stream  <-chan string
}

func (p *play) overHTTP(server string) carrier {
	s := httptest.NewServer(&transport.HTTP{Host: p.host})
	p.ends = append(p.ends, func() { s.CloseClientConnections(); s.Close() })
	return &httpCarrier{p: p, url: s.URL + "/mcp/" + server}
}

func (h *httpCarrier) heard() <-chan string { return h.stream }

// send notes the head of the answer, in which the name of the session is not the
// same twice.
func (h *httpCarrier) send(ctx context.Context, method, line string) <-chan string {
	t := h.p.t
	t.Helper()
	in := make(chan string, 64)
	r := h.request(ctx, http.MethodPost, line)
	if strings.Contains(line, "io.modelcontextprotocol/protocolVersion") {
		r.Header.Set("MCP-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		var m struct{ Params mcp.CallToolParams }
		if err := json.Unmarshal([]byte(line), &m); err == nil && method == "tools/call" {
			r.Header.Set("Mcp-Name", m.Params.Name)
		}
	}
	heads := make(chan string, 1)
	go func() {
		defer close(in)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			heads <- "none"
			return
		}
		defer answer.Body.Close()
		if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
			h.session = id
		}
		heads <- fmt.Sprintf("%s, %s", answer.Status, answer.Header.Get("Content-Type"))
		events(answer, in)
	}()
	if ctx == t.Context() { // else nobody waits for its answer
		h.p.note("HTTP %s", <-heads)
	}
	if method == "notifications/initialized" && h.p.listens {
		h.listen()
	}
	return in
}

func (h *httpCarrier) request(ctx context.Context, method, body string) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, h.url, strings.NewReader(body))
	if err != nil {
		h.p.t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if h.session != "" {
		r.Header.Set("Mcp-Session-Id", h.session)
	}
	return r
}

// listen opens the stream for what belongs to no request.
func (h *httpCarrier) listen() {
	in := make(chan string, 64)
	h.stream = in
	answer, err := http.DefaultClient.Do(h.request(h.p.t.Context(), http.MethodGet, ""))
	if err != nil {
		h.p.t.Fatal(err)
	}
	h.p.note("HTTP GET %s, %s", answer.Status, answer.Header.Get("Content-Type"))
	go func() {
		defer close(in)
		defer answer.Body.Close()
		events(answer, in)
	}()
}

// events hands on the messages in the body of an answer.
func events(answer *http.Response, to chan<- string) {
	if !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(answer.Body)
		if text := strings.TrimSuffix(string(body), "\n"); err == nil && text != "" {
			to <- text
		}
		return
	}
	b := bufio.NewReader(answer.Body)
	for {
		line, err := b.ReadString('\n')
		if err != nil {
			return
		}
		if data, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data:"); ok && strings.TrimSpace(data) != "" {
			to <- strings.TrimSpace(data)
		}
	}
}
