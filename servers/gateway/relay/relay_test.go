package relay_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/gateway/relay"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport/transporttest"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// relayed is a client on the stdio side of a relay.
type relayed struct {
	*transporttest.Client
	end  func() // closes the client's output
	over chan error
}

func startRelay(t *testing.T, path string, local ...backend.Server) *relayed {
	t.Helper()
	return startMovingRelay(t, path, nil, local...)
}

// startMovingRelay tells moving before the relay leaves its own host.
func startMovingRelay(t *testing.T, path string, moving func() func(), local ...backend.Server) *relayed {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	r := &relay.Relay{
		Hello: transport.Hello{Cwd: "/project"}, In: inR, Out: outW, Patience: 300 * time.Millisecond, Moving: moving,
		Dial: func(ctx context.Context) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
		Headless: func() (transport.Stream, []string, error) {
			h := routertest.Start(t, local...)
			v, err := h.View(router.ViewSpec{})
			if err != nil {
				return nil, nil, err
			}
			ours, theirs := transport.Pipe()
			agent := h.Connect(snapshot.Caller{Transport: "stdio", Root: "/project"}, nil)
			go func() {
				_ = transport.Serve(context.Background(), theirs, theirs, v, agent)
				theirs.Close()
			}()
			return ours, v.Resumable(), nil
		},
	}
	c := &relayed{over: make(chan error, 1), end: func() { inW.Close() }}
	c.Client = &transporttest.Client{T: t, Conn: pipeConn{outR, inW, time.AfterFunc(time.Hour, func() { outR.CloseWithError(os.ErrDeadlineExceeded) })}, In: bufio.NewReader(outR)}
	go func() { c.over <- r.Run(context.Background()); outW.Close() }()
	t.Cleanup(c.end)
	return c
}

type pipeConn struct {
	*io.PipeReader
	w     *io.PipeWriter
	watch *time.Timer
}

