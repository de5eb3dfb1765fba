package router

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/gateway/calllog"
	"github.com/mcpdeck/mcpdeck/servers/support/roots"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// module is a server of handlers.
type module struct {
	name    string
	tools   []string
	stub    string // "": none
	refuse  string // a name that it refuses; "": none
	failure error
	events  backend.Events
	handler server.ToolHandlerFunc

	once   sync.Once
	served *inproc.Server
}

func (m *module) Info() backend.Info {
	return backend.Info{Name: m.name, Title: m.name, ServerName: m.name + "-mcp"}
}

func (m *module) Start(_ context.Context, e backend.Events) error { m.events = e; return m.failure }

func (m *module) Stop(context.Context) error { return nil }

// plain is the server of the handlers.
func (m *module) plain() *inproc.Server {
	m.once.Do(func() {
		m.served = inproc.New(inproc.Options{Info: m.Info()}, func(opts ...server.ServerOption) *server.MCPServer {
			srv := server.NewMCPServer(m.name, "1", opts...)
			handler := m.handler
			if handler == nil {
				handler = func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					return mcp.NewToolResultText("fine"), nil
				}
			}
			for _, t := range append(m.tools, m.stub) {
				srv.AddTool(mcp.NewTool(t), handler)
			}
			return srv
		})
	})
	return m.served
}

func (m *module) Catalogue() *backend.Catalogue {
	c := &backend.Catalogue{Instructions: "Use " + m.name + ".", Refuse: func(tool string) string {
		if tool != "" && tool == m.refuse {
			return tool + " comes later"
		}
		return ""
	}}
	all := m.plain().Catalogue().Tools
	of := func(name string) backend.ToolDefinition {
		return all[slices.IndexFunc(all, func(t backend.ToolDefinition) bool { return t.Key == name })]
	}
	for _, name := range m.tools {
		c.Tools = append(c.Tools, of(name))
	}
	if m.stub != "" {
		c.Fallback = []backend.ToolDefinition{of(m.stub)}
	}
	return c
}

func (m *module) Serve(ctx context.Context, r *backend.Request) backend.Reply {
	return m.plain().Serve(ctx, r)
}

func started(t *testing.T, opts Options) *Host {
	t.Helper()
	h, err := New(opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.Stop(ctx) // a test may have stopped it
	})
	return h
}

func TestClashOfToolNamesRefusesToStart(t *testing.T) {
	_, err := New(Options{Servers: []backend.Server{&module{name: "one", tools: []string{"same"}}, &module{name: "two", tools: []string{"same"}}}})
	if err == nil || !strings.Contains(err.Error(), `"same" is offered by both one and two`) {
		t.Fatalf("got %v", err)
	}
}

func TestFailingModuleTakesNoOtherWithIt(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{
		&module{name: "bad", failure: errors.New("no luck\x1b[31m")}, &module{name: "good", tools: []string{"t"}},
	}})
	s := h.Snapshot().Servers
	if s[0].State.Status != snapshot.Failed || s[0].State.Reason != "no luck" || s[1].State.Status != snapshot.Ready || s[1].Tools != 1 {
		t.Fatalf("got %+v", s)
	}
}

func TestViews(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "a", tools: []string{"a1"}}, &module{name: "b", tools: []string{"b1"}}}})
	view := func(names ...string) *View {
		t.Helper()
		v, err := h.View(ViewSpec{Servers: names})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if view("a", "b") != view("b", "a") {
		t.Error("the same set must share one view")
	}
	if view() == view("a", "b") {
		t.Error("a view of all servers there will be is not one of those there are")
	}
	if v := view("a"); v == view() || v.Schema("b1") != nil || v.Schema("a1") == nil {
		t.Error("a view of one server has the tools of that server alone")
	}
	if _, err := h.View(ViewSpec{Servers: []string{"zzz"}}); !errors.Is(err, ErrUnknownServer) {
		t.Errorf("got %v", err)
	}
	if got := view().instructions(snapshot.Caller{}); got != "Use a.\n\nUse b." {
		t.Errorf("instructions %q", got)
	}
}

// say sends a request to a view, as a transport does.
func say(ctx context.Context, a *Agent, v *View, method, params string) backend.Reply {
	return v.Route(a, backend.New(rpc.Message{ID: json.RawMessage("1"), Method: method, Params: json.RawMessage(params)}))(ctx)
}

