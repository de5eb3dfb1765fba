package kimi

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of what Kimi Code tells its hooks and writes into its files.
func shapes() approvals.Shapes {
	const (
		session = "session_id string, cwd string"
		asks    = session + ", id string, tool_name string"
		step    = "type=context.append_loop_event event.type="
	)
	return approvals.Shapes{
		{Name: "SessionStart", When: "hook_event_name=SessionStart", Fields: session},
		{Name: "UserPromptSubmit", When: "hook_event_name=UserPromptSubmit", Fields: session},
		{Name: "PermissionRequest", When: "hook_event_name=PermissionRequest", Fields: asks + ", tool_input object", Also: "agent_id string, display.kind string"},
		{Name: "PermissionResult", When: "hook_event_name=PermissionResult", Fields: asks, Also: "decision string=approved|rejected|cancelled"},
		{Name: "AskUserQuestion", When: "hook_event_name=PreToolUse tool_name=AskUserQuestion", Fields: session + ", tool_call_id string", Also: "tool_input.questions[].question string, tool_input.questions[].options[].label string, tool_input.questions[].multi_select boolean?"},
		{Name: "PostToolUse", When: "hook_event_name=PostToolUse", Fields: session + ", tool_call_id string"},
		{Name: "Stop", When: "hook_event_name=Stop", Fields: session},
		{Name: "SessionEnd", When: "hook_event_name=SessionEnd", Fields: session},
		{Name: "state.json", When: "lastPrompt titleKind", Also: "title string, isCustomTitle boolean, titleKind string=replaceable|generated|custom"},
		{Name: "turn.prompt", When: "type=turn.prompt", Also: "input[].type string, input[].text string?, origin.kind string, promptId string, time number"},
		{Name: "turn.ended", When: "type=turn.ended"},
		{Name: "usage.record", When: "type=usage.record", In: "usage", Also: "inputOther number, output number, inputCacheRead number, inputCacheCreation number"},
		{Name: "llm.request", When: "type=llm.request", Also: "model string"},
		{Name: "token_counting.measured", When: "type=token_counting.measured", Also: "tokens number"},
		{Name: "permission.set_mode", When: "type=permission.set_mode", Also: "mode string=manual|auto|yolo"},
		{Name: "file_history.tracked", When: "type=file_history.tracked", Also: "path string, entry object"},
		{Name: "content.part", When: step + "content.part", In: "event", Also: "part.type string"},
		{Name: "tool.call", When: step + "tool.call", In: "event", Also: "toolCallId string, name string, args object, display.kind string?"},
		{Name: "edit", When: step + "tool.call event.display.operation=edit", In: "event.display", Also: "path string, before string, after string"},
		{Name: "write", When: step + "tool.call event.display.operation=write", In: "event.display", Also: "path string, content string"},
		{Name: "tool.result", When: step + "tool.result", In: "event", Also: "toolCallId string, result.output any, result.isError boolean?"},
	}
}
