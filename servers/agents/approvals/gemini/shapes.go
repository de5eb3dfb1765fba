package gemini

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what is read of what Gemini CLI tells its hooks and writes into its chats.
func shapes() approvals.Shapes {
	const (
		event = "session_id string, transcript_path string"
		asks  = "notification_type=ToolPermission"
	)
	return approvals.Shapes{
		{Name: "Notification", When: "hook_event_name=Notification", Fields: event + ", notification_type string=ToolPermission", Also: "cwd string"},
		{Name: "Notification ToolPermission", When: asks, In: "details", Fields: "type string=exec|edit|mcp|info|ask_user", Also: "title string"},
		{Name: "Notification exec", When: asks + " details.type=exec", In: "details", Fields: "command string"},
		{Name: "Notification edit", When: asks + " details.type=edit", In: "details", Fields: "fileDiff string", Also: "filePath string"},
		{Name: "BeforeTool ask_user", When: "hook_event_name=BeforeTool tool_name=ask_user", In: "tool_input", Fields: "questions[].question string", Also: "questions[].header string, questions[].type string=choice|text|yesno, questions[].options[].label string"},
		{Name: "AfterTool", When: "hook_event_name=AfterTool", Fields: event + ", tool_name string, tool_input object"},
		{Name: "SessionStart", When: "hook_event_name=SessionStart", Fields: event},
		{Name: "BeforeAgent", When: "hook_event_name=BeforeAgent", Fields: event},
		{Name: "AfterAgent", When: "hook_event_name=AfterAgent", Fields: event},
		{Name: "chat user", When: "type=user id", Fields: "content any, timestamp string"},
		{Name: "chat reply", When: "type=gemini tokens", Fields: "id string, content any, model string, timestamp string, tokens.input number, tokens.output number, tokens.cached number, tokens.thoughts number, tokens.tool number"},
		{Name: "chat call", When: "type=gemini toolCalls", Fields: "toolCalls[].id string, toolCalls[].name string, toolCalls[].args object, toolCalls[].status string=success|error|cancelled|awaiting_approval|executing|scheduled|validating"},
	}
}
