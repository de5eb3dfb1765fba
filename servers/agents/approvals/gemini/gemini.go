// Package gemini shows in the deck what Gemini CLI asks in its terminal. Its hooks report
// prompts and what a session does; nothing but its terminal can answer.
package gemini

import (
	"os"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// lookEvery is how often the files of sessions that wait are looked at.
const lookEvery = time.Second

// agent is the ID of Gemini CLI in the table of clients.
const agent = "gemini"

// Agent returns Gemini CLI.
func Agent() approvals.Agent {
	asks, terminal := approvals.Measured("TestRealGemini", ""), approvals.Impossible("in its terminal")
	return approvals.Agent{
		ID: agent, Env: []string{"GEMINI_"}, New: func(d approvals.Deps) approvals.Adapter { return seen.New(program(), d) }, Usage: &usage.Format{Vendor: agent, Main: chatOf, Subagents: subagentsOf, Parse: parse}, Shapes: shapes(),
		Cells: approvals.Cells{State: asks, Prompt: asks, Answer: terminal, Question: terminal, Usage: asks, Last: asks, Send: terminal, Editor: approvals.InEditor},
	}
}

func program() seen.Program {
	return seen.Program{
		Agent:  agent,
		Find:   find,
		Follow: func(s *seen.Session) seen.Follower { return &session{Session: s} },
	}
}

// session is one conversation of a Gemini CLI process. It asks one thing at a time. Its transcript
// is its chat, which grows when a prompt is settled.
type session struct {
	*seen.Session
	asks    []ask.Question   // of its tool ask_user, which is about to run
	size    int64            // of the chat, when it began to wait
	log     *claudehooks.Log // of the chat
	of      string           // the path of log
	told    bool             // a hook has told of it
	stopped bool             // the user has stopped its turn
}

// size returns that of a session's file, 0 if there is no such file in a folder, which is Gemini
// CLI's own.
func size(folder, chat string) int64 {
	rel, err := filepath.Rel(folder, chat)
	if err != nil || !filepath.IsLocal(rel) {
		return 0
	}
	info, err := os.Lstat(chat)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// Take implements [seen.Follower].
func (s *session) Take(m hook.Message) {
	s.told = true
	if m.Event != "SessionStart" { // which does not know that one is gone on with in its file
		s.Transcript = m.Payload.Str("transcript_path")
	}
	s.follow()
	switch m.Event {
	case "SessionStart":
		s.To(snapshot.Idle)
	case "BeforeAgent":
		s.SettleAll("a new turn has begun")
		s.stopped = false
		s.To(snapshot.Working)
	case "AfterAgent":
		s.SettleAll("its turn has ended")
		s.To(snapshot.Idle)
	case "BeforeTool":
		s.asks = questions(m)
	case "AfterTool":
		s.Settle("", "answered in its terminal")
		s.LastTool, s.LastSubject = m.Payload.Str("tool_name"), subject(m.Payload)
		if !s.stopped { // of what was stopped, this is told as well
			s.To(snapshot.Working)
		}
	case "Notification":
		if m.Payload.Str("notification_type") == "ToolPermission" {
			s.SettleAll("it asks something else")
			s.ask(m)
		}
	case "SessionEnd":
		s.End()
	}
}

// Look implements [seen.Follower]: it notices what no hook tells, as that a prompt is denied or a
// turn stopped.
func (s *session) Look() time.Duration {
	s.follow()
	if s.Waits() && size(s.Deps.Folder, s.Transcript) > s.size { // what is allowed is reported first
		s.Settle("", "answered in its terminal")
		s.To(snapshot.Idle)
	}
	if s.State == snapshot.Working || s.Waits() || !s.told {
		return lookEvery
	}
	return 0
}
