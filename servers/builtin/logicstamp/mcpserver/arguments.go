package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/support/arguments"
)

// analysis are the arguments of analysisArgs.
func analysis(v arguments.Values) logicstamp.AnalysisArgs {
	return logicstamp.AnalysisArgs{
		Profile: arguments.Given[string](v, "profile"), Mode: arguments.Given[string](v, "mode"),
		Depth: arguments.Given[int](v, "depth"), IncludeStyle: arguments.Given[bool](v, "includeStyle"),
	}
}

// wrong words what is wrong with the arguments of a call.
func wrong(f arguments.Fault) error {
	want := "a text"
	switch {
	case f.Name == "":
		return problem.New(problem.BadArgument, "pass an object", "the arguments are not an object")
	case f.Got == nil:
		return problem.New(problem.BadArgument, f.Text, "%s is missing", f.Name)
	case f.Enum != nil:
		want = "one of " + strings.Join(f.Enum, ", ")
	case f.Kind == arguments.Integer:
		want = fmt.Sprintf("a whole number from %d to %d", f.Min, f.Max)
	case f.Kind == arguments.Strings:
		want = "a list of texts"
	case f.Kind != arguments.Text:
		want = f.Kind.Want()
	}
	shown, err := json.Marshal(f.Got)
	if err != nil || len(shown) > 100 {
		shown = []byte("something else")
	}
	return problem.New(problem.BadArgument, "pass "+want, "%s must be %s, not %s", f.Name, want, shown)
}

// Arguments that several tools have.
func projectArg() arguments.Argument {
	return arguments.Argument{Name: "projectPath", Text: "Absolute path of the project; default: the connection's project folder"}
}

func snapshotArg() arguments.Argument {
	return arguments.Argument{Name: "snapshotId", Text: "Snapshot to read; default: the newest context of the project"}
}

func pageArgs(max int) arguments.List {
	return arguments.List{{Name: "cursor", Text: "nextCursor of the previous page"}, {Name: "maxTokens", Kind: arguments.Integer, Min: 500, Max: max, Text: "Largest answer"}}
}

func analysisArgs() arguments.List {
	return arguments.List{
		{Name: "profile", Enum: logicstamp.Profiles(), Text: "Preset of the analysis"},
		{Name: "mode", Enum: logicstamp.Modes(), Text: "none: contracts only; header: with header comments; full: with source"},
		{Name: "depth", Kind: arguments.Integer, Min: 1, Max: logicstamp.MaxDepth, Text: "How many levels a bundle reaches from its root (default 2)"},
		{Name: "includeStyle", Kind: arguments.Flag, Text: "Include style data"},
		{Name: "cleanCache", Kind: arguments.Flag, Text: "First delete what stamp can rebuild"},
	}
}

func topicArg() arguments.Argument {
	return arguments.Argument{Name: "topic", Enum: topics(), Text: "One document; default: all seven"}
}
