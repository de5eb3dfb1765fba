//go:build unix

package codex

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/rpc/frames"
)

func TestACommandIsAllowedFromTheDeck(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, map[string]any{"name": "api"})
	w.start()
	until(t, "the session", func() bool { return w.roster.of("s").State == deck.Idle })
	id := w.asks("s", runCommand, command)
	it := w.item()
	r, p := it.Request, it.Request.Prompt
	if p.Kind != ask.Permission || p.Command != "rm -rf build" || p.Words != "To tidy up" || p.Session != "s" || p.Door != ask.Shared || p.Mode != "on-request" {
		t.Errorf("the prompt is %+v", p)
	}
	if r.Client() != "codex" || r.Cwd() != "/home/ana/api" || !p.Unconfirmed { // it is no program called codex
		t.Errorf("the asker is %q in %s, unconfirmed %v", r.Client(), r.Cwd(), p.Unconfirmed)
	}
	until(t, "the session waits", func() bool { return w.roster.of("s").State == deck.WaitsForPermission })
	w.choose(it, "Allow once", "")
	until(t, "the answer", func() bool { return w.answered(id) == `{"decision":"accept"}` })
	until(t, "it is delivered", func() bool {
		h := w.queue.Pending().History
		return len(h) == 1 && h[0].Delivery == ask.Delivered
	})
	until(t, "the session works", func() bool { return w.roster.of("s").State == deck.Working })
}

func TestASessionIsListenedToOnlyWhileItWaits(t *testing.T) {
	w := newWorld(t)
	w.runs("quiet", working, nil)
	w.runs("s", idle, nil)
	w.runs("title", idle, map[string]any{"ephemeral": true})
	w.start()
	id := w.asks("s", runCommand, command)
	w.choose(w.item(), "Deny", "")
	until(t, "it is left", func() bool { return slices.Contains(w.called(), "thread/unsubscribe") })
	again := w.asks("s", runCommand, strings.Replace(command, "call_1", "call_2", 1))
	w.item()
	w.terminal(again)
	until(t, "it is left again", func() bool {
		return len(slices.DeleteFunc(w.called(), func(m string) bool { return m != "thread/unsubscribe" })) == 2
	})
	w.asks("title", runCommand, command)
	w.status("quiet", idle)
	until(t, "the quiet session is idle", func() bool { return w.roster.of("quiet").State == deck.Idle })
	var calls []string
	for _, m := range w.called() {
		if m != "thread/read" {
			calls = append(calls, m)
		}
	}
	want := []string{
		"initialize", "initialized", "thread/loaded/list", "thread/resume", "=" + id, "thread/unsubscribe", "thread/resume", "thread/unsubscribe",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("called %q, want %q", calls, want)
	}
	if s := w.roster.of("title"); s.ID != "" {
		t.Error("a session that is not kept is in the list")
	}
}

func TestADenialsNoteIsSentBeforeIt(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.start()
	id := w.asks("s", runCommand, command)
	w.choose(w.item(), "Deny with a note", "use make clean")
	until(t, "the answer", func() bool { return w.answered(id) == `{"decision":"decline"}` })
	calls := w.called()
	steer, answer := slices.Index(calls, "turn/steer"), slices.Index(calls, "="+id)
	if steer < 0 || steer > answer {
		t.Errorf("called %q", calls)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	want := `{"expectedTurnId":"turn","input":[{"text":"use make clean","text_elements":[],"type":"text"}],"threadId":"s"}`
	if got := string(w.calls[steer].Params); got != want {
		t.Errorf("the note is %s, want %s", got, want)
	}
}

func TestADenialIsSentAlsoIfItsNoteCannotBe(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.fails["turn/steer"] = true
	w.start()
	id := w.asks("s", runCommand, command)
	w.choose(w.item(), "Deny with a note", "use make clean")
	until(t, "the answer", func() bool { return w.answered(id) == `{"decision":"decline"}` })
	until(t, "the note is not confirmed", func() bool {
		h := w.queue.Pending().History
		return len(h) == 1 && h[0].Delivery == ask.Unconfirmed
	})
}

func TestWhatTheTerminalAnsweredLeavesAndIsNotAnsweredAgain(t *testing.T) {
	for name, how := range map[string]func(w *world, id string){
		"resolved":           func(w *world, id string) { w.terminal(id) },
		"no longer waiting":  func(w *world, _ string) { w.status("s", working) },
		"the session closed": func(w *world, _ string) { w.push("thread/closed", map[string]any{"threadId": "s"}) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.runs("s", idle, nil)
			w.start()
			id := w.asks("s", runCommand, command)
			it := w.item()
			w.queue.Show(it.ID)
			how(w, id)
			until(t, "it leaves", func() bool {
				s := w.queue.Pending()
				return len(s.Items) == 0 && len(s.History) == 1 && s.History[0].Delivery == ask.Elsewhere
			})
			if w.answered(id) != "" {
				t.Error("the deck answered, too")
			}
		})
	}
}

