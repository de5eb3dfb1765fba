package router

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// worker is a server whose tools wait for a word, each of another class.
type worker struct {
	*inproc.Server
	release       chan struct{}
	entered       chan string
	running, most atomic.Int32
}

func newWorker() *worker {
	w := &worker{release: make(chan struct{}), entered: make(chan string, 1000)}
	load := map[string]admission.Class{"draw": admission.Large, "question": admission.Waits}
	w.Server = inproc.New(inproc.Options{
		Info:   backend.Info{Name: "worker", ServerName: "worker"},
		Policy: func(tool string) backend.Policy { return backend.Policy{Load: load[tool]} },
	}, func(opts ...server.ServerOption) *server.MCPServer {
		srv := server.NewMCPServer("worker", "1", opts...)
		for _, name := range []string{"draw", "question", "look"} {
			srv.AddTool(mcp.NewToolWithRawSchema(name, name, json.RawMessage(`{"type":"object"}`)), func(ctx context.Context, _ mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				n := w.running.Add(1)
				for old := w.most.Load(); n > old && !w.most.CompareAndSwap(old, n); old = w.most.Load() {
				}
				defer w.running.Add(-1)
				w.entered <- name
				select {
				case <-w.release:
				case <-ctx.Done():
				}
				return mcp.NewToolResultText("done"), nil
			})
		}
		srv.AddPrompt(mcp.Prompt{Name: "look"}, func(context.Context, mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return mcp.NewGetPromptResult("looked", nil), nil
		})
		return srv
	})
	return w
}

// calling is an agent that calls tools of a view.
type calling struct {
	t     *testing.T
	view  *View
	agent *Agent
}

func (c *calling) do(ctx context.Context, method, name string) string {
	reply := say(ctx, c.agent, c.view, method, fmt.Sprintf(`{"name":%q}`, name))
	if reply.Error != nil {
		e := rpc.ReadError(reply.Error)
		return fmt.Sprint(e.Code, " ", e.Message)
	}
	return `{"result":` + string(reply.Result) + "}"
}

func workers(t *testing.T, limits admission.Limits, names ...string) (*worker, *Host, []*calling) {
	t.Helper()
	w := newWorker()
	h, err := New(Options{Servers: []backend.Server{w}, Limits: limits})
	if err != nil {
		t.Fatal(err)
	}
	h.Start()
	t.Cleanup(func() { _ = h.Stop(context.Background()) })
	v, err := h.View(ViewSpec{})
	if err != nil {
		t.Fatal(err)
	}
	var out []*calling
	for _, name := range names {
		out = append(out, &calling{t, v, h.Connect(snapshot.Caller{Client: name, Transport: "unix"}, nil)})
	}
	return w, h, out
}

// loaded waits until so many calls run and wait.
func loaded(t *testing.T, h *Host, running, waiting int) {
	t.Helper()
	testwait.Until(t, fmt.Sprintf("%d run and %d wait", running, waiting), func() bool {
		r, q := h.admission.Load()
		return r == running && q == waiting
	})
}

func TestWorkIsBoundedHoweverManyCallIt(t *testing.T) {
	w, h, agents := workers(t, admission.Limits{Slots: 3, AgentQueue: 4}, "one", "two")
	answers := make(chan string, 300)
	ctx, leave := context.WithCancel(t.Context())
	patient, giveUp := context.WithCancel(t.Context())
	for range 2 { // one agent gets two of three places
		go func() { answers <- agents[0].do(ctx, "tools/call", "draw") }()
	}
	loaded(t, h, 2, 0)
	for range 58 {
		go func() { answers <- agents[0].do(patient, "tools/call", "draw") }()
	}
	busy := 0
	for range 58 - 4 { // four wait
		if a := <-answers; strings.Contains(a, `"isError":true`) && strings.Contains(a, "retry in about") {
			busy++
		}
	}
	loaded(t, h, 2, 4)
	if busy != 54 || w.running.Load() != 2 {
		t.Errorf("%d were told that mcpdeck is busy, %d run", busy, w.running.Load())
	}
	go func() { answers <- agents[1].do(t.Context(), "tools/call", "draw") }() // another is not kept out
	loaded(t, h, 3, 4)
	for range 40 { // those that wait for the user take no place
		go func() { answers <- agents[0].do(ctx, "tools/call", "question") }()
	}
	testwait.Until(t, "they run", func() bool { return w.running.Load() == 43 })
	giveUp() // what waits never begins
	loaded(t, h, 3, 0)
	leave() // what runs ends
	for range 2 + 4 + 40 {
		<-answers
	}
	loaded(t, h, 1, 0)
	close(w.release)
	<-answers
	loaded(t, h, 0, 0)
	draws := 0
	for len(w.entered) > 0 {
		if <-w.entered == "draw" {
			draws++
		}
	}
	if draws != 3 {
		t.Errorf("%d calls of 61 were begun", draws)
	}
	h.calls.Stop() // takes all in
	calls, _ := h.Calls(0)
	if len(calls) != 101 {
		t.Errorf("%d calls are in the log", len(calls))
	}
}

func TestPromptsAndResourcesWaitForTheirTurnToo(t *testing.T) {
	w, h, agents := workers(t, admission.Limits{Slots: 1, AgentQueue: 1}, "one")
	answers := make(chan string, 3)
	go func() { answers <- agents[0].do(t.Context(), "tools/call", "draw") }()
	loaded(t, h, 1, 0)
	go func() { answers <- agents[0].do(t.Context(), "prompts/get", "look") }()
	loaded(t, h, 1, 1)
	if a := agents[0].do(t.Context(), "prompts/get", "look"); !strings.HasPrefix(a, fmt.Sprint(rpc.CodeBusy)) {
		t.Errorf("got %s", a)
	}
	close(w.release)
	for range 2 {
		if a := <-answers; strings.Contains(a, "busy") || !strings.Contains(a, "result") {
			t.Errorf("got %s", a)
		}
	}
	loaded(t, h, 0, 0)
}

func TestAPanicFreesItsPlace(t *testing.T) {
	m := &module{name: "m", tools: []string{"t"}, handler: func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) { panic("boom") }}
	h := started(t, Options{Servers: []backend.Server{m}, Limits: admission.Limits{Slots: 1}})
	a := h.Connect(snapshot.Caller{}, nil)
	for range 3 {
		if reply := callTool(h, a, "t", "{}"); !strings.Contains(string(reply.Result), "Error: t: internal error") {
			t.Errorf("answered %s %s", reply.Result, reply.Error)
		}
	}
	loaded(t, h, 0, 0)
}

func TestTheUserCancelsARunningCall(t *testing.T) {
	w, h, agents := workers(t, admission.Limits{}, "one")
	answers := make(chan string, 1)
	go func() { answers <- agents[0].do(t.Context(), "tools/call", "question") }()
	<-w.entered
	if h.Cancel(1 << 40) {
		t.Error("a call that there is not was cancelled")
	}
	if !h.Cancel(1) {
		t.Fatal("the running call was not cancelled")
	}
	<-answers // the tool has seen that nobody waits
	if h.Cancel(1) {
		t.Error("a call that has ended was cancelled")
	}
}
