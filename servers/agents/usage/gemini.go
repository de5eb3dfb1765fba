package usage

import (
	"bytes"
	"encoding/json"
	"path"
)

// geminiMain is tmp/PROJECT/chats/session-TIME-ID.jsonl with the beginning of the ID.
func geminiMain(look Lookup, id string) string {
	return look.Newest("tmp/*/chats/session-*-" + id[:min(len(id), 8)] + ".jsonl")
}

func geminiSubagents(main, id string) (folder, pattern string) {
	return path.Join(path.Dir(main), id), "*.jsonl"
}

// geminiRecord is a line of Gemini CLI's chat: a message, which is written again when it
// grows.
type geminiRecord struct {
	ID, Type, Model string
	Timestamp       moment
	Tokens          *struct {
		Input    int64 // with what came from the cache
		Output   int64
		Cached   int64
		Thoughts int64
		Tool     int64
	}
	ToolCalls []struct {
		Name, Status string
		Args         json.RawMessage
	} `json:"toolCalls"`
}

func geminiLine(text []byte, sub bool) (Line, bool) {
	if !bytes.Contains(text, []byte(`"gemini"`)) {
		return Line{}, false
	}
	var rec geminiRecord
	if json.Unmarshal(text, &rec) != nil || rec.Type != "gemini" || rec.ID == "" {
		return Line{}, false
	}
	l := Line{Model: rec.Model, When: rec.Timestamp.Time}
	for _, c := range rec.ToolCalls {
		if c.Status != "cancelled" { // as one is that the user has denied
			l.Tool, l.Subject = c.Name, about(c.Args)
		}
	}
	if t := rec.Tokens; t != nil {
		cached := min(t.Cached, t.Input)
		l.ID = rec.ID
		l.Reply = &Reply{In: t.Input - cached + t.Tool, Read: cached, Out: t.Output + t.Thoughts, Reasoning: t.Thoughts}
		if !sub {
			l.Filled = t.Input
		}
	}
	return l, true
}
