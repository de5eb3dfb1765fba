//go:build unix

package agents_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/claude"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

func TestEveryStateOfClaudeIsOnItsRow(t *testing.T) {
	for name, pause := range paces {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "claude")
			c := &claudeCode{s: s, process: living(t)}
			if err := os.MkdirAll(filepath.Join(s.home, "sessions"), 0o700); err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				s.t, s.pause = t, pause
				changes := make(chan string) // in a bubble the system cannot tell
				c.changed = func() { changes <- filepath.Base(c.file()) }
				s.adapts = func(d approvals.Deps) approvals.Adapter { return claude.New(claude.Options{Deps: d, Changes: changes}) }
				s.opens()
				s.play(c)
				s.stop()
			})
		})
	}
}

// claudeCode plays Claude Code.
type claudeCode struct {
	s       *stage
	process *exec.Cmd
	n       int
	changed func() // its file
	named   string
	about   object // members of its file in place of the usual ones
	calls   int
	open    []asked
}

// asked is something that waits for an answer.
type asked struct {
	call, about string
	conn        *agenttest.Conn // of its hook
}

func (c *claudeCode) session() string { return fmt.Sprintf("0a1b%04d-77aa", c.n) }

func (c *claudeCode) file() string {
	return filepath.Join(c.s.home, "sessions", strconv.Itoa(c.process.Process.Pid)+".json")
}

// is has the file of the process say what it does.
func (c *claudeCode) is(status, waits string) {
	about := object{
		"pid": c.process.Process.Pid, "sessionId": c.session(), "cwd": c.s.folder, "procStart": pid.Born(c.process.Process.Pid), "version": "2.1.330", "kind": "interactive",
		"entrypoint": "cli", "status": status, "waitingFor": waits, "statusUpdatedAt": time.Now().UnixMilli(), "name": "shop-27", "nameSource": "derived",
	}
	if c.named != "" {
		about["name"], about["nameSource"] = c.named, "user"
	}
	maps.Copy(about, c.about)
	if err := os.WriteFile(c.file(), []byte(encoded(about)), 0o600); err != nil {
		c.s.t.Fatal(err)
	}
	c.changed()
}

// works has it say that it works, or waits as before.
func (c *claudeCode) works() {
	if len(c.open) == 0 {
		c.is("busy", "")
	}
}

func (c *claudeCode) log(sub string, line object) {
	name := "projects/-src-shop/" + c.session()
	if sub != "" {
		name, line["isSidechain"] = name+"/subagents/agent-"+sub, true
	}
	line["timestamp"] = now()
	c.s.writes(name+".jsonl", line)
}

func (c *claudeCode) says(sub string, parts ...object) {
	c.log(sub, object{"type": "assistant", "message": object{"role": "assistant", "content": parts}})
}

// uses writes that a tool is called.
func (c *claudeCode) uses(sub, tool string, input object) (call string) {
	c.calls++
	call = fmt.Sprintf("t%d", c.calls)
	c.says(sub, object{"type": "tool_use", "id": call, "name": tool, "input": input})
	return call
}

// ended writes what came of a call.
func (c *claudeCode) ended(sub, call string, more object) {
	line := object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "tool_result", "tool_use_id": call, "content": "x"}}}}
	for k, v := range more {
		line[k] = v
	}
	c.log(sub, line)
}

func (c *claudeCode) fires(event string, members object) *agenttest.Conn {
	members["hook_event_name"], members["session_id"], members["cwd"], members["permission_mode"] = event, c.session(), c.s.folder, "default"
	members["transcript_path"] = filepath.Join(c.s.home, "projects/-src-shop", c.session()+".jsonl")
	return c.s.fires(c.process.Process.Pid, members)
}

// asks has the session, or a sub-agent, ask whether it may use a tool.
func (c *claudeCode) asks(sub, tool string, input object, waits string) {
	call, members := c.uses(sub, tool, input), object{"tool_name": tool, "tool_input": input}
	if sub != "" {
		members["agent_id"], members["agent_type"] = sub, "tests"
	}
	c.open = append(c.open, asked{call, "", c.fires("PermissionRequest", members)})
	if waits != "" {
		c.is("waiting", waits)
	}
}

