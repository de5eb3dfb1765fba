package record

import (
	"encoding/json"
	"strings"
)

// Subject is what a call of a tool is about: the value of the first argument that says it.
func Subject(args json.RawMessage) string {
	var values map[string]json.RawMessage
	if json.Unmarshal(args, &values) != nil {
		return ""
	}
	for _, name := range []string{"command", "cmd", "file_path", "filePath", "path", "notebook_path", "absolute_path", "pattern", "query", "url", "skill", "description", "prompt"} {
		var text string
		var words []string
		switch raw := values[name]; {
		case json.Unmarshal(raw, &text) == nil && text != "":
			return beginning(text)
		case json.Unmarshal(raw, &words) == nil && len(words) > 0:
			return beginning(strings.Join(words, " "))
		}
	}
	return ""
}

// Writes reports whether the command among the arguments of a call may change files, which
// also one may that cannot be read.
func Writes(args json.RawMessage) bool {
	var in struct {
		Cmd     string
		Command json.RawMessage // or its words, of which the last one is what a shell runs
	}
	if json.Unmarshal(args, &in) != nil {
		return true
	}
	command := in.Cmd
	var words []string
	switch {
	case in.Command == nil || json.Unmarshal(in.Command, &command) == nil:
	case json.Unmarshal(in.Command, &words) == nil && len(words) > 0:
		command = words[len(words)-1]
	default:
		return true
	}
	return command == "" || mayWrite(command)
}

// beginning keeps the beginning of a text.
func beginning(text string) string {
	const most = 400
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