func callTool(h *Host, a *Agent, name, args string) backend.Reply {
	v, err := h.View(ViewSpec{})
	if err != nil {
		panic(err)
	}
	return say(context.Background(), a, v, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, args))
}

func TestACallNamesTheSessionOfItsClient(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "m", tools: []string{"t"}}}})
	v, err := h.View(ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	for client, want := range map[string]string{"codex-mcp-client": "01a2", "claude-code": ""} {
		a := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
		a.Claim(client, "1", "2025-06-18")
		for _, meta := range []string{`{"threadId":"01a2"}`, `{}`} {
			say(t.Context(), a, v, "tools/call", `{"name":"t","arguments":{},"_meta":`+meta+`}`)
			if got := a.Caller().Session; got != want {
				t.Errorf("after %s of %s the session is %q, want %q", meta, client, got, want)
			}
		}
	}
}

// settled waits until the log has taken everything.
func settled(h *Host, calls int) *snapshot.Snapshot {
	testwait.Holds(func() bool { return int(h.Snapshot().Total) >= calls })
	return h.Snapshot()
}

type kepts struct {
	mu     sync.Mutex
	calls  []snapshot.Call
	bodies []string
}

func (k *kepts) Record(c snapshot.Call, b snapshot.CallBody) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.calls, k.bodies = append(k.calls, c), append(k.bodies, string(b.Args)+" "+string(b.Result))
}

// TestACancelledCallDidNotFail holds that what the agent withdraws is counted as
// a call, not as a failed one.
func TestACancelledCallDidNotFail(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	m := &module{name: "m", tools: []string{"t"}, handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	h := started(t, Options{Servers: []backend.Server{m}})
	a := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
	v, err := h.View(ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	say(ctx, a, v, "tools/call", `{"name":"t","arguments":{}}`)
	s := settled(h, 1)
	if len(s.Calls) != 1 || s.Calls[0].Status != snapshot.Cancelled || s.Errors != 0 || s.Agents[0].Errors != 0 {
		t.Errorf("calls %+v, %d failed", s.Calls, s.Errors)
	}
}

func TestCallsAreLoggedRedactedAndComplete(t *testing.T) {
	rec := &kepts{}
	m := &module{name: "m", tools: []string{"t"}, handler: func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if r.GetString("mode", "") == "fail" {
			return mcp.NewToolResultError("it failed"), nil
		}
		return mcp.NewToolResultText("hello\nworld"), nil
	}}
	h := started(t, Options{Servers: []backend.Server{m}, Recorder: rec})
	a := h.Connect(snapshot.Caller{Transport: "unix"}, nil)
	a.Claim("claude\x1b[1m", "1", "2025-06-18")
	callTool(h, a, "t", `{"mode":"ok","password":"hunter2"}`)
	callTool(h, a, "t", `{"mode":"fail"}`)
	callTool(h, a, "nope", `{}`)
	s := settled(h, 3)
	tests := []struct {
		status              snapshot.CallStatus
		tool, args, results string
	}{
		{snapshot.OK, "t", "mode=ok password=[redacted]", "hello world"},
		{snapshot.ToolError, "t", "mode=fail", "it failed"},
		{snapshot.Refused, "nope", "", `unknown tool "nope"; call tools/list to see the tools of m`},
	}
	if len(s.Calls) != len(tests) || s.Total != 3 || s.Errors != 2 {
		t.Fatalf("%d calls, total %d, errors %d", len(s.Calls), s.Total, s.Errors)
	}
	for i, tt := range tests {
		c := s.Calls[i]
		if c.Status != tt.status || c.Tool != tt.tool || c.Args != tt.args || !strings.HasPrefix(c.Result, tt.results) || c.AgentName != "claude" {
			t.Errorf("call %d: %+v", i, c)
		}
	}
	if b, ok := h.Body(s.Calls[0].ID); !ok || strings.Contains(string(b.Args), "hunter2") || !strings.Contains(string(b.Result), `hello\nworld`) {
		t.Errorf("body %s %s", b.Args, b.Result)
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if want := `{"mode":"ok","password":"[redacted]"} {"content":[{"type":"text","text":"hello\nworld"}]}`; len(rec.calls) != 3 || rec.bodies[0] != want {
		t.Errorf("recorded %d calls, the first with %s", len(rec.calls), rec.bodies[0])
	}
}

func TestPicturesInResultsAreKeptToLookAt(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "m", tools: []string{"t"}, handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{mcp.NewTextContent("a text"), mcp.NewImageContent("AAAA", "image/png")}}, nil
	}}}})
	callTool(h, h.Connect(snapshot.Caller{Client: "codex"}, nil), "t", `{}`)
	call := settled(h, 1).Calls[0]
	list, _ := h.Pictures()
	if call.Images != 1 || len(list) != 1 || list[0].Data != "AAAA" || list[0].MIME != "image/png" || list[0].Agent != "codex" || list[0].Call != call.ID {
		t.Errorf("the call %+v has the pictures %+v", call, list)
	}
}

