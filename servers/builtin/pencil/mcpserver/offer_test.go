package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/catalogue"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil"
	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router/routertest"
	"github.com/mcpdeck/mcpdeck/servers/gateway/transport"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestMain makes the test binary the child too: the deck starts its child with
// --app first, which no test run does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "--app" {
		os.Exit(standin.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// options are for a child that is this test binary with the stand-in's flags.
func options(t testing.TB, flags ...string) pencil.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return pencil.Options{
		Command: exe, Args: flags, Version: "test", Home: t.TempDir(), Root: t.TempDir(), StateDir: t.TempDir(),
		Environ: os.Environ(),
	}
}

// other is a server beside Pencil.
func other() backend.Server {
	return inproc.New(inproc.Options{Info: backend.Info{Name: "other", Title: "Other", ServerName: "other"}}, func(opts ...server.ServerOption) *server.MCPServer {
		s := server.NewMCPServer("other", "1", append(opts, server.WithInstructions("Other."))...)
		s.AddTool(mcp.NewToolWithRawSchema("echo", "echo", json.RawMessage(`{"type":"object"}`)), func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		})
		return s
	})
}

// testDeck is a host with Pencil and another server.
type testDeck struct {
	t    testing.TB
	p    *pencil.Pencil
	host *router.Host
}

func newDeck(t testing.TB, o pencil.Options) *testDeck {
	t.Helper()
	p := pencil.New(o)
	return &testDeck{t, p, routertest.Start(t, New(p), other())}
}

func (d *testDeck) on() {
	d.t.Helper()
	if _, err := d.p.Control(context.Background(), upstream.Request{Verb: "on"}); err != nil {
		d.t.Fatal(err)
	}
}

// agent is a client of a host.
type agent struct {
	t    testing.TB
	conn net.Conn
	in   *bufio.Reader
	id   int
}

func connect(t testing.TB, h *router.Host, spec router.ViewSpec) *agent {
	t.Helper()
	return connectAs(t, h, spec, "tester")
}

func connectAs(t testing.TB, h *router.Host, spec router.ViewSpec, client string) *agent {
	t.Helper()
	view, err := h.View(spec)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := net.Pipe()
	a := h.Connect(snapshot.Caller{Transport: "unix"}, spec.Servers)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := transport.Serve(context.Background(), theirs, theirs, view, a); err != nil {
			t.Log(err)
		}
		a.Close()
		theirs.Close()
	}()
	t.Cleanup(func() { ours.Close(); <-done })
	c := &agent{t: t, conn: ours, in: bufio.NewReaderSize(ours, 1<<20)}
	c.call("initialize", fmt.Sprintf(`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":%q,"version":"1"}}`, client))
	c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (a *agent) write(line string) {
	a.t.Helper()
	if _, err := a.conn.Write([]byte(line + "\n")); err != nil {
		a.t.Fatal(err)
	}
}

func (a *agent) read() string {
	a.t.Helper()
	if err := a.conn.SetReadDeadline(time.Now().Add(testwait.Patience)); err != nil {
		a.t.Fatal(err)
	}
	line, err := a.in.ReadString('\n')
	if err != nil {
		a.t.Fatal(err)
	}
	return line
}

// call makes a request and returns its result as raw JSON. What comes before it
// must be notifications.
func (a *agent) call(method, params string) string {
	a.t.Helper()
	a.id++
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, a.id, method, params))
	for {
		line := a.read()
		o, err := rawjson.Parse([]byte(line))
		if err != nil {
			a.t.Fatal(err)
		}
		switch {
		case o.Get("id") == nil:
		case o.Get("result") == nil:
			return string(o.Get("error"))
		default:
			return string(o.Get("result"))
		}
	}
}

func (a *agent) tools() []string {
	a.t.Helper()
	o, err := rawjson.SplitObject([]byte(a.call("tools/list", `{}`)))
	if err != nil {
		a.t.Fatal(err)
	}
	list, _ := rawjson.SplitArray(o.Get("tools"))
	var out []string
	for _, raw := range list {
		tool, err := rawjson.SplitObject(raw)
		if err != nil {
			a.t.Fatal(err)
		}
		out = append(out, tool.Str("name"))
	}
	return out
}

