package qwen

import (
	"bytes"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// chatOf is projects/FOLDER/chats/ID.jsonl, where FOLDER is the project's path with dashes.
func chatOf(look usage.Lookup, id string) string {
	return look.Newest("projects/*/chats/" + id + ".jsonl")
}

// doingFor is how long a session may be at work without a line in its chat.
const doingFor = 10 * time.Minute

// doing is what the end of a session's chat says that its process does, and since when; "" if
// that is not known. No hook has told a deck that came later.
func (a *Adapter) doing(p *process) (state snapshot.SessionState, since time.Time) {
	if p.ID == "" || strings.ContainsAny(p.ID, `*?[\/`) {
		return "", since
	}
	dir := filepath.Join(a.opt.Folder, "projects")
	names, _ := filepath.Glob(filepath.Join(dir, "*", "chats", p.ID+".jsonl")) // the pattern is well formed
	if len(names) != 1 {
		return "", since
	}
	log := claudehooks.OpenLog(dir, names[0])
	if log == nil {
		return "", since
	}
	defer log.Close()
	log.Read(func(text []byte) {
		var l line
		if !l.read(text) {
			return
		}
		switch {
		case l.Type == "user", l.Type == "tool_result" && l.Result.Status != "cancelled", l.Type == "assistant" && l.calls():
			state = snapshot.Working
		case l.Type == "tool_result", l.Type == "assistant" && l.said() != "":
			state = snapshot.Idle
		default:
			return
		}
		since, _ = time.Parse(time.RFC3339, l.Timestamp) // what is no time is none
	})
	if state == snapshot.Working && (since.UnixMilli() < p.Began || time.Since(since) > doingFor) {
		return "", since // the process that was at work has ended, or it was interrupted
	}
	return state, since
}

func (l *line) calls() bool {
	return slices.ContainsFunc(l.Message.Parts, func(p part) bool { return p.Call != nil })
}

func subagentsOf(main, id string) (folder, pattern string) {
	return path.Join(path.Dir(path.Dir(main)), "subagents", id), "agent-*.jsonl"
}

// line is one of a chat, of a session or a sub-agent.
type line struct {
	UUID, Type, Provenance, Model string
	Timestamp                     string
	Message                       struct{ Parts []part }
	Usage                         *struct {
		Prompt int64 `json:"promptTokenCount"` // with what came from the cache
		Reply  int64 `json:"candidatesTokenCount"`
		Think  int64 `json:"thoughtsTokenCount"`
		Cached int64 `json:"cachedContentTokenCount"`
		Total  int64 `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	Result struct {
		Status    string          `json:"status"`
		Execution string          `json:"executionStatus"` // a sub-agent's calls have none
		Error     string          `json:"errorType"`
		Display   json.RawMessage `json:"resultDisplay"` // a text, an edit, or something else
	} `json:"toolCallResult"`
}

// part is one of what a message consists of.
type part struct {
	Text    string
	Thought bool
	Call    *struct {
		ID, Name string
		Args     json.RawMessage
	} `json:"functionCall"`
	Response *struct{ ID string } `json:"functionResponse"`
}

// read reads a line, and reports whether it is of the conversation.
func (l *line) read(text []byte) bool {
	if bytes.Contains(text, []byte(`"type":"system"`)) && !bytes.Contains(text, []byte(`"parts"`)) { // most are, some of them large
		return false
	}
	return json.Unmarshal(text, l) == nil
}

// denied reports whether a call never ran, since it was not allowed.
func (l *line) denied() bool {
	return l.Result.Error == "execution_denied" || l.Result.Status == "cancelled" && l.Result.Execution == "not_started"
}

// parse reads a line for what the session has used, and for what was asked, said and done.
func parse(text []byte, sub bool) (usage.Line, bool) {
	var l line
	if !l.read(text) {
		return usage.Line{}, false
	}
	e := record.Event{}
	e.When, _ = time.Parse(time.RFC3339, l.Timestamp) // what is no time is none
	out := usage.Line{When: e.When}
	switch l.Type {
	case "user":
		if l.Provenance == "real_user" && !sub {
			e.Prompt, e.ID = l.said(), l.UUID
		}
	case "assistant":
		e.Said, out.Model = l.said(), l.Model
		for _, p := range l.Message.Parts {
			if c := p.Call; c != nil {
				e.Calls = append(e.Calls, record.Call{ID: c.ID, Tool: c.Name, Subject: record.Subject(c.Args), Writes: does(c.Name) == claudehooks.Command && record.Writes(c.Args)})
			}
		}
		if u := l.Usage; u != nil {
			cached := min(u.Cached, u.Prompt)
			out.ID = l.UUID
			out.Reply = &usage.Reply{In: u.Prompt - cached, Read: cached, Out: max(u.Total-u.Prompt, u.Reply), Reasoning: u.Think}
			if !sub {
				out.Filled = u.Prompt
			}
		}
	case "tool_result":
		for _, p := range l.Message.Parts {
			if p.Response != nil {
				e.Results = append(e.Results, l.result(p.Response.ID))
			}
		}
	default:
		return usage.Line{}, false
	}
	if out.Event = e; sub {
		if out.Turn = usage.InTurn; e.Said != "" && len(e.Calls) == 0 {
			out.Turn = usage.TurnOver
		}
	}
	return out, true
}

// said is the text of a message.
func (l *line) said() string {
	var all []string
	for _, p := range l.Message.Parts {
		if p.Text != "" && !p.Thought {
			all = append(all, p.Text)
		}
	}
	return strings.Join(all, "\n")
}

func (l *line) result(id string) record.Result {
	r := record.Result{Call: id, Denied: l.denied()}
	r.Failed = l.Result.Status == "error" && !r.Denied
	var did struct {
		Path string `json:"filePath"`
		Diff string `json:"fileDiff"`
	}
	if json.Unmarshal(l.Result.Display, &did) == nil && did.Diff != "" && did.Path != "" {
		r.Files = []snapshot.ChangedFile{record.Diff(did.Path, did.Diff)}
	}
	return r
}

// call is one that the model has made.
type call struct {
	id, tool string
	args     json.RawMessage
}

// end is how a call came to its end: somehow, or with the tool run, or without.
type end int

const (
	ended end = iota
	allowed
	denied
)

// words says what was answered where that was not the deck.
func (e end) words() string { return []string{"", ": allowed", ": denied"}[e] }

// read takes in what the record of the item's session, or sub-agent, says since.
func (it *item) read() {
	if it.log == nil {
		return
	}
	it.log.Read(func(text []byte) {
		var l line
		if !l.read(text) {
			return
		}
		for _, p := range l.Message.Parts {
			switch {
			case p.Call != nil:
				it.calls = append(it.calls, call{p.Call.ID, p.Call.Name, p.Call.Args})
			case p.Response != nil && l.denied():
				it.ends[p.Response.ID] = denied
			case p.Response != nil && l.Result.Execution != "":
				it.ends[p.Response.ID] = allowed
			case p.Response != nil:
				it.ends[p.Response.ID] = ended
			}
		}
	})
}

// match finds the call that the item is about: the first with its tool and input that had
// not ended when it came, and that no other item has.
func (it *item) match() {
	if it.call != "" || len(it.calls) == 0 {
		return
	}
	it.a.mu.Lock()
	defer it.a.mu.Unlock()
	for _, c := range it.calls {
		if c.tool == it.tool && !it.old[c.id] && !it.session.claimed[c.id] && claudehooks.SameInput(c.args, it.input) {
			it.call, it.session.claimed[c.id] = c.id, true
			return
		}
	}
}