func TestASessionOfTheDaemonMayNotAskWithoutEnd(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Hour)
	w.runs("s", idle, nil)
	w.runs("other", idle, nil)
	w.start()
	one := func(thread string, i int) string {
		return w.asks(thread, runCommand, strings.Replace(command, "call_1", "call_"+strconv.Itoa(i), 1))
	}
	settled := func(id string) {
		w.item()
		w.terminal(id)
		until(t, "it has left", func() bool { return len(w.queue.Pending().Items) == 0 })
	}
	for i := range prompts.PerMinute {
		settled(one("s", i))
	}
	last := one("s", 100)
	settled(one("other", 101)) // it came after the last
	w.terminal(last)
	w.passed.Store(int64(time.Minute))
	settled(one("s", 102))
	if n := len(w.queue.Pending().History); n != prompts.PerMinute+2 {
		t.Errorf("%d were shown", n)
	}
}

func TestOtherClientsRequestsAreNeverAnswered(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Hour)
	w.runs("s", idle, nil)
	w.start()
	id := w.asks("s", runCommand, command)
	w.item()
	foreign := w.asks("s", "item/tool/call", `{"threadId":"THREAD","callId":"c","tool":"x","arguments":{}}`)
	until(t, "the session is left", func() bool { return slices.Contains(w.called(), "thread/unsubscribe") })
	until(t, "its prompt is withdrawn", func() bool { return len(w.queue.Pending().Items) == 0 })
	w.terminal(foreign)
	w.terminal(id)
	until(t, "it works", func() bool { return w.roster.of("s").State == deck.Working })
	for _, m := range w.called() {
		if strings.HasPrefix(m, "=") {
			t.Errorf("the deck answered %s", m)
		}
	}
	w.asks("s", runCommand, strings.Replace(command, "call_1", "call_2", 1))
	w.item() // it is listened to again
}

func TestAQuestionKeepsItsDraftOverALostConnection(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.start()
	const question = `{"threadId":"THREAD","turnId":"turn","itemId":"call_3","isBlocking":false,"questions":[{"id":"db","header":"Database","question":"Which database?","isOther":true,"isSecret":false,"options":[{"label":"SQLite","description":"A file."},{"label":"Postgres","description":"A server."}]}]}`
	w.asks("s", askUser, question)
	it := w.item()
	w.queue.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Other: "DuckDB", OtherOn: true}}})
	w.daemon.stop()
	until(t, "the session is unknown", func() bool { return w.roster.of("s").State == deck.StateUnknown })
	if s := w.queue.Pending(); len(s.Items) != 1 || s.Items[0].Absent != ask.Gone {
		t.Fatalf("left is %+v", s.Items)
	}
	w.start()
	again := w.item()
	if again.ID != it.ID || again.Draft.Answers[0].Other != "DuckDB" {
		t.Errorf("item %d with the draft %+v came back as %d with %+v", it.ID, it.Draft, again.ID, again.Draft)
	}
	if err := w.queue.Send(again.ID); err != nil {
		t.Fatal(err)
	}
	until(t, "the answer", func() bool {
		return w.answered("0") == `{"answers":{"db":{"answers":["None of the above","user_note: DuckDB"]}}}`
	})
}

