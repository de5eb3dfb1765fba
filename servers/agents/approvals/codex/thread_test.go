//go:build unix

package codex

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestStatesOfASession(t *testing.T) {
	w := newWorld(t)
	w.Runs("s", standin.Working(), nil)
	started(t, w.Codex)
	testwait.Until(t, "it", func() bool { return w.roster.of("s").State == snapshot.Working })
	s := w.roster.of("s")
	if s.Agent != "codex" || s.Version != "0.169.0" || s.Title != "Mend the tests" || s.Folder != "/home/ana/api" || s.Model != "gpt" || !strings.HasSuffix(s.Transcript, "s.jsonl") {
		t.Errorf("got %+v", s)
	}
	for _, tt := range []struct {
		status standin.Status
		want   snapshot.SessionState
	}{
		{standin.Idle(), snapshot.Idle},
		{standin.Status{Type: "active", Flags: []string{onInput}}, snapshot.WaitsForAnswer},
		{standin.Status{Type: "active", Flags: []string{onInput, onApproval}}, snapshot.WaitsForPermission},
		{standin.Status{Type: "systemError"}, snapshot.Idle},
		{standin.Status{Type: "dreaming"}, snapshot.StateUnknown},
		{standin.Status{Type: "active", Flags: []string{"dreaming"}}, snapshot.Working},
		{standin.Status{Type: "notLoaded"}, snapshot.Ended},
	} {
		w.Set("s", tt.status)
		testwait.Until(t, string(tt.want), func() bool { return w.roster.of("s").State == tt.want })
	}
	w.Runs("new", standin.Idle(), nil)
	info := w.Described("new")
	w.Push("thread/started", map[string]any{"thread": info})
	w.Push("thread/name/updated", map[string]any{"threadId": "new", "threadName": "Release"})
	w.Push("thread/settings/updated", map[string]any{"threadId": "new", "threadSettings": map[string]any{"model": "gpt-2", "approvalPolicy": map[string]any{"granular": map[string]any{}}}})
	testwait.Until(t, "the new session", func() bool {
		s := w.roster.of("new")
		return s.Title == "Release" && s.Model == "gpt-2" && s.Mode == "granular"
	})
}

func TestSessionsThatWereInUseLatelyAreListedAsEnded(t *testing.T) {
	w := newWorld(t) // whose clock is at 1000
	w.passed.Store(int64(2 * time.Hour))
	w.Runs("s", standin.Idle(), map[string]any{"updatedAt": 8000})
	for id, more := range map[string]map[string]any{
		"s": {"updatedAt": 8000}, "lately": {"updatedAt": 7000, "name": "Release"}, "long ago": {"updatedAt": 1000},
		"title": {"updatedAt": 8000, "ephemeral": true}, "child": {"updatedAt": 8000, "parentThreadId": "lately"},
	} {
		w.Ran(id, more)
	}
	started(t, w.Codex)
	testwait.Until(t, "the session in use", func() bool { return w.roster.of("s").State == snapshot.Idle })
	testwait.Until(t, "the one that has ended", func() bool { return w.roster.of("lately").State == snapshot.Ended })
	if s := w.roster.of("lately"); s.Title != "Release" || !s.Since.Equal(time.Unix(7000, 0)) {
		t.Errorf("got %+v", s)
	}
	for _, id := range []string{"long ago", "title", "child"} {
		if s := w.roster.of(id); s.ID != "" {
			t.Errorf("%s is listed", id)
		}
	}
	if w.roster.of("s").State != snapshot.Idle {
		t.Error("the session in use has ended")
	}
}

func TestASubagentsPromptBelongsToItsSession(t *testing.T) {
	w := newWorld(t)
	w.Runs("s", standin.Working(), nil)
	w.Runs("child", standin.Working(), map[string]any{"parentThreadId": "s", "sessionId": "s", "agentNickname": "Ada"})
	started(t, w.Codex)
	testwait.Until(t, "the sub-agent", func() bool { return w.roster.of("s").Subagents == 1 })
	w.Asks("child", runCommand, command)
	if p := w.item().Request.Prompt; p.Session != "s" || p.Subagent != "Ada" {
		t.Errorf("it is of %q, sub-agent %q", p.Session, p.Subagent)
	}
	testwait.Until(t, "the session waits", func() bool { return w.roster.of("s").State == snapshot.WaitsForPermission })
	if s := w.roster.of("child"); s.ID != "" {
		t.Error("the sub-agent is a session of its own")
	}
}

func TestASubagentIsNoSessionOfItsOwnOnceItsSessionIsKnown(t *testing.T) {
	w := newWorld(t)
	w.Runs("child", standin.Working(), map[string]any{"parentThreadId": "s"})
	started(t, w.Codex)
	testwait.Until(t, "it is listed alone", func() bool { return w.roster.of("child").State == snapshot.Working })
	w.Runs("s", standin.Working(), nil)
	w.Push("thread/started", map[string]any{"thread": w.Described("s")})
	testwait.Until(t, "its session has it", func() bool { return w.roster.of("s").Subagents == 1 && w.roster.of("child").ID == "" })
}

func TestWhatWasReadInCodexIsRead(t *testing.T) {
	w := idle(t, time.Millisecond)
	testwait.Until(t, "the session", func() bool { return w.roster.of("s").State == snapshot.Idle })
	mark := func(thread string, unread any) {
		w.Push("thread/readState/changed", map[string]any{"threadId": thread, "readState": map[string]any{"revision": "1", "firstUnread": unread}})
	}
	mark("s", map[string]any{"type": "turn", "turnId": "t"})
	mark("unknown", nil)
	mark("s", nil)
	testwait.Until(t, "the mark", func() bool {
		w.roster.mu.Lock()
		defer w.roster.mu.Unlock()
		return len(w.roster.read) > 0
	})
	if !slices.Equal(w.roster.read, []string{"s"}) {
		t.Errorf("read are %q", w.roster.read)
	}
}

// A terminal of Codex says so of the thread that is open in it as soon as a turn has ended, also if
// nobody looks at it.
func TestAMarkAtTheEndOfATurnIsNotTheUsers(t *testing.T) {
	ended := time.Unix(1000, 0)
	th := &thread{}
	th.set(status{Type: "active"}, ended.Add(-time.Minute))
	if th.looked(ended) {
		t.Error("it was looked at while it works")
	}
	th.set(status{Type: "idle"}, ended)
	for after, want := range map[time.Duration]bool{0: false, 20 * time.Millisecond: false, time.Minute: true} {
		if got := th.looked(ended.Add(after)); got != want {
			t.Errorf("a mark after %v: %v", after, got)
		}
	}
}

func TestTitlesOfCodexAreTheUsersOrTheFirstPrompt(t *testing.T) {
	w := newWorld(t)
	w.Runs("named", standin.Idle(), map[string]any{"name": "api"})
	w.Runs("nameless", standin.Idle(), nil)
	w.Runs("helper", standin.Idle(), map[string]any{"source": map[string]any{"subAgent": "review"}})
	started(t, w.Codex)
	for id, want := range map[string]snapshot.Session{"named": {Title: "api", Named: true}, "nameless": {Title: "Mend the tests"}, "helper": {Title: "Mend the tests", Hidden: "a sub-agent of a session that is not known"}} {
		testwait.Until(t, "the session "+id, func() bool { return w.roster.of(id).ID == id })
		if s := w.roster.of(id); s.Title != want.Title || s.Named != want.Named || s.Hidden != want.Hidden {
			t.Errorf("%s: %+v", id, s)
		}
	}
}
