package demo

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// daemonMethod has the stand-in for Codex run the daemon of its sessions. Its result is the
// answer to what a session asks, null if it asks nothing.
const daemonMethod = "demo/daemon"

// daemonAsks is the session of the daemon, and what it asks.
type daemonAsks struct {
	Home    string // CODEX_HOME, whose path must be short: that of a socket is
	Session string
	Info    map[string]any  // what the daemon says of the session
	Asks    json.RawMessage `json:",omitempty"` // the params of a command that it wants to run; nil: nothing
}

// runs starts the daemon of Codex with its session.
func (s *standIn) runs(said daemonAsks) (err error) {
	if s.codex, err = standin.NewCodex(said.Home); err != nil {
		return err
	}
	s.codex.Runs(said.Session, standin.Working(), said.Info)
	return s.codex.Start()
}

// daemon starts the daemon, or has it ask.
func (s *standIn) daemon(ctx context.Context, id, params json.RawMessage) {
	var said daemonAsks
	err := json.Unmarshal(params, &said)
	if err == nil && s.codex == nil {
		err = s.runs(said)
	}
	if err != nil {
		s.answer(id, nil, err)
		return
	}
	asked := ""
	if said.Asks != nil {
		asked = s.codex.Asks(said.Session, "item/commandExecution/requestApproval", string(said.Asks))
	}
	recovery.Go("answer to Codex", func() {
		answer := "null"
		if said.Asks != nil {
			answer, _ = s.codex.Await(ctx, asked) // without one the demo has ended
			s.ends(said, answer)
		}
		s.answer(id, json.RawMessage(answer), nil)
	})
}

// ends ends what was asked about, as Codex does once it is answered.
func (s *standIn) ends(said daemonAsks, answer string) {
	var about struct{ ItemID string }
	if json.Unmarshal(said.Asks, &about) != nil {
		return
	}
	status := "declined"
	if strings.Contains(answer, `"accept`) {
		status = "completed"
	}
	s.codex.Ends(said.Session, about.ItemID, status)
}
