package demo

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// rollout is the file of codex's session below the home.
const rollout = ".codex/sessions/" + codexSession + ".jsonl"

// writes writes a file of the home, a line for each value.
func (s *Show) writes(name string, lines []map[string]any) error {
	var b strings.Builder
	for _, l := range lines {
		line, err := rpc.Line(l)
		if err != nil {
			return err
		}
		b.Write(line)
	}
	return s.o.Folder.write(name, b.String())
}

// claudeLine is a line of Claude Code's transcript.
func claudeLine(at time.Time, kind string, block map[string]any) map[string]any {
	return map[string]any{"type": kind, "timestamp": at.UTC().Format(time.RFC3339Nano), "message": map[string]any{"role": kind, "content": []any{block}}}
}

// claudeResult is the line with what came of a call, on which there was a decision.
func claudeResult(at time.Time, call, decision string) map[string]any {
	line := claudeLine(at, "user", map[string]any{"type": "tool_result", "tool_use_id": call, "content": "", "is_error": decision == "deny"})
	if decision == "deny" {
		line["toolDenialKind"] = "user-rejected"
	}
	return line
}

// claudeSaid is what claude's session has recorded by now.
func (s *Show) claudeSaid(now time.Time) []map[string]any {
	file := filepath.Join(s.o.Folder.Project(), "package.json")
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	prompt := claudeLine(ago(4*time.Minute), "user", map[string]any{"type": "text", "text": "Make the release build reproducible, and publish it."})
	prompt["origin"] = map[string]any{"kind": "human"}
	edited := claudeResult(ago(2*time.Minute), "toolu_edit", "allow")
	edited["toolUseResult"] = map[string]any{"filePath": file, "structuredPatch": []any{map[string]any{"lines": []string{
		` {`, `-  "scripts": {"build": "tsc"},`, `+  "scripts": {`, `+    "build": "tsc --newLine lf",`, `+    "prepack": "npm run build"`, `+  },`,
	}}}}
	reply := claudeLine(ago(20*time.Second), "assistant", map[string]any{"type": "text", "text": "The build keeps old objects, so I build once from nothing and compare the two hashes. They are **equal** now."})
	reply["requestId"] = "req_1"
	message := reply["message"].(map[string]any)
	message["id"], message["model"] = "msg_1", "claude-sonnet-5"
	message["usage"] = map[string]any{"input_tokens": 18_000, "output_tokens": 41_000, "cache_read_input_tokens": 104_000, "cache_creation_input_tokens": 21_000}
	return []map[string]any{
		prompt,
		claudeLine(ago(3*time.Minute), "assistant", map[string]any{"type": "tool_use", "id": "toolu_read", "name": "Read", "input": map[string]any{"file_path": file}}),
		claudeResult(ago(3*time.Minute), "toolu_read", "allow"),
		claudeLine(ago(2*time.Minute), "assistant", map[string]any{"type": "tool_use", "id": "toolu_edit", "name": "Edit", "input": map[string]any{"file_path": file}}),
		edited, reply,
	}
}

// codexSaid is what codex's session has recorded by now.
func (s *Show) codexSaid(now time.Time) []map[string]any {
	line := func(ago time.Duration, kind string, payload map[string]any) map[string]any {
		return map[string]any{"timestamp": now.Add(-ago).UTC().Format(time.RFC3339Nano), "type": kind, "payload": payload}
	}
	item := func(ago time.Duration, item map[string]any) map[string]any {
		return line(ago, "event_msg", map[string]any{"type": "item_completed", "item": item})
	}
	return []map[string]any{
		item(6*time.Minute, map[string]any{"type": "UserMessage", "id": "u1", "content": []any{map[string]any{"type": "text", "text": "Move the orders to the new table, then drop the old one."}}}),
		line(5*time.Minute, "response_item", map[string]any{"type": "function_call", "name": "exec_command", "arguments": `{"cmd":"psql -c '\\d orders_old'"}`, "call_id": "c1"}),
		item(5*time.Minute, map[string]any{"type": "CommandExecution", "id": "c1", "status": "completed", "exit_code": 0, "duration": map[string]any{"secs": 1, "nanos": 0}}),
		line(3*time.Minute, "response_item", map[string]any{"type": "custom_tool_call", "name": "apply_patch", "input": "*** Begin Patch\n*** Add File: migrate.sql\n", "call_id": "c2"}),
		item(3*time.Minute, map[string]any{"type": "FileChange", "id": "c2", "status": "completed", "changes": map[string]any{
			filepath.Join(s.o.Folder.project("codex"), "migrate.sql"): map[string]any{"type": "add", "content": "INSERT INTO orders\nSELECT * FROM orders_old;\n"},
		}}),
		item(time.Minute, map[string]any{"type": "AgentMessage", "id": "m1", "content": []any{map[string]any{"type": "Text", "text": "All rows are in `orders`. Next I ask how the service shall sign in, and drop the old table."}}}),
	}
}

// opencodeSaid is what OpenCode's plugin says of its session by now.
func (s *Show) opencodeSaid(now time.Time) []pluginEvent {
	says := func(ago time.Duration, event string, more map[string]any) pluginEvent {
		more["sessionID"], more["at"] = opencodeSession, now.Add(-ago).UnixMilli()
		return pluginEvent{"message." + event, more}
	}
	file := filepath.Join(s.o.Folder.project("opencode"), "icons.json")
	return []pluginEvent{
		says(2*time.Minute, "user", map[string]any{"messageID": "m1", "text": "Draw icons for the menu."}),
		says(time.Minute, "tool", map[string]any{"callID": "w1", "tool": "write", "status": "running", "input": map[string]any{"filePath": file}}),
		says(time.Minute, "tool", map[string]any{"callID": "w1", "tool": "write", "status": "completed", "input": map[string]any{"filePath": file}, "lines": 12}),
		says(30*time.Second, "assistant", map[string]any{"messageID": "m2", "text": "The list of icons stands; now I draw them one by one."}),
	}
}
