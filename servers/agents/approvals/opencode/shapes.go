package opencode

import "github.com/mcpdeck/mcpdeck/servers/agents/approvals"

// shapes are what the plugin and the deck read of the program's events.
func shapes() approvals.Shapes {
	const session = "sessionID string"
	return approvals.Shapes{
		{Name: "permission.asked", When: "type=permission.asked", In: "properties", Fields: session + ", id string, permission string, metadata object, patterns[] string?, always[] string?", Also: "patterns array, always array, tool.callID string"},
		{Name: "permission.replied", When: "type=permission.replied", In: "properties", Fields: session + ", requestID string, reply string=once|always|reject"},
		{Name: "question.asked", When: "type=question.asked", In: "properties", Fields: session + ", id string, questions[].question string", Also: "tool.callID string, questions[].header string, questions[].options[].label string, questions[].multiple boolean?, questions[].custom boolean?"},
		{Name: "question.replied", When: "type=question.replied", In: "properties", Fields: session + ", requestID string, answers array"},
		{
			Name: "session", When: "type=session.created|session.updated", In: "properties", Fields: session + ", info.id string, info.title string, info.directory string, info.version string, info.cost number, info.time.created number, info.parentID string?, " +
				"info.tokens.input number, info.tokens.output number, info.tokens.reasoning number, info.tokens.cache.read number, info.tokens.cache.write number, info.agent string?, info.model.id string?",
		},
		{Name: "session.status", When: "type=session.status", In: "properties", Fields: session + ", status.type string=busy|idle|retry"},
		{Name: "session.idle", When: "type=session.idle", In: "properties", Fields: session},
		{Name: "message.updated", When: "type=message.updated", In: "properties", Fields: "info.id string, info.role string=user|assistant"},
		{Name: "message.part.updated", When: "type=message.part.updated properties.part.type=text", In: "properties.part", Fields: session + ", messageID string, text string"},
		{Name: "message.part.updated tool", When: "type=message.part.updated properties.part.type=tool", In: "properties.part", Fields: session + ", callID string, tool string, state.status string=pending|running|completed|error, state.input object"},
	}
}
