package claude

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of what Claude Code tells its hooks and writes into its files.
func shapes() approvals.Shapes {
	const (
		session = "session_id string"
		asks    = session + ", tool_name string, tool_input object"
		also    = "transcript_path string, cwd string, prompt_id string, permission_mode string=default|plan|acceptEdits|auto|dontAsk|bypassPermissions"
		prompts = "hook_event_name=PermissionRequest tool_name"
	)
	return approvals.Shapes{
		{Name: "PermissionRequest", When: "hook_event_name=PermissionRequest", Fields: asks, Also: also + ", permission_suggestions array?, agent_id string?, agent_type string?"},
		{Name: "PermissionRequest Bash", When: prompts + "=Bash", Fields: "tool_input.command string"},
		{Name: "PermissionRequest AskUserQuestion", When: prompts + "=AskUserQuestion", Fields: "tool_input.questions[].question string", Also: "tool_input.questions[].options[].label string, tool_input.questions[].multiSelect boolean"},
		{Name: "PermissionRequest ExitPlanMode", When: prompts + "=ExitPlanMode", Also: "tool_input.plan string", Rare: true},
		{Name: "PermissionDenied", When: "hook_event_name=PermissionDenied", Fields: asks + ", reason string", Also: also + ", tool_use_id string", Rare: true},
		{Name: "Elicitation", When: "hook_event_name=Elicitation", Fields: session + ", mcp_server_name string, message string, mode string=form|url", Also: "transcript_path string, cwd string, prompt_id string, requested_schema object?, url string?"},
		{
			Name: "session", When: "pid procStart", Fields: "pid number, sessionId string, cwd string, procStart string",
			Also: "version string, entrypoint string, status string=busy|idle|shell|waiting, statusUpdatedAt number, waitingFor string?=permission prompt|input needed|dialog open|sandbox request|worker request",
		},
		{Name: "transcript hook decision", When: "type=attachment attachment.type=hook_permission_decision", In: "attachment", Fields: "hookEvent string, decision string=allow|deny, toolUseID string"},
		{Name: "transcript message", When: "type=user|assistant", Fields: "message.content any", Also: "timestamp string, isSidechain boolean"},
		{Name: "transcript reply", When: "type=assistant", In: "message", Fields: "id string, model string, usage.input_tokens number, usage.output_tokens number", Also: "usage.cache_read_input_tokens number, usage.cache_creation_input_tokens number"},
	}
}
