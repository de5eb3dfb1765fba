// Package kimi shows in the deck what Kimi Code asks in its terminal. Its hooks report prompts
// and what a session does; nothing but its terminal can answer.
package kimi

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// agent is the ID of Kimi Code in the table of clients.
const agent = "kimi"

const (
	lookEvery = 500 * time.Millisecond // while a turn goes on
	// A hook that reports the end of a turn, or of a sub-agent's, comes before that is recorded.
	lookSoon = 50 * time.Millisecond
	endsIn   = time.Second
	maxState = 1 << 20 // bytes of a session's state.json
)

// inTerminal is said of every prompt.
const inTerminal = "Kimi Code takes answers in its own terminal only, or under an editor by mcpdeck acp."

// Agent returns Kimi Code.
func Agent() approvals.Agent {
	asks, terminal := approvals.Measured("TestRealKimi", ""), approvals.Impossible("in its terminal, or under an editor by `mcpdeck acp`")
	return approvals.Agent{
		ID: agent, Env: []string{"KIMI_"}, New: func(d approvals.Deps) approvals.Adapter { return seen.New(program(), d) },
		Usage:  &usage.Format{Main: wireOf, Subagents: subagentsOf, Parse: parse},
		Cells:  approvals.Cells{State: asks, Prompt: asks, Answer: terminal, Question: approvals.Impossible("in its terminal"), Usage: asks, Last: asks, Send: approvals.Impossible("in its terminal"), Editor: approvals.InEditor},
		Shapes: shapes(),
	}
}

func program() seen.Program {
	return seen.Program{
		Agent:  agent,
		Many:   true, // it also serves browsers
		Find:   find,
		Follow: func(s *seen.Session) seen.Follower { return &session{Session: s} },
	}
}

// find returns the session of a process: the last one that was written in its folder.
func find(d *approvals.Deps, p seen.Process) (id, wire string) {
	wire = p.Wrote(filepath.Join(d.Folder, "sessions", "*", "*", "agents", "main", "wire.jsonl"), func(path string) bool {
		return stateOf(path).Folder == p.Folder
	})
	if wire == "" {
		return "", ""
	}
	return filepath.Base(folderOf(wire)), wire
}

// folderOf is that of a session, above its record.
func folderOf(wire string) string { return filepath.Dir(filepath.Dir(filepath.Dir(wire))) }

// state is what is read of a session's state.json.
type state struct {
	Folder string `json:"cwd"`
	Title  string `json:"title"`
	Kind   string `json:"titleKind"`
	Named  bool   `json:"isCustomTitle"`
}

// stateOf reads that of the session with a record; the zero one if it cannot be read.
func stateOf(wire string) (s state) {
	raw, err := file.Read(filepath.Join(folderOf(wire), "state.json"), maxState)
	if err != nil || json.Unmarshal(raw, &s) != nil {
		return state{}
	}
	return s
}

// session is one conversation of a Kimi Code process.
type session struct {
	*seen.Session
	wire  *claudehooks.Log // nil: it is not there yet
	twins approvals.Twins
	stops time.Time // when a turn was about to end
}

// Take implements [seen.Follower].
func (s *session) Take(m hook.Message) {
	s.read()
	switch call := m.Payload.Str("tool_call_id"); m.Event {
	case "SessionStart": // of a process that nothing goes on in, whatever went on in the one before
		s.To(snapshot.Idle)
	case "UserPromptSubmit":
		s.To(snapshot.Working)
	case "PermissionRequest":
		s.Ask(m.Payload.Str("id"), s.permission(m))
	case "PermissionResult":
		how, known := map[string]string{"approved": ": allowed", "rejected": ": denied"}[m.Payload.Str("decision")]
		if !known {
			how = ""
		}
		s.Settle(m.Payload.Str("id"), "answered in its terminal"+how)
	case "PreToolUse":
		s.Ask(call, s.question(m))
	case "PostToolUse", "PostToolUseFailure":
		s.Settle(call, "answered in its terminal")
	case "Stop":
		if s.stops = time.Now(); s.wire == nil {
			s.turn(false)
		}
	case "SessionEnd":
		s.End()
		return
	}
	s.title()
}

