// Package standin plays agents' programs as a deck sees them: the daemon of Codex, and the plugin
// in OpenCode.
package standin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Codex plays the daemon that runs Codex's sessions.
type Codex struct {
	Home string // CODEX_HOME
	Path string // of the socket, to which a link in Home leads

	mu      sync.Mutex // guards what follows
	server  *http.Server
	conn    *websocket.Conn
	joined  map[string]bool
	threads map[string]*thread
	earlier []map[string]any // sessions that are not loaded
	calls   []Message        // of the client, in order
	heard   chan struct{}
	nextID  int
	fails   map[string]bool // methods that are answered with an error
	quota   any             // of its account; nil: it has an API key
	cuts    map[string]bool // methods at which it hangs up, once: before or after its answer
	late    bool            // a session is joined before that is said
	owed    []Message       // what is to be said then
}

// thread is a session of the daemon.
type thread struct {
	info   map[string]any
	status Status
	open   []Message
	items  []json.RawMessage
}

// Message is a message between the daemon and its client.
type Message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

// Status is what a session of Codex does.
type Status struct {
	Type  string
	Flags []string // while it is active
}

// Idle is the state of a session that does nothing.
func Idle() Status { return Status{Type: "idle"} }

// Working is the state of a session at work.
func Working() Status { return Status{Type: "active"} }

// Asks is the state of a session that waits for a permission.
func Asks() Status { return Status{Type: "active", Flags: []string{"waitingOnApproval"}} }

// MarshalJSON writes a status as Codex does.
func (s Status) MarshalJSON() ([]byte, error) {
	out := map[string]any{"type": s.Type}
	if s.Type == "active" {
		out["activeFlags"] = slices.Concat([]string{}, s.Flags)
	}
	return json.Marshal(out)
}

// NewCodex makes the folders of a daemon below home, which must be short: the path of a
// socket is.
func NewCodex(home string) (*Codex, error) {
	d := &Codex{
		Home: home, Path: filepath.Join(home, "run", "socket"),
		threads: map[string]*thread{}, fails: map[string]bool{}, cuts: map[string]bool{}, heard: make(chan struct{}, 1),
	}
	for _, dir := range []string{"app-server-control", "run"} {
		if err := os.MkdirAll(filepath.Join(home, dir), 0o700); err != nil {
			return nil, err
		}
	}
	return d, os.Symlink(d.Path, filepath.Join(home, "app-server-control", "app-server-control.sock"))
}

// Start has the daemon listen.
func (d *Codex) Start() error {
	l, err := net.Listen("unix", d.Path)
	if err != nil {
		return err
	}
	recovery.Go("daemon of Codex", func() { _ = d.Serve(l) }) // until it is closed
	return nil
}

// Serve has the daemon listen to connections until it is stopped.
func (d *Codex) Serve(l net.Listener) error {
	s := &http.Server{Handler: http.HandlerFunc(d.serve), ReadHeaderTimeout: time.Minute}
	d.mu.Lock()
	d.server = s
	d.mu.Unlock()
	return s.Serve(l)
}

// Stop ends the daemon and its connection.
func (d *Codex) Stop() {
	d.mu.Lock()
	s, c := d.server, d.conn
	d.mu.Unlock()
	if s != nil {
		_ = s.Close()
	}
	if c != nil {
		_ = c.CloseNow()
	}
}

func (d *Codex) serve(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	d.mu.Lock()
	d.conn, d.joined = c, map[string]bool{}
	d.mu.Unlock()
	for {
		_, line, err := c.Read(context.Background())
		var m Message
		if err != nil || json.Unmarshal(line, &m) != nil {
			return
		}
		d.mu.Lock()
		d.calls = append(d.calls, m)
		answered, cut := d.cuts[m.Method]
		delete(d.cuts, m.Method)
		if !cut || answered {
			d.answer(m)
		}
		d.mu.Unlock()
		if cut {
			_ = c.CloseNow()
			return
		}
		select {
		case d.heard <- struct{}{}:
		default: // somebody is told already
		}
	}
}

