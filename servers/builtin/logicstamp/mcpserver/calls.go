package mcpserver

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/search"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
)

func (h *handlers) refresh(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return h.s.Refresh(ctx, call, logicstamp.RefreshArgs{
		Project: v.String("projectPath"), AnalysisArgs: analysis(v), CleanCache: v.Bool("cleanCache"), Force: v.Bool("force"),
		SkipIfWatchActive: arguments.Given[bool](v, "skipIfWatchActive"), Publish: arguments.Given[bool](v, "publish"),
	})
}

func (h *handlers) list(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.ListArgs{SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), FolderPrefix: v.String("folderPrefix")}
	cur, err := h.pager.open(v.String("cursor"), "list", argsKey(args.SnapshotID, args.Project, args.FolderPrefix))
	if err != nil {
		return nil, err
	}
	list, err := h.s.List(ctx, call, args)
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
	page, next := fit(all, cur.At, h.pager.budget(v.Int("maxTokens"))-sizeOf(out)-cursorRoom)
	list.Bundles = append(list.Bundles, page...)
	if next < len(all) {
		cur.At, cur.Source = next, list.Stamp
		out.more = h.pager.goesOn(cur)
	}
	return out, nil
}

func (h *handlers) read(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.ReadArgs{
		BundlePath: v.String("bundlePath"), SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), RootComponent: v.String("rootComponent"),
	}
	cur, err := h.pager.open(v.String("cursor"), "read", argsKey(args.SnapshotID, args.Project, args.BundlePath, args.RootComponent))
	if err != nil {
		return nil, err
	}
	return h.readFile(ctx, call, args, cur, v.Int("maxTokens"))
}

// readFile reads a page of a file.
func (h *handlers) readFile(ctx context.Context, call logicstamp.Call, args logicstamp.ReadArgs, cur cursor, maxTokens int) (*readAnswer, error) {
	file, err := h.s.Read(ctx, call, args)
	if err != nil {
		return nil, err
	}
	if err := cur.from(file.Stamp); err != nil {
		return nil, err
	}
	cur.Source = file.Stamp
	out := &readAnswer{ReadFile: file}
	return out, h.pager.pageBundles(out, cur, h.pager.budget(maxTokens))
}

func (h *handlers) compare(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.CompareArgs{
		Project: v.String("projectPath"), Baseline: v.String("baseline"), AnalysisArgs: analysis(v),
		ForceRegenerate: arguments.Given[bool](v, "forceRegenerate"), Publish: arguments.Given[bool](v, "publish"),
		IncludeUnchanged: v.Bool("includeUnchanged"), CleanCache: v.Bool("cleanCache"),
	}
	key := argsKey(args.Project, args.Baseline, args.IncludeUnchanged)
	var result *compare.Result
	if v.String("cursor") == "" {
		var err error
		if result, err = h.s.Compare(ctx, call, args); err != nil {
			return nil, err
		}
	}
	return h.comparePage(result, call, "compare", key, v.String("cursor"), v.Int("maxTokens"))
}

func (h *handlers) last(_ context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	key := argsKey(v.String("since"), v.String("projectPath"))
	var result *compare.Result
	if v.String("cursor") == "" {
		r, why, at, err := h.s.LastResult(call, logicstamp.LastArgs{Since: v.String("since"), Project: v.String("projectPath")})
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
	page, err := h.comparePage(result, call, "last", key, v.String("cursor"), v.Int("maxTokens"))
	if err != nil {
		return nil, err
	}
	return struct {
		Found bool `json:"found"`
		*compare.Result
	}{true, page}, nil
}

func (h *handlers) modes(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return h.s.Modes(ctx, call, logicstamp.ModesArgs{Project: v.String("projectPath"), CleanCache: v.Bool("cleanCache")})
}

func (h *handlers) watchStatus(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return h.s.WatchStatus(ctx, call, logicstamp.WatchArgs{
		Project: v.String("projectPath"), IncludeRecentLogs: v.Bool("includeRecentLogs"), LogLimit: v.Int("logLimit"),
	})
}

func (h *handlers) search(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	args := logicstamp.SearchArgs{
		Query: search.Query{
			Text: v.String("query"), Kind: v.Strings("kind"), HasProp: v.Strings("hasProp"), UsesHook: v.Strings("usesHook"),
			UsesComponent: v.Strings("usesComponent"), Imports: v.Strings("imports"), Exports: v.Strings("exports"),
			FolderPrefix: v.String("folderPrefix"), Role: v.String("role"),
		},
		SnapshotID: v.String("snapshotId"), Project: v.String("projectPath"), Limit: v.Int("limit"),
	}
	cur, err := h.pager.open(v.String("cursor"), "search", argsKey(args.Query, args.Project, args.Limit))
	if err != nil {
		return nil, err
	}
	args.From = cur.At
	found, err := h.s.Search(ctx, call, args)
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
	page, next := fit(hits, 0, h.pager.budget(v.Int("maxTokens"))-sizeOf(out)-cursorRoom)
	found.Hits = append(found.Hits, page...)
	if cur.At += next; cur.At < found.Total {
		cur.Source = found.Stamp
		out.more = h.pager.goesOn(cur)
	}
	return out, nil
}

func (h *handlers) monitor(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error) {
	return h.s.Monitor(ctx, call, logicstamp.MonitorArgs{
		Action: v.String("action"), Project: v.String("projectPath"), Baseline: v.String("baseline"), MinIntervalMs: v.Int("minIntervalMs"),
	})
}

func (h *handlers) docs(_ context.Context, _ logicstamp.Call, v arguments.Values) (any, error) {
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