func TestPromptsAndDraftsComeBackInTheNextDeck(t *testing.T) {
	state := ask.Options{Hold: -1, StateFile: filepath.Join(t.TempDir(), "state.json")}
	w := newWorldWith(t, ask.New(state), time.Millisecond)
	w.runs("s", idle, nil)
	w.start()
	w.asks("s", runCommand, command)
	w.queue.SetDraft(w.item().ID, ask.Draft{Answers: []ask.AnswerDraft{{Notes: map[int]string{3: "use make"}}}})
	w.asks("s", fillForm, formParams)
	until(t, "both", func() bool { return len(w.queue.Pending().Items) == 2 })
	w.stop()
	if err := w.queue.Close(); err != nil {
		t.Fatal(err)
	}
	next := beside(t, w.daemon, ask.New(state), time.Millisecond)
	until(t, "both again", func() bool { return next.queue.Pending().Waiting == 2 })
	kinds := map[ask.PromptKind]int{}
	for _, it := range next.queue.Pending().Items {
		kinds[it.Request.Prompt.Kind]++
		if it.Request.Prompt.Kind == ask.Permission && it.Draft.Answers[0].Notes[3] != "use make" {
			t.Errorf("its draft is %+v", it.Draft)
		}
	}
	if kinds[ask.Permission] != 1 || kinds[ask.ServerForm] != 1 {
		t.Errorf("there are %v", kinds)
	}
}

func TestAPermissionComesBackOverALostConnection(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.start()
	w.asks("s", runCommand, command)
	it := w.item()
	w.queue.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Notes: map[int]string{3: "use make"}}}})
	w.daemon.stop()
	until(t, "it is withdrawn", func() bool { return len(w.queue.Pending().Items) == 0 })
	w.start()
	if got := w.item().Draft.Answers[0].Notes[3]; got != "use make" {
		t.Errorf("its draft is %q", got)
	}
}

func TestASessionThatIsGoneAfterALostConnectionHasEnded(t *testing.T) {
	w := newWorld(t)
	w.runs("s", working, nil)
	w.runs("other", idle, nil)
	w.start()
	until(t, "the sessions", func() bool { return w.roster.of("s").State == deck.Working && w.roster.of("other").State == deck.Idle })
	w.daemon.stop()
	w.mu.Lock()
	delete(w.threads, "s")
	w.mu.Unlock()
	w.start()
	until(t, "it has ended", func() bool { return w.roster.of("s").State == deck.Ended && w.roster.of("other").State == deck.Idle })
}

func TestStatesOfASession(t *testing.T) {
	w := newWorld(t)
	w.runs("s", working, nil)
	w.start()
	until(t, "it", func() bool { return w.roster.of("s").State == deck.Working })
	s := w.roster.of("s")
	if s.Agent != "codex" || s.Version != "0.169.0" || s.Title != "Mend the tests" || s.Folder != "/home/ana/api" || s.Model != "gpt" || !strings.HasSuffix(s.Transcript, "s.jsonl") {
		t.Errorf("got %+v", s)
	}
	for _, tt := range []struct {
		status status
		want   deck.SessionState
	}{
		{idle, deck.Idle},
		{status{Type: "active", Flags: []string{onInput}}, deck.WaitsForAnswer},
		{status{Type: "active", Flags: []string{onInput, onApproval}}, deck.WaitsForPermission},
		{status{Type: "systemError"}, deck.Idle},
		{status{Type: "dreaming"}, deck.StateUnknown},
		{status{Type: "active", Flags: []string{"dreaming"}}, deck.Working},
		{status{Type: "notLoaded"}, deck.Ended},
	} {
		w.status("s", tt.status)
		until(t, string(tt.want), func() bool { return w.roster.of("s").State == tt.want })
	}
	w.runs("new", idle, nil)
	w.mu.Lock()
	info := w.described(w.threads["new"])
	w.mu.Unlock()
	w.push("thread/started", map[string]any{"thread": info})
	w.push("thread/name/updated", map[string]any{"threadId": "new", "threadName": "Release"})
	w.push("thread/settings/updated", map[string]any{"threadId": "new", "threadSettings": map[string]any{"model": "gpt-2", "approvalPolicy": map[string]any{"granular": map[string]any{}}}})
	until(t, "the new session", func() bool {
		s := w.roster.of("new")
		return s.Title == "Release" && s.Model == "gpt-2" && s.Mode == "granular"
	})
}

func TestASubagentsPromptBelongsToItsSession(t *testing.T) {
	w := newWorld(t)
	w.runs("s", working, nil)
	w.runs("child", working, map[string]any{"parentThreadId": "s", "sessionId": "s", "agentNickname": "Ada"})
	w.start()
	until(t, "the sub-agent", func() bool { return w.roster.of("s").Subagents == 1 })
	w.asks("child", runCommand, command)
	if p := w.item().Request.Prompt; p.Session != "s" || p.Subagent != "Ada" {
		t.Errorf("it is of %q, sub-agent %q", p.Session, p.Subagent)
	}
	until(t, "the session waits", func() bool { return w.roster.of("s").State == deck.WaitsForPermission })
	if s := w.roster.of("child"); s.ID != "" {
		t.Error("the sub-agent is a session of its own")
	}
}

