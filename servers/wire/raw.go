package wire

import (
	"bytes"
	"encoding/json"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpdeck/mcpdeck/servers/rawjson"
)

// rawTools puts definitions that are to be listed as they stand, by the names of
// their tools, into a message that answers a request for the list of tools. What
// stands around the message, such as the frame of an event, stays. Any other
// message is returned as it is.
func rawTools(e envelope, raw map[string]json.RawMessage, message []byte) []byte {
	from := bytes.IndexByte(message, '{')
	if len(raw) == 0 || e.Method != string(mcp.MethodToolsList) || from < 0 {
		return message
	}
	to := rawjson.End(message, from)
	if !json.Valid(message[from:to]) {
		return message
	}
	for _, key := range []string{"result", "tools"} {
		var ok bool
		if from, to, ok = within(message, from, to, key); !ok {
			return message
		}
	}
	parts, open, err := rawjson.Split(message[from:to])
	if err != nil || open != '[' {
		return message
	}
	out := make([]byte, 0, 2*len(message))
	done := 0
	for _, p := range parts {
		tool, err := rawjson.SplitObject(message[from+p.From : from+p.To])
		if err != nil || raw[tool.Str("name")] == nil {
			continue
		}
		out = append(out, message[done:from+p.From]...)
		out = append(out, raw[tool.Str("name")]...)
		done = from + p.To
	}
	return append(out, message[done:]...)
}

// within finds the value of a member of the object between two places.
func within(message []byte, from, to int, key string) (int, int, bool) {
	parts, open, err := rawjson.Split(message[from:to])
	if err != nil || open != '{' {
		return 0, 0, false
	}
	for _, p := range parts {
		if p.Key == key {
			return from + p.From, from + p.To, true
		}
	}
	return 0, 0, false
}
