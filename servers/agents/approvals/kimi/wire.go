package kimi

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// wireOf is sessions/FOLDER/ID/agents/main/wire.jsonl.
func wireOf(look usage.Lookup, id string) string {
	return look.Newest("sessions/*/" + id + "/agents/main/wire.jsonl")
}

func subagentsOf(main, _ string) (folder, pattern string) {
	return path.Dir(path.Dir(main)), "agent-*/wire.jsonl"
}

// line is one of the record of a session or a sub-agent.
type line struct {
	Type, Model, Mode, Path string
	Time                    int64 // in ms
	PromptID                string
	Input                   []part
	Origin                  struct{ Kind string }
	Tokens                  int64
	Usage                   *struct{ InputOther, Output, InputCacheRead, InputCacheCreation int64 }
	Entry                   struct{ Key *string }
	Event                   struct {
		Type    string
		Part    part
		CallID  string `json:"toolCallId"`
		Name    string
		Args    json.RawMessage
		Display display
		Result  struct {
			Output  json.RawMessage
			IsError bool
		}
	}
}

type part struct{ Type, Text string }

// display is what a call of a tool does.
type display struct {
	Kind, Operation, Path string
	Content, Plan         string
	Before, After         string
}

// kinds are the lines that are read. Others repeat them, or hold the prompts of the program itself.
var kinds = [][]byte{
	[]byte(`{"type":"turn.prompt"`), []byte(`{"type":"turn.ended"`), []byte(`{"type":"usage.record"`), []byte(`{"type":"context.append_loop_event"`), []byte(`{"type":"llm.request"`),
	[]byte(`{"type":"token_counting.measured"`), []byte(`{"type":"permission.set_mode"`), []byte(`{"type":"file_history.tracked"`),
}

// parse reads a line for what the session has used, and for what was asked, said and done.
func parse(text []byte, sub bool) (usage.Line, bool) {
	var l line
	known := false
	for _, k := range kinds {
		known = known || bytes.HasPrefix(text, k)
	}
	if !known || json.Unmarshal(text, &l) != nil {
		return usage.Line{}, false
	}
	out := usage.Line{When: time.UnixMilli(l.Time)}
	e := &out.Event
	e.When = out.When
	switch l.Type {
	case "turn.prompt":
		if l.Origin.Kind == "user" && !sub {
			e.Prompt, e.ID = said(l.Input), l.PromptID
		}
		if sub {
			out.Turn = usage.InTurn
		}
	case "turn.ended":
		if sub {
			out.Turn = usage.TurnOver
		}
	case "usage.record":
		if u := l.Usage; u != nil {
			out.ID = string(text) // no line stands twice; its model is a name that the user chose
			out.Reply = &usage.Reply{In: u.InputOther, Out: u.Output, Read: u.InputCacheRead, Write: u.InputCacheCreation}
		}
	case "llm.request":
		out.Model = l.Model
	case "token_counting.measured":
		if !sub {
			out.Filled = l.Tokens
		}
	case "permission.set_mode":
		if !sub {
			out.Mode = l.Mode
		}
	case "file_history.tracked":
		if l.Entry.Key == nil {
			e.New = l.Path
		}
	default:
		l.step(e)
	}
	return out, true
}

// step reads a line about a step of a turn.
func (l *line) step(e *record.Event) {
	did := &l.Event
	switch did.Type {
	case "content.part":
		if did.Part.Type == "text" {
			e.Said = did.Part.Text
		}
	case "tool.call":
		c := record.Call{ID: did.CallID, Tool: did.Name, Subject: record.Subject(did.Args)}
		c.Writes = did.Display.Kind == "command" && record.Writes(did.Args)
		if did.Display.Kind == "file_io" {
			c.Files, c.Writes = did.Display.changes(did.Args)
		}
		e.Calls = []record.Call{c}
	case "tool.result":
		r := record.Result{Call: did.CallID, Failed: did.Result.IsError}
		r.Denied = r.Failed && bytes.Contains(did.Result.Output, []byte("was not run because the user rejected"))
		e.Results = []record.Result{r}
	}
}

// changes returns what a call does to a file, and whether it may do more.
func (d *display) changes(args json.RawMessage) (files []snapshot.ChangedFile, more bool) {
	var in struct {
		Mode string
		All  bool `json:"replace_all"`
	}
	_ = json.Unmarshal(args, &in) // what has another shape does neither
	switch d.Operation {
	case "write":
		f := record.Whole(d.Path, d.Content, true)
		if in.Mode == "append" {
			f.Diff = ""
		}
		return []snapshot.ChangedFile{f}, false
	case "edit":
		f := record.Compared(d.Path, d.Before, d.After)
		if at := strings.Index(f.Diff, "@@\n"); at >= 0 { // where in the file is not known
			f.Diff = "@@" + f.Diff[at+2:]
		}
		return []snapshot.ChangedFile{f}, in.All
	}
	return nil, false
}

// said is the text of a prompt.
func said(parts []part) string {
	var all []string
	for _, p := range parts {
		if p.Type == "text" {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}
