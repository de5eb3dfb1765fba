package qwen

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claudehooks"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	confirmIn  = 2 * time.Second        // its call must be in the chat
	recordedIn = 500 * time.Millisecond // what became of it is there after the event that follows
)

// Why nobody asks any more.
const (
	agentEnded   = "its agent has ended"
	sessionEnded = "its session has ended"
	turnOver     = "its turn has ended"
)

const (
	inTerminal = "Qwen Code takes this answer in its own terminal only."
	byTerminal = "answered in its terminal"
)

// item is one prompt. Of a permission the terminal shows nothing until its hook has ended.
type item struct {
	claudehooks.Held
	a       *Adapter
	session *session
	process process
	agent   string // ID of the sub-agent that asks; "" is the session itself
	tool    string
	input   json.RawMessage
	arrived time.Time

	log     *claudehooks.Log // nil: there is none
	calls   []call
	ends    map[string]end
	old     map[string]bool // calls that had ended before
	call    string          // that it is about; "": not found yet
	doubted bool

	ended atomic.Pointer[string] // why nobody asks any more
	late  time.Time              // when that was noticed
}

// newItem makes an item of a session that is locked.
func (a *Adapter) newItem(s *session, c *hook.Conn, m hook.Message) *item {
	it := &item{
		a: a, session: s, process: s.process, agent: m.Payload.Str("agent_id"), tool: m.Payload.Str("tool_name"), input: m.Payload.Some("tool_input"),
		arrived: time.Now(), ends: map[string]end{}, old: map[string]bool{},
	}
	it.Conn, it.Print = c, claudehooks.Decision.Printed
	it.Item = approvals.NewItem(it.request(&s.Session, m), a.opt.Rules)
	it.log = claudehooks.OpenLog(filepath.Join(a.opt.Folder, "projects"), recordOf(m.Payload.Str("transcript_path"), it.agent))
	it.read()
	for id := range it.ends {
		it.old[id] = true
	}
	return it
}

// recordOf returns the path of the file in which the calls of a session, or of one of its
// sub-agents, are recorded.
func recordOf(chat, agent string) string {
	if agent != "" && filepath.Base(agent) == agent {
		id := strings.TrimSuffix(filepath.Base(chat), ".jsonl")
		return filepath.Join(filepath.Dir(filepath.Dir(chat)), "subagents", id, "agent-"+agent+".jsonl")
	}
	return chat
}

// request makes a prompt of a hook's event. What cannot be read can still be shown.
func (it *item) request(s *snapshot.Session, m hook.Message) ask.Request {
	p := &ask.Prompt{Kind: ask.Permission, ID: ask.NewKey(), Tool: cmp.Or(it.tool, "a tool"), Door: ask.Held}
	if it.agent != "" {
		p.Subagent = it.a.twins.Name(s.ID, "sub-agent", it.agent)
	}
	r := approvals.Request(s, p)
	p.Mode, r.Local = m.Payload.Str("permission_mode"), true
	input, _ := rawjson.SplitObject(it.input) // as its shape says
	switch err := shapes().Err(m.Raw); {
	case m.TooLarge:
		approvals.InTerminal(&r, "It is too large to show. "+inTerminal)
	case err != nil:
		approvals.Misread(&r, err)
	case it.tool == "ask_user_question":
		p.Kind, p.Door = ask.OwnQuestion, ask.InTerminal
		if r.Questions, err = claudehooks.Questions(it.input); err != nil {
			approvals.InTerminal(&r, inTerminal)
		}
		for i := range r.Questions {
			r.Questions[i].Description = inTerminal
		}
	case it.tool == "exit_plan_mode":
		p.Kind = ask.Plan
		approvals.InTerminal(&r, strings.TrimSpace(input.Str("plan")+"\n\n"+inTerminal))
	default:
		claudehooks.Describe(p, does(it.tool), input, s.Folder)
		it.Choices = append([]approvals.Choice{approvals.AllowOnce(nil)}, approvals.Denials(nil)...) // it takes no other
		approvals.Permit(&r, it.Choices)
	}
	return r
}

func does(tool string) claudehooks.Does {
	switch tool {
	case "run_shell_command":
		return claudehooks.Command
	case "write_file", "edit", "notebook_edit":
		return claudehooks.Edit
	}
	return claudehooks.Other
}

// Look implements [approvals.Door].
func (it *item) Look() approvals.Fate {
	it.read()
	if it.Waits() || it.ended.Load() == nil { // a call that comes later is of the next prompt
		it.match()
	}
	end, over := it.ends[it.call]
	if over = over && it.call != ""; !it.Waits() {
		return it.became(end, over)
	}
	why := it.ended.Load()
	if why != nil && it.late.IsZero() {
		it.late = time.Now()
	}
	switch {
	case it.Stopped(): // Esc ends the hook and the turn
		return approvals.Fate{Is: approvals.Gone, How: "stopped in its terminal", Last: true}
	case over:
		return approvals.Fate{Is: approvals.Elsewhere, How: byTerminal + end.words(), Last: true}
	case why != nil && time.Since(it.late) < recordedIn:
		return approvals.Fate{Again: recordedIn}
	case why != nil: // a busy program may record it later still
		return approvals.Fate{Is: approvals.Gone, How: *why}
	case !it.a.alive(&it.process):
		return approvals.Fate{Is: approvals.Gone, How: agentEnded, Last: true}
	}
	if !it.doubted && it.call == "" && time.Since(it.arrived) >= confirmIn {
		it.doubted = true
		it.Call().Doubted()
	}
	return approvals.Fate{Again: claudehooks.LookEvery}
}

// became follows what became of a prompt that no longer waits for the user, until the
// agent's own record tells or nothing more will.
func (it *item) became(end end, over bool) approvals.Fate {
	switch {
	case over && (it.Took(end != denied) || end == ended && it.Took(false)):
		return approvals.Fate{Is: approvals.Taken, Last: true}
	case over:
		return approvals.Fate{Is: approvals.Elsewhere, How: byTerminal + end.words(), Last: true}
	case !it.a.alive(&it.process):
		return approvals.Fate{Last: true}
	}
	return it.Watch()
}
