package usage

import (
	"cmp"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
)

// codexItem is something that has happened in a turn.
type codexItem struct {
	Type, ID, Status string
	Content          []struct{ Text string }
	ExitCode         *int `json:"exit_code"`
	Duration         struct{ Secs, Nanos int64 }
	Changes          map[string]struct {
		Type, Content string
		Diff          string `json:"unified_diff"`
		Move          string `json:"move_path"`
	}
}

// codexPatched is a file that a patch names.
var codexPatched = regexp.MustCompile(`(?m)^\*\*\* (?:Add|Update|Delete) File: (.+)$`)

// codexEvent is what a line says of the conversation.
func codexEvent(rec *codexRecord) record.Event {
	e, p := record.Event{When: rec.Timestamp.Time}, &rec.Payload
	switch p.Type {
	case "user_message":
		e.Prompt = p.Message
	case "agent_message":
		e.Said = p.Message
	case "function_call", "custom_tool_call", "local_shell_call":
		e.Calls = []record.Call{codexCall(p.Call, p.Name, cmp.Or(p.Arguments, p.Input))}
	case "function_call_output", "custom_tool_call_output":
		var text string
		_ = json.Unmarshal(p.Output, &text) // another shape says nothing
		switch {
		case rejected(p.Output):
			e.Results = []record.Result{{Call: p.Call, Denied: true}}
		case !strings.Contains(text, "Process running with session ID"):
			e.Results = []record.Result{{Call: p.Call}}
		}
	case "item_completed":
		codexDid(&p.Item, &e)
	}
	return e
}

// codexCall is a call of a tool, as the model made it.
func codexCall(id, tool, args string) record.Call {
	c := record.Call{ID: id, Tool: tool, Subject: record.Subject(json.RawMessage(args))}
	if f := codexPatched.FindStringSubmatch(strings.ReplaceAll(args, `\n`, "\n")); f != nil && strings.Contains(args, "*** Begin Patch") {
		c.Tool, c.Subject = "apply_patch", f[1]
		return c
	}
	c.Writes = slices.Contains([]string{"exec_command", "shell", "shell_command", "local_shell", "container.exec"}, tool) && record.Writes(json.RawMessage(args))
	return c
}

// codexDid is what has happened in a turn.
func codexDid(it *codexItem, e *record.Event) {
	var words []string
	for _, c := range it.Content {
		words = append(words, c.Text)
	}
	switch it.Type {
	case "UserMessage":
		e.Prompt = strings.Join(words, "\n")
	case "AgentMessage":
		e.Said = strings.Join(words, "\n")
	case "CommandExecution", "FileChange", "McpToolCall":
		r := record.Result{Call: it.ID, Failed: it.Status == "failed", Denied: it.Status == "declined", Took: time.Duration(it.Duration.Secs)*time.Second + time.Duration(it.Duration.Nanos)}
		if it.ExitCode != nil && *it.ExitCode != 0 {
			r.Outcome = "exit " + strconv.Itoa(*it.ExitCode)
		}
		for _, path := range slices.Sorted(maps.Keys(it.Changes)) {
			c := it.Changes[path]
			f := record.Whole(path, c.Content, c.Type == "add")
			if c.Type != "add" && c.Type != "delete" {
				f = record.Diff(cmp.Or(c.Move, path), c.Diff)
			}
			r.Files = append(r.Files, f)
		}
		e.Results = []record.Result{r}
	}
}
