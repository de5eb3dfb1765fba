//go:build unix

package codex

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/rpc/frames"
)

// daemon stands in for the one that runs Codex's sessions.
type daemon struct {
	t    *testing.T
	home string
	path string

	mu      sync.Mutex // guards what follows
	server  *http.Server
	conn    *websocket.Conn
	joined  map[string]bool
	threads map[string]*standIn
	calls   []message // of the client, in order
	nextID  int
	fails   map[string]bool // methods that are answered with an error
}

// standIn is a thread of a daemon.
type standIn struct {
	info   map[string]any
	status status
	open   []message
	items  []json.RawMessage
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
}

func newDaemon(t *testing.T) *daemon {
	t.Helper()
	home, err := os.MkdirTemp("", "codex") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	d := &daemon{t: t, home: home, threads: map[string]*standIn{}, fails: map[string]bool{}}
	for _, dir := range []string{"app-server-control", "run"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	d.path = filepath.Join(home, "run", "socket")
	if err := os.Symlink(d.path, filepath.Join(home, "app-server-control", "app-server-control.sock")); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *daemon) start() {
	d.t.Helper()
	l, err := net.Listen("unix", d.path)
	if err != nil {
		d.t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(d.serve)}
	d.mu.Lock()
	d.server = s
	d.mu.Unlock()
	go func() { _ = s.Serve(l) }()
	d.t.Cleanup(d.stop)
}

// stop ends the daemon and its connection.
func (d *daemon) stop() {
	d.mu.Lock()
	s, c := d.server, d.conn
	d.mu.Unlock()
	_ = s.Close()
	if c != nil {
		_ = c.CloseNow()
	}
}

func (d *daemon) serve(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	d.mu.Lock()
	d.conn, d.joined = c, map[string]bool{}
	d.mu.Unlock()
	for {
		_, raw, err := c.Read(context.Background())
		var m message
		if err != nil || json.Unmarshal(raw, &m) != nil {
			return
		}
		d.mu.Lock()
		d.calls = append(d.calls, m)
		d.answer(m)
		d.mu.Unlock()
	}
}

func encoded(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func (d *daemon) send(m message) {
	if d.conn != nil {
		_ = d.conn.Write(context.Background(), websocket.MessageText, encoded(m)) // the client may be gone
	}
}

// answer is what the daemon does with a message of its client.
func (d *daemon) answer(m message) {
	var p struct{ ThreadID string }
	_ = json.Unmarshal(m.Params, &p) // some have none
	t := d.threads[p.ThreadID]
	reply := func(v any) { d.send(message{ID: m.ID, Result: encoded(v)}) }
	switch {
	case m.Method == "":
		d.resolve(m.ID)
	case d.fails[m.Method]:
		d.send(message{ID: m.ID, Error: encoded(map[string]any{"code": -32600, "message": "refused"})})
	case m.Method == "initialize":
		reply(map[string]any{"userAgent": "codex-tui/0.169.0 (Debian; x86_64) xterm (mcpdeck; 1)", "codexHome": d.home})
	case m.Method == "thread/loaded/list":
		reply(map[string]any{"data": slices.Sorted(maps.Keys(d.threads)), "nextCursor": nil})
	case t == nil || m.ID == nil:
	case m.Method == "thread/read":
		reply(map[string]any{"thread": d.described(t)})
	case m.Method == "thread/resume":
		d.joined[p.ThreadID] = true
		reply(map[string]any{
			"thread": d.described(t), "approvalPolicy": "on-request",
			"initialTurnsPage": map[string]any{"data": []any{map[string]any{"id": "turn", "items": t.items}}},
		})
		for _, o := range t.open {
			d.send(o)
		}
	case m.Method == "thread/unsubscribe":
		delete(d.joined, p.ThreadID)
		reply(map[string]any{"status": "unsubscribed"})
	default:
		reply(map[string]any{})
	}
}

func (d *daemon) described(t *standIn) map[string]any {
	out := maps.Clone(t.info)
	out["status"] = t.status
	return out
}

// resolve ends a request, wherever its answer came from.
func (d *daemon) resolve(id json.RawMessage) {
	for thread, t := range d.threads {
		i := slices.IndexFunc(t.open, func(m message) bool { return string(m.ID) == string(id) })
		if i < 0 {
			continue
		}
		t.open = slices.Delete(t.open, i, i+1)
		if d.joined[thread] {
			d.send(message{Method: "serverRequest/resolved", Params: encoded(map[string]any{"threadId": thread, "requestId": id})})
		}
		if len(t.open) == 0 {
			d.set(thread, status{Type: "active", Flags: []string{}})
		}
	}
}

func (d *daemon) set(thread string, s status) {
	d.threads[thread].status = s
	d.send(message{Method: "thread/status/changed", Params: encoded(map[string]any{
		"threadId": thread, "status": map[string]any{"type": s.Type, "activeFlags": s.Flags},
	})})
}

// MarshalJSON writes a status as Codex does.
func (s status) MarshalJSON() ([]byte, error) {
	out := map[string]any{"type": s.Type}
	if s.Type == "active" {
		out["activeFlags"] = slices.Concat([]string{}, s.Flags)
	}
	return json.Marshal(out)
}

// runs adds a thread; more are members of its description.
func (d *daemon) runs(id string, s status, more map[string]any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	info := map[string]any{
		"id": id, "sessionId": id, "parentThreadId": nil, "ephemeral": false, "cwd": "/home/ana/api", "name": nil, "preview": "Mend the tests\nplease",
		"model": "gpt", "cliVersion": "0.169.0", "updatedAt": 1000, "source": "vscode", "path": "/home/ana/.codex/sessions/" + id + ".jsonl",
	}
	maps.Copy(info, more)
	d.threads[id] = &standIn{info: info, status: s}
}

// status pushes the state of a thread.
func (d *daemon) status(thread string, s status) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.set(thread, s)
}

// push sends a notification.
func (d *daemon) push(method string, params any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.send(message{Method: method, Params: encoded(params)})
}

var (
	idle    = status{Type: "idle"}
	working = status{Type: "active"}
	asks    = status{Type: "active", Flags: []string{onApproval}}
)

// asks opens a request in a thread and returns its ID.
func (d *daemon) asks(thread, method, params string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := json.RawMessage(strconv.Itoa(d.nextID))
	d.nextID++
	m := message{ID: id, Method: method, Params: json.RawMessage(strings.ReplaceAll(params, "THREAD", thread))}
	t := d.threads[thread]
	t.open = append(t.open, m)
	d.set(thread, asks)
	if d.joined[thread] {
		d.send(m)
	}
	return string(id)
}

// terminal answers a request from elsewhere.
func (d *daemon) terminal(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.resolve(json.RawMessage(id))
}

// called are the methods that the client called, in order; "=ID" is an answer.
func (d *daemon) called() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.calls {
		if m.Method == "" {
			all = append(all, "="+string(m.ID))
			continue
		}
		all = append(all, m.Method)
	}
	return all
}