func TestAnEditIsShownAsADiff(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.threads["s"].items = []json.RawMessage{
		json.RawMessage(`{"type":"userMessage","id":"u","content":[]}`),
		json.RawMessage(`{"type":"fileChange","id":"call_4","changes":[{"path":"/etc/new.txt","kind":{"type":"add"},"diff":"hello\nthere\n"},{"path":"/home/ana/api/a.txt","kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-old\n+new\n"}],"status":"inProgress"}`),
	}
	w.start()
	const edit = `{"threadId":"THREAD","turnId":"turn","itemId":"call_4","startedAtMs":1,"reason":null,"grantRoot":null}`
	id := w.asks("s", changeFiles, edit)
	it := w.item()
	want := "--- /dev/null\n+++ /etc/new.txt\n@@ -0,0 +1,2 @@\n+hello\n+there\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	if got := it.Request.Prompt.Diff; got != want {
		t.Errorf("the diff is\n%s", got)
	}
	w.choose(it, "Allow for this session", "")
	until(t, "the answer", func() bool { return w.answered(id) == `{"decision":"acceptForSession"}` })

	// One that comes while the session is listened to.
	w.asks("s", runCommand, command)
	w.item()
	w.push("item/started", map[string]any{"threadId": "s", "item": json.RawMessage(`{"type":"fileChange","id":"call_5","changes":[{"path":"/home/ana/api/b.txt","kind":{"type":"delete"},"diff":"gone"}]}`)})
	w.asks("s", changeFiles, strings.Replace(edit, "call_4", "call_5", 1))
	until(t, "both", func() bool { return len(w.queue.Pending().Items) == 2 })
	if p := w.queue.Pending().Items[1].Request.Prompt; p.Diff != "--- b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n" || p.Path != "/home/ana/api/b.txt" {
		t.Errorf("got %+v", p)
	}
}

func TestAnEditThatIsNotKnownIsNotAllowedFromTheDeck(t *testing.T) {
	w := newWorld(t)
	w.runs("s", idle, nil)
	w.start()
	w.asks("s", changeFiles, `{"threadId":"THREAD","turnId":"turn","itemId":"call_4","startedAtMs":1}`)
	if it := w.item(); !it.Request.InTerminal() || w.queue.Send(it.ID) == nil {
		t.Errorf("it could be answered: %+v", it.Request.Prompt)
	}
}

func TestAProbeSaysWhatTheDaemonHas(t *testing.T) {
	d := newDaemon(t)
	o := Options{Frames: func(ctx context.Context, c net.Conn) (Frames, error) { return frames.Dial(ctx, c) }}
	if _, _, err := Probe(t.Context(), o, d.home); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a daemon: %v", err)
	}
	d.threads["one"] = &standIn{}
	d.start()
	if version, sessions, err := Probe(t.Context(), o, d.home); err != nil || version == "" || sessions != 1 {
		t.Errorf("version %q, %d sessions, %v", version, sessions, err)
	}
}

func TestASocketThatOthersCouldHaveMadeIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(d *daemon) error{
		"open folder of the link":   func(d *daemon) error { return os.Chmod(filepath.Join(d.home, "app-server-control"), 0o755) },
		"open folder of the socket": func(d *daemon) error { return os.Chmod(filepath.Join(d.home, "run"), 0o770) },
		"link to a link": func(d *daemon) error {
			if err := os.Rename(d.path, d.path+"2"); err != nil {
				return err
			}
			return os.Symlink(d.path+"2", d.path)
		},
		"no socket": func(d *daemon) error {
			if err := os.Remove(d.path); err != nil {
				return err
			}
			return os.WriteFile(d.path, nil, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDaemon(t)
			d.start()
			c, err := dial(t.Context(), d.home)
			if err != nil {
				t.Fatal(err)
			}
			_ = c.Close()
			if err := spoil(d); err != nil {
				t.Fatal(err)
			}
			if c, err := dial(t.Context(), d.home); err == nil {
				_ = c.Close()
				t.Error("it was taken")
			}
		})
	}
}
