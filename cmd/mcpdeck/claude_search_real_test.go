//go:build linux

package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
)

// loaded are the deck's tools in the last request to a model, without those that it has to
// search for first, and how many bytes they are.
func loaded(t *testing.T, model *mockmodel.Server) (names []string, bytes int) {
	t.Helper()
	var body struct{ Tools []json.RawMessage }
	if err := json.Unmarshal([]byte(model.Last()), &body); err != nil {
		t.Fatal(err)
	}
	for _, raw := range body.Tools {
		var tool struct {
			Name  string
			Defer bool `json:"defer_loading"`
		}
		if err := json.Unmarshal(raw, &tool); err != nil {
			t.Fatal(err)
		}
		if name, ours := strings.CutPrefix(tool.Name, "mcp__deck__"); ours && !tool.Defer {
			names, bytes = append(names, name), bytes+len(raw)
		}
	}
	return names, bytes
}

// TestTheRealClaudeHasLazyServersByWhatItsSessionCan counts the tools in what reaches the
// model: a session that does not search them has two in their place, and one that does is
// given all of them to search. With a base URL of its own it may do either, by its version.
func TestTheRealClaudeHasLazyServersByWhatItsSessionCan(t *testing.T) {
	t.Parallel()
	realtest.On(t)
	const tool = "pixelsrc_palettes"
	for version, path := range realtest.Claudes(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			d.coder = path
			claudeHome(d)
			knowsClaude(d, map[string]any{"deck": map[string]any{"type": "stdio", "command": d.program, "args": []string{"mcp"}}})
			d.serve()
			run := func(search string, steps ...mockmodel.Step) (*mockmodel.Server, []string, int) {
				t.Helper()
				model := mockmodel.New(t, "deck", steps...)
				c := claudeCommand(d, model, "-p", "go", "--allowedTools", "mcp__deck")
				if search != "" {
					c.Env = append(c.Env, "ENABLE_TOOL_SEARCH="+search)
				}
				out, err := c.CombinedOutput()
				if err != nil || !strings.Contains(string(out), "END") {
					t.Fatalf("with %q it ends with %v: %s", search, err, out)
				}
				for i, s := range model.Seen() {
					if !s.Called || !strings.Contains(s.Result, "gameboy") {
						t.Errorf("with %q step %d is %+v", search, i+1, s)
					}
				}
				names, bytes := loaded(t, model)
				t.Logf("with %q the model has %d tools of the deck in %d bytes", search, len(names), bytes)
				return model, names, bytes
			}
			direct := mockmodel.Step{Tool: tool, Args: json.RawMessage(`{"action":"list"}`)}
			found := mockmodel.Step{Tool: "call_tool", Args: json.RawMessage(`{"name":"` + tool + `","arguments":{"action":"list"}}`)}

			_, all, whole := run("false", direct)
			if !slices.Contains(all, tool) || len(all) < 20 {
				t.Fatalf("before the servers are lazy it has %q", all)
			}
			for _, server := range []string{"clippy", "pixelsrc", "logicstamp"} {
				if out, err := d.command("lazy", server).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
			for _, search := range []string{"", "false"} {
				_, names, bytes := run(search, found)
				if search == "false" && (!slices.Contains(names, "find_tools") || !slices.Contains(names, "call_tool")) {
					t.Errorf("a session that does not search has %q", names)
				}
				if slices.Contains(names, tool) || len(names) > 6 || bytes > whole/3 {
					t.Errorf("with %q and lazy servers it has %q in %d bytes, of %d", search, names, bytes, whole)
				}
			}
			model, names, _ := run("true", direct)
			if offered := model.Seen()[0].Offered; !slices.Contains(offered, "ToolSearch") || slices.Contains(offered, "mcp__deck__find_tools") {
				t.Errorf("a session that searches has %q", offered)
			}
			if slices.ContainsFunc(names, func(n string) bool { return n != tool && strings.HasPrefix(n, "pixelsrc_") }) {
				t.Errorf("a session that searches has all of %q", names)
			}
		})
	}
}