// raw is a value of ours as JSON, which it always can be.
func raw(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (d *Codex) send(m Message) {
	if d.conn != nil {
		_ = d.conn.Write(context.Background(), websocket.MessageText, raw(m)) // the client may be gone
	}
}

// answer is what the daemon does with a message of its client.
func (d *Codex) answer(m Message) {
	var p struct{ ThreadID string }
	_ = json.Unmarshal(m.Params, &p) // some have none
	t := d.threads[p.ThreadID]
	reply := func(v any) { d.send(Message{ID: m.ID, Result: raw(v)}) }
	switch {
	case m.Method == "":
		d.resolve(m.ID)
	case d.fails[m.Method], m.Method == "account/rateLimits/read" && d.quota == nil:
		d.send(Message{ID: m.ID, Error: raw(map[string]any{"code": -32600, "message": "refused"})})
	case m.Method == "initialize":
		reply(map[string]any{"userAgent": "codex-tui/0.169.0 (Debian; x86_64) xterm (mcpdeck; 1)", "codexHome": d.Home})
	case m.Method == "account/rateLimits/read":
		reply(map[string]any{"rateLimits": d.quota})
	case m.Method == "thread/loaded/list":
		reply(map[string]any{"data": slices.Sorted(maps.Keys(d.threads)), "nextCursor": nil})
	case m.Method == "thread/list":
		reply(map[string]any{"data": append([]map[string]any{}, d.earlier...), "nextCursor": nil})
	case t == nil || m.ID == nil:
	case m.Method == "thread/read":
		reply(map[string]any{"thread": described(t)})
	case m.Method == "thread/resume":
		d.joined[p.ThreadID] = true
		said := Message{ID: m.ID, Result: raw(map[string]any{
			"thread": described(t), "approvalPolicy": "on-request",
			"initialTurnsPage": map[string]any{"data": []any{map[string]any{"id": "turn", "items": t.items}}},
		})}
		if d.late {
			d.owed = append(d.owed, said)
		} else {
			d.send(said)
		}
		for _, o := range t.open {
			d.send(o)
		}
	case m.Method == "thread/turns/list":
		reply(map[string]any{"data": []any{map[string]any{"id": "turn of " + p.ThreadID, "status": "inProgress", "items": []any{}}}})
	case m.Method == "thread/unsubscribe":
		delete(d.joined, p.ThreadID)
		reply(map[string]any{"status": "unsubscribed"})
	default:
		reply(map[string]any{})
	}
}

func described(t *thread) map[string]any {
	out := maps.Clone(t.info)
	out["status"] = t.status
	return out
}

// Described returns what the daemon says of a session.
func (d *Codex) Described(id string) map[string]any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return described(d.threads[id])
}

// resolve ends a request, wherever its answer came from.
func (d *Codex) resolve(id json.RawMessage) {
	for name, t := range d.threads {
		i := slices.IndexFunc(t.open, func(m Message) bool { return string(m.ID) == string(id) })
		if i < 0 {
			continue
		}
		t.open = slices.Delete(t.open, i, i+1)
		if d.joined[name] {
			d.send(Message{Method: "serverRequest/resolved", Params: raw(map[string]any{"threadId": name, "requestId": id})})
		}
		if len(t.open) == 0 {
			d.set(name, Working())
		}
	}
}

func (d *Codex) set(id string, s Status) {
	d.threads[id].status = s
	d.send(Message{Method: "thread/status/changed", Params: raw(map[string]any{
		"threadId": id, "status": map[string]any{"type": s.Type, "activeFlags": s.Flags},
	})})
}

// Runs adds a session; more are members of its description.
func (d *Codex) Runs(id string, s Status, more map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.threads[id] = &thread{info: infoOf(id, more), status: s}
}

