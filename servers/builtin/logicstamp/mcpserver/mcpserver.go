// Package mcpserver offers the logicstamp service over MCP: its tools, resources,
// arguments and the pages of its answers.
package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/backend"
	"github.com/mcpdeck/mcpdeck/servers/backend/inproc"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// handlers are those of a service.
type handlers struct {
	s     *logicstamp.Service
	pager pager
	srv   *server.MCPServer

	mu     sync.Mutex                       // guards what follows
	events backend.Events                   // of the deck; nil: there is none
	state  snapshot.State                   // that it shows
	logs   map[string]backend.Subscriptions // of its sessions
}

// New makes the server of a service.
func New(s *logicstamp.Service, version string, opts ...server.ServerOption) *server.MCPServer {
	return newHandlers(s).build(version, opts)
}

// InDeck is the server of a service in the deck, which closes the service when it stops.
func InDeck(s *logicstamp.Service, version string) *inproc.Server {
	h := newHandlers(s)
	load := map[string]admission.Class{}
	for _, t := range h.tools() {
		load[t.name] = t.work
	}
	return inproc.New(inproc.Options{
		Info:       backend.Info{Name: "logicstamp", Title: "LogicStamp", ServerName: "logicstamp-context"},
		Policy:     func(tool string) backend.Policy { return backend.Policy{Load: load[tool]} },
		Start:      h.start,
		Stop:       h.stop,
		Subscribed: h.subscribed,
		Ended:      h.ended,
	}, func(opts ...server.ServerOption) *server.MCPServer { return h.build(version, opts) })
}

func newHandlers(s *logicstamp.Service) *handlers {
	return &handlers{s: s, pager: newPager(s.Limits()), logs: map[string]backend.Subscriptions{}}
}

func (h *handlers) build(version string, opts []server.ServerOption) *server.MCPServer {
	h.srv = server.NewMCPServer("logicstamp-context", version, append(opts,
		server.WithToolCapabilities(false), server.WithResourceCapabilities(true, false), server.WithCompletions(), server.WithInstructions(instructions))...)
	for _, t := range h.tools() {
		h.srv.AddTool(t.tool(), t.handle)
	}
	h.addResources()
	h.s.OnResult(h.told)
	h.s.OnInstalled(func() { h.look(context.Background()) })
	return h.srv
}

// start tells that the stamp command is missing as a degraded state: most tools work without it.
func (h *handlers) start(ctx context.Context, e backend.Events) error {
	h.mu.Lock()
	h.events = e
	h.mu.Unlock()
	h.show(snapshot.State{Status: snapshot.Ready})
	recovery.Go("look for stamp", func() { h.look(ctx) })
	return nil
}

// show has the deck show a state, and whatever else is new.
func (h *handlers) show(s snapshot.State) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state = s; h.events != nil {
		h.events.SetState(s)
	}
}

// look looks for the stamp command.
func (h *handlers) look(ctx context.Context) {
	_, version, err := h.s.CLI(ctx)
	if err != nil {
		// What helps comes first: a narrow screen shows the beginning.
		p := problem.Of(err)
		state := snapshot.State{Status: snapshot.Degraded, Reason: p.Next + "; " + p.Text}
		if p.Code == problem.CLINotFound {
			state.Lacks = "stamp not installed"
		}
		h.show(state)
		return
	}
	h.show(snapshot.State{Status: snapshot.Ready, Detail: "stamp " + version})
}

// subscribed notes who wants logs.
func (h *handlers) subscribed(session string, s backend.Subscriptions) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.logs[session] = s
}

// ended forgets a session. Monitors end with those who started them.
func (h *handlers) ended(session string) {
	h.mu.Lock()
	delete(h.logs, session)
	h.mu.Unlock()
	h.s.ClientGone(session)
}

