package codex

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of what Codex's daemon sends, of what its hook is told, and of its files.
func shapes() approvals.Shapes {
	const (
		asks   = "threadId string, itemId string"
		ended  = "method=item/completed params.item.type"
		wrote  = "type=event_msg payload.type"
		thread = "id string, sessionId string, ephemeral boolean, model string, cwd string, cliVersion string, updatedAt number, source any, originator string, path string?, name string?, preview string, " +
			"parentThreadId string?, agentNickname string?, agentRole string?, status.type string=active|idle|notLoaded|systemError, status.activeFlags[] string?=waitingOnApproval|waitingOnUserInput"
	)
	return approvals.Shapes{
		{
			Name: runCommand, When: "method=" + runCommand, In: "params", Fields: asks + ", command string?, availableDecisions array?, kind string?=command|writeStdin|humanCommand, cwd string?",
			Also: "turnId string, command string, availableDecisions array, reason string?, networkApprovalContext object?, additionalPermissions object?",
		},
		{Name: changeFiles, When: "method=" + changeFiles, In: "params", Fields: asks + ", grantRoot string?", Also: "turnId string, reason string?"},
		{Name: addPermissions, When: "method=" + addPermissions, In: "params", Fields: asks + ", permissions object", Also: "turnId string, reason string?"},
		{Name: askUser, When: "method=" + askUser, In: "params", Fields: asks + ", questions[].id string, questions[].question string", Also: "questions[].isSecret boolean, questions[].isOther boolean, questions[].options[].label string"},
		{
			Name: fillForm, When: "method=" + fillForm, In: "params", Fields: "threadId string, serverName string, mode string=form|url",
			Also: "message string, requestedSchema object?, url string?, _meta.codex_approval_kind string?=mcp_tool_call, _meta.tool_name string?, _meta.tool_params object?",
		},
		// A thread is read if it was there before the deck, and else told of when it starts.
		{Name: "thread/read", When: "result.thread.id result.readState", In: "result.thread", Fields: thread, Rare: true},
		{Name: "thread/resume", When: "result.thread.id result.initialTurnsPage", In: "result", Fields: "approvalPolicy any, initialTurnsPage.data[].items array"},
		{Name: "thread/started", When: "method=thread/started", In: "params.thread", Fields: thread, Rare: true},
		{Name: "thread/status/changed", When: "method=thread/status/changed", In: "params", Fields: "threadId string, status.type string=active|idle|notLoaded|systemError, status.activeFlags[] string?=waitingOnApproval|waitingOnUserInput"},
		{Name: "serverRequest/resolved", When: "method=serverRequest/resolved", In: "params", Fields: "threadId string, requestId any"},
		{Name: "item/completed", When: ended + "=commandExecution|fileChange", In: "params", Fields: "threadId string, item.id string, item.status string=completed|failed|declined"},
		{Name: "item/started fileChange", When: "method=item/started params.item.type=fileChange", In: "params.item", Fields: "id string, changes[].path string, changes[].kind.type string=update|add|delete, changes[].diff string"},
		{Name: "PermissionRequest", When: "hook_event_name=PermissionRequest", Fields: "session_id string, tool_name string, tool_input object", Also: "cwd string, permission_mode string, model string, transcript_path string"},
		{Name: "rollout token_count", When: wrote + "=token_count payload.info", In: "payload.info", Fields: "total_token_usage.input_tokens number, total_token_usage.cached_input_tokens number, total_token_usage.output_tokens number, last_token_usage.input_tokens number, model_context_window number"},
		{Name: "rollout item_completed", When: wrote + "=item_completed", In: "payload.item", Fields: "type string, id string"},
		{Name: "rollout turn_context", When: "type=turn_context", In: "payload", Fields: "model string, approval_policy any"},
		{Name: "rollout function_call", When: "type=response_item payload.type=function_call", In: "payload", Fields: "name string, arguments string, call_id string"},
		{Name: "rollout function_call_output", When: "type=response_item payload.type=function_call_output", In: "payload", Fields: "call_id string, output any"},
	}
}
