package logicstamp

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/host"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/docs"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/search"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

var (
	_ host.Module = (*Module)(nil)
	_ host.Leaver = (*Module)(nil)
)

// Module offers a Service over MCP.
type Module struct {
	s *Service

	mu    sync.Mutex
	scope host.Scope
}

// NewModule makes the module of a service, which it closes when it stops.
func NewModule(s *Service) *Module {
	m := &Module{s: s}
	s.OnResult(m.told)
	s.installed = func() { m.Look(context.Background()) }
	return m
}

// Service is the domain behind the module.
func (m *Module) Service() *Service { return m.s }

// Identity implements host.Module.
func (m *Module) Identity() host.Identity {
	return host.Identity{Name: "logicstamp", Title: "LogicStamp", ServerName: "logicstamp-context"}
}

// Start implements host.Module. That the stamp command is missing is told as
// a degraded state: most tools work without it.
func (m *Module) Start(ctx context.Context, scope host.Scope) error {
	m.mu.Lock()
	m.scope = scope
	m.mu.Unlock()
	scope.SetState(deck.State{Status: deck.Ready})
	safe.Go("look for stamp", func() { m.look(ctx, scope) })
	return nil
}

func (m *Module) look(ctx context.Context, scope host.Scope) {
	_, version, err := m.s.CLI(ctx)
	if err != nil {
		// What helps comes first: a narrow screen shows the beginning.
		p := problem.Of(err)
		scope.SetState(deck.State{Status: deck.Degraded, Reason: p.Next + "; " + p.Text})
		return
	}
	scope.SetState(deck.State{Status: deck.Ready, Detail: "stamp " + version})
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
	scope.ResourceUpdated(DriftURI(r.ProjectPath))
	scope.Tell()
	if monitored {
		scope.Log(mcp.LoggingLevelInfo, driftMessage(r), func(who deck.Caller) bool {
			return m.s.allowed(callFrom(who), r.ProjectPath)
		})
	}
}