func (p pipeConn) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p pipeConn) Close() error                { return p.w.Close() }
func (p pipeConn) LocalAddr() net.Addr         { return nil }
func (p pipeConn) RemoteAddr() net.Addr        { return nil }
func (p pipeConn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline ends the test's wait; a pipe has no deadlines of its own.
func (p pipeConn) SetReadDeadline(t time.Time) error {
	p.watch.Reset(time.Until(t))
	return nil
}

func (p pipeConn) SetWriteDeadline(time.Time) error { return nil }

func (c *relayed) answer(id string) transporttest.Message {
	c.T.Helper()
	for {
		if m := c.Next(); string(m.ID) == id {
			return m
		}
	}
}

func TestRelayToADeck(t *testing.T) {
	path := transporttest.SocketPath(t)
	d := transporttest.StartDeck(t, path, transporttest.NewFixture())
	c := startRelay(t, path)
	c.Initialize()
	c.Send(transporttest.Call(`1`, "who", `{}`))
	if m := c.answer(`1`); !strings.Contains(string(m.Result), "tester in /project") {
		t.Fatalf("got %s", m.Result)
	}
	agents := d.Host.Snapshot().Agents
	if len(agents) != 1 || agents[0].Name() != "tester" || agents[0].Transport != "unix" {
		t.Fatalf("the deck shows %+v", agents)
	}
	c.end()
	if err := <-c.over; err != nil {
		t.Fatal(err)
	}
}

func TestDeckDiesInACallAndComesBack(t *testing.T) {
	path := transporttest.SocketPath(t)
	d := transporttest.StartDeck(t, path, transporttest.NewFixture())
	c := startRelay(t, path)
	c.Initialize()
	c.Send(transporttest.Call(`1`, "block", `{}`))
	testwait.Until(t, "the call", func() bool {
		all := d.Host.Snapshot().Agents
		return len(all) > 0 && len(all[0].InFlight) > 0
	})
	d.Kill()
	m := c.answer(`1`)
	if m.Error == nil || !strings.Contains(m.Error.Message, "check, then retry") {
		t.Fatalf("a call in flight must end with an error to retry on: %+v", m)
	}
	transporttest.StartDeck(t, path, transporttest.NewFixture())
	c.Send(transporttest.Call(`2`, "who", `{}`))
	if m := c.answer(`2`); !strings.Contains(string(m.Result), "tester in /project") {
		t.Fatalf("the handshake was not said again: %s %+v", m.Result, m.Error)
	}
}

func TestHeadlessThenADeckAppears(t *testing.T) {
	t.Parallel()
	path := transporttest.SocketPath(t)
	c := startRelay(t, path, transporttest.NewFixture())
	c.Initialize()
	c.Send(transporttest.Call(`1`, "who", `{}`))
	if m := c.answer(`1`); !strings.Contains(string(m.Result), "tester in /project") {
		t.Fatalf("got %s", m.Result)
	}
	f := transporttest.NewFixture()
	f.Extra.Store(true)
	transporttest.StartDeck(t, path, f)
	for m := c.Next(); m.Method != "notifications/tools/list_changed"; {
		m = c.Next()
	}
	c.Send(transporttest.Call(`2`, "extra_tool", `{}`))
	if m := c.answer(`2`); !strings.Contains(string(m.Result), `"extra"`) {
		t.Fatalf("not on the deck: %s", m.Result)
	}
}

func TestQuestionMovesToTheDeckAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	path := transporttest.SocketPath(t)
	alone := asking(transporttest.NewFixture(), false)
	c := startRelay(t, path, alone)
	c.Initialize()
	c.Send(transporttest.Call(`1`, "ask", `{}`))
	c.Send(transporttest.Call(`2`, "block", `{}`))
	d := transporttest.StartDeck(t, path, asking(transporttest.NewFixture(), true))
	for range 4 { // the relay looks for a deck twice a second
		time.Sleep(300 * time.Millisecond) // nothing tells that it has looked
		if n := len(d.Host.Snapshot().Agents); n != 0 {
			t.Fatalf("%d agents while a call is under way elsewhere", n)
		}
	}
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if m := c.answer(`1`); !strings.Contains(string(m.Result), "answered here") {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
	if alone.Waiting.Load() != 0 {
		t.Error("the question was asked again before the first call of it had ended")
	}
}

func TestWhoHostsAloneIsToldOfAMoveBeforeAndAfterTheCallsAreLeft(t *testing.T) {
	t.Parallel()
	path := transporttest.SocketPath(t)
	alone, there := asking(transporttest.NewFixture(), false), asking(transporttest.NewFixture(), true)
	var waiting []int32
	look := func() { waiting = append(waiting, alone.Waiting.Load(), there.Waiting.Load()) }
	c := startMovingRelay(t, path, func() func() { look(); return look }, alone)
	c.Initialize()
	c.Send(transporttest.Call(`1`, "ask", `{}`))
	transporttest.StartDeck(t, path, there)
	if m := c.answer(`1`); !strings.Contains(string(m.Result), "answered here") {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
	if !slices.Equal(waiting, []int32{1, 0, 0, 0}) {
		t.Errorf("calls that waited alone and at the deck, before and after: %v", waiting)
	}
}

// asking gives the fixture a tool that waits for a user, who is at the deck alone.
func asking(f *transporttest.Fixture, person bool) *transporttest.Fixture {
	f.Asks(person)
	return f
}

func TestDeckGoneForGood(t *testing.T) {
	t.Parallel()
	path := transporttest.SocketPath(t)
	d := transporttest.StartDeck(t, path, transporttest.NewFixture())
	c := startRelay(t, path, transporttest.NewFixture())
	c.Initialize()
	d.Kill()
	c.Send(transporttest.Call(`1`, "echo", `{"text":"still here"}`))
	if m := c.answer(`1`); !strings.Contains(string(m.Result), "still here") && (m.Error == nil || !strings.Contains(m.Error.Message, "check, then retry")) {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
	c.Send(transporttest.Call(`2`, "echo", `{"text":"still here"}`))
	if m := c.answer(`2`); !strings.Contains(string(m.Result), "still here") {
		t.Fatalf("got %s %+v", m.Result, m.Error)
	}
}

func TestListenIsReplayed(t *testing.T) {
	path := transporttest.SocketPath(t)
	d := transporttest.StartDeck(t, path, transporttest.NewFixture())
	c := startRelay(t, path)
	c.Send(`{"jsonrpc":"2.0","id":"L","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + transporttest.ModernMeta + `}}`)
	if m := c.Next(); m.Method != "notifications/subscriptions/acknowledged" {
		t.Fatalf("got %+v", m)
	}
	d.Kill()
	f := transporttest.NewFixture()
	transporttest.StartDeck(t, path, f)
	tagged := func(m transporttest.Message) bool {
		return m.Method == "notifications/tools/list_changed" && strings.Contains(string(m.Params), `"L"`)
	}
	if m := c.Next(); !tagged(m) { // one list change, and no second acknowledgement
		t.Fatalf("got %s %s", m.Method, m.Params)
	}
	c.Send(`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + transporttest.ModernMeta + `}}`)
	c.answer(`1`)
	f.Extra.Store(true)
	f.Events.Changed()
	if m := c.Next(); !tagged(m) {
		t.Fatalf("the filter was not said again: %s %s", m.Method, m.Params)
	}
}

func TestUnknownServerIsTheCallersMistake(t *testing.T) {
	path := transporttest.SocketPath(t)
	transporttest.StartDeck(t, path, transporttest.NewFixture())
	r := &relay.Relay{
		Hello: transport.Hello{Servers: []string{"nope"}}, In: strings.NewReader(""), Out: io.Discard,
		Dial:     func(context.Context) (net.Conn, error) { return net.Dial("unix", path) },
		Headless: func() (transport.Stream, []string, error) { return nil, nil, io.ErrUnexpectedEOF },
	}
	if err := r.Run(context.Background()); !relay.IsUsage(err) || !strings.Contains(err.Error(), "fixture") {
		t.Fatalf("got %v", err)
	}
}

// What came whole goes on, whatever came with it.
func TestRelayHoldsNothingBack(t *testing.T) {
	path := transporttest.SocketPath(t)
	transporttest.StartDeck(t, path, transporttest.NewFixture())
	who := func(id string) string { return transporttest.Call(id, "who", `{}`) + "\n" }
	half := who(`9`)[:20]
	tests := []struct {
		name, write string
		ids         []string // whose answers must come
		then        string   // written once they have come
		last        string   // whose answer must come then
	}{
		{"blank lines behind", who(`1`) + "\n \r\n", []string{`1`}, who(`2`), `2`},
		{"half a line behind", who(`1`) + who(`2`) + half, []string{`1`, `2`}, who(`9`)[20:], `9`},
		{"no line behind a bad one", who(`1`) + "{bad\n", []string{`1`}, who(`2`), `2`},
		{"a burst", who(`1`) + who(`2`) + who(`3`) + who(`4`), []string{`1`, `2`, `3`, `4`}, who(`5`), `5`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := startRelay(t, path)
			c.Initialize()
			c.write(tt.write)
			missing := slices.Clone(tt.ids)
			for len(missing) > 0 {
				id := string(c.Next().ID)
				missing = slices.DeleteFunc(missing, func(s string) bool { return s == id })
			}
			c.write(tt.then)
			c.answer(tt.last)
		})
	}
}

