//go:build unix

package agents_test

import (
	"fmt"
	"testing"
	"time"
)

func TestEveryStateOfKimiIsOnItsRow(t *testing.T) {
	inBubble(t, "kimi", func(s *stage) player { return &kimi{watched: s.watches()} })
}

// kimi plays Kimi Code.
type kimi struct {
	*watched
	n     int
	calls int
	open  []object // the events that have asked
	title string
}

func (k *kimi) session() string { return fmt.Sprintf("session_80a8-%d", k.n) }

func (k *kimi) file(name string) string { return "sessions/wd_shop_4ca9/" + k.session() + "/" + name }

func (k *kimi) log(agent string, line string, more object) {
	at := time.Now().UnixMilli()
	// The program writes the type first, which is what the lines that count are known by.
	k.text(k.file("agents/"+agent+"/wire.jsonl"), fmt.Sprintf(`{"type":%q,"agentId":%q,%s,"time":%d}`+"\n", line, agent, encoded(more)[1:len(encoded(more))-1], at))
}

// does writes a line about a step of a turn.
func (k *kimi) does(event object) {
	k.log("main", "context.append_loop_event", object{"event": event})
}

func (k *kimi) call(tool string, display object) string {
	k.calls++
	id := fmt.Sprintf("call_%d", k.calls)
	k.does(object{"type": "tool.call", "toolCallId": id, "name": tool, "args": object{}, "display": display})
	return id
}

func (k *kimi) ended(call string) {
	k.does(object{"type": "tool.result", "toolCallId": call, "result": object{"output": "done"}})
}

func (k *kimi) hook(event string, more object) {
	more["hook_event_name"], more["session_id"], more["cwd"] = event, k.session(), k.s.folder
	k.tells(more)
}

// writes writes what the session is called, and where it works.
func (k *kimi) writes(prompt string) {
	state := object{"id": k.session(), "cwd": k.s.folder, "lastPrompt": prompt, "title": prompt, "titleKind": "replaceable", "isCustomTitle": false}
	if k.title != "" {
		state["title"], state["titleKind"], state["isCustomTitle"] = k.title, "custom", true
	}
	k.s.puts(k.file("state.json"), state)
}

func (k *kimi) asks(agent, tool string, display object) {
	k.calls++
	e := object{"id": fmt.Sprintf("approval_%d", k.calls), "agent_id": agent, "tool_call_id": fmt.Sprintf("ask_%d", k.calls), "tool_name": tool, "tool_input": object{}, "display": display}
	if c := display["command"]; c != nil {
		e["tool_input"] = object{"command": c}
	}
	k.open = append(k.open, e)
	k.hook("PermissionRequest", e)
}

// settles ends what waits first.
func (k *kimi) settles(decision string) {
	e := k.open[0]
	k.open = k.open[1:]
	e["decision"] = decision
	k.hook("PermissionResult", e)
}

// turn ends a turn.
func (k *kimi) turn(agent, reason string) {
	k.log(agent, "turn.ended", object{"turnId": 0, "reason": reason})
}

func (k *kimi) plays(does, about string) bool {
	const main, sub = "main", "agent-0"
	file := func(operation, name string, more object) object {
		more["kind"], more["operation"], more["path"] = "file_io", operation, k.s.folder+"/"+name
		return more
	}
	say := func(text string) {
		k.does(object{"type": "content.part", "part": object{"type": "text", "text": text}})
	}
	command := func(command string) object { return object{"kind": "command", "command": command} }
	switch does {
	case "start":
		k.n++
		k.title = ""
		k.log(main, "permission.set_mode", object{"mode": "manual"})
		k.writes("")
		k.hook("SessionStart", object{"source": "startup"})
	case "clear":
		k.hook("SessionEnd", object{"reason": "clear"})
		k.plays("start", "")
	case "restart": // its hooks connect by themselves
	case "prompt":
		k.hook("UserPromptSubmit", object{"prompt": []object{{"type": "text", "text": about}}})
		k.calls++
		k.log(main, "turn.prompt", object{"input": []object{{"type": "text", "text": about}}, "origin": object{"kind": "user"}, "promptId": fmt.Sprintf("msg_%d", k.calls)})
		k.writes(about)
	case "call":
		k.call("Bash", command(about))
	case "return":
		k.ended("call_2")
	case "say":
		say(about)
	case "edit":
		k.ended(k.call("Edit", file("edit", "shop.go", object{"before": "a\nb", "after": "a\nc\nd"})))
	case "write":
		k.log(main, "file_history.tracked", object{"path": "notes.md", "entry": object{"key": nil}})
		k.ended(k.call("Write", file("write", "notes.md", object{"content": "a\nb\nc\n"})))
	case "end":
		say(about)
		k.open = nil
		k.hook("Stop", object{})
		k.turn(main, "completed")
	case "stop":
		k.open = nil
		k.turn(main, "cancelled")
	case "permit":
		k.asks(main, "Bash", command(about))
	case "allow", "accept":
		k.settles("approved")
	case "deny":
		k.settles("rejected")
	case "ask":
		k.calls++
		e := object{"tool_name": "AskUserQuestion", "tool_call_id": fmt.Sprintf("ask_%d", k.calls), "tool_input": object{"questions": []object{{"question": about, "header": "H", "options": []object{{"label": "one"}, {"label": "two"}}, "multi_select": false}}}}
		k.open = append(k.open, e)
		k.hook("PreToolUse", e)
	case "reply":
		e := k.open[0]
		k.open = k.open[1:]
		k.hook("PostToolUse", e)
	case "plan":
		k.asks(main, "ExitPlanMode", object{"kind": "plan_review", "plan": about})
	case "sub":
		k.call("Agent", object{"kind": "agent"})
		k.log(sub, "turn.prompt", object{"input": []object{{"type": "text", "text": "look"}}, "origin": object{"kind": "agent"}})
	case "subpermit":
		k.asks(sub, "Bash", command(about))
	case "subend":
		k.settles("approved")
		k.turn(sub, "completed")
		k.hook("Stop", object{}) // as at the end of the session's own turn
	case "rename":
		k.title = about
		k.writes("")
	case "die":
		ends(k.process)
	case "resume":
		k.runs()
		k.hook("SessionStart", object{"source": "resume"})
	case "quit":
		k.hook("SessionEnd", object{"reason": "exit"})
		ends(k.process)
	default:
		return false
	}
	return true
}
