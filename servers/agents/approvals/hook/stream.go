package hook

import (
	"encoding/json"
	"fmt"
)

// Mirrored is the variable that is set where mcpdeck acp shows what an agent asks. Its hooks
// and plugins are silent then, or it would be asked twice.
const Mirrored = "MCPDECK_ACP"

// Greeting returns the first line of a [Stream] of an agent's program in a folder.
func Greeting(agent, folder string) ([]byte, error) {
	line, err := json.Marshal(map[string]any{"v": greets, "hello": agent, "mode": Stream, "directory": folder})
	return append(line, '\n'), err
}

// Event returns the line of an event of a [Stream]. The error says that a deck would refuse it.
func Event(event string, payload json.RawMessage) ([]byte, error) {
	line, err := json.Marshal(map[string]any{"event": event, "payload": payload})
	if err != nil {
		return nil, fmt.Errorf("encode the event %s: %w", event, err)
	}
	if len(line) >= maxLine {
		return nil, errTooLong
	}
	if _, _, err := parseMessage(line); err != nil {
		return nil, err
	}
	return append(line, '\n'), nil
}
