package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc"
)

// hookMethod asks a stand-in to start a hook with the params as its input. Its result is
// what the hook prints.
const hookMethod = "demo/hook"

// pluginMethod asks a stand-in to say lines to the prompt socket, as the plugin of OpenCode
// does. Its result is what the deck posts then, null if nothing is asked.
const pluginMethod = "demo/plugin"

// standIn is the process that stands in for an agent's program. Like that, it starts
// mcpdeck mcp and the hooks; what it says to them comes from the demo.
type standIn struct {
	agent   string
	program string // mcpdeck
	environ []string

	mu  sync.Mutex // guards out
	out io.Writer

	// These are started by the reader of the input; nil: not yet.
	opencode *standin.OpenCode
	answers  chan standin.Post // of permissions, to opencode
	codex    *standin.Codex
}

// StandIn runs as a stand-in for an agent's program until in ends. program is the path
// of mcpdeck.
func StandIn(ctx context.Context, agent, program string, environ []string, in io.Reader, out, errs io.Writer) error {
	s := &standIn{agent: agent, program: program, environ: environ, out: out}
	relay, err := process.Start(s.command("mcp"))
	if err != nil {
		return err
	}
	defer relay.End(false)
	recovery.Go("errors of mcpdeck mcp", func() { _, _ = io.Copy(errs, relay.Err) }) // nobody reads them then
	recovery.Go("answers of mcpdeck mcp", func() {
		for lines := rpc.NewLines(relay.Out, rpc.MaxLine); ; {
			line, err := lines.Next()
			if err != nil {
				return
			}
			s.say(line)
		}
	})
	for lines := rpc.NewLines(in, rpc.MaxLine); ; {
		line, err := lines.Next()
		if err != nil {
			return nil // the demo has ended
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch m.Method {
		case hookMethod:
			recovery.Go("hook", func() { s.hook(ctx, m.ID, m.Params) })
			continue
		case pluginMethod:
			s.plug(m.ID, m.Params)
			continue
		case daemonMethod:
			s.daemon(ctx, m.ID, m.Params)
			continue
		}
		if _, err := relay.In.Write(append(bytes.Clone(line), '\n')); err != nil {
			return err
		}
	}
}

func (s *standIn) command(args ...string) process.Command {
	return process.Command{Program: s.program, Args: args, Kind: process.Tool, Own: s.environ}
}

// hook runs a hook as the agent's program would.
func (s *standIn) hook(ctx context.Context, id, payload json.RawMessage) {
	var printed bytes.Buffer
	err := process.Run(ctx, s.command("hook", s.agent), process.Streams{In: bytes.NewReader(payload), Out: &printed})
	s.answer(id, printed.String(), err)
}

// answer answers a request of the demo's.
func (s *standIn) answer(id json.RawMessage, result any, err error) {
	line, failed := rpc.Result(id, result)
	if err != nil {
		line, failed = rpc.Failure(id, rpc.Error{Code: -32603, Message: err.Error()}), nil
	}
	if failed == nil {
		s.say(line)
	}
}

// say writes a line, which may have its end.
func (s *standIn) say(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.Write(append(bytes.TrimRight(line, "\n"), '\n')) // without a reader the demo has ended
}

// pluginLines are what a plugin says.
type pluginLines struct {
	Socket, Folder string // of prompts, and of the session
	Lines          []pluginEvent
	Asks           bool // the deck posts something for them
}

// pluginEvent is something that OpenCode's plugin reports.
type pluginEvent struct {
	Event      string
	Properties map[string]any
}

// plug says lines as a plugin does.
func (s *standIn) plug(id, params json.RawMessage) {
	var said pluginLines
	err := json.Unmarshal(params, &said)
	if err == nil && s.opencode == nil {
		if s.opencode, err = standin.DialOpenCode(said.Socket, said.Folder); err == nil {
			s.answers = make(chan standin.Post, 1)
			recovery.Go("posts", func() { s.posts(s.opencode) })
		}
	}
	for _, l := range said.Lines {
		if err == nil {
			err = s.opencode.Say(l.Event, l.Properties)
		}
	}
	if err != nil {
		s.answer(id, nil, err)
		return
	}
	recovery.Go("plugin", func() {
		var body json.RawMessage
		if said.Asks {
			body = (<-s.answers).Body
		}
		s.answer(id, body, nil)
	})
}

// posts takes what the deck posts: answers, and prompts that the user types there.
func (s *standIn) posts(o *standin.OpenCode) {
	defer close(s.answers)
	for p := range o.Posts() {
		_ = o.Posted(p) // a deck that has gone needs none
		var body struct{ Parts []struct{ Text string } }
		if !strings.HasSuffix(p.Path, "/prompt_async") || json.Unmarshal(p.Body, &body) != nil || len(body.Parts) == 0 {
			s.answers <- p
			continue
		}
		for _, said := range [][2]string{{"user", body.Parts[0].Text}, {"assistant", "I will do that next."}} {
			_ = o.Say("message."+said[0], map[string]any{"sessionID": opencodeSession, "at": time.Now().UnixMilli(), "messageID": fmt.Sprint(said[0], p.N), "text": said[1]})
		}
	}
}
