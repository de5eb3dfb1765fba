package qwen

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of what Qwen Code tells its hooks and writes into its files.
func shapes() approvals.Shapes {
	const (
		event = "session_id string"
		asks  = "hook_event_name=PermissionRequest"
		mode  = "permission_mode string=default|plan|auto-edit|auto|yolo"
	)
	return approvals.Shapes{
		{Name: "PermissionRequest", When: asks, Fields: event + ", tool_name string, tool_input object", Also: "transcript_path string, cwd string, agent_id string?, " + mode},
		{Name: "PermissionRequest run_shell_command", When: asks + " tool_name=run_shell_command", Fields: "tool_input.command string"},
		{Name: "PermissionRequest ask_user_question", When: asks + " tool_name=ask_user_question", Fields: "tool_input.questions[].question string", Also: "tool_input.questions[].options[].label string, tool_input.questions[].multiSelect boolean?"},
		{Name: "SessionStart", When: "hook_event_name=SessionStart", Fields: event + ", model string, " + mode},
		{Name: "UserPromptSubmit", When: "hook_event_name=UserPromptSubmit", Fields: event},
		{Name: "Notification", When: "hook_event_name=Notification", Fields: event + ", notification_type string=permission_prompt|idle_prompt"},
		{Name: "Stop", When: "hook_event_name=Stop", Fields: event + ", input_tokens number, context_limit number, background_tasks[].status string?, background_tasks array"},
		{Name: "session", When: "pid procStart", Fields: "sessionId string, cwd string, procStart string, startedAt number, qwenVersion string, kind string, name string?"},
		{Name: "chat user", When: "type=user message.parts", Fields: "uuid string, provenance string, timestamp string, message.parts[].text string?"},
		{
			Name: "chat reply", When: "type=assistant", Fields: "uuid string, model string, message.parts array, usageMetadata.promptTokenCount number, usageMetadata.candidatesTokenCount number, " +
				"usageMetadata.thoughtsTokenCount number, usageMetadata.cachedContentTokenCount number, usageMetadata.totalTokenCount number",
		},
		{Name: "chat tool_result", When: "type=tool_result", Fields: "message.parts[].functionResponse.id string, toolCallResult.status string=success|error|cancelled, toolCallResult.executionStatus string?, toolCallResult.errorType string?"},
	}
}
