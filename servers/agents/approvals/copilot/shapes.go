package copilot

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of Copilot CLI's events, which its files have and its extensions are told, and
// of what its hook is told.
func shapes() approvals.Shapes {
	asks := func(kind string) string {
		return "type=permission.requested data.permissionRequest.kind=" + kind
	}
	return approvals.Shapes{
		{Name: "permissionRequest", When: "hookName=permissionRequest", Fields: "sessionId string, toolName string, toolInput object", Also: "timestamp number, cwd string"},
		{Name: "permission.requested", When: "type=permission.requested", In: "data", Fields: "requestId string, permissionRequest.kind string=shell|write|read|mcp|url|memory|custom-tool|extension-permission-access", Also: "permissionRequest.intention string?"},
		{Name: "permission.requested shell", When: asks("shell"), In: "data", Fields: "permissionRequest.fullCommandText string"},
		{Name: "permission.requested write", When: asks("write"), In: "data", Fields: "permissionRequest.fileName string, permissionRequest.diff string"},
		{Name: "permission.completed", When: "type=permission.completed", In: "data", Fields: "requestId string, result.kind string, decisionSource string?"},
		{Name: "elicitation.requested", When: "type=elicitation.requested", In: "data", Fields: "requestId string, message string, mode string?=form|url", Also: "requestedSchema object?, url string?, elicitationSource string?"},
		{Name: "elicitation.completed", When: "type=elicitation.completed", In: "data", Fields: "requestId string, action string=accept|decline|cancel"},
		{Name: "hook.start", When: "type=hook.start", In: "data", Fields: "hookInvocationId string, hookType string, input.toolName string?, input.timestamp number?"},
		{Name: "hook.end", When: "type=hook.end", In: "data", Fields: "hookInvocationId string"},
		{Name: "session.start", When: "type=session.start", Fields: "data.copilotVersion string, data.selectedModel string, data.context.cwd string, timestamp string"},
		{Name: "user.message", When: "type=user.message", Fields: "id string, data.content string"},
		{Name: "assistant.turn_start", When: "type=assistant.turn_start", Fields: "timestamp string"},
		{Name: "assistant.message", When: "type=assistant.message", In: "data", Fields: "content string, model string, toolRequests array?"},
		{Name: "assistant.turn_end", When: "type=assistant.turn_end", Fields: "timestamp string"},
		{Name: "session.usage_record", When: "type=session.usage_record", Fields: "id string, data.usage.model string, data.usage.inputTokens number, data.usage.outputTokens number, data.usage.cacheReadTokens number, data.usage.cacheWriteTokens number"},
		{Name: "tool.execution_start", When: "type=tool.execution_start", In: "data", Fields: "toolCallId string, toolName string, arguments object"},
		{Name: "tool.execution_complete", When: "type=tool.execution_complete", In: "data", Fields: "toolCallId string, success boolean, result.detailedContent string?, fileEdits[].path string?, shellExecution.exitCode number?, error.code string?, toolTelemetry.metrics.context_token_limit number?"},
	}
}
