package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// The sessions of the agents.
const (
	claudeSession   = "5d0c1a52-77aa-4b1e-9d8e-0a4d5b6c7d8e"
	codexSession    = "019a9b1c-1111-7000-8000-000000000001"
	opencodeSession = "ses_demo"
)

// opens has the agents' programs tell of their sessions, each as it does.
func (s *Show) opens(ctx context.Context) error {
	if err := s.claudeIs("busy", ""); err != nil {
		return err
	}
	now := time.Now()
	if err := errors.Join(s.writes(s.transcript(), s.claudeSaid(now)), s.writes(rollout, s.codexSaid(now))); err != nil {
		return err
	}
	if _, err := s.codexIs(ctx, nil); err != nil {
		return err
	}
	folder := s.o.Folder.project("opencode")
	_, err := s.plugin(ctx, false,
		pluginEvent{"session.updated", map[string]any{"sessionID": opencodeSession, "prompts": true, "info": map[string]any{
			"id": opencodeSession, "title": "Sprites of the menu", "directory": folder, "version": "1.18.33", "agent": "build", "model": map[string]any{"id": "house-model"},
			"cost": 0.41, "tokens": map[string]any{"input": 12_000, "output": 3_000, "reasoning": 0, "cache": map[string]any{"read": 80_000, "write": 0}},
		}}},
		opencodeIs("busy"),
	)
	if err != nil {
		return err
	}
	_, err = s.plugin(ctx, false, s.opencodeSaid(now)...)
	return err
}

// transcript is the file of claude's session below the home.
func (s *Show) transcript() string {
	return ".claude/projects/" + strings.NewReplacer("/", "-", ".", "-").Replace(s.o.Folder.Project()) + "/" + claudeSession + ".jsonl"
}

// claudeIs writes the file in which Claude Code says what it does.
func (s *Show) claudeIs(status, waits string) error {
	pid := s.agents["claude"].child.PID
	b, err := json.Marshal(map[string]any{
		"pid": pid, "sessionId": claudeSession, "cwd": s.o.Folder.Project(), "version": "2.1.330", "kind": "interactive", "name": "shop-5d", "nameSource": "derived",
		"status": status, "waitingFor": waits, "statusUpdatedAt": time.Now().UnixMilli(),
	})
	if err != nil {
		return err
	}
	return s.o.Folder.write(fmt.Sprintf(".claude/sessions/%d.json", pid), string(b))
}

func opencodeIs(status string) pluginEvent {
	return pluginEvent{"session.status", map[string]any{"sessionID": opencodeSession, "status": map[string]any{"type": status}}}
}

// plugin says lines as OpenCode's plugin does.
func (s *Show) plugin(ctx context.Context, asks bool, lines ...pluginEvent) (posted json.RawMessage, err error) {
	return s.agents["opencode"].request(ctx, pluginMethod, pluginLines{
		Socket: hook.Path(hook.State(s.o.Folder.Home), ""), Folder: s.o.Folder.project("opencode"), Lines: lines, Asks: asks,
	})
}

// prompts has all agents ask for a permission, each as its program does.
func prompts(ctx context.Context, s *Show) error {
	return s.inTurn(ctx, s.claudeAsks, s.codexAsks, s.opencodeAsks)
}

// inTurn has agents ask, and none before the one before it waits: the user sees them in the
// same order every time.
func (s *Show) inTurn(ctx context.Context, all ...func(context.Context) error) error {
	errs := make([]error, len(all))
	var wg sync.WaitGroup
	before := s.prompted()
	for i, ask := range all {
		over := make(chan struct{})
		wg.Add(1)
		recovery.Go("prompt", func() {
			defer wg.Done()
			defer close(over)
			errs[i] = ask(ctx)
		})
		_ = s.wait(ctx, func() bool { return ended(over) || s.prompted() > before+i }) // those that ask tell why it ends
	}
	wg.Wait()
	return errors.Join(errs...)
}

func ended(over <-chan struct{}) bool {
	select {
	case <-over:
		return true
	default:
		return false
	}
}

// prompted is how many prompts of agents wait or have waited.
func (s *Show) prompted() (n int) {
	p := s.o.Queue.Pending()
	for i := range p.Items {
		if p.Items[i].Request.Prompt != nil {
			n++
		}
	}
	for i := range p.History {
		if p.History[i].Request.Prompt != nil {
			n++
		}
	}
	return n
}

