package hook

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/socket"
)

// Time limits of the client.
const (
	// ReadWithin is how long a hook may take to get its input.
	ReadWithin  = 2 * time.Second
	dialWithin  = time.Second
	heardWithin = 65 * time.Second // a living deck sends a ping every 15 s
)

// Variables returns the names of all variables of the environment that a hook sends.
func Variables() []string {
	return []string{
		"CLAUDE_PID", "CLAUDE_CODE_SESSION_ATTENDED", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CONFIG_DIR", "CODEX_HOME",
		"TMUX", "TMUX_PANE", "KITTY_WINDOW_ID", "WEZTERM_PANE", "ZELLIJ_PANE_ID", "STY",
	}
}

// Call is what a hook sends to the deck.
type Call struct {
	Socket  string // path of the prompt socket
	Agent   string
	Program string // that the agent's program has started
	Env     func(name string) string
	Input   io.Reader // what the agent's program tells the hook: one JSON object
}

// Ask sends a call to the deck and returns what the hook is to print. Whatever goes wrong,
// it is nothing: the agent then asks in its own terminal.
func Ask(ctx context.Context, c Call) string {
	var first, event bytes.Buffer
	if !c.write(&first, &event) {
		return ""
	}
	dial, cancel := context.WithTimeout(ctx, dialWithin)
	defer cancel()
	conn, err := socket.Dial(dial, c.Socket)
	if err != nil {
		return ""
	}
	defer conn.Close()
	_ = conn.SetWriteDeadline(time.Now().Add(dialWithin)) // fails only on a closed connection, which the write reports
	first.Write(event.Bytes())
	if _, err := conn.Write(first.Bytes()); err != nil {
		return ""
	}
	return reply(conn)
}

// reply waits for what the deck wants printed, for as long as the deck is alive.
func reply(conn net.Conn) string {
	in := bufio.NewReader(conn)
	for {
		_ = conn.SetReadDeadline(time.Now().Add(heardWithin)) // as above
		line, err := readLine(in)
		if err != nil {
			return ""
		}
		var m struct{ Print *string }
		if json.Unmarshal(line, &m) != nil {
			return ""
		}
		if m.Print != nil {
			return *m.Print
		}
	}
}

// write makes the lines of a call, and reports whether there is something to say.
func (c Call) write(hello, event *bytes.Buffer) bool {
	raw, err := io.ReadAll(io.LimitReader(c.Input, MaxPayload+1))
	if err != nil || len(raw) > MaxPayload {
		return false
	}
	event.WriteString(`{"event":"hook","payload":`)
	if err := json.Compact(event, raw); err != nil {
		return false
	}
	event.WriteString("}\n")
	env := map[string]string{}
	for _, name := range Variables() {
		if v := c.Env(name); v != "" {
			env[name] = v
		}
	}
	line, err := json.Marshal(map[string]any{"v": 1, "hello": c.Agent, "mode": Once, "program": c.Program, "env": env})
	hello.Write(append(line, '\n'))
	return err == nil
}

// State returns the folder of the deck's state below the user's home.
func State(home string) string { return filepath.Join(home, ".local", "state", "mcpdeck") }

// Path returns the path of the prompt socket of the deck with a name, "" for the default
// one, below the folder of its state.
func Path(state, name string) string {
	if name != "" {
		name = "-" + name
	}
	return filepath.Join(state, "run", "prompts"+name+".sock")
}
