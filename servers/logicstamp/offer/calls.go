package offer

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/search"
)

func (m *Module) refresh(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	return m.s.Refresh(ctx, call, logicstamp.RefreshArgs{
		Project: v.text("projectPath"), AnalysisArgs: v.analysis(), CleanCache: v.flag("cleanCache"), Force: v.flag("force"),
		SkipIfWatchActive: given[bool](v, "skipIfWatchActive"), Publish: given[bool](v, "publish"),
	})
}

func (m *Module) list(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	args := logicstamp.ListArgs{SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"), FolderPrefix: v.text("folderPrefix")}
	cur, err := m.pager.open(v.text("cursor"), "list", argsKey(args.SnapshotID, args.Project, args.FolderPrefix))
	if err != nil {
		return nil, err
	}
	list, err := m.s.List(ctx, call, args)
	if err != nil {
		return nil, err
	}
	if err := cur.from(list.Stamp); err != nil {
		return nil, err
	}
	out := struct {
		*logicstamp.Listed
		more
	}{Listed: list}
	all := list.Bundles
	list.Bundles = []logicstamp.BundleInfo{}
	page, next := fit(all, cur.At, m.pager.budget(v.number("maxTokens"))-sizeOf(out)-cursorRoom)
	list.Bundles = append(list.Bundles, page...)
	if next < len(all) {
		cur.At, cur.Source = next, list.Stamp
		out.more = m.pager.goesOn(cur)
	}
	return out, nil
}

func (m *Module) read(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	args := logicstamp.ReadArgs{
		BundlePath: v.text("bundlePath"), SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"), RootComponent: v.text("rootComponent"),
	}
	cur, err := m.pager.open(v.text("cursor"), "read", argsKey(args.SnapshotID, args.Project, args.BundlePath, args.RootComponent))
	if err != nil {
		return nil, err
	}
	return m.readFile(ctx, call, args, cur, v.number("maxTokens"))
}

// readFile reads a page of a file.
func (m *Module) readFile(ctx context.Context, call logicstamp.Call, args logicstamp.ReadArgs, cur cursor, maxTokens int) (*readAnswer, error) {
	file, err := m.s.Read(ctx, call, args)
	if err != nil {
		return nil, err
	}
	if err := cur.from(file.Stamp); err != nil {
		return nil, err
	}
	cur.Source = file.Stamp
	out := &readAnswer{ReadFile: file}
	return out, m.pager.pageBundles(out, cur, m.pager.budget(maxTokens))
}

func (m *Module) compare(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	args := logicstamp.CompareArgs{
		Project: v.text("projectPath"), Baseline: v.text("baseline"), AnalysisArgs: v.analysis(),
		ForceRegenerate: given[bool](v, "forceRegenerate"), Publish: given[bool](v, "publish"),
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
	return m.comparePage(result, call, "compare", key, v.text("cursor"), v.number("maxTokens"))
}

func (m *Module) last(_ context.Context, call logicstamp.Call, v values) (any, error) {
	key := argsKey(v.text("since"), v.text("projectPath"))
	var result *compare.Result
	if v.text("cursor") == "" {
		r, why, at, err := m.s.LastResult(call, logicstamp.LastArgs{Since: v.text("since"), Project: v.text("projectPath")})
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
	page, err := m.comparePage(result, call, "last", key, v.text("cursor"), v.number("maxTokens"))
	if err != nil {
		return nil, err
	}
	return struct {
		Found bool `json:"found"`
		*compare.Result
	}{true, page}, nil
}

func (m *Module) modes(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	return m.s.Modes(ctx, call, logicstamp.ModesArgs{Project: v.text("projectPath"), CleanCache: v.flag("cleanCache")})
}

func (m *Module) watchStatus(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	return m.s.WatchStatus(ctx, call, logicstamp.WatchArgs{
		Project: v.text("projectPath"), IncludeRecentLogs: v.flag("includeRecentLogs"), LogLimit: v.number("logLimit"),
	})
}

func (m *Module) search(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	args := logicstamp.SearchArgs{
		Query: search.Query{
			Text: v.text("query"), Kind: v.list("kind"), HasProp: v.list("hasProp"), UsesHook: v.list("usesHook"),
			UsesComponent: v.list("usesComponent"), Imports: v.list("imports"), Exports: v.list("exports"),
			FolderPrefix: v.text("folderPrefix"), Role: v.text("role"),
		},
		SnapshotID: v.text("snapshotId"), Project: v.text("projectPath"), Limit: v.number("limit"),
	}
	cur, err := m.pager.open(v.text("cursor"), "search", argsKey(args.Query, args.Project, args.Limit))
	if err != nil {
		return nil, err
	}
	args.From = cur.At
	found, err := m.s.Search(ctx, call, args)
	if err != nil {
		return nil, err
	}
	if err := cur.from(found.Stamp); err != nil {
		return nil, err
	}
	out := struct {
		*logicstamp.Found
		more
	}{Found: found}
	hits := found.Hits
	found.Hits = []logicstamp.FoundContract{}
	page, next := fit(hits, 0, m.pager.budget(v.number("maxTokens"))-sizeOf(out)-cursorRoom)
	found.Hits = append(found.Hits, page...)
	if cur.At += next; cur.At < found.Total {
		cur.Source = found.Stamp
		out.more = m.pager.goesOn(cur)
	}
	return out, nil
}

func (m *Module) monitor(ctx context.Context, call logicstamp.Call, v values) (any, error) {
	return m.s.Monitor(ctx, call, logicstamp.MonitorArgs{
		Action: v.text("action"), Project: v.text("projectPath"), Baseline: v.text("baseline"), MinIntervalMs: v.number("minIntervalMs"),
	})
}

func (m *Module) docs(_ context.Context, _ logicstamp.Call, v values) (any, error) {
	out := map[string]any{
		"type": "LogicStampDocs", "version": "1",
		"summary": map[string]any{
			"purpose":     "Contracts of TypeScript and React components: what each promises, and what an edit changed.",
			"howToUse":    []string{"refresh before an edit", "list, read or search to look around", "compare after the edit"},
			"keyConcepts": []string{"contract", "root", "bundle", "depth", "snapshot", "baseline", "coverage"},
		},
	}
	list := topics()
	if one := v.text("topic"); one != "" {
		list = []string{one}
	}
	for _, topic := range list {
		text, err := readDoc(topic)
		if err != nil {
			return nil, err
		}
		out[topic] = text
	}
	return out, nil
}
