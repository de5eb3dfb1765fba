package mcpserver

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/search"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
)

func (m *Module) refresh(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return m.s.Refresh(ctx, call, logicstamp.RefreshArgs{
		Project: v.String("projectPath"), AnalysisArgs: analysis(v), CleanCache: v.Bool("cleanCache"), Force: v.Bool("force"),
		SkipIfWatchActive: arguments.Given[bool](v, "skipIfWatchActive"), Publish: arguments.Given[bool](v, "publish"),
	})
}

func (m *Module) list(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.ListArgs{SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), FolderPrefix: v.String("folderPrefix")}
	cur, err := m.pager.open(v.String("cursor"), "list", argsKey(args.SnapshotID, args.Project, args.FolderPrefix))
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
	page, next := fit(all, cur.At, m.pager.budget(v.Int("maxTokens"))-sizeOf(out)-cursorRoom)
	list.Bundles = append(list.Bundles, page...)
	if next < len(all) {
		cur.At, cur.Source = next, list.Stamp
		out.more = m.pager.goesOn(cur)
	}
	return out, nil
}

func (m *Module) read(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.ReadArgs{
		BundlePath: v.String("bundlePath"), SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), RootComponent: v.String("rootComponent"),
	}
	cur, err := m.pager.open(v.String("cursor"), "read", argsKey(args.SnapshotID, args.Project, args.BundlePath, args.RootComponent))
	if err != nil {
		return nil, err
	}
	return m.readFile(ctx, call, args, cur, v.Int("maxTokens"))
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

func (m *Module) compare(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.CompareArgs{
		Project: v.String("projectPath"), Baseline: v.String("baseline"), AnalysisArgs: analysis(v),
		ForceRegenerate: arguments.Given[bool](v, "forceRegenerate"), Publish: arguments.Given[bool](v, "publish"),
		IncludeUnchanged: v.Bool("includeUnchanged"), CleanCache: v.Bool("cleanCache"),
	}
	key := argsKey(args.Project, args.Baseline, args.IncludeUnchanged)
	var result *compare.Result
	if v.String("cursor") == "" {
		var err error
		if result, err = m.s.Compare(ctx, call, args); err != nil {
			return nil, err
		}
	}
	return m.comparePage(result, call, "compare", key, v.String("cursor"), v.Int("maxTokens"))
}

func (m *Module) last(_ context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	key := argsKey(v.String("since"), v.String("projectPath"))
	var result *compare.Result
	if v.String("cursor") == "" {
		r, why, at, err := m.s.LastResult(call, logicstamp.LastArgs{Since: v.String("since"), Project: v.String("projectPath")})
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
	page, err := m.comparePage(result, call, "last", key, v.String("cursor"), v.Int("maxTokens"))
	if err != nil {
		return nil, err
	}
	return struct {
		Found bool `json:"found"`
		*compare.Result
	}{true, page}, nil
}

func (m *Module) modes(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return m.s.Modes(ctx, call, logicstamp.ModesArgs{Project: v.String("projectPath"), CleanCache: v.Bool("cleanCache")})
}

func (m *Module) watchStatus(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return m.s.WatchStatus(ctx, call, logicstamp.WatchArgs{
		Project: v.String("projectPath"), IncludeRecentLogs: v.Bool("includeRecentLogs"), LogLimit: v.Int("logLimit"),
	})
}

func (m *Module) search(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.SearchArgs{
		Query: search.Query{
			Text: v.String("query"), Kind: v.Strings("kind"), HasProp: v.Strings("hasProp"), UsesHook: v.Strings("usesHook"),
			UsesComponent: v.Strings("usesComponent"), Imports: v.Strings("imports"), Exports: v.Strings("exports"),
			FolderPrefix: v.String("folderPrefix"), Role: v.String("role"),
		},
		SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), Limit: v.Int("limit"),
	}
	cur, err := m.pager.open(v.String("cursor"), "search", argsKey(args.Query, args.Project, args.Limit))
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
	page, next := fit(hits, 0, m.pager.budget(v.Int("maxTokens"))-sizeOf(out)-cursorRoom)
	found.Hits = append(found.Hits, page...)
	if cur.At += next; cur.At < found.Total {
		cur.Source = found.Stamp
		out.more = m.pager.goesOn(cur)
	}
	return out, nil
}

func (m *Module) monitor(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return m.s.Monitor(ctx, call, logicstamp.MonitorArgs{
		Action: v.String("action"), Project: v.String("projectPath"), Baseline: v.String("baseline"), MinIntervalMs: v.Int("minIntervalMs"),
	})
}

func (m *Module) docs(_ context.Context, _ logicstamp.Call, v arguments.Values) (any, error) {
	out := map[string]any{
		"type": "LogicStampDocs", "version": "1",
		"summary": map[string]any{
			"purpose":     "Contracts of TypeScript and React components: what each promises, and what an edit changed.",
			"howToUse":    []string{"refresh before an edit", "list, read or search to look around", "compare after the edit"},
			"keyConcepts": []string{"contract", "root", "bundle", "depth", "snapshot", "baseline", "coverage"},
		},
	}
	list := topics()
	if one := v.String("topic"); one != "" {
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