// Look implements [seen.Follower].
func (s *session) Look() time.Duration {
	s.read()
	s.title()
	switch {
	case s.State != snapshot.Working && !s.Waits():
		return 0
	case time.Since(s.stops) < endsIn:
		return lookSoon
	}
	return lookEvery
}

// read takes in what the session's record says since of its turns. Hooks do not tell a session's
// turn from one of its sub-agents'.
func (s *session) read() {
	if s.wire == nil {
		if filepath.Base(s.ID) != s.ID || strings.ContainsAny(s.ID, `*?[\`) {
			return
		}
		names, err := filepath.Glob(filepath.Join(s.Deps.Folder, "sessions", "*", s.ID, "agents", "main", "wire.jsonl"))
		if err != nil || len(names) == 0 {
			return
		}
		if s.wire = claudehooks.OpenLog(filepath.Join(s.Deps.Folder, "sessions"), names[0]); s.wire == nil {
			return
		}
		s.Transcript = names[0]
	}
	some, goes := false, false
	s.wire.Read(func(text []byte) {
		begins := bytes.HasPrefix(text, []byte(`{"type":"turn.prompt"`))
		if begins || bytes.HasPrefix(text, []byte(`{"type":"turn.ended"`)) {
			some, goes = true, begins && !s.before(text)
		}
	})
	if some {
		s.turn(goes)
	}
}

// before reports whether a line is of an earlier process than the one that was found.
func (s *session) before(text []byte) bool {
	var l line
	return json.Unmarshal(text, &l) == nil && time.UnixMilli(l.Time).Before(s.Started)
}

// turn notes whether a turn goes on.
func (s *session) turn(goes bool) {
	switch {
	case !goes:
		s.SettleAll("its turn has ended")
		s.To(snapshot.Idle)
	case !s.Waits():
		s.To(snapshot.Working)
	}
}

// title reads what the session is called.
func (s *session) title() {
	if s.Transcript == "" {
		return
	}
	if now := stateOf(s.Transcript); now.Title != "" && now.Kind != "replaceable" { // that is the first prompt
		s.Title, s.Named = now.Title, now.Named
	}
}

// permission makes a request of a permission.
func (s *session) permission(m hook.Message) ask.Request {
	p := &ask.Prompt{Kind: ask.Permission, Tool: m.Payload.Str("tool_name")}
	if id := m.Payload.Str("agent_id"); id != "main" {
		p.Subagent = s.twins.Name(s.ID, "sub-agent", id)
	}
	r := s.Request(p)
	switch err := shapes().Err(m.Raw); {
	case m.TooLarge:
		approvals.InTerminal(&r, "It cannot be shown here. "+inTerminal)
		return r
	case err != nil:
		approvals.Misread(&r, err)
		return r
	}
	input, _ := rawjson.SplitObject(m.Payload.Some("tool_input")) // as its shape says
	var d display
	_ = json.Unmarshal(m.Payload.Some("display"), &d) // what has another shape tells nothing
	does := claudehooks.Other
	switch {
	case d.Kind == "command":
		does = claudehooks.Command
	case d.Kind == "file_io" && input.Str("mode") != "append":
		does = claudehooks.Edit
		input = append(rawjson.Object{{Key: "file_path", Value: rawjson.Quote(d.Path)}}, input.Without("path", "file_path")...)
	}
	claudehooks.Describe(p, does, input, s.Folder)
	approvals.MarkPath(p, s.Folder)
	why := inTerminal
	if d.Kind == "plan_review" {
		p.Kind, why = ask.Plan, strings.TrimSpace(d.Plan+"\n\n"+why)
	}
	approvals.InTerminal(&r, why)
	return r
}

// question makes a request of the questions of a call of AskUserQuestion.
func (s *session) question(m hook.Message) ask.Request {
	p := &ask.Prompt{Kind: ask.OwnQuestion, Tool: m.Payload.Str("tool_name")}
	r := s.Request(p)
	var err error
	if r.Questions, err = claudehooks.Questions(m.Payload.Some("tool_input")); err != nil || m.TooLarge {
		approvals.InTerminal(&r, inTerminal)
	}
	for i := range r.Questions {
		r.Questions[i].Description = inTerminal
	}
	return r
}
