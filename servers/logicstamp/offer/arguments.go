package offer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/logicstamp"
	"github.com/mcpdeck/mcpdeck/servers/logicstamp/problem"
)

// argument describes one argument of a tool: its schema and its check come
// from here.
type argument struct {
	name, kind, text string
	enum             []string
	min, max         int
	fallback         any
	required         bool
}

func str(name, text string) argument { return argument{name: name, kind: "string", text: text} }

func flag(name, text string, fallback any) argument {
	return argument{name: name, kind: "boolean", text: text, fallback: fallback}
}

func number(name, text string, low, high int) argument {
	return argument{name: name, kind: "integer", text: text, min: low, max: high}
}

func words(name, text string) argument { return argument{name: name, kind: "strings", text: text} }

func (a argument) need() argument {
	a.required = true
	return a
}

func (a argument) of(enum ...string) argument {
	a.enum = enum
	return a
}

// schema is the argument as JSON Schema, in plain keywords that every client
// takes.
func (a argument) schema() map[string]any {
	kind := a.kind
	s := map[string]any{"description": a.text}
	if kind == "strings" {
		kind = "array"
		s["items"] = map[string]any{"type": "string"}
	}
	s["type"] = kind
	if a.enum != nil {
		s["enum"] = a.enum
	}
	if a.kind == "integer" {
		s["minimum"], s["maximum"] = a.min, a.max
	}
	if a.fallback != nil {
		s["default"] = a.fallback
	}
	return s
}

// values are the checked arguments of a call.
type values map[string]any

func (v values) text(name string) string   { return get[string](v, name) }
func (v values) list(name string) []string { return get[[]string](v, name) }
func (v values) flag(name string) bool     { return get[bool](v, name) }
func (v values) number(name string) int    { return get[int](v, name) }

func get[T any](v values, name string) T {
	t, _ := v[name].(T)
	return t
}

// given is a value that was given, nil for none.
func given[T any](v values, name string) *T {
	if t, ok := v[name].(T); ok {
		return &t
	}
	return nil
}

func (v values) analysis() logicstamp.AnalysisArgs {
	return logicstamp.AnalysisArgs{
		Profile: given[string](v, "profile"), Mode: given[string](v, "mode"),
		Depth: given[int](v, "depth"), IncludeStyle: given[bool](v, "includeStyle"),
	}
}

func badArgument(a argument, got any) error {
	want := map[string]string{"string": "a text", "boolean": "true or false", "integer": "a whole number", "strings": "a list of texts"}[a.kind]
	if a.enum != nil {
		want = "one of " + strings.Join(a.enum, ", ")
	}
	if a.kind == "integer" {
		want = fmt.Sprintf("a whole number from %d to %d", a.min, a.max)
	}
	shown, err := json.Marshal(got)
	if err != nil || len(shown) > 100 {
		shown = []byte("something else")
	}
	return problem.New(problem.BadArgument, "pass "+want, "%s must be %s, not %s", a.name, want, shown)
}

// check reads raw arguments against their descriptions. Numbers may be written
// as texts, null means absent, unknown members are ignored.
func check(args []argument, raw any) (values, error) {
	given, err := asObject(raw)
	if err != nil {
		return nil, err
	}
	out := values{}
	for _, a := range args {
		got, ok := given[a.name]
		if !ok || got == nil {
			if a.required {
				return nil, problem.New(problem.BadArgument, a.text, "%s is missing", a.name)
			}
			continue
		}
		v, ok := a.read(got)
		if !ok {
			return nil, badArgument(a, got)
		}
		out[a.name] = v
	}
	return out, nil
}

func asObject(raw any) (map[string]any, error) {
	switch raw := raw.(type) {
	case nil:
		return nil, nil
	case map[string]any:
		return raw, nil
	case json.RawMessage:
		var out map[string]any
		dec := json.NewDecoder(bytes.NewReader(raw))
		if dec.Decode(&out) == nil {
			return out, nil
		}
	}
	return nil, problem.New(problem.BadArgument, "pass an object", "the arguments are not an object")
}

func (a argument) read(got any) (any, bool) {
	switch a.kind {
	case "string":
		s, ok := got.(string)
		return s, ok && (a.enum == nil || slices.Contains(a.enum, s)) && (a.max == 0 || len(s) <= a.max)
	case "boolean":
		b, ok := got.(bool)
		return b, ok
	case "strings":
		return readWords(got)
	}
	n, ok := readInt(got)
	return n, ok && n >= a.min && n <= a.max
}

// readWords takes a text for a list of one.
func readWords(got any) ([]string, bool) {
	if s, ok := got.(string); ok {
		return []string{s}, true
	}
	list, ok := got.([]any)
	if !ok {
		return nil, false
	}
	var out []string
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, false
		}
		out = append(out, s)
	}
	return out, true
}

func readInt(got any) (int, bool) {
	switch n := got.(type) {
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) < 1<<31
	case int:
		return n, true
	case string:
		v, err := strconv.Atoi(strings.TrimSpace(n))
		return v, err == nil
	}
	return 0, false
}

// Arguments that several tools have.
func projectArg() argument {
	return str("projectPath", "Absolute path of the project; default: the connection's project folder")
}

func snapshotArg() argument {
	return str("snapshotId", "Snapshot to read; default: the newest context of the project")
}

func pageArgs(max int) []argument {
	return []argument{str("cursor", "nextCursor of the page before"), number("maxTokens", "Largest answer", 500, max)}
}

func analysisArgs() []argument {
	return []argument{
		str("profile", "Preset of the analysis").of(logicstamp.Profiles()...),
		str("mode", "none: contracts alone; header: with header comments; full: with source").of(logicstamp.Modes()...),
		number("depth", "How far a bundle reaches from its root (default 2)", 1, logicstamp.MaxDepth),
		flag("includeStyle", "Take style data in", nil),
		flag("cleanCache", "First remove what stamp can rebuild", nil),
	}
}

func topicArg() argument { return str("topic", "One text; default: all seven").of(topics()...) }
