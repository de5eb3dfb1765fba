// Package agy shows in the deck what Antigravity CLI asks in its terminal, by what is published of
// its hooks and transcripts. No version of it was run with mcpdeck.
package agy

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// agent is the ID of Antigravity CLI in the table of clients.
const agent = "agy"

// lookEvery is how often the transcript of a session at work is read.
const lookEvery = time.Second

// inTerminal is said of every prompt.
const inTerminal = "Antigravity CLI takes answers in its own terminal only. It does not ask there if you always allow this command."

// asks is what the hook of a command prints: an allow would not spare the program's own dialog,
// and anything else would override what the user always allows.
const asks = `{"decision":"ask"}`

// Agent returns Antigravity CLI.
func Agent() approvals.Agent {
	says, terminal := approvals.Contract(""), approvals.Impossible("in its terminal")
	return approvals.Agent{
		ID: agent, Env: []string{"ANTIGRAVITY_"}, New: func(d approvals.Deps) approvals.Adapter { return seen.New(program(), d) },
		Usage: &usage.Format{Main: transcriptOf, Parse: parse}, Shapes: shapes(),
		Cells: approvals.Cells{State: says, Prompt: approvals.Contract("commands alone"), Answer: terminal, Question: terminal, Usage: approvals.Impossible("not recorded"), Last: says, Send: terminal, Editor: terminal},
	}
}

func program() seen.Program {
	return seen.Program{
		Agent: agent,
		Head: func(m hook.Message) (id, folder string) {
			var at []string
			_ = json.Unmarshal(m.Payload.Get("workspacePaths"), &at) // as its shape says
			if len(at) > 0 {
				folder = at[0]
			}
			return m.Payload.Str("conversationId"), folder
		},
		Prints: func(m hook.Message) string {
			if m.Payload.Get("stepIdx") == nil { // doctor tries it
				return ""
			}
			return asks
		},
		Follow: func(s *seen.Session) seen.Follower { return &session{Session: s} },
	}
}

// shapes are what is read of what Antigravity CLI tells its hooks and writes into transcripts.
func shapes() approvals.Shapes {
	return approvals.Shapes{
		{Name: "hook", When: "conversationId stepIdx", Fields: "conversationId string, stepIdx number, toolCall object?", Also: "transcriptPath string, workspacePaths[] string, toolCall.args.CommandLine string"},
		{Name: "prompt", When: "type=USER_INPUT", Also: "content string, created_at string"},
		{Name: "reply", When: "type=PLANNER_RESPONSE", Also: "content string, created_at string"},
	}
}

// session is one conversation.
type session struct {
	*seen.Session
	log  *claudehooks.Log // of its transcript
	step string           // of the command that was asked about last
}

// Take implements [seen.Follower]. A hook does not say of which event it is: the same step tells
// first that a command is to be run, and then that it has ended.
func (s *session) Take(m hook.Message) {
	if s.log == nil {
		s.Transcript = m.Payload.Str("transcriptPath")
		s.log = claudehooks.OpenLog(s.Deps.Folder, s.Transcript)
	}
	s.read()
	step := string(m.Payload.Get("stepIdx"))
	call, err := rawjson.SplitObject(m.Payload.Some("toolCall"))
	if err != nil || step == s.step || m.Payload.Get("error") != nil {
		s.Settle(step, "answered in its terminal")
		s.To(snapshot.Working)
		return
	}
	s.step = step
	s.Ask(step, s.permission(m, call))
}

// permission makes a request of a command.
func (s *session) permission(m hook.Message, call rawjson.Object) ask.Request {
	p := &ask.Prompt{Kind: ask.Permission, Tool: call.Str("name")}
	r := s.Request(p)
	args, err := rawjson.SplitObject(call.Some("args"))
	if err == nil {
		err = shapes().Err(m.Raw)
	}
	switch p.Command = args.Str("CommandLine"); {
	case m.TooLarge:
		p.Command = ""
		approvals.InTerminal(&r, "It cannot be shown here. "+inTerminal)
	case err != nil:
		approvals.Misread(&r, err)
	default:
		p.Marks = approvals.Marks(p.Command, s.Folder)
		approvals.InTerminal(&r, inTerminal)
	}
	return r
}

// Look implements [seen.Follower]: its transcript says when a turn begins and ends.
func (s *session) Look() time.Duration {
	s.read()
	if s.State == snapshot.Working || s.Waits() {
		return lookEvery
	}
	return 0
}

func (s *session) read() {
	if s.log == nil {
		return
	}
	s.log.Read(func(text []byte) {
		switch l, ok := parse(text, false); {
		case !ok:
		case l.Event.Prompt != "":
			s.SettleAll("a new turn has begun")
			s.To(snapshot.Working)
		case l.Turn == usage.TurnOver:
			s.SettleAll("its turn has ended")
			s.To(snapshot.Idle)
		}
	})
}

// transcriptOf is brain/ID/.system_generated/logs/transcript_full.jsonl.
func transcriptOf(look usage.Lookup, id string) string {
	return look.Newest("brain/" + id + "/.system_generated/logs/transcript_full.jsonl")
}

// parse reads a line for what was asked and said.
func parse(text []byte, _ bool) (usage.Line, bool) {
	var l struct {
		Type, Content string
		Created       usage.Moment      `json:"created_at"`
		Calls         []json.RawMessage `json:"tool_calls"`
	}
	if !bytes.Contains(text, []byte(`"USER_INPUT"`)) && !bytes.Contains(text, []byte(`"PLANNER_RESPONSE"`)) || json.Unmarshal(text, &l) != nil {
		return usage.Line{}, false
	}
	out := usage.Line{When: l.Created.Time, Event: record.Event{When: l.Created.Time}}
	switch l.Type {
	case "USER_INPUT":
		out.Event.Prompt = asked(l.Content)
	case "PLANNER_RESPONSE":
		out.Event.Said = l.Content
		if len(l.Calls) == 0 {
			out.Turn = usage.TurnOver
		}
	}
	return out, out.Event.Prompt != "" || out.Event.Said != "" || out.Turn == usage.TurnOver
}

// asked is what the user has typed; the rest is the program's.
func asked(content string) string {
	const begin, end = "<USER_REQUEST>", "</USER_REQUEST>"
	if _, rest, ok := strings.Cut(content, begin); ok {
		content, _, _ = strings.Cut(rest, end)
	}
	return strings.TrimSpace(content)
}