// claudeAsks has Claude Code ask by its hook, and in its terminal.
func (s *Show) claudeAsks(ctx context.Context) error {
	input := map[string]any{"command": "rm -rf build && npm publish", "description": "Publish the shop"}
	id := "toolu_" + s.number()
	err := errors.Join(
		s.records("assistant", map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": input}),
		s.claudeIs("waiting", "permission prompt"),
	)
	if err != nil {
		return err
	}
	printed, err := s.agents["claude"].request(ctx, hookMethod, map[string]any{
		"session_id": claudeSession, "hook_event_name": "PermissionRequest", "cwd": s.o.Folder.Project(), "permission_mode": "default", "tool_name": "Bash",
		"transcript_path": filepath.Join(s.o.Folder.Home, filepath.FromSlash(s.transcript())),
		"tool_input":      input,
	})
	if err == nil && !bytes.Contains(printed, []byte("behavior")) {
		err = fmt.Errorf("the hook of claude printed %s", printed)
	}
	decision := "deny"
	if text, _ := rawjson.Text(printed); strings.Contains(text, `"behavior":"allow"`) {
		decision = "allow"
	}
	return errors.Join(err, s.adds(map[string]any{"type": "attachment", "attachment": map[string]any{
		"type": "hook_permission_decision", "decision": decision, "toolUseID": id, "hookEvent": "PermissionRequest",
	}}), s.adds(claudeResult(time.Now(), id, decision)), s.claudeIs("busy", ""))
}

// number tells what an agent asks from all it asked before.
func (s *Show) number() (n string) {
	s.with(func() {
		s.asked++
		n = strconv.Itoa(s.asked)
	})
	return n
}

// records adds what was said to the transcript of claude's session.
func (s *Show) records(kind string, block map[string]any) error {
	return s.adds(claudeLine(time.Now(), kind, block))
}

// adds adds a line to that transcript.
func (s *Show) adds(record map[string]any) error {
	line, err := rpc.Line(record)
	if err != nil {
		return err
	}
	return s.o.Folder.add(s.transcript(), string(line))
}

// codexIs has the daemon of Codex run its session and say what it asks, and returns the
// answer.
func (s *Show) codexIs(ctx context.Context, asks json.RawMessage) (answer json.RawMessage, err error) {
	home := filepath.Join(s.o.Folder.Home, ".codex")
	return s.agents["codex"].request(ctx, daemonMethod, daemonAsks{Home: home, Session: codexSession, Asks: asks, Info: map[string]any{
		"cwd": s.o.Folder.project("codex"), "name": nil, "model": "gpt-5.4", "source": "cli", "preview": "", "updatedAt": time.Now().Unix(),
		"path": filepath.Join(s.o.Folder.Home, filepath.FromSlash(rollout)),
	}})
}

// codexAsks has Codex ask by the daemon of its sessions, and in its terminal.
func (s *Show) codexAsks(ctx context.Context) error {
	params, err := rpc.Raw(map[string]any{
		"kind": "command", "threadId": codexSession, "turnId": "turn_1", "itemId": "call_" + s.number(), "startedAtMs": time.Now().UnixMilli(),
		"command": "psql -c 'DROP TABLE orders_old'", "reason": "Remove the old table", "cwd": s.o.Folder.project("codex"),
		"availableDecisions": []string{"accept", "acceptForSession", "cancel"},
	})
	if err != nil {
		return err
	}
	answer, err := s.codexIs(ctx, params)
	if err == nil && !bytes.Contains(answer, []byte("decision")) {
		err = fmt.Errorf("codex was told %s", answer)
	}
	return err
}

// opencodeAsks has OpenCode ask by its plugin, and in its terminal.
func (s *Show) opencodeAsks(ctx context.Context) error {
	const id, call = "per_demo", "call_demo"
	posted, err := s.plugin(ctx, true, pluginEvent{"permission.asked", map[string]any{
		"id": id, "sessionID": opencodeSession, "permission": "bash", "patterns": []string{"git push"}, "always": []string{"git push *"},
		"tool": map[string]any{"messageID": "msg_demo", "callID": call}, "parts": true,
		"metadata": map[string]any{"command": "git push --force origin main"},
	}})
	if err != nil {
		return err
	}
	var body struct{ Reply string }
	if err := json.Unmarshal(posted, &body); err != nil {
		return fmt.Errorf("read what was posted to opencode: %w", err)
	}
	becomes := "running"
	if body.Reply == "reject" {
		becomes = "error"
	}
	_, err = s.plugin(
		ctx, false,
		pluginEvent{"permission.replied", map[string]any{"sessionID": opencodeSession, "requestID": id, "reply": body.Reply}},
		pluginEvent{"tool.part", map[string]any{"sessionID": opencodeSession, "callID": call, "status": becomes}},
		opencodeIs("busy"),
	)
	return err
}
