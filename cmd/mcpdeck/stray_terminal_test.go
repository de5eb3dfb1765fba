//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/servers/agents"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/acp"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestNothingThatAnAgentSendsMakesTheDeckSendAPrompt plays at a deck, from the shell of an agent, every event that
// hooks of agents were recorded to send and every line that its sockets know, and runs every command. The
// session takes prompts all the time: what is typed in the field at last reaches it.
func TestNothingThatAnAgentSendsMakesTheDeckSendAPrompt(t *testing.T) {
	t.Parallel()
	k := takes(t)
	played := k.plays("prompts", k.events()) + k.plays("ask", k.requests()) + k.plays("deck", k.requests())
	a := k.relay()
	a.Handshake("opencode")
	tools := regexp.MustCompile(`name:([a-z]+_[a-z_]+) `).FindAllStringSubmatch(fmt.Sprint(a.Request("tools/list", "{}")), -1)
	for i, tool := range tools {
		a.Send(1000+i, "tools/call", fmt.Sprintf(`{"name":%q,"arguments":{"agent":"opencode","session":%q,"text":"stray","prompt":"stray"}}`, tool[1], takerID))
	}
	a.Request("ping", "{}")
	ran := 0
	var run func(c *cobra.Command, path []string)
	run = func(c *cobra.Command, path []string) {
		for _, sub := range c.Commands() {
			run(sub, append(path[:len(path):len(path)], sub.Name()))
		}
		if !c.Runnable() || len(path) == 0 || strings.Contains(" acp demo mcp serve ask-server ", " "+path[0]+" ") { // which serve until they are ended
			return
		}
		for _, args := range [][]string{{"opencode", takerID, "stray"}, {"opencode"}} {
			limited, cancel := context.WithTimeout(t.Context(), testwait.Patience)
			cmd := k.command(append(path, args...)...)
			cmd.Stdin = strings.NewReader(k.requests()[0] + "\n")
			stop := context.AfterFunc(limited, func() { k.kill(cmd) })
			_ = cmd.Run() // most refuse such arguments
			stop()
			cancel()
			ran++
		}
	}
	run(newRoot(), nil)
	t.Logf("%d lines were played, %d tools called, %d commands run", played, len(tools), ran)
	if played < 1000 || len(tools) < 20 || ran < 80 {
		t.Error("that is too little")
	}
	k.types("from the field")
	k.w.shows(k.driver, "from the field")
	k.enters()
	if p := <-k.program.Posts(); !strings.Contains(string(p.Body), "from the field") {
		t.Errorf("the session is sent %s %s", p.Path, p.Body)
	}
}

// ids are the names that agents' programs have for sessions.
var ids = regexp.MustCompile(`(?i)("(?:session_?id|threadid|conversationid)":)"[^"]*"`)

// events are lines of the prompt socket: what hooks were recorded to send, as if it were about the session, and what
// might be an order to send a prompt.
func (k *taker) events() (lines []string) {
	k.t.Helper()
	all, err := contract.All()
	if err != nil {
		k.t.Fatal(err)
	}
	for _, r := range all {
		for _, line := range r.Lines {
			text := ids.ReplaceAllString(string(line), `$1"`+takerID+`"`)
			lines = append(lines, text, `{"event":"hook","payload":`+text+`}`)
		}
	}
	for _, what := range k.requests() {
		lines = append(lines, what, `{"event":"hook","payload":`+what+`}`)
		for _, event := range []string{"prompt", "session.prompt", "session.updated", "message.user", "turn/start", "session.joined", "reply", "next"} {
			lines = append(lines, `{"event":"`+event+`","properties":`+what+`}`)
		}
	}
	var hellos []string
	hello := func(agent string) {
		for _, mode := range []string{"stream", "hook"} {
			hellos = append(hellos, fmt.Sprintf(`{"v":1,"hello":%q,"mode":%q}`, agent, mode))
		}
	}
	for _, agent := range agents.All() {
		hello(agent.ID)
	}
	hello(acp.Name)
	var with []string
	for i, line := range lines {
		with = append(with, hellos[i%len(hellos)]+"\n"+line)
	}
	for _, hello := range hellos { // each says what might be an order
		for _, line := range lines[len(lines)-10*len(k.requests()):] {
			with = append(with, hello+"\n"+line)
		}
	}
	return with
}

// requests are what might be an order to send a prompt: to the socket of questions, to that of agents, or as an
// agent's program puts it.
func (k *taker) requests() (lines []string) {
	about := fmt.Sprintf(`"agent":"opencode","id":%q,"session":%q,"sessionID":%q,"sessionId":%q,"session_id":%q,"text":"stray","prompt":"stray"`, takerID, takerID, takerID, takerID, takerID)
	for _, kind := range []string{"ask", "resume", "ping", "list", "answer", "prove", "session", "reply", "send", "prompt", "next", "card", "control", "switch", "sessions"} {
		lines = append(lines, `{"v":1,"type":"`+kind+`",`+about+`}`)
	}
	for _, method := range []string{"session/prompt", "turn/start", "turn/steer", "sessions/send", "prompts/get"} {
		lines = append(lines, `{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{`+about+`}}`)
	}
	return append(lines, `{"post":"/session/`+takerID+`/prompt_async","body":{"parts":[{"type":"text","text":"stray"}]},"n":1}`, `{`+about+`}`)
}

// plays sends each line to a socket over a connection of its own, and waits until the deck has done with it.
func (k *taker) plays(socket string, lines []string) int {
	k.t.Helper()
	for _, line := range lines {
		c, err := net.Dial("unix", k.socket(socket))
		if err != nil {
			k.t.Fatal(err)
		}
		_ = c.SetDeadline(time.Now().Add(testwait.Patience))
		_, _ = io.WriteString(c, line+"\n") // the deck may hang up before
		_ = c.(*net.UnixConn).CloseWrite()
		for s := bufio.NewScanner(c); s.Scan(); {
		}
		c.Close()
	}
	return len(lines)
}
