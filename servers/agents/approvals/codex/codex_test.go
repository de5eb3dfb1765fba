//go:build unix

package codex

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/standin"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestACommandIsAllowedFromTheDeck(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Hour)
	w.Runs("s", standin.Idle(), map[string]any{"name": "api"})
	started(t, w.Codex)
	testwait.Until(t, "the session", func() bool { return w.roster.of("s").State == snapshot.Idle })
	id := w.Asks("s", runCommand, command)
	it := w.item()
	r, p := it.Request, it.Request.Prompt
	if p.Kind != ask.Permission || p.Command != "rm -rf build" || p.Words != "To tidy up" || p.Session != "s" || p.Door != ask.Shared || p.Mode != "on-request" {
		t.Errorf("the prompt is %+v", p)
	}
	if r.Client() != "codex" || r.Cwd() != "/home/ana/api" || !p.Unconfirmed { // it is no program called codex
		t.Errorf("the asker is %q in %s, unconfirmed %v", r.Client(), r.Cwd(), p.Unconfirmed)
	}
	testwait.Until(t, "the session waits", func() bool { return w.roster.of("s").State == snapshot.WaitsForPermission })
	w.choose(it, "Allow once", "")
	testwait.Until(t, "the answer", func() bool { return w.Answered(id) == `{"decision":"accept"}` })
	w.Ends("s", "call_1", "completed")
	w.says("allowed")
	testwait.Until(t, "the session works", func() bool { return w.roster.of("s").State == snapshot.Working })
}

func TestASessionIsListenedToOnlyWhileItWaits(t *testing.T) {
	w := newWorld(t)
	w.Runs("quiet", standin.Working(), nil)
	w.Runs("s", standin.Idle(), nil)
	w.Runs("title", standin.Idle(), map[string]any{"ephemeral": true})
	started(t, w.Codex)
	id := w.Asks("s", runCommand, command)
	w.choose(w.item(), "Deny", "")
	testwait.Until(t, "it is left", func() bool { return slices.Contains(w.Called(), "thread/unsubscribe") })
	again := w.Asks("s", runCommand, strings.Replace(command, "call_1", "call_2", 1))
	w.item()
	w.Terminal(again)
	testwait.Until(t, "it is left again", func() bool {
		return len(slices.DeleteFunc(w.Called(), func(m string) bool { return m != "thread/unsubscribe" })) == 2
	})
	w.Asks("title", runCommand, command)
	w.Set("quiet", standin.Idle())
	testwait.Until(t, "the quiet session is idle", func() bool { return w.roster.of("quiet").State == snapshot.Idle })
	var calls []string
	for _, m := range w.Called() {
		if m != "thread/read" && m != "thread/list" {
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
	w := idle(t, time.Millisecond)
	id := w.Asks("s", runCommand, command)
	w.choose(w.item(), "Deny with a message", "use make clean")
	testwait.Until(t, "the answer", func() bool { return w.Answered(id) == `{"decision":"decline"}` })
	calls := w.Called()
	steer, answer := slices.Index(calls, "turn/steer"), slices.Index(calls, "="+id)
	if steer < 0 || steer > answer {
		t.Errorf("called %q", calls)
	}
	want := `{"expectedTurnId":"turn","input":[{"text":"use make clean","text_elements":[],"type":"text"}],"threadId":"s"}`
	if got := string(w.Calls()[steer].Params); got != want {
		t.Errorf("the note is %s, want %s", got, want)
	}
}

func TestADenialIsSentAlsoIfItsNoteCannotBe(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Hour)
	w.Runs("s", standin.Idle(), nil)
	w.Refuses("turn/steer")
	started(t, w.Codex)
	id := w.Asks("s", runCommand, command)
	w.choose(w.item(), "Deny with a message", "use make clean")
	testwait.Until(t, "the answer", func() bool { return w.Answered(id) == `{"decision":"decline"}` })
	w.Ends("s", "call_1", "declined")
	w.says("denied")
	if got := w.queue.Pending().Notices; len(got) != 1 || !strings.Contains(got[0], "not your message") {
		t.Errorf("told is %q", got)
	}
}

// says waits until this is what is said of the only prompt.
func (w *world) says(want string) {
	w.t.Helper()
	got := ""
	defer func() {
		if w.t.Failed() {
			w.t.Logf("it says %q", got)
		}
	}()
	testwait.Until(w.t, "it says "+want, func() bool {
		h := w.queue.Pending().History
		if len(h) == 1 {
			got = h[0].Words("")
		}
		return got == want
	})
}

func TestWhatTheTerminalAnsweredLeavesAndIsNotAnsweredAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		how  func(w *world, id string)
		want string
	}{
		"allowed": {func(w *world, id string) { w.Terminal(id); w.Ends("s", "call_1", "failed") }, "answered elsewhere: allowed"},
		"denied":  {func(w *world, id string) { w.Terminal(id); w.Ends("s", "call_1", "declined") }, "answered elsewhere: denied"},
		"no longer waiting": {func(w *world, _ string) {
			w.Set("s", standin.Working())
			w.Ends("s", "call_1", "completed")
		}, "answered elsewhere: allowed"},
		"the turn was ended": {func(w *world, _ string) { w.Set("s", standin.Idle()) }, "gone: it is no longer asked"},
		"the session closed": {func(w *world, _ string) { w.Push("thread/closed", map[string]any{"threadId": "s"}) }, "gone: its session has ended"},
	} {
		t.Run(name, func(t *testing.T) {
			w := idle(t, time.Hour)
			id := w.Asks("s", runCommand, command)
			it := w.item()
			w.queue.Show(it.ID)
			tt.how(w, id)
			w.empties()
			w.says(tt.want)
			if w.Answered(id) != "" {
				t.Error("the deck answered, too")
			}
		})
	}
}

