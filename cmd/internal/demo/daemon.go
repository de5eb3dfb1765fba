package demo

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/mcpdeck/mcpdeck/servers/rpc"
	"github.com/mcpdeck/mcpdeck/servers/safe"
)

// daemonMethod has the stand-in for Codex run the daemon of its sessions. Its result is the
// answer to what a session asks, null if it asks nothing.
const daemonMethod = "demo/daemon"

// daemonAsks is the session of the daemon, and what it asks.
type daemonAsks struct {
	Home    string // CODEX_HOME
	Session string
	Info    map[string]any  // what the daemon says of the session
	Asks    json.RawMessage `json:",omitempty"` // the params of a command that it wants to run; nil: nothing
}

// daemon is the daemon of Codex with one session. It says what it was asked for and what
// has changed, and that an answer has arrived, as Codex does.
type daemon struct {
	session string
	info    map[string]any

	mu     sync.Mutex // guards what follows
	deck   *websocket.Conn
	joined bool // the deck listens to the session
	asked  int
	params json.RawMessage      // of what is open; nil: nothing
	answer chan json.RawMessage // to it
}

// object is a JSON object.
type object = map[string]any

// startDaemon starts the daemon in its home, whose path must be short: that of a socket is.
func startDaemon(ctx context.Context, said daemonAsks) (*daemon, error) {
	control, run := filepath.Join(said.Home, "app-server-control"), filepath.Join(said.Home, "run")
	for _, dir := range []string{control, run} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	path := filepath.Join(run, "socket")
	if err := os.Symlink(path, filepath.Join(control, "app-server-control.sock")); err != nil {
		return nil, err
	}
	var listen net.ListenConfig
	l, err := listen.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	d := &daemon{session: said.Session, info: said.Info}
	d.info["id"], d.info["sessionId"], d.info["cliVersion"] = said.Session, said.Session, "0.169.0"
	server := &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}
	safe.Go("daemon of Codex", func() { _ = server.Serve(l) }) // it ends with the stand-in
	return d, nil
}

func (d *daemon) serve(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	d.mu.Lock()
	d.deck, d.joined = c, false
	d.mu.Unlock()
	for {
		_, raw, err := c.Read(r.Context())
		var m rpc.Message
		if err != nil || json.Unmarshal(raw, &m) != nil {
			return
		}
		d.mu.Lock()
		d.hear(m)
		d.mu.Unlock()
	}
}

// say sends a message to the deck, which may be gone.
func (d *daemon) say(message object) {
	if raw, err := rpc.Raw(message); err == nil && d.deck != nil {
		_ = d.deck.Write(context.Background(), websocket.MessageText, raw)
	}
}

// hear takes a request of the deck's, or its answer.
func (d *daemon) hear(m rpc.Message) {
	result := object{}
	switch m.Method {
	case "":
		d.take(m)
		return
	case "initialize":
		result = object{"userAgent": "codex-tui/0.169.0 (demo)"}
	case "thread/loaded/list":
		result = object{"data": []string{d.session}, "nextCursor": nil}
	case "thread/list":
		result = object{"data": []any{}, "nextCursor": nil}
	case "thread/read":
		result = object{"thread": d.thread()}
	case "thread/resume":
		d.joined = true
		result = object{"thread": d.thread(), "approvalPolicy": "on-request", "initialTurnsPage": object{"data": []any{}}}
	case "thread/unsubscribe":
		d.joined = false
	}
	if m.ID == nil {
		return
	}
	d.say(object{"id": m.ID, "result": result})
	if m.Method == "thread/resume" {
		d.put()
	}
}

// thread describes the session.
func (d *daemon) thread() object {
	d.info["status"] = d.status()
	return d.info
}

func (d *daemon) status() object {
	flags := []string{}
	if d.params != nil {
		flags = append(flags, "waitingOnApproval")
	}
	return object{"type": "active", "activeFlags": flags}
}

// changed tells what the session does now.
func (d *daemon) changed() {
	d.say(object{"method": "thread/status/changed", "params": object{"threadId": d.session, "status": d.status()}})
}

// put asks what is open, if the deck listens.
func (d *daemon) put() {
	if d.params != nil && d.joined {
		d.say(object{"id": d.asked, "method": "item/commandExecution/requestApproval", "params": d.params})
	}
}

// take takes the deck's answer, and says that it has arrived.
func (d *daemon) take(m rpc.Message) {
	if d.params == nil || string(m.ID) != strconv.Itoa(d.asked) {
		return
	}
	d.params = nil
	d.say(object{"method": "serverRequest/resolved", "params": object{"threadId": d.session, "requestId": d.asked}})
	d.changed()
	d.answer <- m.Result
}

// asks has the session ask.
func (d *daemon) asks(params json.RawMessage) <-chan json.RawMessage {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked++
	d.params, d.answer = params, make(chan json.RawMessage, 1)
	d.changed()
	d.put()
	return d.answer
}

// daemon starts the daemon, or has it ask.
func (s *standIn) daemon(ctx context.Context, id, params json.RawMessage) {
	var said daemonAsks
	err := json.Unmarshal(params, &said)
	if err == nil && s.codex == nil {
		s.codex, err = startDaemon(ctx, said)
	}
	if err != nil {
		s.say(rpc.Failure(id, rpc.Error{Code: -32603, Message: err.Error()}))
		return
	}
	var answers <-chan json.RawMessage
	if said.Asks != nil {
		answers = s.codex.asks(said.Asks)
	}
	safe.Go("answer to Codex", func() {
		answer := json.RawMessage("null")
		if said.Asks != nil {
			answer = <-answers
		}
		if line, err := rpc.Result(id, answer); err == nil {
			s.say(line)
		}
	})
}