// answered is the client's answer to a request, "" without one.
func (d *daemon) answered(id string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.calls {
		if m.Method == "" && string(m.ID) == id {
			return string(m.Result) + string(m.Error)
		}
	}
	return ""
}

// sessions is a list of sessions.
type sessions struct {
	mu  sync.Mutex
	all map[string]deck.Session
}

func (s *sessions) Report(one deck.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]deck.Session{}
	}
	s.all[one.ID] = one
}

func (s *sessions) Gone(string, string) {}

func (s *sessions) of(id string) deck.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// world is a deck beside a daemon.
type world struct {
	*daemon
	queue  *ask.Queue
	roster *sessions
	stop   func()
	passed atomic.Int64 // since the deck began to count prompts
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Millisecond)
}

func newWorldWith(t *testing.T, q *ask.Queue, linger time.Duration) *world {
	t.Helper()
	return beside(t, newDaemon(t), q, linger)
}

// beside opens a deck beside a daemon.
func beside(t *testing.T, d *daemon, q *ask.Queue, linger time.Duration) *world {
	t.Helper()
	w := &world{daemon: d, queue: q, roster: &sessions{}}
	a := New(Options{
		Queue: w.queue, Roster: w.roster, Homes: func() []string { return []string{w.home} }, Home: "/home/ana", Linger: linger,
		Confirm: time.Hour,
		Frames:  func(ctx context.Context, c net.Conn) (Frames, error) { return frames.Dial(ctx, c) },
	})
	a.now = func() time.Time { return time.Unix(1000, w.passed.Load()) }
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Run(ctx)
	}()
	w.stop = func() { cancel(); <-done }
	t.Cleanup(func() {
		w.stop()
		_ = w.queue.Close()
	})
	return w
}

// until waits for something that is about to be.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// item waits for the one open prompt.
func (w *world) item() ask.Item {
	w.t.Helper()
	var it ask.Item
	until(w.t, "a prompt", func() bool {
		s := w.queue.Pending()
		if len(s.Items) == 1 && s.Items[0].Absent == ask.Present {
			it = s.Items[0]
			return true
		}
		return false
	})
	return it
}

// choose answers a prompt with the option of that label, and a note.
func (w *world) choose(it ask.Item, label, note string) {
	w.t.Helper()
	q := it.Request.Questions[0]
	if err := w.queue.Answer(it.ID, []ask.Result{{ID: q.ID, SelectedOptions: []string{label}, Note: note}}); err != nil {
		w.t.Fatal(err)
	}
}

const command = `{"kind":"command","threadId":"THREAD","turnId":"turn","itemId":"call_1","startedAtMs":1,"environmentId":"local","reason":"To tidy up","command":"/bin/bash -lc 'rm -rf build'","cwd":"/home/ana/api","proposedExecpolicyAmendment":["rm","-rf"],"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["rm","-rf"]}},"cancel"]}`