func TestWhatWasAnsweredWhileASessionIsJoinedIsNotShown(t *testing.T) {
	for name, answer := range map[string]func(w *world, id string){
		"its answer is told":          func(w *world, id string) { w.Terminal(id) },
		"the session no longer waits": func(w *world, _ string) { w.Set("s", standin.Working()) },
		"another prompt still waits": func(w *world, id string) {
			w.Asks("s", runCommand, strings.NewReplacer("call_1", "call_2", "build", "cache").Replace(command))
			w.Terminal(id)
		},
		"the turn was ended": func(w *world, _ string) { w.Set("s", standin.Idle()) },
	} {
		t.Run(name, func(t *testing.T) {
			w := idle(t, time.Hour)
			say := w.JoinsLate()
			id := w.Asks("s", runCommand, command)
			testwait.Until(t, "the session is joined", func() bool { return slices.Contains(w.Called(), "thread/resume") })
			answer(w, id)
			say()
			w.Asks("s", runCommand, strings.NewReplacer("call_1", "call_3", "build", "dist").Replace(command))
			shown := func(command string) bool {
				return slices.ContainsFunc(w.queue.Pending().Items, func(it ask.Item) bool { return it.Request.Prompt.Command == command })
			}
			testwait.Until(t, "the next prompt", func() bool { return shown("rm -rf dist") })
			if shown("rm -rf build") {
				t.Error("what was answered is shown")
			}
		})
	}
}

// TestAnotherClientMayHaveBeenFaster answers what another client answers in the same moment
// with something else: what became of the item counts.
func TestAnotherClientMayHaveBeenFaster(t *testing.T) {
	for _, tt := range []struct{ option, status, want string }{
		{"Allow once", "completed", "allowed"},
		{"Allow once", "failed", "allowed"},
		{"Allow once", "declined", "answered elsewhere: denied"},
		{"Deny", "declined", "denied"},
		{"Deny", "completed", "answered elsewhere: allowed"},
		{"Deny", "", "denied"},
	} {
		t.Run(tt.option+" "+tt.status, func(t *testing.T) {
			w := idle(t, time.Hour)
			id := w.Asks("s", runCommand, command)
			w.choose(w.item(), tt.option, "")
			testwait.Until(t, "the answer", func() bool { return w.Answered(id) != "" })
			if tt.status == "" { // it only goes on
				w.Push("item/started", map[string]any{"threadId": "s", "item": json.RawMessage(`{"type":"commandExecution","id":"call_2"}`)})
			} else {
				w.Ends("s", "call_1", tt.status)
			}
			w.says(tt.want)
		})
	}
}

