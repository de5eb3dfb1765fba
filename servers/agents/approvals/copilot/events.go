package copilot

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// event is one of a session's.
type event struct {
	ID, Type string
	When     time.Time `json:"-"`
	Time     string    `json:"timestamp"`
	Data     struct {
		Content string
		Model   string `json:"model"` // of a message
		New     string `json:"newModel"`
		Chosen  string `json:"selectedModel"`
		Version string `json:"copilotVersion"`
		Context struct{ Cwd string }
		Calls   []struct{} `json:"toolRequests"`

		Call   string          `json:"toolCallId"`
		Tool   string          `json:"toolName"`
		Args   json.RawMessage `json:"arguments"`
		Input  json.RawMessage // of a hook
		Ok     *bool           `json:"success"`
		Result struct {
			Kind   string // of a permission
			Detail string `json:"detailedContent"`
		}
		Error struct{ Message, Code string }
		Edits []struct{ Path string }     `json:"fileEdits"`
		Shell *struct{ ExitCode float64 } `json:"shellExecution"`
		Meter struct {
			Metrics struct {
				Limit float64 `json:"context_token_limit"` // written as 128000.0
			}
		} `json:"toolTelemetry"`

		Request string `json:"requestId"`
		Source  string `json:"decisionSource"`
		Asks    struct {
			Command string `json:"fullCommandText"`
			File    string `json:"fileName"`
		} `json:"permissionRequest"`
		Hook     string `json:"hookInvocationId"`
		HookType string
		Usage    *struct {
			Model string
			In    float64 `json:"inputTokens"` // with what came from the cache
			Out   float64 `json:"outputTokens"`
			Read  float64 `json:"cacheReadTokens"`
			Write float64 `json:"cacheWriteTokens"`
		}
	}
}

// readEvent reads a line, and reports whether it is an event that says something here.
func readEvent(text []byte) (e event, ok bool) {
	if bytes.HasPrefix(text, []byte(`{"type":"system.message"`)) { // large
		return e, false
	}
	if json.Unmarshal(text, &e) != nil || e.Type == "" {
		return e, false
	}
	e.When, _ = time.Parse(time.RFC3339, e.Time) // what is no time is none
	return e, true
}

// asksUser is the tool by which the agent asks its own questions.
const asksUser = "ask_user"

// take takes in what an event says of what the session does.
func (s *session) take(e *event) {
	d := &e.Data
	s.spoke = s.spoke || strings.HasPrefix(e.Type, "user.") || strings.HasPrefix(e.Type, "assistant.")
	switch e.Type {
	case "session.start", "session.resume":
		s.Folder, s.Started = d.Context.Cwd, e.When
		if d.Version != "" {
			s.Version = d.Version
		}
		s.Model = d.Chosen
		s.to(snapshot.Idle, e.When)
	case "session.model_change":
		s.Model = d.New
	case "user.message", "assistant.turn_start":
		s.to(snapshot.Working, e.When)
	case "assistant.message":
		s.quiet = len(d.Calls) == 0
	case "assistant.turn_end":
		if s.quiet {
			s.rest(e)
		}
	case "abort":
		s.rest(e)
	case "permission.requested":
		s.open[d.Request] = true
		s.to(snapshot.WaitsForPermission, e.When)
	case "permission.completed":
		if delete(s.open, d.Request); len(s.open) == 0 {
			s.to(snapshot.Working, e.When)
		}
	case "tool.execution_start":
		if d.Tool == asksUser {
			s.asks = d.Call
			s.to(snapshot.WaitsForAnswer, e.When)
		}
	case "tool.execution_complete":
		if s.asks != "" && s.asks == d.Call {
			s.asks = ""
			s.to(snapshot.Working, e.When)
		}
	}
}

// rest notes that a turn has ended.
func (s *session) rest(e *event) {
	s.asks = ""
	clear(s.open)
	s.to(snapshot.Idle, e.When)
}

// eventsOf is session-state/ID/events.jsonl.
func eventsOf(look usage.Lookup, id string) string {
	if name := path.Join("session-state", id, "events.jsonl"); look.Is(name) {
		return name
	}
	return ""
}

// parse reads a line for what the session has used, and for what was asked, said and done.
func parse(text []byte, _ bool) (usage.Line, bool) {
	e, ok := readEvent(text)
	d := &e.Data
	out := usage.Line{When: e.When, Event: record.Event{When: e.When}}
	say := &out.Event
	switch e.Type {
	case "user.message":
		say.Prompt, say.ID = d.Content, e.ID
	case "assistant.message":
		say.Said, out.Model = d.Content, d.Model
	case "session.usage_record":
		if u := d.Usage; u != nil {
			read := min(u.Read, u.In)
			out.ID, out.Model, out.Filled = e.ID, u.Model, int64(u.In)
			out.Reply = &usage.Reply{In: int64(u.In - read), Read: int64(read), Write: int64(u.Write), Out: int64(u.Out)}
		}
	case "tool.execution_start":
		say.Calls = []record.Call{{ID: d.Call, Tool: d.Tool, Subject: record.Subject(d.Args), Writes: isShell(d.Tool) && record.Writes(d.Args)}}
	case "tool.execution_complete":
		out.Window = int64(d.Meter.Metrics.Limit)
		say.Results = []record.Result{e.result()}
	default:
		return usage.Line{}, false
	}
	return out, ok
}

func isShell(tool string) bool { return tool == "bash" || tool == "powershell" }

// result is what came of a call.
func (e *event) result() record.Result {
	d := &e.Data
	r := record.Result{Call: d.Call, Denied: d.Error.Code == "denied"}
	r.Failed = d.Ok != nil && !*d.Ok && !r.Denied
	if d.Shell != nil && d.Shell.ExitCode != 0 {
		r.Failed, r.Outcome = true, "exit "+strconv.Itoa(int(d.Shell.ExitCode))
	}
	if len(d.Edits) == 1 && d.Result.Detail != "" {
		r.Files = []snapshot.ChangedFile{record.Diff(d.Edits[0].Path, d.Result.Detail)}
	} else {
		for _, f := range d.Edits {
			r.Files = append(r.Files, snapshot.ChangedFile{Path: f.Path})
		}
	}
	return r
}