// answered has the oldest prompt be answered in its terminal, or by its hook.
func (c *claudeCode) answered(sub, by, decision, denial string) {
	it := c.open[0]
	c.open = c.open[1:]
	if by == "hook" {
		c.s.awaits(it.conn, `"print"`)
		c.log(sub, object{"type": "attachment", "attachment": object{"type": "hook_permission_decision", "decision": decision, "toolUseID": it.call, "hookEvent": "PermissionRequest"}})
	}
	_ = it.conn.Close()
	more := object{}
	if denial != "" {
		more["toolDenialKind"] = denial
	} else if by != "hook" {
		more["permissionDecision"] = object{"decision": decision, "source": "user_temporary"}
	}
	c.ended(sub, it.call, more)
	c.works()
}

func (c *claudeCode) plays(does, about string) bool {
	edit := object{"filePath": c.s.folder + "/shop.go", "structuredPatch": []object{{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 3, "lines": []string{" a", "-b", "+c", "+d"}}}}
	switch does {
	case "start":
		c.n++
		c.is("idle", "")
	case "clear":
		c.n, c.named = c.n+1, ""
		c.is("idle", "")
	case "prompt":
		c.log("", object{"type": "user", "origin": object{"kind": "human"}, "message": object{"role": "user", "content": about}})
		c.is("busy", "")
	case "call":
		c.uses("", "Bash", object{"command": about})
	case "return":
		c.ended("", "t1", nil)
	case "say":
		c.says("", object{"type": "text", "text": about})
	case "edit":
		c.ended("", c.uses("", "Edit", object{"file_path": "shop.go"}), object{"toolUseResult": edit})
	case "write":
		c.ended("", c.uses("", "Write", object{"file_path": "notes.md"}), object{"toolUseResult": object{"type": "create", "filePath": c.s.folder + "/notes.md", "content": "a\nb\nc\n", "structuredPatch": []object{}}})
	case "end":
		c.says("", object{"type": "text", "text": about})
		c.is("idle", "")
	case "stop":
		for len(c.open) > 0 {
			c.answered("", "", "reject", "user-rejected")
		}
		c.log("", object{"type": "user", "message": object{"role": "user", "content": []object{{"type": "text", "text": "[Request interrupted by user for tool use]"}}}})
		c.is("idle", "")
	case "permit":
		c.asks("", "Bash", object{"command": about}, "permission prompt")
	case "allow", "accept", "reply":
		c.answered("", "", "accept", "")
	case "deny":
		c.answered("", "", "reject", "user-rejected")
	case "answer":
		c.answered("", "hook", about, map[string]string{"deny": "permission-rule"}[about])
	case "ask":
		c.asks("", "AskUserQuestion", object{"questions": []object{{"question": about, "header": "H", "options": []object{{"label": "one"}, {"label": "two"}}}}}, "input needed")
	case "plan":
		c.asks("", "ExitPlanMode", object{"plan": about}, "permission prompt")
	default:
		return c.playsRest(does, about)
	}
	return true
}

// playsRest plays what happens beside the turns of the session itself.
func (c *claudeCode) playsRest(does, about string) bool {
	const sub = "a1"
	switch does {
	case "form":
		c.open = append(c.open, asked{"", "", c.fires("Elicitation", object{"mcp_server_name": "paint", "message": about, "mode": "form", "requested_schema": form})})
	case "fill":
		c.s.awaits(c.open[0].conn, `"print"`)
		c.open = nil
	case "sub":
		c.uses("", "Task", object{"prompt": about})
		c.log(sub, object{"type": "user", "message": object{"role": "user", "content": "look"}})
	case "subpermit":
		c.asks(sub, "Bash", object{"command": about}, "")
	case "suballow":
		c.answered(sub, "hook", "allow", "")
	case "subend":
		c.log(sub, object{"type": "assistant", "message": object{"role": "assistant", "stop_reason": "end_turn", "content": []object{{"type": "text", "text": "nothing"}}}})
	case "rename":
		c.named = about
		c.is("idle", "")
	case "compact":
		c.is("busy", "")
		c.s.sees(c, "working")
		c.log("", object{"type": "user", "isCompactSummary": true, "message": object{"role": "user", "content": "This session is continued from a previous one."}})
		c.is("idle", "")
	case "shell":
		c.is("shell", "")
	case "die":
		ends(c.process)
	case "resume":
		c.process = living(c.s.t)
		c.is("idle", "")
	case "quit":
		c.fires("SessionEnd", object{"reason": "exit"})
		_ = os.Remove(c.file())
		c.changed()
		ends(c.process)
	default:
		return false
	}
	return true
}