// The mode is the deck's, for all. A call while off is answered. A
// list change is all that others are told.
func TestAgentsSeeTheSwitch(t *testing.T) {
	d := newDeck(t, options(t))
	all, alone := connect(t, d.host, router.ViewSpec{}), connect(t, d.host, router.ViewSpec{Servers: []string{"pencil"}})
	gate := connect(t, d.host, router.ViewSpec{Gateway: true})
	look := func(name string, a *agent, want int, has ...string) {
		t.Helper()
		got := a.tools()
		if len(got) != want {
			t.Errorf("%s: %d tools, want %d: %v", name, len(got), want, got)
		}
		for _, h := range has {
			if !slices.Contains(got, h) {
				t.Errorf("%s lacks %s: %v", name, h, got)
			}
		}
	}
	for range 2 {
		look("off, all", all, 1, "echo")
		look("off, alone", alone, 1, "pencil_status")
		look("off, gateway", gate, 2, "echo", "pencil_call")
		if got := all.call("tools/call", `{"name":"pencil_batch_get","arguments":{}}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "Pencil mode is off") {
			t.Errorf("a call while off: %s", got)
		}
		d.on()
		for name, a := range map[string]*agent{"all": all, "alone": alone} {
			if got := a.read(); !strings.Contains(got, "notifications/tools/list_changed") {
				t.Errorf("%s: %s", name, got)
			}
		}
		look("on, all", all, 15, "echo", "pencil_batch_get")
		look("on, alone", alone, 15, "pencil_status", "pencil_batch_get")
		look("on, gateway", gate, 2, "pencil_call")
		if got := gate.call("tools/call", `{"name":"pencil_call","arguments":{"tool":"batch_get","arguments":{"n":9007199254740993}}}`); !strings.Contains(got, `{\"n\":9007199254740993}`) {
			t.Errorf("through the gateway: %s", got)
		}
		if got := gate.call("tools/call", `{"name":"pencil_batch_get","arguments":{}}`); !strings.Contains(got, "behind pencil_call") {
			t.Errorf("beside the gateway: %s", got)
		}
		d.p.Off()
		for _, a := range []*agent{all, alone} {
			if got := a.read(); !strings.Contains(got, "notifications/tools/list_changed") {
				t.Error(got)
			}
		}
	}
}

func TestOffCostsNothing(t *testing.T) {
	with, without := newDeck(t, options(t)), routertest.Start(t, other())
	answers := func(h *router.Host, spec router.ViewSpec) []string {
		a := connect(t, h, spec)
		out := []string{a.call("tools/list", `{}`)}
		for _, m := range []string{"initialize", "server/discover"} {
			p := `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
			// A view of one server bears its name; that is no cost.
			out = append(out, strings.NewReplacer(`"name":"other"`, `"name":"mcpdeck"`, `"title":"Other"`, `"title":"mcpdeck"`).Replace(a.call(m, p)))
		}
		return out
	}
	want := answers(without, router.ViewSpec{})
	got := answers(with.host, router.ViewSpec{})
	with.on()
	with.p.Off()
	again := answers(with.host, router.ViewSpec{})
	for i := range want {
		if got[i] != want[i] || again[i] != want[i] {
			t.Errorf("without Pencil: %s\nnever on: %s\noff again: %s", want[i], got[i], again[i])
		}
	}
}

// What agents get, through the whole path, is what the child gave.
func TestResultsPassTheWholePathUntouched(t *testing.T) {
	d := newDeck(t, options(t, "--result", "odd", "--no-guide"))
	d.on()
	a := connect(t, d.host, router.ViewSpec{})
	if got := catalogue.Canonical([]byte(a.call("tools/call", `{"name":"pencil_batch_get","arguments":{}}`))); got != catalogue.Canonical([]byte(standin.OddResult())) {
		t.Errorf("got  %s\nwant %s", got, catalogue.Canonical([]byte(standin.OddResult())))
	}
}

// BenchmarkToggle is the time from the switch until the last of 50 agents has
// the notification.
func BenchmarkToggle(b *testing.B) {
	d := newDeck(b, options(b))
	d.on()
	agents := make([]*agent, 50)
	for i := range agents {
		agents[i] = connect(b, d.host, router.ViewSpec{})
	}
	for b.Loop() {
		d.p.Toggle()
		for _, a := range agents {
			a.read()
		}
	}
}

// BenchmarkCall is a call from agent to child and back, of 64 bytes and of
// 256 KiB.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{64, 256 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			d := newDeck(b, options(b, "--result", "big", "--size", fmt.Sprint(size)))
			d.on()
			a := connect(b, d.host, router.ViewSpec{})
			var times []time.Duration
			for b.Loop() {
				began := time.Now()
				a.call("tools/call", `{"name":"pencil_batch_get","arguments":{}}`)
				times = append(times, time.Since(began))
			}
			slices.Sort(times)
			b.ReportMetric(float64(times[len(times)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
		})
	}
}

// 20 agents that call, cancel, list and hang up while a user plays with the
// switch.
func TestManyAgentsWhileTheSwitchMoves(t *testing.T) {
	o := options(t, "--progress", "2")
	o.MaxInFlight = 4
	d := newDeck(t, o)
	d.on()
	view, err := d.host.View(router.ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	var agents sync.WaitGroup
	for i := range 20 {
		agents.Go(func() {
			ours, theirs := net.Pipe()
			a := d.host.Connect(snapshot.Caller{Transport: "unix"}, nil)
			served, drained := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(served)
				_ = transport.Serve(context.Background(), theirs, theirs, view, a) // it is hung up on
				a.Close()
				theirs.Close()
			}()
			go func() {
				defer close(drained)
				_, _ = io.Copy(io.Discard, ours) // until it is closed
			}()
			for n := range 12 {
				lines := []string{
					fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"pencil_batch_get","arguments":{},"_meta":{"progressToken":%d}}}`, n, n),
					fmt.Sprintf(`{"jsonrpc":"2.0","id":"l%d","method":"tools/list","params":{}}`, n),
				}
				if n%3 == i%3 {
					lines = append(lines, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, n))
				}
				for _, line := range lines {
					if _, err := io.WriteString(ours, line+"\n"); err != nil {
						t.Errorf("agent %d: %v", i, err)
						break
					}
				}
			}
			ours.Close()
			<-served
			<-drained
		})
	}
	for range 10 {
		d.p.Toggle()
		time.Sleep(5 * time.Millisecond) // the switch is to move in the midst of calls
	}
	agents.Wait()
	d.p.Off()
	d.on()
	a := connect(t, d.host, router.ViewSpec{})
	if got := a.call("tools/call", `{"name":"pencil_batch_get","arguments":{"a":1}}`); !strings.Contains(got, `{\"a\":1}`) {
		t.Errorf("afterwards: %s", got)
	}
}

