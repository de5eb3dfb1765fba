//go:build unix

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

func TestEveryStateOfQwenIsOnItsRow(t *testing.T) {
	inBubble(t, "qwen", func(s *stage) player { return &qwen{s: s, process: living(s.t)} })
}

// qwen plays Qwen Code.
type qwen struct {
	s       *stage
	process *exec.Cmd
	began   int64 // of the process, in ms
	n       int
	calls   int
	open    []asked
}

func (q *qwen) session() string { return fmt.Sprintf("70cc-%d", q.n) }

func (q *qwen) file() string {
	return "sessions/" + strconv.Itoa(q.process.Process.Pid) + ".json"
}

func (q *qwen) runs() {
	id := q.process.Process.Pid
	q.s.puts(q.file(), object{"pid": id, "procStart": "boot:" + pid.Born(id), "sessionId": q.session(), "cwd": q.s.folder, "name": "shop-27", "startedAt": q.began, "qwenVersion": "0.24.4", "kind": "tui"})
}

func (q *qwen) chat(sub string) string {
	if sub != "" {
		return "projects/-src-shop/subagents/" + q.session() + "/agent-" + sub + ".jsonl"
	}
	return "projects/-src-shop/chats/" + q.session() + ".jsonl"
}

func (q *qwen) log(sub, kind string, part object, more object) {
	line := object{"type": kind, "uuid": fmt.Sprintf("u%d-%v", q.calls, part), "timestamp": now(), "message": object{"parts": []object{part}}}
	for k, v := range more {
		line[k] = v
	}
	q.s.writes(q.chat(sub), line)
}

func (q *qwen) begins(sub, tool string, args object) string {
	q.calls++
	id := fmt.Sprintf("call_%d", q.calls)
	q.log(sub, "assistant", object{"functionCall": object{"id": id, "name": tool, "args": args}}, nil)
	return id
}

// ended writes what came of a call.
func (q *qwen) ended(sub, call, status string, display any) {
	result := object{"status": status, "executionStatus": map[bool]string{true: "success", false: "not_started"}[status == "success"], "resultDisplay": display}
	if status == "error" {
		result["errorType"] = "execution_denied"
	}
	q.log(sub, "tool_result", object{"functionResponse": object{"id": call}}, object{"toolCallResult": result})
}

func (q *qwen) fires(event string, members object) *agenttest.Conn {
	members["hook_event_name"], members["session_id"], members["cwd"], members["permission_mode"] = event, q.session(), q.s.folder, "default"
	members["transcript_path"] = filepath.Join(q.s.home, q.chat(""))
	return q.s.fires(q.process.Process.Pid, members)
}

// tells fires a hook that ends at once.
func (q *qwen) tells(event string, members object) {
	c := q.fires(event, members)
	q.s.awaits(c, `"print"`)
	_ = c.Close()
}

func (q *qwen) asks(sub, tool string, input object) {
	members := object{"tool_name": tool, "tool_input": input}
	if sub != "" {
		members["agent_id"] = sub
	}
	call := q.begins(sub, tool, input)
	about, _ := input["command"].(string)
	q.open = append(q.open, asked{call, about, q.fires("PermissionRequest", members)})
}

// settles ends the oldest prompt. Its terminal is let ask before, unless the deck has answered.
func (q *qwen) settles(sub, by, status string) {
	it := q.open[0]
	q.open = q.open[1:]
	for _, open := range q.s.q.Pending().Items {
		if by == "terminal" && open.Request.Prompt.Command == it.about {
			_ = q.s.q.Release(open.ID) // what the deck cannot answer is let go already
		}
	}
	q.s.awaits(it.conn, `"print"`)
	_ = it.conn.Close()
	q.ended(sub, it.call, status, nil)
}

func (q *qwen) plays(does, about string) bool {
	const sub = "a1"
	shell := func(command string) object { return object{"command": command} }
	switch does {
	case "start":
		q.n, q.began = q.n+1, time.Now().UnixMilli()
		q.runs()
		q.tells("SessionStart", object{"model": "m"})
	case "clear":
		q.tells("SessionEnd", object{})
		q.plays("start", "")
	case "restart": // its hooks connect by themselves
	case "prompt":
		q.log("", "user", object{"text": about}, object{"provenance": "real_user"})
		q.tells("UserPromptSubmit", object{"prompt": about})
	case "call":
		q.begins("", "run_shell_command", shell(about))
	case "return":
		q.ended("", "call_1", "success", nil)
	case "say":
		q.log("", "assistant", object{"text": about}, nil)
	case "edit":
		q.ended("", q.begins("", "edit", object{"file_path": "shop.go"}), "success", object{"filePath": q.s.folder + "/shop.go", "fileDiff": "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"})
	case "write":
		q.ended("", q.begins("", "write_file", object{"file_path": "notes.md"}), "success", object{"filePath": q.s.folder + "/notes.md", "fileDiff": "@@ -0,0 +1,3 @@\n+a\n+b\n+c\n"})
	case "end":
		q.log("", "assistant", object{"text": about}, nil)
		q.tells("Stop", object{"background_tasks": []object{}})
	case "stop":
		for len(q.open) > 0 {
			q.settles("", "terminal", "cancelled")
		}
		q.tells("Notification", object{"notification_type": "idle_prompt"})
	case "permit":
		q.asks("", "run_shell_command", shell(about))
	case "allow", "accept", "reply":
		q.settles("", "terminal", "success")
	case "deny":
		q.settles("", "terminal", "error")
	case "answer":
		q.settles("", "deck", map[string]string{"allow": "success", "deny": "error"}[about])
	case "ask":
		q.asks("", "ask_user_question", object{"questions": []object{{"question": about, "options": []object{{"label": "one"}, {"label": "two"}}}}})
	case "plan":
		q.asks("", "exit_plan_mode", object{"plan": about})
	case "sub":
		q.begins("", "agent", object{"prompt": "look"})
		q.log(sub, "user", object{"text": "look"}, nil)
	case "subpermit":
		q.asks(sub, "run_shell_command", shell(about))
	case "suballow":
		q.settles(sub, "deck", "success")
	case "subend":
		q.log(sub, "assistant", object{"text": "nothing"}, nil)
	case "shell":
		q.tells("Stop", object{"background_tasks": []object{{"status": "running"}}})
	case "die":
		ends(q.process)
	case "resume":
		q.process, q.began = living(q.s.t), time.Now().UnixMilli()
		q.runs()
		q.tells("SessionStart", object{"model": "m"})
	case "quit":
		q.tells("SessionEnd", object{})
		_ = os.Remove(filepath.Join(q.s.home, q.file()))
		ends(q.process)
	default:
		return false
	}
	return true
}
