package standin

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// OpenCode plays the plugin in a process of OpenCode.
type OpenCode struct {
	mu    sync.Mutex // for one line at a time
	conn  net.Conn
	posts chan Post
}

// Post is a request that the deck has the plugin make.
type Post struct {
	Path string          `json:"post"`
	Body json.RawMessage `json:"body"`
	N    int             `json:"n"`
}

// DialOpenCode connects to a deck's prompt socket.
func DialOpenCode(path, folder string) (*OpenCode, error) {
	conn, err := socket.Dial(context.Background(), path)
	if err != nil {
		return nil, err
	}
	o := &OpenCode{conn: conn, posts: make(chan Post, 100)}
	recovery.Go("posts", func() {
		defer close(o.posts)
		for s := bufio.NewScanner(conn); s.Scan(); {
			var p Post
			if json.Unmarshal(s.Bytes(), &p) == nil && p.Path != "" {
				o.posts <- p
			}
		}
	})
	return o, o.write(map[string]any{"v": 1, "hello": "opencode", "mode": "stream", "directory": folder})
}

func (o *OpenCode) write(v any) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := o.conn.Write(append(raw(v), '\n'))
	return err
}

// Say reports an event.
func (o *OpenCode) Say(event string, properties map[string]any) error {
	return o.write(map[string]any{"event": event, "properties": properties})
}

// Status reports what a session does: busy or idle.
func (o *OpenCode) Status(session, status string) error {
	return o.Say("session.status", map[string]any{"sessionID": session, "status": map[string]any{"type": status}})
}

// Permission asks whether a command may be run.
func (o *OpenCode) Permission(session, id, command string) error {
	return o.Say("permission.asked", map[string]any{
		"id": id, "sessionID": session, "permission": "bash", "patterns": []string{command}, "always": []string{command}, "metadata": map[string]any{"command": command},
	})
}

// Replied reports that a permission was answered: "once", "always" or "reject".
func (o *OpenCode) Replied(session, id, reply string) error {
	return o.Say("permission.replied", map[string]any{"sessionID": session, "requestID": id, "reply": reply})
}

// Posts returns the channel of what the deck posts. It is closed with the connection.
func (o *OpenCode) Posts() <-chan Post { return o.posts }

// Posted reports that a request was made.
func (o *OpenCode) Posted(p Post) error { return o.write(map[string]any{"posted": p.N, "status": 200}) }

// Close hangs up.
func (o *OpenCode) Close() { _ = o.conn.Close() }