// Ran adds a session that is not loaded.
func (d *Codex) Ran(id string, more map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := &thread{info: infoOf(id, more), status: Status{Type: "notLoaded"}}
	d.earlier = append(d.earlier, described(t))
}

func infoOf(id string, more map[string]any) map[string]any {
	info := map[string]any{
		"id": id, "sessionId": id, "parentThreadId": nil, "ephemeral": false, "cwd": "/home/ana/api", "name": nil, "preview": "Mend the tests\nplease",
		"model": "gpt", "cliVersion": "0.169.0", "updatedAt": 1000, "source": "vscode", "path": "/home/ana/.codex/sessions/" + id + ".jsonl",
	}
	maps.Copy(info, more)
	return info
}

// Forgets removes a session without a word.
func (d *Codex) Forgets(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.threads, id)
}

// Did sets the items of a session's last turn.
func (d *Codex) Did(id string, items ...json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.threads[id].items = items
}

// Limits sets what the daemon says of what its account has used.
func (d *Codex) Limits(quota any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.quota = quota
}

// Refuses has the daemon answer a method with an error.
func (d *Codex) Refuses(method string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fails[method] = true
}

// JoinsLate has the daemon say only later that a session is joined, when the function it returns is called.
func (d *Codex) JoinsLate() (say func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.late = true
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.late = false
		for _, m := range d.owed {
			d.send(m)
		}
		d.owed = nil
	}
}

// HangsUp has the daemon end the connection when a method is called the next time, before or
// after it has answered.
func (d *Codex) HangsUp(method string, answered bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.cuts[method] = answered
}

// Set pushes the state of a session.
func (d *Codex) Set(id string, s Status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(id, s)
}

// Push sends a notification.
func (d *Codex) Push(method string, params any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.send(Message{Method: method, Params: raw(params)})
}

// Asks opens a request in a session and returns its ID. THREAD in the parameters stands
// for the session's.
func (d *Codex) Asks(session, method, params string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := json.RawMessage(strconv.Itoa(d.nextID))
	d.nextID++
	m := Message{ID: id, Method: method, Params: json.RawMessage(strings.ReplaceAll(params, "THREAD", session))}
	t := d.threads[session]
	t.open = append(t.open, m)
	d.set(session, Asks())
	if d.joined[session] {
		d.send(m)
	}
	return string(id)
}

// Terminal answers a request from elsewhere.
func (d *Codex) Terminal(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resolve(json.RawMessage(id))
}

// Ends ends an item of a session with a status: "completed", "failed" or "declined".
func (d *Codex) Ends(session, item, status string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.joined[session] {
		d.send(Message{Method: "item/completed", Params: raw(map[string]any{
			"threadId": session, "turnId": "turn", "completedAtMs": 1, "item": map[string]any{"type": "commandExecution", "id": item, "status": status},
		})})
	}
}

// Calls returns what the client has sent, in order.
func (d *Codex) Calls() []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.calls)
}

// Called returns the methods that the client has called, in order; "=ID" is an answer.
func (d *Codex) Called() (all []string) {
	for _, m := range d.Calls() {
		if m.Method == "" {
			all = append(all, "="+string(m.ID))
			continue
		}
		all = append(all, m.Method)
	}
	return all
}

// Answered returns the client's answer to a request, "" without one.
func (d *Codex) Answered(id string) string {
	for _, m := range d.Calls() {
		if m.Method == "" && string(m.ID) == id {
			return string(m.Result) + string(m.Error)
		}
	}
	return ""
}

// Await waits for the client's answer to a request.
func (d *Codex) Await(ctx context.Context, id string) (string, error) {
	for {
		if a := d.Answered(id); a != "" {
			return a, nil
		}
		select {
		case <-d.heard:
		case <-ctx.Done():
			return "", fmt.Errorf("await the answer to %s: %w", id, errors.Join(ctx.Err(), context.Cause(ctx)))
		}
	}
}
