package agents_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/clients"
)

// recorded are the lines that a version of an agent's program wrote.
func recorded(t *testing.T, agent, version string) (lines [][]byte) {
	t.Helper()
	all, err := contract.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Agent == agent && r.Version == version && r.Date != "" {
			lines = append(lines, r.Lines...)
		}
	}
	return lines
}

// breaks says what an agent's value does not read any more of what its program wrote.
func breaks(a *approvals.Agent, lines [][]byte) (out []string) {
	if a.Shapes == nil {
		out = append(out, "it has no shapes")
	}
	for _, d := range a.Shapes.Differences(lines) {
		out = append(out, d.String())
	}
	if a.Usage == nil {
		return out
	}
	var said usage.Line
	e := &said.Event
	for _, line := range lines {
		l, _ := a.Usage.Parse(line, false)
		said.Reply, said.Model = cmp.Or(l.Reply, said.Reply), cmp.Or(l.Model, said.Model)
		e.Prompt, e.Calls, e.Results = cmp.Or(l.Event.Prompt, e.Prompt), append(e.Calls, l.Event.Calls...), append(e.Results, l.Event.Results...)
	}
	for what, missing := range map[string]bool{"tokens": said.Reply == nil, "model": said.Model == "", "prompt": e.Prompt == "", "call": e.Calls == nil, "result": e.Results == nil} {
		if missing {
			out = append(out, "no "+what+" is read")
		}
	}
	return out
}

// TestEveryTestedVersionWasRecorded holds that what each version of each agent's program wrote has
// the shapes that the deck reads, and is read.
func TestEveryTestedVersionWasRecorded(t *testing.T) {
	for _, a := range agents.All() {
		if a.Cells.Untested() {
			continue
		}
		c, _ := clients.Find(a.ID)
		for _, v := range c.Prompts.Tested {
			if got := breaks(&a, recorded(t, a.ID, v.Number)); len(got) > 0 {
				t.Errorf("%s %s: %q", a.ID, v.Number, got)
			}
		}
	}
}

// without is a line in which a field is missing, or has another value.
func without(t *testing.T, line []byte, path string, value any) []byte {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	names := strings.Split(path, ".")
	o := v
	for _, name := range names[:len(names)-1] {
		o = o.(map[string]any)[name]
	}
	if m := o.(map[string]any); value == nil {
		delete(m, names[len(names)-1])
	} else {
		m[names[len(names)-1]] = value
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// side says who has to mend something, by what an adapter does not read of what was recorded, and
// by how what the program writes now differs.
func side(a *approvals.Agent, recorded, now [][]byte) string {
	if got := breaks(a, recorded); len(got) > 0 {
		return "we broke it"
	}
	return fmt.Sprint(a.Shapes.Differences(now))
}

// TestWhoHasChangedIsSaid changes what was recorded of programs, and adapters.
func TestWhoHasChangedIsSaid(t *testing.T) {
	for _, tt := range []struct {
		agent, has, path string
		value            any // nil: the field is missing
		want             string
	}{
		{"claude", `"tool_name":"Bash"`, "tool_input", nil, "[PermissionRequest Bash: field tool_input missing PermissionRequest: field tool_input missing]"},
		{"claude", `"procStart"`, "statusUpdatedAt", "now", "[session: field statusUpdatedAt is string, not number]"},
		{"codex", `"item/fileChange/requestApproval"`, "params.itemId", nil, "[item/fileChange/requestApproval: field itemId missing]"},
		{"opencode", `"permission.asked"`, "properties.always", "mkdir *", "[permission.asked: field always is string, not array]"},
		{"kilo", `"session.idle"`, "type", "session.rests", "[session.idle: missing]"},
		{"gemini", `"ToolPermission"`, "details.command", nil, "[Notification exec: field command missing]"},
		{"qwen", `"Stop"`, "background_tasks", nil, "[Stop: field background_tasks missing]"},
		{"copilot", `"permission.completed"`, "data.result", "approved", "[permission.completed: field result.kind missing]"},
	} {
		a := agents.Of(tt.agent)
		c, _ := clients.Find(tt.agent)
		lines := recorded(t, tt.agent, c.Prompts.Newest())
		now := slices.Clone(lines)
		for i, line := range lines {
			if bytes.Contains(line, []byte(tt.has)) && !slices.Equal(lines[i], without(t, line, tt.path, tt.value)) {
				now[i] = without(t, line, tt.path, tt.value)
			}
		}
		if got := side(&a, lines, now); got != tt.want {
			t.Errorf("%s, %s: it says %s, want %s", tt.agent, tt.path, got, tt.want)
		}
	}
	parses := func(change func(*usage.Line)) func(*approvals.Agent) {
		return func(a *approvals.Agent) {
			f := *a.Usage
			was := f.Parse
			f.Parse = func(text []byte, sub bool) (usage.Line, bool) {
				l, ok := was(text, sub)
				change(&l)
				return l, ok
			}
			a.Usage = &f
		}
	}
	reads := func(old, name string) func(*approvals.Agent) {
		return func(a *approvals.Agent) {
			a.Shapes = slices.Clone(a.Shapes)
			for i := range a.Shapes {
				s := &a.Shapes[i]
				s.Fields, s.When = strings.ReplaceAll(s.Fields, old, name), strings.ReplaceAll(s.When, old, name)
			}
		}
	}
	for agent, spoil := range map[string]func(*approvals.Agent){
		"claude": parses(func(l *usage.Line) { l.Reply = nil }),
		"codex":  parses(func(l *usage.Line) { l.Event.Results = nil }),
		"qwen":   reads("tool_input object", "toolInput object"),
		"kilo":   reads("permission.asked", "permission.ask"),
	} {
		a := agents.Of(agent)
		spoil(&a)
		c, _ := clients.Find(agent)
		lines := recorded(t, agent, c.Prompts.Newest())
		if got := side(&a, lines, lines); got != "we broke it" {
			t.Errorf("%s: it says %s", agent, got)
		}
	}
}
