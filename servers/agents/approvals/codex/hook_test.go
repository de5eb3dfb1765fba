//go:build unix

package codex

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// hooks is a deck that Codex's hooks reach.
type hooks struct {
	t     *testing.T
	a     *Adapter
	queue *ask.Queue
	path  string
	close func() // and wait until every hook was served

	sessions sessions
}

func newHooks(t *testing.T, hold time.Duration) *hooks {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk") // short, for the socket's path
	if err != nil {
		t.Fatal(err)
	}
	h := &hooks{t: t, queue: ask.New(ask.Options{Hold: -1}), path: filepath.Join(dir, "run", "prompts.sock")}
	h.a = New(Options{Deps: approvals.Deps{Queue: h.queue, Roster: &h.sessions, Rules: func() approvals.Rules { return approvals.Rules{Hold: hold} }}})
	h.a.behind = func(pid int) int { return pid }
	s, err := hook.Listen(hook.Options{Path: h.path, Handlers: map[string]hook.Handler{agent: h.a}})
	if err != nil {
		t.Fatal(err)
	}
	h.close = sync.OnceFunc(func() { s.Close() })
	t.Cleanup(func() {
		h.close()
		_ = h.queue.Close()
		_ = os.RemoveAll(dir)
	})
	return h
}

// asks runs a hook and returns what it prints, when it has.
func (h *hooks) asks(ctx context.Context, payload string) <-chan string {
	printed := make(chan string, 1)
	go func() {
		printed <- hook.Ask(ctx, hook.Call{Socket: h.path, Agent: agent, Program: "/opt/mcpdeck", Env: func(string) string { return "" }, Input: strings.NewReader(payload)})
	}()
	return printed
}

const hookPayload = `{"session_id":"s","turn_id":"t","transcript_path":"/x.jsonl","cwd":"/home/ana/api","hook_event_name":"PermissionRequest","model":"gpt","permission_mode":"default","tool_name":"Bash","tool_input":{"command":"rm -rf build","description":"To tidy up"}}`

func (h *hooks) item() ask.Item {
	h.t.Helper()
	testwait.Until(h.t, "a prompt", func() bool { return len(h.queue.Pending().Items) == 1 })
	return h.queue.Pending().Items[0]
}

func TestAPermissionThatCameByAHookIsAnswered(t *testing.T) {
	for _, tt := range []struct{ label, note, want string }{
		{"Allow once", "", `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`},
		{"Deny", "", `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"the user denied this"},"hookEventName":"PermissionRequest"}}`},
		{"Deny with a message", "use make", `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"use make"},"hookEventName":"PermissionRequest"}}`},
	} {
		h := newHooks(t, time.Hour)
		printed := h.asks(t.Context(), hookPayload)
		it := h.item()
		if s := h.sessions.of("s"); s.State != snapshot.WaitsForPermission || s.WaitingFor != "permission to use Bash" {
			t.Errorf("meanwhile its session is %+v", s)
		}
		if p := it.Request.Prompt; p.Door != ask.Held || p.Command != "rm -rf build" || p.Words != "To tidy up" || p.Session != "s" || len(p.Args) > 0 {
			t.Errorf("got %+v", p)
		}
		if err := h.queue.Answer(it.ID, []ask.Result{{ID: "permission", SelectedOptions: []string{tt.label}, Note: tt.note}}); err != nil {
			t.Fatal(err)
		}
		if got := <-printed; got != tt.want {
			t.Errorf("%s prints %s", tt.label, got)
		}
	}
}

func TestAHeldPermissionGoesToItsTerminal(t *testing.T) {
	t.Run("after a while", func(t *testing.T) {
		h := newHooks(t, time.Nanosecond)
		if got := <-h.asks(t.Context(), hookPayload); got != "" {
			t.Errorf("it prints %s", got)
		}
		testwait.Until(t, "it leaves the deck", func() bool { return len(h.queue.Pending().Items) == 0 })
	})
	t.Run("when the user lets it go", func(t *testing.T) {
		h := newHooks(t, time.Hour)
		printed := h.asks(t.Context(), hookPayload)
		if err := h.queue.Release(h.item().ID); err != nil {
			t.Fatal(err)
		}
		if got := <-printed; got != "" {
			t.Errorf("it prints %s", got)
		}
	})
}

