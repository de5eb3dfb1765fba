package hook

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Time limits of the client.
const (
	// ReadWithin is how long a hook may take to get its input.
	ReadWithin  = 2 * time.Second
	greetWithin = 2 * time.Second  // from the start to the first line of the deck
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
	// Within is how long the whole of it may take; 0: as long as the deck is alive.
	Within time.Duration
}

// Ask sends a call to the deck and returns what the hook is to print. Whatever goes wrong,
// it is nothing: the agent then asks in its own terminal.
func Ask(ctx context.Context, c Call) string {
	var event bytes.Buffer
	if !c.event(&event) {
		return ""
	}
	text, refused := c.exchange(ctx, greets, event.Bytes())
	if refused {
		text, _ = c.exchange(ctx, greetsNot, event.Bytes())
	}
	return text
}

// exchange sends a call in a version of the protocol and returns the deck's decision. An
// older deck hangs up on a newer version without a word: refused says so.
func (c Call) exchange(ctx context.Context, version int, event []byte) (text string, refused bool) {
	hello, err := c.hello(version)
	if err != nil {
		return "", false
	}
	first := time.Now().Add(cmp.Or(c.Within, greetWithin))
	dial, cancel := context.WithDeadline(ctx, first)
	defer cancel()
	conn, err := socket.Dial(dial, c.Socket)
	if err != nil {
		return "", false
	}
	defer conn.Close()
	_ = conn.SetDeadline(first) // fails only on a closed connection, which the write reports
	if _, err := conn.Write(append(hello, event...)); err != nil {
		return "", !errors.Is(err, os.ErrDeadlineExceeded)
	}
	if version == greetsNot && c.Within == 0 {
		first = time.Now().Add(heardWithin)
	}
	return reply(conn, first, cmp.Or(c.Within, heardWithin))
}

// reply waits for what the deck wants printed, for as long as the deck is alive. Its first
// line must come before a time, the others each within some. If it hangs up before that, the call
// was refused.
func reply(conn net.Conn, first time.Time, within time.Duration) (text string, refused bool) {
	in := bufio.NewReader(conn)
	_ = conn.SetReadDeadline(first) // fails only on a closed connection, which the read reports
	for heard := false; ; heard = true {
		line, err := readLine(in)
		if err != nil {
			return "", !heard && !errors.Is(err, os.ErrDeadlineExceeded)
		}
		_ = conn.SetReadDeadline(time.Now().Add(within)) // as above
		var m struct{ Print *string }
		if json.Unmarshal(line, &m) != nil {
			return "", false
		}
		if m.Print != nil {
			return *m.Print, false
		}
	}
}

// event makes the line of a call's event, and reports whether there is something to say.
func (c Call) event(line *bytes.Buffer) bool {
	raw, err := io.ReadAll(io.LimitReader(c.Input, maxPayload+1))
	if err != nil || len(raw) > maxPayload {
		return false
	}
	line.WriteString(`{"event":"hook","payload":`)
	if err := json.Compact(line, raw); err != nil {
		return false
	}
	line.WriteString("}\n")
	return true
}

// hello makes the first line of a call.
func (c Call) hello(version int) ([]byte, error) {
	env := map[string]string{}
	for _, name := range Variables() {
		if v := c.Env(name); v != "" {
			env[name] = v
		}
	}
	line, err := json.Marshal(map[string]any{"v": version, "hello": c.Agent, "mode": Once, "program": c.Program, "env": env})
	return append(line, '\n'), err
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
