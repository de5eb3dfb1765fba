package gemini

import (
	"cmp"
	"encoding/json"
	"strconv"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
)

// inTerminal is said of every prompt.
const inTerminal = "Gemini CLI takes answers in its own terminal only."

// ask shows what the session waits for.
func (s *session) ask(m hook.Message) {
	p := &ask.Prompt{Kind: ask.Permission}
	r := s.Request(p)
	details, _ := rawjson.SplitObject(m.Payload.Some("details")) // as its shape says
	describe(p, details)
	p.Marks = approvals.Marks(p.Command, s.Folder)
	approvals.MarkPath(p, s.Folder)
	asks := s.asks
	s.asks, s.size = nil, size(s.Deps.Folder, s.Transcript)
	switch err := shapes().Err(m.Raw); {
	case m.TooLarge:
		p.Command, p.Diff, p.Args = "", "", nil
		approvals.InTerminal(&r, "It cannot be shown here. "+inTerminal)
	case err != nil:
		approvals.Misread(&r, err)
	case details.Str("type") == "ask_user":
		p.Kind = ask.OwnQuestion
		if r.Questions = asks; asks == nil {
			approvals.InTerminal(&r, inTerminal)
		}
	default:
		approvals.InTerminal(&r, inTerminal)
	}
	s.Ask("", r)
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

// questions reads those of a call of ask_user, none if they cannot be shown.
func questions(m hook.Message) (out []ask.Question) {
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
		return nil
	}
	list := in.Input.Questions
	if len(list) == 0 || len(list) > ask.MaxQuestions {
		return nil
	}
	for i, one := range list {
		if one.Question == "" || len(one.Options) > ask.MaxOptions {
			return nil
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
	return out
}