// TestADenialIsKnownWhileTheModelThinks has nothing come after a denial but that the session works.
func TestADenialIsKnownWhileTheModelThinks(t *testing.T) {
	w := idle(t, time.Hour)
	w.door.opt.Confirm = time.Millisecond
	w.Asks("s", runCommand, command)
	w.choose(w.item(), "Deny", "")
	w.says("denied")
	w.Ends("s", "call_1", "completed") // another client was faster after all
	w.says("answered elsewhere: allowed")
}

func TestASessionOfTheDaemonMayNotAskWithoutEnd(t *testing.T) {
	w := newWorldWith(t, ask.New(ask.Options{Hold: -1}), time.Hour)
	w.Runs("s", standin.Idle(), nil)
	w.Runs("other", standin.Idle(), nil)
	started(t, w.Codex)
	one := func(thread string, i int) string {
		return w.Asks(thread, runCommand, strings.Replace(command, "call_1", "call_"+strconv.Itoa(i), 1))
	}
	settled := func(id string) {
		w.item()
		w.Terminal(id)
		w.empties()
	}
	for i := range approvals.PerMinute {
		settled(one("s", i))
	}
	last := one("s", 100)
	settled(one("other", 101)) // it came after the last
	w.Terminal(last)
	w.passed.Store(int64(time.Minute))
	settled(one("s", 102))
	if n := len(w.queue.Pending().History); n != approvals.PerMinute+2 {
		t.Errorf("%d were shown", n)
	}
}

func TestOtherClientsRequestsAreNeverAnswered(t *testing.T) {
	w := idle(t, time.Hour)
	id := w.Asks("s", runCommand, command)
	w.item()
	foreign := w.Asks("s", "item/tool/call", `{"threadId":"THREAD","callId":"c","tool":"x","arguments":{}}`)
	testwait.Until(t, "the session is left", func() bool { return slices.Contains(w.Called(), "thread/unsubscribe") })
	w.empties()
	w.Terminal(foreign)
	w.Terminal(id)
	testwait.Until(t, "it works", func() bool { return w.roster.of("s").State == snapshot.Working })
	for _, m := range w.Called() {
		if strings.HasPrefix(m, "=") {
			t.Errorf("the deck answered %s", m)
		}
	}
	w.Asks("s", runCommand, strings.Replace(command, "call_1", "call_2", 1))
	w.item() // it is listened to again
}

func TestAQuestionKeepsItsDraftOverALostConnection(t *testing.T) {
	w := idle(t, time.Millisecond)
	const question = `{"threadId":"THREAD","turnId":"turn","itemId":"call_3","isBlocking":false,"questions":[{"id":"db","header":"Database","question":"Which database?","isOther":true,"isSecret":false,"options":[{"label":"SQLite","description":"A file."},{"label":"Postgres","description":"A server."}]}]}`
	w.Asks("s", askUser, question)
	it := w.item()
	w.queue.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Other: "DuckDB", OtherOn: true}}})
	w.Codex.Stop()
	testwait.Until(t, "the session is unknown", func() bool { return w.roster.of("s").State == snapshot.StateUnknown })
	testwait.For(t, "the question is left", w.queue.Pending, func(s *ask.Snapshot) bool { return len(s.Items) == 1 && s.Items[0].Absent == ask.Gone })
	started(t, w.Codex)
	again := w.item()
	if again.ID != it.ID || again.Draft.Answers[0].Other != "DuckDB" {
		t.Errorf("item %d with the draft %+v came back as %d with %+v", it.ID, it.Draft, again.ID, again.Draft)
	}
	if err := w.queue.Send(again.ID); err != nil {
		t.Fatal(err)
	}
	testwait.Until(t, "the answer", func() bool {
		return w.Answered("0") == `{"answers":{"db":{"answers":["None of the above","user_note: DuckDB"]}}}`
	})
}

