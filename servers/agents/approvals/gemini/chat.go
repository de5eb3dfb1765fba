package gemini

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// chatOf is tmp/PROJECT/chats/session-TIME-ID.jsonl with the beginning of the ID.
func chatOf(look usage.Lookup, id string) string {
	if look.Near() {
		return ""
	}
	return look.Newest("tmp/*/chats/session-*-" + id[:min(len(id), 8)] + ".jsonl")
}

// find returns the session of a process: the last chat that was written in its folder.
func find(d *approvals.Deps, p seen.Process) (id, chat string) {
	chat = p.Wrote(filepath.Join(d.Folder, "tmp", "*", "chats", "session-*.jsonl"), func(path string) bool {
		root, err := file.Read(filepath.Join(filepath.Dir(path), "..", ".project_root"), 4<<10)
		return err == nil && strings.TrimSpace(string(root)) == p.Folder
	})
	f, err := file.Open(chat, os.O_RDONLY)
	if err != nil {
		return "", ""
	}
	defer func() { _ = f.Close() }() // it was only read
	first, _ := bufio.NewReader(f).ReadBytes('\n')
	var head struct {
		ID string `json:"sessionId"`
	}
	_ = json.Unmarshal(first, &head) // half of one that is being written says nothing
	return head.ID, chat
}

// follow takes in what is new in the chat, of which nothing is before a hook tells of it first.
func (s *session) follow() {
	if s.of != s.Transcript {
		s.log.Close()
		s.of, s.log = s.Transcript, claudehooks.OpenLog(s.Deps.Folder, s.Transcript)
		if s.told && s.log != nil {
			s.log.Read(func([]byte) {})
		}
	}
	if s.log != nil {
		s.log.Read(s.read)
	}
}

// read takes in what a line of the chat says that the session does: that a turn was stopped, and as
// long as no hook tells, the rest.
func (s *session) read(text []byte) {
	info := bytes.Contains(text, []byte(`"info"`))
	var rec chatted
	if s.told && !info || json.Unmarshal(text, &rec) != nil {
		return
	}
	if info && rec.Type == "info" && usage.TextOf(rec.Content) == "Request cancelled." {
		s.stopped = true
		s.Settle("", "answered in its terminal")
		s.To(snapshot.Idle)
	}
	l, ok := parse(text, false)
	again := rec.Type == agent && rec.Tokens == nil || rec.Type == "user" && strings.HasPrefix(usage.TextOf(rec.Content), begin) // it writes all once more after a turn was stopped
	if s.told || !ok || again || rec.Timestamp.Before(s.Started) {
		return
	}
	denied := func(c call) bool { return c.Status == "cancelled" }
	switch {
	case rec.Type == "user", len(rec.ToolCalls) == 0 && l.Event.Said == "", len(rec.ToolCalls) > 0 && !slices.ContainsFunc(rec.ToolCalls, denied):
		s.To(snapshot.Working)
	default:
		s.To(snapshot.Idle)
	}
}

func subagentsOf(main, id string) (folder, pattern string) {
	return path.Join(path.Dir(main), id), "*.jsonl"
}

// What stands between is the program's, before the first prompt.
const begin, end = "<session_context>", "</session_context>"

// chatted is a line of a chat: a message, which is written again when it grows.
type chatted struct {
	ID, Type, Model string
	Timestamp       usage.Moment
	Content         json.RawMessage // a text, or parts
	Tokens          *struct {
		Input    int64 // with what came from the cache
		Output   int64
		Cached   int64
		Thoughts int64
		Tool     int64
	}
	ToolCalls []call `json:"toolCalls"`
}

// call is a call of a tool with what came of it.
type call struct {
	ID, Name, Status string
	Args             json.RawMessage
	Display          json.RawMessage `json:"resultDisplay"` // a text, or an edit
}

// parse reads a line for what the session has used, and for what was asked, said and done.
func parse(text []byte, sub bool) (usage.Line, bool) {
	if !bytes.Contains(text, []byte(`"gemini"`)) && !bytes.Contains(text, []byte(`"user"`)) {
		return usage.Line{}, false
	}
	var rec chatted
	if json.Unmarshal(text, &rec) != nil || rec.ID == "" {
		return usage.Line{}, false
	}
	e := record.Event{When: rec.Timestamp.Time}
	switch rec.Type {
	case "user":
		e.Prompt, e.ID = usage.TextOf(rec.Content), rec.ID
		if rest, ok := strings.CutPrefix(e.Prompt, begin); ok {
			_, rest, _ = strings.Cut(rest, end)
			e.Prompt = strings.TrimSpace(rest)
		}
		return usage.Line{Event: e}, e.Prompt != ""
	case "gemini":
	default:
		return usage.Line{}, false
	}
	e.Said = usage.TextOf(rec.Content)
	for i := range rec.ToolCalls {
		called(&rec.ToolCalls[i], rec.ID+" "+strconv.Itoa(i), &e)
	}
	l := usage.Line{Model: rec.Model, When: rec.Timestamp.Time, Event: e}
	if t := rec.Tokens; t != nil {
		cached := min(t.Cached, t.Input)
		l.ID = rec.ID
		l.Reply = &usage.Reply{In: t.Input - cached + t.Tool, Read: cached, Out: t.Output + t.Thoughts, Reasoning: t.Thoughts}
		if !sub {
			l.Filled = t.Input
		}
	}
	return l, true
}

// called adds a call, and its result if it has one.
func called(c *call, id string, e *record.Event) {
	did := record.Call{ID: cmp.Or(c.ID, id), Tool: c.Name, Subject: record.Subject(c.Args), Writes: c.Name == "run_shell_command" && record.Writes(c.Args)}
	e.Calls = append(e.Calls, did)
	r := record.Result{Call: did.ID}
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