// told passes a result on to those who subscribed to its project's drift, and
// one that a monitor found to the logs of those who may read the project.
func (h *handlers) told(r *compare.Result, monitored bool) {
	h.srv.SendNotificationToAllClients(mcp.MethodNotificationResourceUpdated, map[string]any{"uri": logicstamp.DriftURI(r.ProjectPath)})
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.events == nil {
		return
	}
	h.events.SetState(h.state) // the result is new
	if !monitored {
		return
	}
	message, err := rpc.Raw(map[string]any{"level": "info", "logger": "logicstamp", "data": driftMessage(r)})
	if err != nil {
		return
	}
	for session, w := range h.logs {
		if w.Level != "" && h.s.May(logicstamp.Call{Root: w.Root, Client: session}, r.ProjectPath) {
			h.events.Notify(session, "notifications/message", message)
		}
	}
}

// driftMessage is what a log says of a result: counts and what breaks.
func driftMessage(r *compare.Result) map[string]any {
	const most = 20
	out := map[string]any{
		"event": "drift", "projectPath": r.ProjectPath, "baseline": r.Baseline, "status": r.Status, "resource": logicstamp.DriftURI(r.ProjectPath),
	}
	if r.Status == compare.Failed {
		out["errorCode"], out["error"] = r.ErrorCode, r.Error
		return out
	}
	breaking := []string{}
	for _, c := range r.ContractChanges {
		for _, b := range c.Breaking {
			if b.Severity == compare.Error && len(breaking) < most {
				breaking = append(breaking, c.EntryID+": "+b.Message)
			}
		}
	}
	out["contracts"], out["breaking"], out["breakingErrors"] = r.Summary.Contracts, r.Summary.Breaking, breaking
	out["folders"] = map[string]int{"added": r.Summary.AddedFolders, "removed": r.Summary.RemovedFolders, "changed": r.Summary.ChangedFolders}
	if r.Coverage != nil {
		out["uncovered"] = len(r.Coverage.Uncovered)
	}
	return out
}

func (h *handlers) stop(ctx context.Context) error {
	done := make(chan struct{})
	recovery.Go("close logicstamp", func() {
		defer close(done)
		h.s.Close()
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

const instructions = "Call logicstamp_refresh_snapshot before editing TypeScript or React components, and logicstamp_compare_snapshot afterwards: " +
	"it reports which contracts changed and what breaks. logicstamp_read_logicstamp_docs explains bundles, depth and results."

func (t definition) tool() mcp.Tool {
	out := mcp.NewToolWithRawSchema(t.name, t.text, t.takes.Schema(arguments.Style{}))
	out.Title = t.title
	out.Annotations = mcp.ToolAnnotation{
		Title: t.title, ReadOnlyHint: mcp.ToBoolPtr(!t.writes), DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint: mcp.ToBoolPtr(!t.changesState), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return out
}

func (t definition) handle(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	v, err := t.takes.Read(req.Params.Arguments, wrong)
	if err != nil {
		return failure(err), nil
	}
	call, done := callOf(ctx, req)
	out, err := t.run(ctx, call, v)
	done()
	if err != nil {
		return failure(err), nil
	}
	text, err := json.Marshal(out)
	if err != nil {
		return failure(err), nil
	}
	result := mcp.NewToolResultStructured(json.RawMessage(text), string(text))
	if r, ok := out.(*compare.Result); ok && r.Status == compare.Failed {
		result.IsError = true
	}
	return result, nil
}

func failure(err error) *mcp.CallToolResult { return mcp.NewToolResultError(problem.Of(err).Error()) }

func callFrom(who snapshot.Caller) logicstamp.Call {
	return logicstamp.Call{Root: who.Root, Refused: who.Refused, Hint: who.Hints["PROJECT_PATH"], Client: who.Agent, Identity: who.Identity, Name: cmp.Or(who.Client, who.Program)}
}

// callOf says who calls, and keeps a client that asked for progress informed
// until done.
func callOf(ctx context.Context, req mcp.CallToolRequest) (call logicstamp.Call, done func()) {
	who := backend.CallFrom(ctx).Caller
	call = callFrom(who)
	call.Pause = backend.CallFrom(ctx).Yield
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return call, func() {}
	}
	p := &progress{ctx: ctx, token: req.Params.Meta.ProgressToken, start: time.Now(), stop: make(chan struct{})}
	call.Progress = p.stage
	return call, p.end
}
