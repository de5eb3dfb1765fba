package gemini

import (
	"cmp"
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// inTerminal is said of every prompt.
const inTerminal = "Gemini CLI takes answers in its own terminal only."

// ask shows what a session waits for.
func (a *Adapter) ask(s *session, m hook.Message, size int64) {
	now := time.Now()
	p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey()}
	r := approvals.Request(&snapshot.Session{Agent: agent, ID: s.ID, PID: s.PID, Folder: s.Folder, Verified: true}, p)
	r.Local, p.Door = true, ask.InTerminal
	details, err := rawjson.SplitObject(m.Payload.Some("details"))
	describe(p, details)
	p.Marks = approvals.Marks(p.Command, s.Folder)
	approvals.MarkPath(p, s.Folder)
	state := snapshot.WaitsForPermission
	asks := s.asks
	s.asks = nil
	switch {
	case m.TooLarge || err != nil:
		p.Command, p.Diff, p.Args = "", "", nil
		approvals.InTerminal(&r, "It cannot be shown here. "+inTerminal)
	case details.Str("type") == "ask_user":
		p.Kind, state = ask.OwnQuestion, snapshot.WaitsForAnswer
		if r.Questions = asks; asks == nil {
			approvals.InTerminal(&r, inTerminal)
		}
	default:
		approvals.InTerminal(&r, inTerminal)
	}
	s.State, s.Since, s.size = state, now, size
	s.WaitingFor = "permission: " + p.Tool
	if state == snapshot.WaitsForAnswer {
		s.WaitingFor = "an answer"
	}
	if !a.pace.Admit(s.ID, s.Folder, 0, now) {
		return
	}
	call, err := a.opt.Queue.Open(r)
	if err != nil {
		a.opt.Log.Info("a prompt of Gemini CLI is not shown", "error", err)
		return
	}
	s.open = call
}

// describe fills in what Gemini CLI asks for.
func describe(p *ask.Prompt, o rawjson.Object) {
	p.Tool = o.Str("title")
	switch o.Str("type") {
	case "exec":
		p.Tool, p.Command = "Shell", o.Str("command")
	case "edit":
		p.Tool, p.Path, p.Diff = "Edit", cmp.Or(o.Str("filePath"), o.Str("fileName")), o.Str("fileDiff")
	case "mcp":
		p.Tool, p.Args = cmp.Or(o.Str("toolDisplayName"), o.Str("toolName"), p.Tool), o.Only("serverName", "toolName").JSON()
	case "info":
		p.Args = o.Only("prompt", "urls").JSON()
	}
}

// subject is what a call of a tool is about, in one line.
func subject(o rawjson.Object) string {
	in, err := rawjson.SplitObject(o.Some("tool_input"))
	if err != nil {
		return ""
	}
	return cmp.Or(in.Str("command"), in.Str("file_path"), in.Str("path"), in.Str("query"))
}

// questions reads those of a call of ask_user.
func questions(m hook.Message) ([]ask.Question, error) {
	var in struct {
		Input struct {
			Questions []struct {
				Question, Header, Type string
				MultiSelect            bool
				Options                []ask.Option
			}
		} `json:"tool_input"`
	}
	if m.TooLarge || m.Payload.Str("tool_name") != "ask_user" || json.Unmarshal(m.Raw, &in) != nil {
		return nil, approvals.ErrShape
	}
	list := in.Input.Questions
	if len(list) == 0 || len(list) > ask.MaxQuestions {
		return nil, approvals.ErrShape
	}
	var out []ask.Question
	for i, one := range list {
		if one.Question == "" || len(one.Options) > ask.MaxOptions {
			return nil, approvals.ErrShape
		}
		q := ask.Question{ID: "q" + strconv.Itoa(i+1), Question: one.Question, Header: one.Header, Description: inTerminal, Kind: ask.Choice, Options: one.Options, Multi: one.MultiSelect}
		if one.Type == "yesno" {
			q.Options = []ask.Option{{Label: "Yes"}, {Label: "No"}}
		}
		if len(q.Options) == 0 {
			q.Kind = ask.Text
		}
		out = append(out, q)
	}
	return out, nil
}
