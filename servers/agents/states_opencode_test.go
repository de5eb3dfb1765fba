//go:build unix

package agents_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
)

func TestEveryStateOfOpenCodeIsOnItsRow(t *testing.T) { inBubble(t, "opencode", enterOpenCode) }

func TestEveryStateOfKiloIsOnItsRow(t *testing.T) { inBubble(t, "kilo", enterOpenCode) }

// plugin plays the plugin in a process of OpenCode, or a program with its contract.
type plugin struct {
	s    *stage
	conn *agenttest.Conn
	n    int
	kept []string // what is said again to a deck that comes later, a line each
	keys []string
	open []string // IDs of prompts
}

func enterOpenCode(s *stage) player {
	p := &plugin{s: s}
	p.connect()
	return p
}

func (p *plugin) session() string { return fmt.Sprintf("ses_%d", p.n) }

func (p *plugin) connect() {
	p.conn = p.s.connects(0)
	p.line(object{"v": 1, "hello": p.s.agent.ID, "mode": "stream", "directory": p.s.folder})
}

func (p *plugin) line(v any) {
	p.s.t.Helper()
	if _, err := p.conn.Write([]byte(encoded(v) + "\n")); err != nil {
		p.s.t.Fatal(err)
	}
}

// says says an event of the session, and keeps it under a key.
func (p *plugin) says(event, key string, about object) { p.saysOf(p.session(), event, key, about) }

func (p *plugin) saysOf(session, event, key string, about object) {
	about["sessionID"], about["at"] = session, time.Now().UnixMilli()
	v := object{"event": event, "properties": about}
	if p.line(v); key != "" {
		p.forgets(key)
		p.keys, p.kept = append(p.keys, key), append(p.kept, encoded(v))
	}
}

func (p *plugin) forgets(key string) {
	for i, k := range p.keys {
		if k == key {
			p.keys, p.kept = append(p.keys[:i:i], p.keys[i+1:]...), append(p.kept[:i:i], p.kept[i+1:]...)
			return
		}
	}
}

func (p *plugin) info(session, parent string) {
	p.saysOf(session, "session.updated", "info"+session, object{"info": object{"id": session, "parentID": parent, "title": "New session - 2026", "directory": p.s.folder}})
}

func (p *plugin) status(session, is string) {
	p.saysOf(session, "session.status", "status"+session, object{"status": object{"type": is}})
}

func (p *plugin) tool(call, tool, status string, more object) {
	v := object{"callID": call, "tool": tool, "status": status, "input": object{"command": "true"}}
	for k, x := range more {
		v[k] = x
	}
	p.says("message.tool", call, v)
}

// asks says that something is asked, in the session or a sub-agent's.
func (p *plugin) asks(session, event string, v object) {
	id := fmt.Sprintf("%s_%d", event[:3], len(p.keys)+100*len(p.open)+1)
	p.open = append(p.open, id)
	v["id"] = id
	p.saysOf(session, event+".asked", id, v)
}

// settles says that the oldest prompt has its answer, and what became of its call.
func (p *plugin) settles(event, reply, status string) {
	id := p.open[0]
	p.open = p.open[1:]
	p.says(event+".replied", "", object{"requestID": id, "reply": reply})
	p.forgets(id)
	if event == "permission" {
		p.tool("call of "+id, "bash", status, object{"error": map[bool]string{true: "The user rejected permission to use this specific tool call."}[status == "error"]})
	}
}

func (p *plugin) plays(does, about string) bool {
	const edited = "@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n"
	sub := p.session() + "sub"
	switch does {
	case "start", "clear":
		p.n++
		p.keys, p.kept = nil, nil
		p.info(p.session(), "")
	case "restart":
		p.conn.HangUp()
		p.connect()
		for _, line := range p.kept {
			_, _ = p.conn.Write([]byte(line + "\n")) // what follows fails if it does
		}
	case "prompt":
		p.status(p.session(), "busy")
		p.says("message.user", "user", object{"messageID": about, "text": about})
	case "say":
		p.says("message.assistant", "assistant", object{"messageID": about, "text": about})
	case "end":
		p.plays("say", about)
		p.plays("stop", "")
	case "stop":
		for _, id := range p.open {
			p.says(strings.Replace(id[:3], "que", "question", 1)+".rejected", "", object{"requestID": id})
			p.forgets(id)
		}
		p.open = nil
		p.status(p.session(), "idle")
		p.says("session.idle", "", object{})
	case "call":
		p.tool("c1", "bash", "running", nil)
	case "return":
		p.tool("c1", "bash", "completed", nil)
	case "edit":
		p.tool("c2", "edit", "completed", object{"files": []object{{"file": p.s.folder + "/shop.go", "additions": 2, "deletions": 1, "patch": edited}}})
	case "write":
		p.tool("c3", "write", "completed", object{"input": object{"filePath": p.s.folder + "/notes.md"}, "content": "a\nb\nc\n", "lines": 3})
	case "permit":
		p.asks(p.session(), "permission", object{"permission": "bash", "patterns": []string{about}, "metadata": object{"command": about}, "always": []string{}})
	case "allow":
		p.settles("permission", "once", "completed")
	case "deny":
		p.settles("permission", "reject", "error")
	case "answer":
		p.s.awaits(p.conn, `"post":"/permission/`)
		p.plays(about, "")
	case "ask":
		p.asks(p.session(), "question", object{"questions": []object{{"question": about, "header": "H", "options": []object{{"label": "one"}, {"label": "two"}}}}})
	case "reply":
		p.settles("question", "", "")
	case "sub":
		p.info(sub, p.session())
		p.status(sub, "busy")
	case "subpermit":
		p.asks(sub, "permission", object{"permission": "bash", "patterns": []string{about}, "metadata": object{"command": about}, "always": []string{}})
	case "suballow":
		p.s.awaits(p.conn, `"post":"/permission/`)
		p.settles("permission", "once", "completed")
	case "subend":
		p.status(sub, "idle")
	case "compact":
		p.status(p.session(), "busy")
		p.status(p.session(), "idle")
	case "die", "quit":
		p.conn.HangUp()
	default:
		return false
	}
	return true
}