func (c *relayed) write(s string) {
	c.T.Helper()
	if _, err := io.WriteString(c.Conn, s); err != nil {
		c.T.Fatal(err)
	}
}

// A deck that says much before it listens is heard, whatever the client wants to say.
func TestRelayReadsWhileItsWriteWaits(t *testing.T) {
	ours, theirs := net.Pipe() // which holds nothing
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	const large, lines = 1 << 20, 1000
	r := &relay.Relay{
		In: inR, Out: outW,
		Dial:     func(context.Context) (net.Conn, error) { return ours, nil },
		Headless: func() (transport.Stream, []string, error) { return nil, nil, io.ErrUnexpectedEOF },
	}
	over := make(chan error, 1)
	go func() { over <- r.Run(context.Background()); outW.Close() }()
	go func() {
		_, _ = io.WriteString(inW, transporttest.Call(`1`, "echo", `"`+strings.Repeat("x", large)+`"`)+"\n")
	}()
	go func() { _, _ = io.Copy(io.Discard, outR) }()

	_ = theirs.SetDeadline(time.Now().Add(testwait.Patience)) // a relay that hangs must not hang the test
	in := bufio.NewReader(theirs)
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(theirs, `{"mcpdeck":1}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Peek(1); err != nil { // the client's line has begun
		t.Fatal(err)
	}
	for range lines {
		if _, err := io.WriteString(theirs, `{"jsonrpc":"2.0","method":"notifications/message","params":{}}`+"\n"); err != nil {
			t.Fatalf("the relay reads nothing while it writes: %v", err)
		}
	}
	if line, err := in.ReadString('\n'); err != nil || len(line) < large {
		t.Fatalf("got %d bytes, %v", len(line), err)
	}
	theirs.Close()
	inW.Close()
	if err := <-over; err != nil {
		t.Fatal(err)
	}
}

func TestTheRelayRefusesAmbiguousMessages(t *testing.T) {
	var out bytes.Buffer
	in := `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","Name":"b"}}` + "\n"
	r := &relay.Relay{In: strings.NewReader(in), Out: &out, Headless: func() (transport.Stream, []string, error) {
		a, b := transport.Pipe()
		go func() { _, _ = io.Copy(io.Discard, b); b.Close() }()
		return a, nil, nil
	}, Dial: func(context.Context) (net.Conn, error) { return nil, transport.ErrNoDeck }}
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"id":7,"error"`) || !strings.Contains(out.String(), "ambiguous") {
		t.Errorf("answered %q", &out)
	}
}