func TestAgentsAreListed(t *testing.T) {
	h := started(t, Options{Root: "/deck", Servers: []backend.Server{&module{name: "m", tools: []string{"t"}}}})
	a := h.Connect(snapshot.Caller{Transport: "unix", PID: 7, Program: "claude", Root: "/p"}, []string{"m"})
	b := h.Connect(snapshot.Caller{Transport: "http"}, nil)
	if !a.HasRoot() || b.HasRoot() || b.Caller().Root != "/deck" {
		t.Error("roots")
	}
	if a.Caller().Name() != "claude" || b.Caller().Name() != "http" {
		t.Error("names before a claim")
	}
	same := a.Caller().Identity
	a.Claim("", "", "")
	if a.Caller().Identity != same || b.Caller().Identity == same {
		t.Error("identities")
	}
	callTool(h, a, "t", `{}`)
	settled(h, 1)
	a.Close()
	b.Close()
	agents := h.Snapshot().Agents
	if len(agents) != 1 || agents[0].Gone.IsZero() || agents[0].Calls != 1 || agents[0].LastTool != "t" {
		t.Errorf("gone agents: %+v", agents)
	}
	again := h.Connect(snapshot.Caller{Transport: "unix", PID: 8, Program: "claude", Root: "/p"}, nil)
	elsewhere := h.Connect(snapshot.Caller{Transport: "unix", PID: 9, Program: "claude", Root: "/q"}, nil)
	callTool(h, again, "t", `{}`)
	callTool(h, elsewhere, "t", `{}`)
	settled(h, 3)
	again.Close()
	elsewhere.Close()
	agents = h.Snapshot().Agents
	if len(agents) != 2 || agents[0].Calls != 2 || agents[0].PID != 8 || agents[1].Calls != 1 {
		t.Errorf("gone agents, one that came twice: %+v", agents)
	}
}

// mcpdeck call makes a call, which is in the log; it is no agent that one could
// wait for, be it here or gone.
func TestTheDecksOwnCommandIsNoAgent(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "m", tools: []string{"t"}}}})
	a := h.Connect(snapshot.Caller{Transport: snapshot.ByCommand, PID: 7}, nil)
	callTool(h, a, "t", `{}`)
	settled(h, 1)
	if s := h.Snapshot(); len(s.Agents) != 0 || s.Total != 1 {
		t.Errorf("%d agents and %d calls, want none and one", len(s.Agents), s.Total)
	}
	a.Close()
	if s := h.Snapshot(); len(s.Agents) != 0 {
		t.Errorf("gone agents: %+v", s.Agents)
	}
}

func TestFoldersThatNoProjectLivesIn(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(home, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	tests := []struct{ name, deck, hello, announced, want string }{
		{"the relay's folder", "/deck", project, "", project},
		{"the client's, when the relay names none", "/deck", "", project, project},
		{"the deck's, when nobody names one", "/deck", "", "", "/deck"},
		{"the relay runs in the root", "/deck", "/", "", ""},
		{"the relay runs in the home", "/deck", home + "/", "", ""},
		{"the home by another name", "/deck", link, "", ""},
		{"a relative folder", "/deck", "x", "", ""},
		{"the client announces the home", "/deck", "", home, ""},
		{"the client announces the root", "/deck", "", "/", ""},
		{"the relay runs in the home, the client announces a project", "/deck", home, project, project},
		{"the relay runs in a project, the client announces the home", "/deck", project, home, project},
		{"the deck runs in the home", home, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := started(t, Options{Root: tt.deck, Roots: roots.New(roots.Options{Homes: []string{home}}), Servers: []backend.Server{&module{name: "m"}}})
			a := h.Connect(snapshot.Caller{Transport: "unix", Root: tt.hello}, nil)
			own := a.HasRoot()
			if own != (tt.hello == project) {
				t.Errorf("the connection's own root: %v", own)
			}
			if took := a.SetRoot(tt.announced); took != (tt.announced == project) {
				t.Errorf("the announced root was taken: %v", took)
			}
			if c := a.Caller(); c.Root != tt.want || (c.Refused != nil) != (tt.want == "") {
				t.Errorf("root %q, refused %v; want %q", c.Root, c.Refused, tt.want)
			}
		})
	}
}

