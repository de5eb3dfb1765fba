//go:build unix

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
)

func TestEveryStateOfGeminiIsOnItsRow(t *testing.T) {
	inBubble(t, "gemini", func(s *stage) player { return &gemini{watched: s.watches()} })
}

// watched is a process of a program of which the deck only sees what its hooks and files say.
type watched struct {
	s       *stage
	process *exec.Cmd
	began   time.Time // as the bubble's clock says
}

// watches starts a process, which the deck takes for what starts any hook.
func (s *stage) watches() *watched {
	w := &watched{s: s}
	w.runs()
	s.adapts = func(d approvals.Deps) approvals.Adapter {
		a := s.agent.New(d).(*seen.Adapter)
		a.Behind = func(hook int) int { return hook }
		a.Running = func() []seen.Process {
			return []seen.Process{{PID: w.process.Process.Pid, Folder: s.folder, Began: w.began}}
		}
		return a
	}
	s.stop()
	s.opens()
	return w
}

func (w *watched) runs() { w.process, w.began = living(w.s.t), time.Now() }

// text adds some to a file below the program's own folder.
func (w *watched) text(name, text string) {
	w.s.t.Helper()
	path := filepath.Join(w.s.home, name)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		was, _ := os.ReadFile(path) // it may not be there
		err = os.WriteFile(path, append(was, text...), 0o600)
	}
	if err != nil {
		w.s.t.Fatal(err)
	}
}

// tells fires a hook of the process, for which that waits.
func (w *watched) tells(payload object) {
	c := w.s.fires(w.process.Process.Pid, payload)
	w.s.awaits(c, `"print"`)
	_ = c.Close()
}

// gemini plays Gemini CLI.
type gemini struct {
	*watched
	n     int
	calls int
	next  []func() // what it asks, one after the other
}

func (g *gemini) session() string { return fmt.Sprintf("8b7a1c2%d-1111-4000-8000-000000000000", g.n) }

func (g *gemini) chat() string {
	return "tmp/shop/chats/session-2026-11-22T10-00-" + g.session()[:8] + ".jsonl"
}

func (g *gemini) log(kind string, more object) {
	g.calls++
	line := object{"id": fmt.Sprintf("m%d", g.calls), "timestamp": now(), "type": kind}
	for k, v := range more {
		line[k] = v
	}
	g.s.writes(g.chat(), line)
}

// says writes a reply of the model.
func (g *gemini) says(text string, calls ...object) {
	more := object{"content": text, "model": "m", "tokens": object{"input": 1, "output": 1}}
	if len(calls) > 0 {
		more["toolCalls"] = calls
	}
	g.log("gemini", more)
}

// ran writes what came of a call.
func (g *gemini) ran(tool, status string, args object, display any) {
	g.says("", object{"id": fmt.Sprintf("c%d", g.calls), "name": tool, "args": args, "status": status, "resultDisplay": display})
	if status == "success" {
		g.log("user", object{"content": []object{{"functionResponse": object{"id": "c"}}}})
		g.hook("AfterTool", object{"tool_name": tool, "tool_input": args})
	}
}

func (g *gemini) hook(event string, more object) {
	more["hook_event_name"], more["session_id"], more["cwd"] = event, g.session(), g.s.folder
	if more["transcript_path"] == nil {
		more["transcript_path"] = filepath.Join(g.s.home, g.chat())
	}
	g.tells(more)
}

// asks has a prompt wait, and those that come meanwhile for it.
func (g *gemini) asks(details object, before func()) {
	g.next = append(g.next, func() {
		if before != nil {
			before()
		}
		g.hook("Notification", object{"notification_type": "ToolPermission", "message": "m", "details": details})
	})
	if len(g.next) == 1 {
		g.next[0]()
	}
}

// settles ends what waits, and asks what comes next.
func (g *gemini) settles(tool, status string) {
	g.ran(tool, status, object{"command": "x"}, nil)
	if g.next = g.next[1:]; len(g.next) > 0 {
		g.next[0]()
	}
}

// cancels is what Escape does: of a call that runs, a hook tells afterwards.
func (g *gemini) cancels() {
	runs := len(g.next) == 0
	g.next = nil
	g.log("info", object{"content": "Request cancelled."})
	g.ran("run_shell_command", "cancelled", object{}, nil)
	if runs {
		g.hook("AfterTool", object{"tool_name": "run_shell_command", "tool_input": object{}})
	}
}

func (g *gemini) plays(does, about string) bool {
	edited := func(name, diff string) {
		g.says("")
		g.ran("replace", "success", object{"file_path": g.s.folder + "/" + name}, object{"fileName": name, "fileDiff": diff})
	}
	switch does {
	case "start":
		g.n++
		g.s.writes(g.chat(), object{"sessionId": g.session(), "startTime": now(), "kind": "main"})
		g.text("tmp/shop/.project_root", g.s.folder)
		g.hook("SessionStart", object{"source": "startup"})
	case "clear":
		g.hook("SessionEnd", object{"reason": "clear"})
		g.plays("start", "")
	case "restart": // its hooks connect by themselves
	case "prompt":
		g.hook("BeforeAgent", object{"prompt": about})
		g.log("user", object{"content": []object{{"text": about}}})
	case "call":
		g.says("")
	case "return":
		g.ran("run_shell_command", "success", object{"command": "go test ./..."}, "")
	case "say":
		g.says(about)
	case "edit":
		edited("shop.go", "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n")
	case "write":
		edited("notes.md", "@@ -0,0 +1,3 @@\n+a\n+b\n+c\n")
	case "end":
		g.next = nil
		g.says(about)
		g.hook("AfterAgent", object{"prompt_response": about})
	case "stop":
		g.cancels()
	case "permit":
		g.asks(object{"type": "exec", "title": "Confirm Shell Command", "command": about}, nil)
	case "allow":
		g.settles("run_shell_command", "success")
	case "ask":
		ask := object{"questions": []object{{"question": about, "type": "choice", "options": []object{{"label": "one"}, {"label": "two"}}}}}
		g.asks(object{"type": "ask_user", "title": "Ask User"}, func() { g.hook("BeforeTool", object{"tool_name": "ask_user", "tool_input": ask}) })
	case "reply":
		g.settles("ask_user", "success")
	case "die":
		ends(g.process)
	case "resume":
		g.runs()
		other := strings.Replace(g.chat(), "T10-00", "T10-01", 1) // goes on in the first file, though
		g.s.writes(other, object{"sessionId": g.session(), "startTime": now(), "kind": "main"})
		g.hook("SessionStart", object{"source": "resume", "transcript_path": filepath.Join(g.s.home, other)})
	case "quit":
		g.hook("SessionEnd", object{"reason": "exit"})
		ends(g.process)
	default:
		return false
	}
	return true
}
