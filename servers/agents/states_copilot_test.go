//go:build unix

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
)

func TestEveryStateOfCopilotIsOnItsRow(t *testing.T) {
	inBubble(t, "copilot", func(s *stage) player { return &copilot{s: s, process: living(s.t)} })
}

// copilot plays Copilot CLI with the extension.
type copilot struct {
	s       *stage
	process *exec.Cmd
	conn    *agenttest.Conn
	n       int
	calls   int
	open    []open
}

// open is what waits: its ID, its kind, and the call it is about.
type open struct{ id, kind, call string }

func (c *copilot) session() string { return fmt.Sprintf("4d90-%d", c.n) }

func (c *copilot) file(name string) string { return "session-state/" + c.session() + "/" + name }

func (c *copilot) lock() string {
	return filepath.Join(c.s.home, c.file(fmt.Sprintf("inuse.%d.lock", c.process.Process.Pid)))
}

// connects has the extension connect.
func (c *copilot) connects() {
	c.conn = c.s.connects(c.process.Process.Pid)
	c.line(object{"v": 1, "hello": "copilot", "mode": "stream"})
}

func (c *copilot) line(v any) {
	c.s.t.Helper()
	if _, err := fmt.Fprintln(c.conn, encoded(v)); err != nil {
		c.s.t.Fatal(err)
	}
}

// log writes an event, and says it where the extension does.
func (c *copilot) log(kind string, data object) {
	c.calls++
	c.s.writes(c.file("events.jsonl"), object{"type": kind, "id": fmt.Sprintf("e%d", c.calls), "timestamp": now(), "data": data})
}

func (c *copilot) says(event string, about object) {
	about["sessionId"] = c.session()
	c.line(object{"event": event, "properties": about})
}

func (c *copilot) runs() {
	c.log("session.start", object{"copilotVersion": "1.0.102", "context": object{"cwd": c.s.folder}})
	if err := os.WriteFile(c.lock(), nil, 0o600); err != nil {
		c.s.t.Fatal(err)
	}
}

func (c *copilot) begins(tool string, args object) string {
	id := fmt.Sprintf("call_%d", c.calls)
	c.log("tool.execution_start", object{"toolCallId": id, "toolName": tool, "arguments": args})
	return id
}

func (c *copilot) ended(call string, more object) {
	data := object{"toolCallId": call, "success": true}
	for k, v := range more {
		data[k] = v
	}
	c.log("tool.execution_complete", data)
}

// asks has a permission, or a form, wait.
func (c *copilot) asks(kind, call string, about object) {
	o := open{fmt.Sprintf("r%d", c.calls), kind, call}
	c.open = append(c.open, o)
	about["requestId"] = o.id
	if kind == "permission" {
		c.log("permission.requested", about)
	}
	c.says(kind+".requested", about)
}

// settles ends what waits first.
func (c *copilot) settles(byDeck, ok bool) {
	o := c.open[0]
	c.open = c.open[1:]
	how := object{"requestId": o.id}
	switch {
	case o.kind == "elicitation":
		how["action"], how["content"] = "accept", object{"colour": "red"}
	case ok:
		how["result"] = object{"kind": "approved"}
	default:
		how["result"] = object{"kind": "denied-interactively-by-user"}
	}
	if byDeck {
		c.s.awaits(c.conn, `"post":"/`+o.kind)
	} else if o.kind == "permission" {
		how["decisionSource"] = "human_response"
	}
	if o.kind == "permission" {
		c.log("permission.completed", how)
	}
	c.says(o.kind+".completed", how)
	if o.call != "" {
		more := object{}
		if !ok {
			more = object{"success": false, "error": object{"code": "denied"}}
		}
		c.ended(o.call, more)
	}
}

func (c *copilot) plays(does, about string) bool {
	edited := func(path, diff string) {
		c.ended(c.begins("edit", object{"path": path}), object{"fileEdits": []object{{"path": c.s.folder + "/" + path}}, "result": object{"detailedContent": diff}})
	}
	switch does {
	case "start":
		c.n++
		c.runs()
		c.connects()
	case "clear":
		_ = os.Remove(c.lock())
		c.n++
		c.runs()
	case "restart":
		c.conn.HangUp()
		c.connects()
	case "prompt":
		c.log("user.message", object{"content": about})
		c.log("assistant.turn_start", object{})
	case "call":
		c.begins("bash", object{"command": about})
	case "return":
		c.ended(fmt.Sprintf("call_%d", c.calls-1), nil)
	case "say":
		c.log("assistant.message", object{"content": about, "toolRequests": []object{{}}})
	case "edit":
		edited("shop.go", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
	case "write":
		edited("notes.md", "@@ -0,0 +1,3 @@\n+a\n+b\n+c\n")
	case "end":
		c.log("assistant.message", object{"content": about})
		c.log("assistant.turn_end", object{})
	case "stop":
		for len(c.open) > 0 {
			c.settles(false, false)
		}
		c.log("abort", object{"reason": "user initiated"})
	case "permit":
		call := c.begins("bash", object{"command": about})
		c.asks("permission", call, object{"permissionRequest": object{"kind": "shell", "toolCallId": call, "fullCommandText": about}})
	case "allow", "reply":
		c.settles(false, true)
	case "deny":
		c.settles(false, false)
	case "answer":
		c.settles(true, about == "allow")
	case "ask":
		call := c.begins("ask_user", object{"question": about})
		c.asks("elicitation", call, object{"mode": "form", "message": about, "requestedSchema": form})
	case "form":
		c.asks("elicitation", "", object{"elicitationSource": "paint", "mode": "form", "message": about, "requestedSchema": form})
	case "fill":
		c.settles(true, true)
	case "rename":
		name := filepath.Join(c.s.home, c.file("workspace.yaml"))
		if err := os.WriteFile(name, []byte("id: x\nuser_named: true\nname: "+about+"\n"), 0o600); err != nil {
			c.s.t.Fatal(err)
		}
		c.log("session.title_changed", object{"title": about})
	case "compact":
		c.log("session.compaction_start", object{})
		c.log("session.compaction_complete", object{"success": true, "summaryContent": "so far"})
	case "die":
		c.conn.HangUp()
		ends(c.process)
	case "resume":
		c.process = living(c.s.t)
		c.log("session.resume", object{"context": object{"cwd": c.s.folder}})
		c.s.puts("open-sessions-state.json", object{c.session(): object{"working": false}})
		if err := os.WriteFile(c.lock(), nil, 0o600); err != nil {
			c.s.t.Fatal(err)
		}
		c.connects()
	case "quit":
		_ = os.Remove(c.lock())
		c.conn.HangUp()
		ends(c.process)
	default:
		return false
	}
	return true
}
