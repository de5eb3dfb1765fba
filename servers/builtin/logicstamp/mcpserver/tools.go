package mcpserver

import (
	"context"
	"slices"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/support/admission"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
)

// definition is one tool.
type definition struct {
	name, title, text    string
	takes                arguments.List
	writes, changesState bool
	// work is what a call takes beside the analysis it may wait for.
	work admission.Class
	// run answers a call with what is encoded as its result.
	run func(ctx context.Context, call logicstamp.Call, v arguments.Values) (any, error)
}

func (h *handlers) tools() []definition { return append(h.analysing(), h.looking()...) }

// analysing are the tools that may run the CLI.
func (h *handlers) analysing() []definition {
	return []definition{
		{
			name: "logicstamp_refresh_snapshot", run: h.refresh, work: admission.Medium, title: "Refresh the snapshot", writes: true, changesState: true,
			text: "Analyse the project and keep its component contracts as a snapshot. Call it before an edit; then list, read or search, and compare after the edit.",
			takes: slices.Concat(arguments.List{projectArg()}, analysisArgs(), arguments.List{
				{Name: "skipIfWatchActive", Kind: arguments.Flag, Default: true, Text: "If stamp is watching, copy its context instead of analysing"},
				{Name: "force", Kind: arguments.Flag, Default: false, Text: "Analyse even if nothing changed"},
				{Name: "publish", Kind: arguments.Flag, Text: "Also write the context files into the project"},
			}),
		},
		{
			name: "logicstamp_compare_snapshot", run: h.compare, work: admission.Medium, title: "Compare with a baseline", writes: true,
			text: "Report which contracts changed since a baseline and what breaks. Call it after an edit; it analyses the sources again if they changed.",
			takes: append(append(arguments.List{
				projectArg(),
				{Name: "baseline", Text: "disk or snapshot (the newest snapshot), snapshot:<id>, git:<ref>, or a folder with an index", Default: "disk"},
				{Name: "forceRegenerate", Kind: arguments.Flag, Text: "true: always analyse; false: never; omitted: only if the sources changed"},
				{Name: "includeUnchanged", Kind: arguments.Flag, Default: false, Text: "List unchanged folders too"},
				{Name: "publish", Kind: arguments.Flag, Text: "With forceRegenerate, also write the context files into the project"},
			}, analysisArgs()...), pageArgs(h.pager.maxTokens)...),
		},
		{
			name: "logicstamp_compare_modes", run: h.modes, work: admission.Medium, title: "Compare the cost of modes",
			text:  "Measure how many tokens each mode costs for this project. Takes several times as long as a refresh; use it once before choosing a mode.",
			takes: arguments.List{projectArg(), {Name: "cleanCache", Kind: arguments.Flag, Text: "First delete what stamp can rebuild"}},
		},
		{
			name: "logicstamp_drift_monitor", run: h.monitor, title: "Drift monitor", writes: true, changesState: true,
			text: "Start, stop or query a monitor that compares after every change to the sources. Poll with logicstamp_get_last_compare_result.",
			takes: arguments.List{
				{Name: "action", Enum: []string{"start", "stop", "status"}, Required: true, Text: "What to do"},
				projectArg(),
				{Name: "baseline", Text: "As in logicstamp_compare_snapshot", Default: "snapshot"},
				{Name: "minIntervalMs", Kind: arguments.Integer, Min: 1000, Max: 600_000, Text: "Minimum time between comparisons, 2000 by default"},
			},
		},
	}
}

// looking are the tools that only read what there is.
func (h *handlers) looking() []definition {
	return []definition{
		{
			name: "logicstamp_list_bundles", run: h.list, work: admission.Medium, title: "List bundles",
			text:  "List root components with the file to read each from. Use it to find a bundlePath for logicstamp_read_bundle.",
			takes: append(arguments.List{snapshotArg(), projectArg(), {Name: "folderPrefix", Text: "Only this folder and its subfolders"}}, pageArgs(h.pager.maxTokens)...),
		},
		{
			name: "logicstamp_read_bundle", run: h.read, work: admission.Medium, title: "Read a bundle",
			text: "Read the contracts of a root component and the components it reaches. Get bundlePath from logicstamp_list_bundles, or use context_main.json for the index.",
			takes: append(arguments.List{
				{Name: "bundlePath", Required: true, Text: "A file of the context, from logicstamp_list_bundles"},
				snapshotArg(), projectArg(),
				{Name: "rootComponent", Text: "One root of the file: path, file name or name"},
			}, pageArgs(h.pager.maxTokens)...),
		},
		{
			name: "logicstamp_read_logicstamp_docs", run: h.docs, title: "Read the docs",
			text:  "Explain bundles, contracts, depth, modes and how to read a comparison. Read it once when a result is unclear.",
			takes: arguments.List{topicArg()},
		},
		{
			name: "logicstamp_watch_status", run: h.watchStatus, title: "Watch status",
			text: "Report whether stamp's own watch mode is running for a project and whether the context on disk is current.",
			takes: arguments.List{
				{Name: "projectPath", Required: true, Text: "Absolute path of the project"},
				{Name: "includeRecentLogs", Kind: arguments.Flag, Default: false, Text: "Include the newest log entries"},
				{Name: "logLimit", Kind: arguments.Integer, Min: 1, Max: 100, Text: "How many log entries, 5 by default"},
			},
		},
		{
			name: "logicstamp_get_last_compare_result", run: h.last, work: admission.Medium, title: "Last comparison",
			text:  "Return the latest comparison, including the drift monitor's, if it is newer than a given time. Use it to poll for drift.",
			takes: append(arguments.List{{Name: "since", Text: "RFC 3339 time, or a date"}, {Name: "projectPath", Text: "Only for this project"}}, pageArgs(h.pager.maxTokens)...),
		},
		{
			name: "logicstamp_search_components", run: h.search, work: admission.Medium, title: "Search components",
			text: "Find components by words (name, props, hooks, path) and filters. Then read the hit's bundlePath with its rootComponent.",
			takes: append(arguments.List{
				{Name: "query", Text: "Words, 200 characters at most; all must match", Max: 200},
				snapshotArg(), projectArg(),
				{Name: "kind", Kind: arguments.Strings, Text: "Such as react:hook"},
				{Name: "folderPrefix", Text: "Only this folder and its subfolders"},
				{Name: "hasProp", Kind: arguments.Strings, Text: "Props it has"},
				{Name: "usesHook", Kind: arguments.Strings, Text: "Hooks it uses"},
				{Name: "usesComponent", Kind: arguments.Strings, Text: "Components it renders"},
				{Name: "imports", Kind: arguments.Strings, Text: "Modules it imports"},
				{Name: "exports", Kind: arguments.Strings, Text: "Names it exports"},
				{Name: "role", Enum: []string{"root", "dependency", "any"}, Text: "Its role in its bundle"},
				{Name: "limit", Kind: arguments.Integer, Min: 1, Max: 100, Text: "Hits per page, 20 by default"},
			}, pageArgs(h.pager.maxTokens)...),
		},
	}
}