func TestWaitForUser(t *testing.T) {
	waiting, answer := make(chan struct{}), make(chan struct{})
	m := &module{name: "m", tools: []string{"t"}, handler: func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		done := backend.CallFrom(ctx).WaitForUser()
		close(waiting)
		<-answer
		done()
		done()
		return mcp.NewToolResultText("answered"), nil
	}}
	h := started(t, Options{Servers: []backend.Server{m}})
	a := h.Connect(snapshot.Caller{}, nil)
	over := make(chan struct{})
	go func() { defer close(over); callTool(h, a, "t", `{}`) }()
	<-waiting
	shows := func(want bool) bool { // the log tells the screen in its own time
		return testwait.Holds(func() bool { return h.Snapshot().Agents[0].Waiting == want })
	}
	if !shows(true) {
		t.Error("the agent must be shown as waiting")
	}
	close(answer)
	<-over
	if !shows(false) {
		t.Error("the agent waits no more")
	}
}

func TestHostThatClosesTakesNoMoreCalls(t *testing.T) {
	h := started(t, Options{Servers: []backend.Server{&module{name: "m", tools: []string{"t"}}}})
	a := h.Connect(snapshot.Caller{}, nil)
	if err := h.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	b, _ := json.Marshal(callTool(h, a, "t", `{}`))
	if !strings.Contains(string(b), "shutting down") {
		t.Errorf("got %s", b)
	}
}

func TestWhatIsStillTheMatterIsNotSaidAgain(t *testing.T) {
	h := started(t, Options{})
	h.SetWarnings("config", false, "a", "b\x1b[2J", "a")
	h.Warn("http", "the port is taken")
	before := h.Snapshot()
	h.SetWarnings("config", false, "b\x1b[2J", "c")
	after := h.Snapshot()
	var texts []string
	for _, w := range after.Warnings {
		texts = append(texts, w.Text)
	}
	if !slices.Equal(texts, []string{"b", "the port is taken", "c"}) {
		t.Errorf("warnings %q", texts)
	}
	if fresh := after.WarningsAfter(before.Warnings[len(before.Warnings)-1].ID); len(fresh) != 1 || fresh[0].Text != "c" {
		t.Errorf("new are %+v, want c alone", fresh)
	}
	h.SetWarnings("config", true, "c")
	if w := h.Snapshot().Pinned(); w == nil || w.Text != "c" {
		t.Errorf("pinned is %+v", w)
	}
	h.SetWarnings("config", false)
	if last := h.Snapshot(); last.Pinned() != nil || len(last.Warnings) != 1 || len(last.WarningsAfter(after.Warnings[2].ID)) != 0 {
		t.Errorf("after all is mended: %+v", last.Warnings)
	}
}

func TestSubscribe(t *testing.T) {
	h := started(t, Options{})
	hint, cancel := h.Subscribe()
	before := h.Snapshot()
	h.Warn("test", "look\x1b[2J here")
	h.Warn("test", "again")
	<-hint
	select {
	case <-hint:
		t.Error("two changes are one hint")
	default:
	}
	after := h.Snapshot()
	if after.Version == before.Version || len(before.Warnings) != 0 || after.Warnings[0].Text != "look here" {
		t.Errorf("snapshots %+v and %+v", before, after)
	}
	if h.Snapshot() != after {
		t.Error("an unchanged deck must give the same snapshot")
	}
	cancel()
	h.Warn("test", "once more")
	select {
	case <-hint:
		t.Error("a hint after the end")
	default:
	}
}

func BenchmarkSnapshot(b *testing.B) {
	h, err := New(Options{Servers: []backend.Server{&module{name: "m", tools: []string{"t"}}}})
	if err != nil {
		b.Fatal(err)
	}
	a := h.Connect(snapshot.Caller{}, nil)
	for range 10_000 {
		h.calls.Begin(&a.figures, a.Caller(), calllog.Request{Server: "m"}).End(snapshot.OK, nil, "")
	}
	h.calls.Stop() // takes all in
	b.ReportAllocs()
	for b.Loop() {
		h.changed()
		h.Snapshot()
	}
}