func TestPromptsAndDraftsComeBackInTheNextDeck(t *testing.T) {
	state := ask.Options{Hold: -1, StateFile: filepath.Join(t.TempDir(), "state.json")}
	w := newWorldWith(t, ask.New(state), time.Millisecond)
	w.Runs("s", standin.Idle(), nil)
	started(t, w.Codex)
	w.Asks("s", runCommand, command)
	w.queue.SetDraft(w.item().ID, ask.Draft{Answers: []ask.AnswerDraft{{Notes: map[int]string{3: "use make"}}}})
	w.Asks("s", fillForm, formParams)
	testwait.Until(t, "both", func() bool { return len(w.queue.Pending().Items) == 2 })
	w.stop()
	if err := w.queue.Close(); err != nil {
		t.Fatal(err)
	}
	next := beside(t, w.Codex, ask.New(state), time.Millisecond)
	testwait.Until(t, "both again", func() bool { return next.queue.Pending().Waiting == 2 })
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
	w := idle(t, time.Millisecond)
	w.Asks("s", runCommand, command)
	it := w.item()
	w.queue.SetDraft(it.ID, ask.Draft{Answers: []ask.AnswerDraft{{Notes: map[int]string{3: "use make"}}}})
	w.Codex.Stop()
	w.empties()
	started(t, w.Codex)
	if got := w.item().Draft.Answers[0].Notes[3]; got != "use make" {
		t.Errorf("its draft is %q", got)
	}
}

func TestASessionThatIsGoneAfterALostConnectionHasEnded(t *testing.T) {
	w := newWorld(t)
	w.Runs("s", standin.Working(), nil)
	w.Runs("other", standin.Idle(), nil)
	started(t, w.Codex)
	testwait.Until(t, "the sessions", func() bool {
		return w.roster.of("s").State == snapshot.Working && w.roster.of("other").State == snapshot.Idle
	})
	w.Codex.Stop()
	w.Forgets("s")
	started(t, w.Codex)
	testwait.Until(t, "it has ended", func() bool {
		return w.roster.of("s").State == snapshot.Ended && w.roster.of("other").State == snapshot.Idle
	})
}

func TestAnEditIsShownAsADiff(t *testing.T) {
	w := newWorld(t)
	w.Runs("s", standin.Idle(), nil)
	w.Did("s",
		json.RawMessage(`{"type":"userMessage","id":"u","content":[]}`),
		json.RawMessage(`{"type":"fileChange","id":"call_4","changes":[{"path":"/etc/new.txt","kind":{"type":"add"},"diff":"hello\nthere\n"},{"path":"/home/ana/api/a.txt","kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-old\n+new\n"}],"status":"inProgress"}`),
	)
	started(t, w.Codex)
	const edit = `{"threadId":"THREAD","turnId":"turn","itemId":"call_4","startedAtMs":1,"reason":null,"grantRoot":null}`
	id := w.Asks("s", changeFiles, edit)
	it := w.item()
	want := "--- /dev/null\n+++ /etc/new.txt\n@@ -0,0 +1,2 @@\n+hello\n+there\n--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	if got := it.Request.Prompt.Diff; got != want {
		t.Errorf("the diff is\n%s", got)
	}
	w.choose(it, "Allow once", "")
	testwait.Until(t, "the answer", func() bool { return w.Answered(id) == `{"decision":"accept"}` })

	// One that comes while the session is listened to.
	w.Asks("s", runCommand, command)
	w.item()
	w.Push("item/started", map[string]any{"threadId": "s", "item": json.RawMessage(`{"type":"fileChange","id":"call_5","changes":[{"path":"/home/ana/api/b.txt","kind":{"type":"delete"},"diff":"gone"}]}`)})
	w.Asks("s", changeFiles, strings.Replace(edit, "call_4", "call_5", 1))
	testwait.Until(t, "both", func() bool { return len(w.queue.Pending().Items) == 2 })
	if p := w.queue.Pending().Items[1].Request.Prompt; p.Diff != "--- b.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n" || p.Path != "/home/ana/api/b.txt" {
		t.Errorf("got %+v", p)
	}
}

func TestAnEditThatIsNotKnownIsNotAllowedFromTheDeck(t *testing.T) {
	w := idle(t, time.Millisecond)
	w.Asks("s", changeFiles, `{"threadId":"THREAD","turnId":"turn","itemId":"call_4","startedAtMs":1}`)
	if it := w.item(); !it.Request.InTerminal() || w.queue.Send(it.ID) == nil {
		t.Errorf("it could be answered: %+v", it.Request.Prompt)
	}
}
