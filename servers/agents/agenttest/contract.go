package agenttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Payload is what an agent's program wrote: to a hook, to a file.
type Payload struct {
	What    string          `json:"what"` // such as "PermissionRequest Bash"
	Payload json.RawMessage `json:"payload"`
}

// Payloads reads recorded payloads, one to a line.
func Payloads(lines []byte) (all []Payload, err error) {
	for line := range strings.Lines(string(lines)) {
		var p Payload
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			return nil, fmt.Errorf("read a recorded payload: %w", err)
		}
		all = append(all, p)
	}
	return all, nil
}

// readOfClaude are the members of Claude Code's payloads that the deck reads.
func readOfClaude(what string) []string {
	hook := []string{"session_id", "transcript_path", "cwd", "prompt_id"}
	permission := append(hook, "permission_mode", "tool_name", "tool_input")
	return map[string][]string{
		"PermissionRequest Bash":            append(slices.Clip(permission), "tool_input.command"),
		"PermissionRequest AskUserQuestion": append(slices.Clip(permission), "tool_input.questions"),
		"PermissionRequest ExitPlanMode":    append(slices.Clip(permission), "tool_input.plan"),
		"Elicitation":                       append(slices.Clip(hook), "mcp_server_name", "message", "mode", "requested_schema"),
		"session":                           {"pid", "sessionId", "cwd", "procStart", "version", "entrypoint", "status", "waitingFor", "statusUpdatedAt"},
		"transcript hook decision":          {"type", "attachment.type", "attachment.hookEvent", "attachment.decision", "attachment.toolUseID"},
		"transcript result":                 {"type", "message.content"},
	}[what]
}

// Changed names the members that the deck reads of Claude Code's payload, and that are not as
// they were when it was recorded.
func Changed(recorded, now Payload) (all []string) {
	for _, path := range readOfClaude(recorded.What) {
		was, is := member(recorded.Payload, path), member(now.Payload, path)
		if was != "" && is != was {
			all = append(all, fmt.Sprintf("%s: %s was %s and is %s", recorded.What, path, was, strings.Join(strings.Fields(is + " missing")[:1], "")))
		}
	}
	return all
}

// member is the type of a member, "" if there is none.
func member(raw json.RawMessage, path string) string {
	for name := range strings.SplitSeq(path, ".") {
		var o map[string]json.RawMessage
		if json.Unmarshal(raw, &o) != nil {
			return ""
		}
		raw = o[name]
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}