// driftMessage is what a log says of a result: counts and what breaks.
func driftMessage(r *compare.Result) map[string]any {
	const most = 20
	out := map[string]any{
		"event": "drift", "projectPath": r.ProjectPath, "baseline": r.Baseline, "status": r.Status, "resource": DriftURI(r.ProjectPath),
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

// Stop implements host.Module.
func (m *Module) Stop(ctx context.Context) error {
	done := make(chan struct{})
	safe.Go("close logicstamp", func() {
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

// AgentGone implements host.Leaver: monitors end with those who started them.
func (m *Module) AgentGone(agent string) { m.s.ClientGone(agent) }

const instructions = "Before editing TypeScript or React components call logicstamp_refresh_snapshot, after it logicstamp_compare_snapshot: " +
	"it tells which contracts changed and what breaks. logicstamp_read_logicstamp_docs explains bundles, depth and results."

// Offer implements host.Module.
func (m *Module) Offer() host.Offer {
	offer := host.Offer{Instructions: instructions, Templates: m.templates()}
	run := m.runners()
	for _, t := range definitions(m.s.opts.MaxTokens) {
		offer.Tools = append(offer.Tools, host.Tool{Tool: t.tool(), Handler: m.handler(t, run[t.name]), Work: t.work})
	}
	return offer
}

func (t definition) tool() mcp.Tool {
	properties := map[string]any{}
	required := []string{}
	for _, a := range t.args {
		properties[a.name] = a.schema()
		if a.required {
			required = append(required, a.name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(required) > 0 {
		schema["required"] = required
	}
	raw, err := json.Marshal(schema)
	if err != nil {
		raw = []byte(`{"type":"object"}`)
	}
	out := mcp.NewToolWithRawSchema(t.name, t.text, raw)
	out.Title = t.title
	out.Annotations = mcp.ToolAnnotation{
		Title: t.title, ReadOnlyHint: mcp.ToBoolPtr(!t.writes), DestructiveHint: mcp.ToBoolPtr(false),
		IdempotentHint: mcp.ToBoolPtr(!t.changesState), OpenWorldHint: mcp.ToBoolPtr(false),
	}
	return out
}

func (m *Module) handler(t definition, run runner) server.ToolHandlerFunc {
	return func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		v, err := check(t.args, req.Params.Arguments)
		if err != nil {
			return failure(err), nil
		}
		call, done := callOf(ctx, req)
		out, err := run(ctx, call, v)
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
}

func failure(err error) *mcp.CallToolResult { return mcp.NewToolResultError(problem.Of(err).Error()) }

func callFrom(who deck.Caller) Call {
	return Call{Root: who.Root, Refused: who.Refused, Hint: who.Hints["PROJECT_PATH"], Client: who.Agent, Identity: who.Identity, Name: cmp.Or(who.Client, who.Program)}
}

// callOf says who calls, and keeps a client that asked for progress informed
// until done.
func callOf(ctx context.Context, req mcp.CallToolRequest) (call Call, done func()) {
	who := host.CallerFrom(ctx)
	call = callFrom(who)
	call.Pause = func() func(context.Context) error { return host.Pause(ctx) }
	if req.Params.Meta == nil || req.Params.Meta.ProgressToken == nil {
		return call, func() {}
	}
	p := &progress{ctx: ctx, token: req.Params.Meta.ProgressToken, start: time.Now(), stop: make(chan struct{})}
	call.Progress = p.stage
	return call, p.end
}

// progress tells a client each stage, and every two seconds that work goes on.
type progress struct {
	ctx   context.Context
	token any
	start time.Time
	stop  chan struct{}

	mu    sync.Mutex
	name  string
	total float64
	once  sync.Once
	over  bool
	last  float64
}

func (p *progress) stage(name string, expected time.Duration) {
	p.mu.Lock()
	p.name = name
	if expected > 0 {
		p.total = 1.1 * expected.Seconds()
	}
	p.mu.Unlock()
	p.send()
	p.once.Do(func() {
		safe.Go("logicstamp progress", func() {
			tick := time.NewTicker(2 * time.Second)
			defer tick.Stop()
			for {
				select {
				case <-p.stop:
					return
				case <-p.ctx.Done():
					return
				case <-tick.C:
					p.send()
				}
			}
		})
	})
}

func (p *progress) send() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	now := time.Since(p.start).Seconds()
	if now <= p.last {
		now = p.last + 0.001
	}
	p.last = now
	params := map[string]any{"progressToken": p.token, "progress": now, "message": p.name}
	if p.total > now {
		params["total"] = p.total
	}
	_ = host.Notify(p.ctx, "notifications/progress", params)
}

func (p *progress) end() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	close(p.stop)
}

type runner func(ctx context.Context, call Call, v values) (any, error)

func (m *Module) runners() map[string]runner {
	return map[string]runner{
		toolRefresh: m.refresh, toolList: m.list, toolRead: m.read, toolCompare: m.compare, toolModes: m.modes,
		toolDocs: m.docs, toolWatch: m.watchStatus, toolLast: m.last, toolSearch: m.search, toolMonitor: m.monitor,
	}
}

func (m *Module) refresh(ctx context.Context, call Call, v values) (any, error) {
	return m.s.Refresh(ctx, call, RefreshArgs{
		Project: v.text("projectPath"), AnalysisArgs: v.analysis(), CleanCache: v.flag("cleanCache"), Force: v.flag("force"),
		SkipIfWatchActive: v.flagPtr("skipIfWatchActive"), Publish: v.flagPtr("publish"),
	})
}

func (m *Module) list(ctx context.Context, call Call, v values) (any, error) {
	return m.s.List(ctx, call, ListArgs{
		SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"), FolderPrefix: v.text("folderPrefix"),
		Cursor: v.text("cursor"), MaxTokens: v.number("maxTokens"),
	})
}

func (m *Module) read(ctx context.Context, call Call, v values) (any, error) {
	return m.s.Read(ctx, call, ReadArgs{
		BundlePath: v.text("bundlePath"), SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"),
		RootComponent: v.text("rootComponent"), Cursor: v.text("cursor"), MaxTokens: v.number("maxTokens"),
	})
}

func (m *Module) compare(ctx context.Context, call Call, v values) (any, error) {
	args := CompareArgs{
		Project: v.text("projectPath"), Baseline: v.text("baseline"), AnalysisArgs: v.analysis(),
		ForceRegenerate: v.flagPtr("forceRegenerate"), Publish: v.flagPtr("publish"),
		IncludeUnchanged: v.flag("includeUnchanged"), CleanCache: v.flag("cleanCache"),
	}
	key := argsKey(args.Project, args.Baseline, args.IncludeUnchanged)
	var result *compare.Result
	if v.text("cursor") == "" {
		var err error
		if result, err = m.s.Compare(ctx, call, args); err != nil {
			return nil, err
		}
	}
	return m.s.comparePage(result, call, "compare", key, v.text("cursor"), v.number("maxTokens"))
}

func (m *Module) last(_ context.Context, call Call, v values) (any, error) {
	key := argsKey(v.text("since"), v.text("projectPath"))
	var result *compare.Result
	if v.text("cursor") == "" {
		r, why, at, err := m.s.LastResult(call, LastArgs{Since: v.text("since"), Project: v.text("projectPath")})
		if err != nil {
			return nil, err
		}
		if r == nil {
			out := map[string]any{"found": false, "reason": why}
			if !at.IsZero() {
				out["lastComparedAt"] = at
			}
			return out, nil
		}
		result = r
	}
	page, err := m.s.comparePage(result, call, "last", key, v.text("cursor"), v.number("maxTokens"))
	if err != nil {
		return nil, err
	}
	return struct {
		Found bool `json:"found"`
		*compare.Result
	}{true, page}, nil
}

func (m *Module) modes(ctx context.Context, call Call, v values) (any, error) {
	return m.s.Modes(ctx, call, ModesArgs{Project: v.text("projectPath"), CleanCache: v.flag("cleanCache")})
}

func (m *Module) watchStatus(ctx context.Context, call Call, v values) (any, error) {
	return m.s.WatchStatus(ctx, call, WatchArgs{
		Project: v.text("projectPath"), IncludeRecentLogs: v.flag("includeRecentLogs"), LogLimit: v.number("logLimit"),
	})
}

func (m *Module) search(ctx context.Context, call Call, v values) (any, error) {
	return m.s.Search(ctx, call, SearchArgs{
		Query: search.Query{
			Text: v.text("query"), Kind: v.list("kind"), HasProp: v.list("hasProp"), UsesHook: v.list("usesHook"),
			UsesComponent: v.list("usesComponent"), Imports: v.list("imports"), Exports: v.list("exports"),
			FolderPrefix: v.text("folderPrefix"), Role: v.text("role"),
		},
		SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"), Cursor: v.text("cursor"),
		Limit: v.number("limit"), MaxTokens: v.number("maxTokens"),
	})
}

func (m *Module) monitor(ctx context.Context, call Call, v values) (any, error) {
	return m.s.Monitor(ctx, call, MonitorArgs{
		Action: v.text("action"), Project: v.text("projectPath"), Baseline: v.text("baseline"), MinIntervalMs: v.number("minIntervalMs"),
	})
}

func (m *Module) docs(_ context.Context, _ Call, v values) (any, error) {
	out := map[string]any{
		"type": "LogicStampDocs", "version": "1",
		"summary": map[string]any{
			"purpose":     "Contracts of TypeScript and React components: what each promises, and what an edit changed.",
			"howToUse":    []string{"refresh before an edit", "list, read or search to look around", "compare after the edit"},
			"keyConcepts": []string{"contract", "root", "bundle", "depth", "snapshot", "baseline", "coverage"},
		},
	}
	topics := docs.Topics()
	if one := v.text("topic"); one != "" {
		topics = []string{one}
	}
	for _, topic := range topics {
		text, err := docs.Read(topic)
		if err != nil {
			return nil, err
		}
		out[topic] = text
	}
	return out, nil
}

// templates are the resources: files of snapshots, and the newest comparison of
// a project.
func (m *Module) templates() []server.ServerResourceTemplate {
	return []server.ServerResourceTemplate{
		{
			Template: mcp.NewResourceTemplate("logicstamp://snapshot/{id}/{+path}", "Snapshot file",
				mcp.WithTemplateDescription("The index (path index) or a folder file of a snapshot"), mcp.WithTemplateMIMEType("application/json")),
			Handler: m.readSnapshotFile,
		},
		{
			Template: mcp.NewResourceTemplate("logicstamp://drift/{projectHash}", "Drift",
				mcp.WithTemplateDescription("The newest comparison of a project; subscribe to hear of new ones"), mcp.WithTemplateMIMEType("application/json")),
			Handler: m.readDrift,
		},
	}
}

func jsonResource(uri string, v any) ([]mcp.ResourceContents, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return []mcp.ResourceContents{mcp.TextResourceContents{URI: uri, MIMEType: "application/json", Text: string(text)}}, nil
}

func (m *Module) readSnapshotFile(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := host.CallerFrom(ctx)
	id, path, _ := strings.Cut(strings.TrimPrefix(req.Params.URI, "logicstamp://snapshot/"), "/")
	if path == "index" {
		path = "context_main.json"
	}
	out, err := m.s.Read(ctx, callFrom(who), ReadArgs{SnapshotID: id, BundlePath: path})
	if err != nil {
		return nil, err
	}
	return jsonResource(req.Params.URI, out)
}

func (m *Module) readDrift(ctx context.Context, req mcp.ReadResourceRequest) ([]mcp.ResourceContents, error) {
	who := host.CallerFrom(ctx)
	call := callFrom(who)
	r := m.s.results.last("", func(p string) bool { return DriftURI(p) == req.Params.URI && m.s.allowed(call, p) })
	if r == nil {
		return nil, problem.New(problem.NoSnapshot, "call logicstamp_compare_snapshot", "nothing has been compared for this resource yet")
	}
	return jsonResource(req.Params.URI, m.s.pageResult(r, cursor{Tool: "drift"}, 0))
}