func TestASessionsHooksMayNotAskWithoutEnd(t *testing.T) {
	h := newHooks(t, time.Nanosecond)
	var passed atomic.Int64
	h.a.now = func() time.Time { return time.Unix(1000, passed.Load()) }
	shown := func(want int) {
		t.Helper()
		testwait.Until(t, "the last has left the deck", func() bool { return len(h.queue.Pending().Items) == 0 })
		if n := len(h.queue.Pending().History); n != want {
			t.Errorf("%d were shown, want %d", n, want)
		}
	}
	for range approvals.PerMinute + 3 {
		if got := <-h.asks(t.Context(), hookPayload); got != "" {
			t.Fatalf("it prints %s", got)
		}
	}
	shown(approvals.PerMinute)
	<-h.asks(t.Context(), strings.Replace(hookPayload, `"s"`, `"other"`, 1))
	shown(approvals.PerMinute + 1)
	passed.Store(int64(time.Minute))
	<-h.asks(t.Context(), hookPayload)
	shown(approvals.PerMinute + 2)
}

func TestAHooksSessionIsInTheList(t *testing.T) {
	h := newHooks(t, time.Nanosecond)
	<-h.asks(t.Context(), hookPayload)
	var s snapshot.Session
	testwait.Until(t, "it does not wait", func() bool {
		s = h.sessions.of("s")
		return s.State == snapshot.StateUnknown
	})
	if s.Agent != agent || s.PID != os.Getpid() || s.Folder != "/home/ana/api" || s.Model != "gpt" || s.Mode != "default" || s.Transcript != "/x.jsonl" {
		t.Errorf("got %+v", s)
	}
	<-h.asks(t.Context(), strings.Replace(hookPayload, `"s"`, `"next"`, 1))
	if h.sessions.of("s").ID != "" || h.sessions.of("next").ID == "" {
		t.Error("its process goes on with another session, and the first is still there")
	}
}

func TestASessionThatItsProcessHasLeftStaysOutOfTheListWhenItsHookEnds(t *testing.T) {
	h := newHooks(t, time.Hour)
	printed := h.asks(t.Context(), hookPayload)
	first := h.item()
	h.asks(t.Context(), strings.Replace(hookPayload, `"s"`, `"next"`, 1))
	testwait.Until(t, "the next session asks", func() bool { return h.sessions.of("next").ID != "" && len(h.queue.Pending().Items) == 2 })
	if err := h.queue.Release(first.ID); err != nil {
		t.Fatal(err)
	}
	<-printed
	h.close()
	if h.sessions.of("s").ID != "" || h.sessions.of("next").ID == "" {
		t.Errorf("the list has %+v and %+v", h.sessions.of("s"), h.sessions.of("next"))
	}
}

func TestAHookHasNoOpinionOnWhatIsNotItsOwn(t *testing.T) {
	h := newHooks(t, time.Hour)
	l := &link{a: h.a, home: "/h", threads: map[string]*thread{"s": {status: status{Type: "active"}}}}
	h.a.enter(l)
	if got := <-h.asks(t.Context(), hookPayload); got != "" {
		t.Errorf("of a session in the daemon it prints %s", got)
	}
	h.a.leave(l)
	if got := <-h.asks(t.Context(), strings.Replace(hookPayload, "PermissionRequest", "Stop", 1)); got != "" {
		t.Errorf("of another event it prints %s", got)
	}
	h.a.behind = behindCodex // which has not started this test
	if got := <-h.asks(t.Context(), hookPayload); got != "" {
		t.Errorf("of another program it prints %s", got)
	}
	if items := h.queue.Pending().Items; len(items) > 0 {
		t.Errorf("the deck asks %+v", items)
	}
}
