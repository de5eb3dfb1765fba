//go:build unix

package codex

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// newDaemon plays a daemon that does not run yet.
func newDaemon(t *testing.T) *standin.Codex {
	t.Helper()
	home, err := os.MkdirTemp("", "codex") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	d, err := standin.NewCodex(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Stop)
	return d
}

// started has a daemon run.
func started(t *testing.T, d *standin.Codex) {
	t.Helper()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
}

// sessions is a list of sessions.
type sessions struct {
	mu   sync.Mutex
	all  map[string]snapshot.Session
	read []string
}

func (s *sessions) Report(one snapshot.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]snapshot.Session{}
	}
	s.all[one.ID] = one
}

func (s *sessions) MarkRead(_, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = append(s.read, id)
}

func (s *sessions) Gone(_, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, id)
}

func (s *sessions) of(id string) snapshot.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[id]
}

// world is a deck beside a daemon.
type world struct {
	*standin.Codex
	t      *testing.T
	queue  *ask.Queue
	roster *sessions
	door   *Adapter
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

// idle is a deck beside a daemon that has an idle session "s".
func idle(t *testing.T, linger time.Duration) *world {
	t.Helper()
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), linger)
	w.Runs("s", standin.Idle(), nil)
	started(t, w.Codex)
	return w
}

// beside opens a deck beside a daemon.
func beside(t *testing.T, d *standin.Codex, q *ask.Queue, linger time.Duration) *world {
	t.Helper()
	w := &world{Codex: d, t: t, queue: q, roster: &sessions{}}
	a := New(Options{
		Deps: approvals.Deps{
			Queue: w.queue, Roster: w.roster, Home: "/home/ana",
			Frames: func(ctx context.Context, c net.Conn) (approvals.Frames, error) { return frames.Dial(ctx, c) },
		},
		Homes: func() []string { return []string{w.Home} }, Linger: linger, Confirm: time.Hour,
	})
	w.door = a
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

// item waits for the one open prompt.
func (w *world) item() ask.Item {
	w.t.Helper()
	var it ask.Item
	testwait.Until(w.t, "a prompt", func() bool {
		s := w.queue.Pending()
		if len(s.Items) == 1 && s.Items[0].Absent == ask.Present {
			it = s.Items[0]
			return true
		}
		return false
	})
	return it
}

// empties waits until no prompt is open.
func (w *world) empties() {
	w.t.Helper()
	testwait.Until(w.t, "no prompt is open", func() bool { return len(w.queue.Pending().Items) == 0 })
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
