package offer

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/admission"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
)

// definition is one tool.
type definition struct {
	name, title, text    string
	args                 []argument
	writes, changesState bool
	// work is what a call takes beside the analysis it may wait for.
	work admission.Class
	// run answers a call with what is encoded as its result.
	run func(ctx context.Context, call logicstamp.Call, v values) (any, error)
}

func (m *Module) tools() []definition { return append(m.analysing(), m.looking()...) }

// analysing are the tools that may run the CLI.
func (m *Module) analysing() []definition {
	return []definition{
		{
			name: "logicstamp_refresh_snapshot", run: m.refresh, work: admission.Medium, title: "Refresh the snapshot", writes: true, changesState: true,
			text: "Analyse the project and keep its component contracts as a snapshot. Call it before an edit; then list, read or search, and compare after the edit.",
			args: append(append([]argument{projectArg()}, analysisArgs()...),
				flag("skipIfWatchActive", "While stamp watches, copy its context instead of analysing", true),
				flag("force", "Analyse even when nothing changed", false),
				flag("publish", "Also write the context files into the project", nil)),
		},
		{
			name: "logicstamp_compare_snapshot", run: m.compare, work: admission.Medium, title: "Compare with a baseline", writes: true,
			text: "Report which contracts changed since a baseline and what breaks. Call it after an edit; it analyses the sources again if they changed.",
			args: append(append([]argument{
				projectArg(),
				{name: "baseline", kind: "string", text: "disk or snapshot (the newest snapshot), snapshot:<id>, git:<ref>, or a folder with an index", fallback: "disk"},
				flag("forceRegenerate", "true: always analyse; false: never; left out: only when the sources changed", nil),
				flag("includeUnchanged", "List unchanged folders too", false),
				flag("publish", "With forceRegenerate, also write the context files into the project", nil),
			}, analysisArgs()...), pageArgs(m.pager.maxTokens)...),
		},
		{
			name: "logicstamp_compare_modes", run: m.modes, work: admission.Medium, title: "Compare the cost of modes",
			text: "Measure how many tokens each mode costs for this project. Takes several times as long as a refresh; use it once before choosing a mode.",
			args: []argument{projectArg(), flag("cleanCache", "First remove what stamp can rebuild", nil)},
		},
		{
			name: "logicstamp_drift_monitor", run: m.monitor, title: "Drift monitor", writes: true, changesState: true,
			text: "Start, stop or look at a monitor that compares after every change of the sources. Poll with logicstamp_get_last_compare_result.",
			args: []argument{
				str("action", "What to do").of("start", "stop", "status").need(), projectArg(),
				{name: "baseline", kind: "string", text: "As in logicstamp_compare_snapshot", fallback: "snapshot"},
				number("minIntervalMs", "Least pause between comparisons, 2000 by default", 1000, 600_000),
			},
		},
	}
}

// looking are the tools that only read what there is.
func (m *Module) looking() []definition {
	return []definition{
		{
			name: "logicstamp_list_bundles", run: m.list, work: admission.Medium, title: "List bundles",
			text: "List root components with the file to read each from. Use it to find a bundlePath for logicstamp_read_bundle.",
			args: append([]argument{snapshotArg(), projectArg(), str("folderPrefix", "Only this folder and below")}, pageArgs(m.pager.maxTokens)...),
		},
		{
			name: "logicstamp_read_bundle", run: m.read, work: admission.Medium, title: "Read a bundle",
			text: "Read the contracts of a root component and of what it reaches. Take bundlePath from logicstamp_list_bundles, or context_main.json for the index.",
			args: append([]argument{
				str("bundlePath", "A file of the context, from logicstamp_list_bundles").need(),
				snapshotArg(), projectArg(), str("rootComponent", "One root of the file: path, file name or name"),
			}, pageArgs(m.pager.maxTokens)...),
		},
		{
			name: "logicstamp_read_logicstamp_docs", run: m.docs, title: "Read the docs",
			text: "Explain bundles, contracts, depth, modes and how to read a comparison. Read it once when a result is unclear.",
			args: []argument{topicArg()},
		},
		{
			name: "logicstamp_watch_status", run: m.watchStatus, title: "Watch status",
			text: "Report whether stamp's own watch mode is running for a project and whether the context on disk is current.",
			args: []argument{
				str("projectPath", "Absolute path of the project").need(),
				flag("includeRecentLogs", "Add the newest log entries", false), number("logLimit", "How many, 5 by default", 1, 100),
			},
		},
		{
			name: "logicstamp_get_last_compare_result", run: m.last, work: admission.Medium, title: "Last comparison",
			text: "Return the latest comparison, including the drift monitor's, if newer than a given time. Use it to poll for drift.",
			args: append([]argument{str("since", "RFC 3339 time, or a date"), str("projectPath", "Only of this project")}, pageArgs(m.pager.maxTokens)...),
		},
		{
			name: "logicstamp_search_components", run: m.search, work: admission.Medium, title: "Search components",
			text: "Find components by words (name, props, hooks, path) and filters. Then read the hit's bundlePath with its rootComponent.",
			args: append([]argument{
				{name: "query", kind: "string", text: "Words, 200 characters at most; all must match", max: 200},
				snapshotArg(), projectArg(),
				words("kind", "Such as react:hook"), str("folderPrefix", "Only this folder and below"),
				words("hasProp", "Props it has"), words("usesHook", "Hooks it uses"), words("usesComponent", "Components it renders"),
				words("imports", "Modules it imports"), words("exports", "Names it exports"),
				str("role", "What it is in its bundle").of("root", "dependency", "any"), number("limit", "Hits per page, 20 by default", 1, 100),
			}, pageArgs(m.pager.maxTokens)...),
		},
	}
}
