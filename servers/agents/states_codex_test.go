//go:build unix

package agents_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
)

func TestEveryStateOfCodexIsOnItsRow(t *testing.T) {
	for name, pause := range paces {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, "codex")
			daemon, err := standin.NewCodex(s.home)
			if err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", daemon.Path) // only its path is of use: a bubble's clock stands still while a socket is read
			if err != nil {
				t.Skip("no socket can be opened here:", err)
			}
			defer l.Close()
			synctest.Test(t, func(t *testing.T) {
				s.t, s.pause = t, pause
				pipes := pipes{make(chan net.Conn), make(chan struct{})}
				s.frames = func(ctx context.Context, c net.Conn) (approvals.Frames, error) {
					_ = c.Close() // its other end is nobody's
					ours, theirs := net.Pipe()
					pipes.conns <- theirs
					return frames.Dial(ctx, ours)
				}
				go func() { _ = daemon.Serve(pipes) }()
				s.opens()
				s.play(&codex{s: s, daemon: daemon})
				s.stop()
				daemon.Stop()
			})
		})
	}
}

// pipes listens to connections within this process.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p pipes) Close() error {
	select {
	case <-p.closed:
		return errors.New("closed twice")
	default:
		close(p.closed)
	}
	return nil
}

func (p pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

// codex plays the daemon of Codex, and writes what that records.
type codex struct {
	s      *stage
	daemon *standin.Codex
	n      int
	calls  int
	open   []request
}

// request is something that the daemon asks: its ID, and the call it is about.
type request struct{ id, session, call string }

func (c *codex) session() string { return fmt.Sprintf("thread-%d", c.n) }

func (c *codex) sub() string { return c.session() + "-sub" }

func (c *codex) file() string {
	return "sessions/2026/11/24/rollout-2026-11-24-" + c.session() + ".jsonl"
}

func (c *codex) about(more object) object {
	all := object{"cwd": c.s.folder, "preview": "", "path": c.s.home + "/" + c.file()}
	for k, v := range more {
		all[k] = v
	}
	return all
}

func (c *codex) log(item object) {
	c.s.writes(c.file(), object{"timestamp": now(), "type": "event_msg", "payload": object{"type": "item_completed", "item": item}})
}

func (c *codex) text(kind, text string) {
	c.log(object{"type": kind, "id": text, "content": []object{{"type": "text", "text": text}}})
}

func (c *codex) begins(command string) string {
	c.calls++
	id := fmt.Sprintf("call_%d", c.calls)
	c.s.writes(c.file(), object{"timestamp": now(), "type": "response_item", "payload": object{"type": "function_call", "name": "exec_command", "arguments": encoded(object{"cmd": command}), "call_id": id}})
	return id
}

func (c *codex) asks(session, method string, params object) {
	call := fmt.Sprint(params["itemId"])
	params["threadId"], params["turnId"] = session, "turn"
	c.open = append(c.open, request{c.daemon.Asks(session, method, encoded(params)), session, call})
}

func (c *codex) permit(session, command string) {
	c.asks(session, "item/commandExecution/requestApproval", object{
		"kind": "command", "itemId": c.begins(command), "command": command, "cwd": c.s.folder, "availableDecisions": []string{"accept", "decline", "cancel"},
	})
}

// settles ends the oldest request, in its terminal unless the deck has answered it.
func (c *codex) settles(byDeck bool, status string) {
	r := c.open[0]
	c.open = c.open[1:]
	if byDeck {
		if _, err := c.daemon.Await(c.s.ctx, r.id); err != nil {
			c.s.t.Fatal(err)
		}
	} else {
		c.daemon.Terminal(r.id)
	}
	if status != "" {
		c.daemon.Ends(r.session, r.call, status)
		c.log(object{"type": "CommandExecution", "id": r.call, "status": status})
	}
}

func (c *codex) plays(does, about string) bool {
	waits := standin.Status{Type: "active", Flags: []string{"waitingOnUserInput"}}
	change := func(path string, v object) {
		c.log(object{"type": "FileChange", "id": path, "status": "completed", "changes": object{c.s.folder + "/" + path: v}})
	}
	switch does {
	case "start", "clear":
		c.n++
		c.daemon.Runs(c.session(), standin.Idle(), c.about(nil))
		c.daemon.Push("thread/started", object{"thread": c.daemon.Described(c.session())})
	case "restart": // it connects by itself
	case "prompt":
		c.text("UserMessage", about)
		c.daemon.Set(c.session(), standin.Working())
	case "call":
		c.begins(about)
	case "return":
		c.log(object{"type": "CommandExecution", "id": "call_1", "status": "completed"})
	case "say":
		c.text("AgentMessage", about)
	case "edit":
		change("shop.go", object{"type": "update", "unified_diff": "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"})
	case "write":
		change("notes.md", object{"type": "add", "content": "a\nb\nc\n"})
	case "end":
		c.text("AgentMessage", about)
		c.daemon.Set(c.session(), standin.Idle())
	case "stop":
		for len(c.open) > 0 {
			c.settles(false, "")
		}
		c.daemon.Set(c.session(), standin.Idle())
	case "permit":
		c.permit(c.session(), about)
	case "allow":
		c.settles(false, "completed")
	case "deny":
		c.settles(false, "declined")
	case "answer":
		c.settles(true, map[string]string{"allow": "completed", "deny": "declined"}[about])
	case "ask":
		c.calls++
		c.asks(c.session(), "item/tool/requestUserInput", object{"itemId": fmt.Sprintf("call_%d", c.calls), "questions": []object{{
			"id": "q", "header": "H", "question": about, "isOther": true, "isSecret": false, "options": []object{{"label": "one", "description": ""}, {"label": "two", "description": ""}},
		}}})
		c.daemon.Set(c.session(), waits)
	case "reply":
		c.settles(false, "")
	case "form":
		c.asks(c.session(), "mcpServer/elicitation/request", object{"serverName": "paint", "mode": "form", "_meta": nil, "message": about, "requestedSchema": form})
		c.daemon.Set(c.session(), waits)
	case "fill":
		c.settles(true, "")
	case "sub":
		c.daemon.Runs(c.sub(), standin.Working(), c.about(object{"parentThreadId": c.session(), "agentNickname": "tests", "path": nil}))
		c.daemon.Push("thread/started", object{"thread": c.daemon.Described(c.sub())})
	case "subpermit":
		c.permit(c.sub(), about)
	case "suballow":
		c.settles(true, "completed")
	case "subend":
		c.daemon.Set(c.sub(), standin.Idle())
	case "rename":
		c.daemon.Runs(c.session(), standin.Idle(), c.about(object{"name": about}))
		c.daemon.Push("thread/name/updated", object{"threadId": c.session(), "threadName": about})
	case "compact":
		c.daemon.Set(c.session(), standin.Working())
		c.daemon.Set(c.session(), standin.Idle())
	case "quit":
		c.daemon.Push("thread/closed", object{"threadId": c.session()})
		c.daemon.Forgets(c.session())
	default:
		return false
	}
	return true
}