// An agent that does not ask again after a switch is shown as such.
func TestAgentsThatKeepAnOldListAreSeen(t *testing.T) {
	o := options(t)
	synctest.Test(t, func(t *testing.T) {
		o.Start = standin.Pipes()
		p := pencil.New(o)
		h, err := router.New(router.Options{Version: "test", Servers: []backend.Server{New(p), other()}, Root: "/deck"})
		if err != nil {
			t.Fatal(err)
		}
		h.Start()
		view, err := h.View(router.ViewSpec{})
		if err != nil {
			t.Fatal(err)
		}
		a := h.Connect(snapshot.Caller{}, nil)
		list := func() { view.Route(a, backend.Parse(nil, rpc.Message{Method: "tools/list"}))(t.Context()) }
		stale := func() bool { return h.Snapshot().Agents[0].Stale }
		list()
		if _, err := p.Control(t.Context(), upstream.Request{Verb: "on"}); err != nil {
			t.Fatal(err)
		}
		testwait.Pass(9 * time.Second)
		if stale() {
			t.Error("it has ten seconds")
		}
		testwait.Pass(2 * time.Second)
		if !stale() {
			t.Error("it did not ask")
		}
		list()
		if stale() {
			t.Error("it has asked")
		}
		a.Close()
		if err := h.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestRestartedModuleWorks(t *testing.T) {
	d := newDeck(t, options(t))
	a := connect(t, d.host, router.ViewSpec{})
	for range 2 {
		d.on()
		a.read() // the list has changed
		if n := len(a.tools()); n != 15 {
			t.Errorf("%d tools", n)
		}
		if err := d.host.RestartServer(t.Context(), "pencil"); err != nil {
			t.Fatal(err)
		}
		a.read()
		if s := d.p.Status(); s.Mode != upstream.Off || s.PID != 0 || len(a.tools()) != 1 {
			t.Errorf("mode %s, child %d", s.Mode, s.PID)
		}
	}
}

// Others' tools answer while Pencil's program hangs in its handshake.
func TestOtherToolsAnswerDuringTheHandshake(t *testing.T) {
	d := newDeck(t, options(t, "--mute"))
	a := connect(t, d.host, router.ViewSpec{})
	began := time.Now()
	d.p.On()
	if got := a.call("tools/call", `{"name":"echo","arguments":{"n":1}}`); !strings.Contains(got, `{\"n\":1}`) {
		t.Errorf("got %s", got)
	}
	if s := d.p.Status(); s.Mode != upstream.TurningOn && time.Since(began) < 10*time.Second {
		t.Errorf("mode %s", s.Mode)
	}
	d.p.Off()
}

// No tool that an agent has while the mode is off switches it on.
func TestNoToolSwitchesOn(t *testing.T) {
	d := newDeck(t, options(t))
	for name, spec := range map[string]router.ViewSpec{"all": {}, "alone": {Servers: []string{"pencil"}}, "gateway": {Gateway: true}} {
		a := connectAs(t, d.host, spec, "codex")
		for _, tool := range append(a.tools(), "pencil_on", "pencil_mode", "pencil_toggle") {
			for _, args := range []string{`{}`, `{"action":"on"}`, `{"action":"call","tool":"on"}`, `{"mode":"on"}`} {
				a.call("tools/call", `{"name":"`+tool+`","arguments":`+args+`}`)
			}
		}
		if s := d.p.Status(); s.Mode != upstream.Off || s.PID != 0 {
			t.Errorf("%s: mode %s", name, s.Mode)
		}
	}
}

func TestListChangesAreAlwaysAnnounced(t *testing.T) {
	without := routertest.Start(t, other())
	with := newDeck(t, options(t))
	for name, h := range map[string]*router.Host{"without Pencil": without, "with Pencil": with.host} {
		a := connect(t, h, router.ViewSpec{})
		if got := a.call("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}`); !strings.Contains(got, `"tools":{"listChanged":true}`) {
			t.Errorf("%s: %s", name, got)
		}
		meta := `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}`
		if got := connect(t, h, router.ViewSpec{}).call("tools/list", meta); !strings.Contains(got, `"ttlMs":0`) {
			t.Errorf("%s: a list that may be kept: %s", name, got)
		}
	}
}
