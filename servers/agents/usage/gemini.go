package usage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
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
	Content         json.RawMessage // a text, or parts
	Tokens          *struct {
		Input    int64 // with what came from the cache
		Output   int64
		Cached   int64
		Thoughts int64
		Tool     int64
	}
	ToolCalls []geminiCall `json:"toolCalls"`
}

// geminiCall is a call of a tool with what came of it.
type geminiCall struct {
	ID, Name, Status string
	Args             json.RawMessage
	Timestamp        moment
	Display          json.RawMessage `json:"resultDisplay"` // a text, or an edit
}

func geminiLine(text []byte, sub bool) (Line, bool) {
	if !bytes.Contains(text, []byte(`"gemini"`)) && !bytes.Contains(text, []byte(`"user"`)) {
		return Line{}, false
	}
	var rec geminiRecord
	if json.Unmarshal(text, &rec) != nil || rec.ID == "" {
		return Line{}, false
	}
	e := record.Event{When: rec.Timestamp.Time}
	switch rec.Type {
	case "user":
		e.Prompt, e.ID = geminiText(rec.Content), rec.ID
		return Line{Event: e}, e.Prompt != ""
	case "gemini":
	default:
		return Line{}, false
	}
	e.Said = geminiText(rec.Content)
	for i := range rec.ToolCalls {
		geminiCalled(&rec.ToolCalls[i], rec.ID+" "+strconv.Itoa(i), &e)
	}
	l := Line{Model: rec.Model, When: rec.Timestamp.Time, Event: e}
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

// geminiCalled adds a call, and its result if it has one.
func geminiCalled(c *geminiCall, id string, e *record.Event) {
	call := record.Call{ID: cmp.Or(c.ID, id), Tool: c.Name, Subject: record.Subject(c.Args), Writes: c.Name == "run_shell_command" && record.Writes(c.Args)}
	e.Calls = append(e.Calls, call)
	r := record.Result{Call: call.ID}
	switch c.Status {
	case "success":
		var did struct {
			Name string `json:"fileName"`
			Path string `json:"filePath"`
			Diff string `json:"fileDiff"`
		}
		if json.Unmarshal(c.Display, &did) == nil && did.Diff != "" {
			var in struct {
				Path string `json:"file_path"`
			}
			_ = json.Unmarshal(c.Args, &in) // else by its name
			r.Files = []snapshot.ChangedFile{record.Diff(cmp.Or(did.Path, in.Path, did.Name), did.Diff)}
		}
	case "error":
		r.Failed = true
	case "cancelled": // as one is that the user has denied
		r.Denied = true
	default:
		return // it runs
	}
	e.Results = append(e.Results, r)
}

// geminiText is the text of a message.
func geminiText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(content, &parts) // another shape says nothing
	var all []string
	for _, p := range parts {
		if p.Text != "" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}
