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

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/gateway/router"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

var (
	_ router.Module       = (*Module)(nil)
	_ router.SessionEnder = (*Module)(nil)
)

// Module offers a service over MCP.
type Module struct {
	s     *logicstamp.Service
	pager pager

	mu    sync.Mutex
	scope router.Scope
}

// New makes the module of a service, which it closes when it stops.
func New(s *logicstamp.Service) *Module {
	m := &Module{s: s, pager: newPager(s.Limits())}
	s.OnResult(m.told)
	s.OnInstalled(func() { m.Look(context.Background()) })
	return m
}

// Service is the domain behind the module.
func (m *Module) Service() *logicstamp.Service { return m.s }

// Identity implements router.Module.
func (m *Module) Identity() router.Identity {
	return router.Identity{Name: "logicstamp", Title: "LogicStamp", ServerName: "logicstamp-context"}
}

// Start implements router.Module. That the stamp command is missing is told as
// a degraded state: most tools work without it.
func (m *Module) Start(ctx context.Context, scope router.Scope) error {
	m.mu.Lock()
	m.scope = scope
	m.mu.Unlock()
	scope.SetState(snapshot.State{Status: snapshot.Ready})
	recovery.Go("look for stamp", func() { m.look(ctx, scope) })
	return nil
}

func (m *Module) look(ctx context.Context, scope router.Scope) {
	_, version, err := m.s.CLI(ctx)
	if err != nil {
		// What helps comes first: a narrow screen shows the beginning.
		p := problem.Of(err)
		state := snapshot.State{Status: snapshot.Degraded, Reason: p.Next + "; " + p.Text}
		if p.Code == problem.CLINotFound {
			state.Lacks = "stamp not found"
		}
		scope.SetState(state)
		return
	}
	scope.SetState(snapshot.State{Status: snapshot.Ready, Detail: "stamp " + version})
}

// Look looks for the stamp command again, after an install.
func (m *Module) Look(ctx context.Context) {
	m.mu.Lock()
	scope := m.scope
	m.mu.Unlock()
	if scope != nil {
		m.look(ctx, scope)
	}
}

// told passes a result on to those who subscribed to its project's drift, and
// one that a monitor found to the logs of those who may read the project.
func (m *Module) told(r *compare.Result, monitored bool) {
	m.mu.Lock()
	scope := m.scope
	m.mu.Unlock()
	if scope == nil {
		return
	}
	scope.ResourceUpdated(logicstamp.DriftURI(r.ProjectPath))
	scope.Tell()
	if monitored {
		scope.Log("info", driftMessage(r), func(who snapshot.Caller) bool {
			return m.s.May(callFrom(who), r.ProjectPath)
		})
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

// Stop implements router.Module.
func (m *Module) Stop(ctx context.Context) error {
	done := make(chan struct{})
	recovery.Go("close logicstamp", func() {
		defer close(done)
		m.s.Close()
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// AgentGone implements router.SessionEnder: monitors end with those who started them.
func (m *Module) AgentGone(agent string) { m.s.ClientGone(agent) }

const instructions = "Call logicstamp_refresh_snapshot before editing TypeScript or React components, and logicstamp_compare_snapshot afterwards: " +
	"it reports which contracts changed and what breaks. logicstamp_read_logicstamp_docs explains bundles, depth and results."

// Offer implements router.Module.
func (m *Module) Offer() router.Offer {
	offer := router.Offer{Instructions: instructions, Templates: m.templates()}
	for _, t := range m.tools() {
		offer.Tools = append(offer.Tools, router.Tool{Tool: t.tool(), Handler: t.handle, Work: t.work})
	}
	return offer
}

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
	who := router.CallerFrom(ctx)
	call = callFrom(who)
	call.Pause = func() func(context.Context) error { return router.Pause(ctx) }
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return call, func() {}
	}
	p := &progress{ctx: ctx, token: req.Params.Meta.ProgressToken, start: time.Now(), stop: make(chan struct{})}
	call.Progress = p.stage
	return call, p.end
}
