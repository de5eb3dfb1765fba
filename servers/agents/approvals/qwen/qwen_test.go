package qwen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is a deck, and one Qwen Code process: this one.
type world struct {
	t      *testing.T
	a      *Adapter
	q      *ask.Queue
	roster *sessions.Roster
	folder string
	hold   atomic.Int64
	dead   atomic.Bool
	calls  int
}

const session1, session2 = "70ccba58-ad96", "c0e3ddbd-f9be"

func inDeck(t *testing.T, test func(*world)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, q: ask.New(ask.Options{Hold: -1}), roster: &sessions.Roster{}, folder: folder}
		w.hold.Store(int64(time.Hour))
		w.a = Agent().New(approvals.Deps{
			Queue: w.q, Roster: w.roster, Folder: folder,
			Rules: func() approvals.Rules { return approvals.Rules{Hold: time.Duration(w.hold.Load())} },
		}).(*Adapter)
		w.a.behind = func(int) (process, bool) { return readProcess(folder, os.Getpid()) }
		w.a.alive = func(*process) bool { return !w.dead.Load() }
		w.runs(session1, "tui")
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); w.a.Run(ctx) }()
		testwait.Pass(time.Millisecond)
		test(w)
		stop()
		<-over
		w.q.Close()
	})
}

func (w *world) write(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.folder, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// runs has the process go on with a session.
func (w *world) runs(session, kind string) {
	w.t.Helper()
	name := fmt.Sprintf("sessions/%d.json", os.Getpid())
	_ = os.Remove(filepath.Join(w.folder, name)) // the first time there is none
	w.write(name, fmt.Sprintf(`{
  "schemaVersion": 1, "pid": %d, "procStart": "130d1ac7-ffe9:51010", "sessionId": %q, "cwd": "/src/shop",
  "name": "shop-27", "startedAt": 1795838614559, "qwenVersion": "0.24.4", "kind": %q,
  "ipcPath": "/tmp/s.sock", "ipcToken": "d72c549d"
}`, os.Getpid(), session, kind))
}

func chatFile(session string) string { return "projects/-src-shop/chats/" + session + ".jsonl" }

// fires runs a hook of a session; what it prints comes when it is let go. The second value
// ends it, as Qwen Code does.
func (w *world) fires(session, event, members string) (prints <-chan string, ends func()) {
	w.t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"transcript_path":%q,"cwd":"/src/shop","hook_event_name":%q,"permission_mode":"default"%s}`,
		session, filepath.Join(w.folder, chatFile(session)), event, members)
	prints, c := agenttest.Fire(w.t.Context(), w.a, "qwen", payload)
	testwait.Pass(time.Millisecond)
	return prints, func() { c.Close(); synctest.Wait() }
}

// asks has a session, or a sub-agent of it, ask whether it may use a tool.
func (w *world) asks(subagent, tool, input string) (prints <-chan string, ends func()) {
	w.t.Helper()
	w.calls++
	w.write(w.record(subagent), fmt.Sprintf(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"call_%d","name":%q,"args":%s}}]}}`+"\n", w.calls, tool, input))
	members := fmt.Sprintf(`,"tool_name":%q,"tool_input":%s`, tool, input)
	if subagent != "" {
		members += fmt.Sprintf(`,"agent_id":%q`, subagent)
	}
	return w.fires(session1, "PermissionRequest", members)
}

func (w *world) record(subagent string) string {
	if subagent == "" {
		return chatFile(session1)
	}
	return "projects/-src-shop/subagents/" + session1 + "/agent-" + subagent + ".jsonl"
}

// ended writes what became of a call.
func (w *world) ended(subagent string, call int, result string) {
	w.write(w.record(subagent), fmt.Sprintf(`{"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"call_%d"}}]},"toolCallResult":%s}`+"\n", call, result))
	testwait.Pass(time.Second)
}

const (
	ran       = `{"status":"success","executionStatus":"success"}`
	notRun    = `{"status":"error","executionStatus":"not_started","errorType":"execution_denied"}`
	cancelled = `{"status":"cancelled","executionStatus":"not_started"}`
	mkdir     = `{"command":"mkdir -p one","description":"make one","is_background":false}`
)

func (w *world) only() ask.Item {
	w.t.Helper()
	items := w.q.Pending().Items
	if len(items) != 1 {
		w.t.Fatalf("%d are open", len(items))
	}
	return items[0]
}

func (w *world) became() string {
	var out []string
	for _, r := range w.q.Pending().History {
		out = append(out, string(r.End())+": "+r.Words(""))
	}
	return strings.Join(out, "; ")
}

func (w *world) state() string {
	var out []string
	for _, s := range w.roster.Sessions() {
		out = append(out, s.ID+" "+string(s.State))
	}
	return strings.Join(out, "; ")
}

func got(prints <-chan string) string {
	select {
	case text := <-prints:
		return text
	default:
		return "nothing yet"
	}
}

func TestAPermissionIsHeldUntilItIsAnswered(t *testing.T) {
	for name, tt := range map[string]struct {
		result      ask.Result
		prints      string
		end, became string
	}{
		"allowed":            {ask.Result{SelectedOptions: []string{"Allow once"}}, `{"hookSpecificOutput":{"decision":{"behavior":"allow"},"hookEventName":"PermissionRequest"}}`, ran, "allowed"},
		"denied with a note": {ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "not here"}, `{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"not here"},"hookEventName":"PermissionRequest"}}`, notRun, "denied"},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				prints, _ := w.asks("", "run_shell_command", mkdir)
				p := w.only().Request.Prompt
				if p.Door != ask.Held || p.Command != "mkdir -p one" || p.Words != "make one" || string(p.Args) != `{"is_background":false}` || p.Mode != "default" || got(prints) != "nothing yet" {
					t.Fatalf("it asks %+v", p)
				}
				tt.result.ID = "permission"
				if err := w.q.Answer(w.only().ID, []ask.Result{tt.result}); err != nil {
					t.Fatal(err)
				}
				testwait.Pass(time.Minute)
				if text := got(prints); text != tt.prints {
					t.Errorf("it prints %s", text)
				}
				if r := w.q.Pending().History[0]; r.Delivery == ask.Delivered {
					t.Error("it is delivered before the agent's record has it")
				}
				w.ended("", 1, tt.end)
				if got := w.became(); !strings.HasPrefix(got, tt.became) {
					t.Errorf("it became %q", got)
				}
			})
		})
	}
}

func TestWhatQwenAnswersInItsTerminalAloneIsShown(t *testing.T) {
	for name, tt := range map[string]struct{ tool, input, question, describes string }{
		"a question":               {"ask_user_question", `{"questions":[{"question":"Which?","options":[{"label":"red"},{"label":"blue"}]}]}`, "Which?", inTerminal},
		"one that cannot be shown": {"ask_user_question", `{"questions":7}`, "ask_user_question", "mcpdeck cannot show it (PermissionRequest ask_user_question: field tool_input.questions is number, not array); answer in its terminal."},
		"a plan":                   {"exit_plan_mode", `{"plan":"# Plan"}`, "exit_plan_mode", "# Plan\n\n" + inTerminal},
		"no input":                 {"edit", `[]`, "edit", "mcpdeck cannot show it (PermissionRequest: field tool_input is array, not object); answer in its terminal."},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				prints, _ := w.asks("", tt.tool, tt.input)
				r := w.only().Request
				q := r.Questions[0]
				if got(prints) != "" || !r.InTerminal() || q.Question != tt.question || q.Description != tt.describes {
					t.Errorf("shown is %+v", q)
				}
				w.ended("", 1, ran)
				if got := w.became(); !strings.HasSuffix(got, "answered in its terminal: allowed") {
					t.Errorf("it became %q", got)
				}
			})
		})
	}
}

func TestAPermissionThatIsLetGoIsFollowedToItsTerminal(t *testing.T) {
	for name, tt := range map[string]struct {
		does   func(*world)
		became string
	}{
		"allowed there": {func(w *world) { w.ended("", 1, ran) }, "answered in its terminal: allowed"},
		"there, and it is recorded late": {func(w *world) {
			w.fires(session1, "Stop", "")
			testwait.Pass(recordedIn / 2)
			w.ended("", 1, ran)
		}, "answered in its terminal: allowed"},
		"there, and it is recorded after it was called gone": {func(w *world) {
			w.fires(session1, "Stop", "")
			testwait.Pass(10 * recordedIn)
			w.ended("", 1, ran)
			testwait.Pass(time.Second)
		}, "answered in its terminal: allowed"},
		"denied there":    {func(w *world) { w.ended("", 1, cancelled) }, "answered in its terminal: denied"},
		"the turn's end":  {func(w *world) { w.fires(session1, "Stop", ""); testwait.Pass(time.Second) }, "its turn has ended"},
		"another session": {func(w *world) { w.runs(session2, "tui"); testwait.Pass(lookAround + time.Second) }, sessionEnded},
		"the agent's end": {func(w *world) { w.dead.Store(true); testwait.Pass(lookAround + time.Second) }, "ended"},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				w.hold.Store(int64(time.Second))
				prints, _ := w.asks("", "run_shell_command", mkdir)
				testwait.Pass(2 * time.Second)
				if text := got(prints); text != "" {
					t.Fatalf("it prints %s", text)
				}
				tt.does(w)
				if got := w.became(); !strings.Contains(got, tt.became) || len(w.q.Pending().Items) > 0 {
					t.Errorf("it became %q", got)
				}
			})
		})
	}
}

func TestEscInTheTerminalTakesAPermissionBack(t *testing.T) {
	inDeck(t, func(w *world) {
		_, ends := w.asks("", "run_shell_command", mkdir)
		ends()
		testwait.Pass(time.Second)
		if got := w.became(); !strings.Contains(got, "stopped in its terminal") || len(w.q.Pending().Items) > 0 {
			t.Errorf("it became %q", got)
		}
	})
}

// A sub-agent works beside its session, whose turn ends meanwhile, and has a record of its own.
func TestWhatASubAgentAsksOutlivesTheTurnOfItsSession(t *testing.T) {
	inDeck(t, func(w *world) {
		w.hold.Store(int64(time.Second))
		w.asks("general-purpose-call_2", "run_shell_command", mkdir)
		testwait.Pass(2 * time.Second)
		w.fires(session1, "Stop", `,"background_tasks":[{"status":"running"}]`)
		w.fires(session1, "Notification", `,"notification_type":"idle_prompt"`)
		testwait.Pass(time.Second)
		if p := w.only().Request.Prompt; p.Subagent != "sub-agent" {
			t.Errorf("it asks %+v", p)
		}
		w.ended("general-purpose-call_2", 1, `{"durationMs":5}`)
		if got := w.became(); !strings.HasSuffix(got, byTerminal) {
			t.Errorf("it became %q", got)
		}
		if got := w.state(); got != session1+" background" {
			t.Errorf("the session is %s", got)
		}
	})
}

func TestEqualCallsAreToldApart(t *testing.T) {
	inDeck(t, func(w *world) {
		w.write(chatFile(session1), `{"type":"assistant","message":{"parts":[{"functionCall":{"id":"call_0","name":"run_shell_command","args":`+mkdir+`}}]}}`+"\n")
		w.ended("", 0, ran) // before
		first, _ := w.asks("", "run_shell_command", mkdir)
		second, _ := w.asks("", "run_shell_command", mkdir)
		testwait.Pass(time.Second)
		w.ended("", 1, cancelled)
		if n := len(w.q.Pending().Items); n != 1 || got(second) != "nothing yet" {
			t.Errorf("%d are open", n)
		}
		if text := got(first); text != "" {
			t.Errorf("the first prints %q", text)
		}
	})
}

func TestEventsTellWhatASessionDoes(t *testing.T) {
	inDeck(t, func(w *world) {
		if got := w.state(); got != session1+" unknown" {
			t.Errorf("before any event it is %s", got)
		}
		for _, step := range []struct{ event, members, want string }{
			{"SessionStart", `,"source":"startup","model":"mock"`, "idle"},
			{"UserPromptSubmit", `,"prompt":"go"`, "working"},
			{"Notification", `,"notification_type":"permission_prompt"`, "permission"},
			{"UserPromptSubmit", `,"prompt":""`, "working"},
			{"Stop", `,"background_tasks":[],"input_tokens":100,"context_limit":200000`, "idle"},
			{"UserPromptSubmit", `,"prompt":"go on"`, "working"},
			{"Notification", `,"notification_type":"idle_prompt"`, "idle"},
			{"SessionEnd", `,"reason":"exit"`, "ended"},
		} {
			if prints, _ := w.fires(session1, step.event, step.members); got(prints) != "" {
				t.Errorf("%s prints %q", step.event, got(prints))
			}
			if all := w.roster.Sessions(); len(all) != 1 || string(all[0].State) != step.want {
				t.Errorf("after %s it is %s", step.event, w.state())
			}
		}
	})
}

func TestASessionIsWhatItsProcessSays(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fires(session1, "Stop", `,"input_tokens":100,"context_limit":200000`)
		s := w.roster.Sessions()[0]
		if s.Folder != "/src/shop" || s.Handle != "shop-27" || s.Title != "" || s.Version != "0.24.4" || s.PID != os.Getpid() || s.Headless || s.Context.Used != 100 || s.Context.Window != 200000 || s.Mode != "default" {
			t.Errorf("it is %+v", s)
		}
		w.runs(session2, "tui") // as by /clear
		testwait.Pass(lookAround + time.Millisecond)
		if got := w.state(); got != session2+" unknown" {
			t.Errorf("in its place is %s", got)
		}
		if prints, _ := w.fires(session1, "PermissionRequest", `,"tool_name":"edit","tool_input":{}`); got(prints) != "" || len(w.q.Pending().Items) > 0 {
			t.Error("a session asks that the process does not have")
		}
		w.runs(session2, "headless")
		if prints, _ := w.fires(session2, "PermissionRequest", `,"tool_name":"edit","tool_input":{}`); got(prints) != "" || len(w.q.Pending().Items) > 0 {
			t.Error("one without a terminal waits for the user")
		}
	})
}

func TestTheSecretOfAProcessIsNotRead(t *testing.T) {
	r := strings.NewReader("{\n  \"pid\": 7,\n  \"kind\": \"tui\",\n  \"ipcPath\": \"/s\",\n  \"ipcToken\": \"secret\"\n}")
	if got := string(head(r)); got != "{\n  \"pid\": 7,\n  \"kind\": \"tui\"}" || r.Len() < len(`"secret"`) {
		t.Errorf("read is %s, left are %d bytes", got, r.Len())
	}
	if got := string(head(strings.NewReader(`{"pid": 7}`))); got != `{"pid": 7}` {
		t.Errorf("of a file without a socket, %s is read", got)
	}
}

// The chat is what Qwen Code 0.24.4 wrote.
func TestAChatTellsWhatWasAskedSaidChangedAndUsed(t *testing.T) {
	wrote, err := contract.Find("qwen-0.24.4-conversation")
	if err != nil {
		t.Fatal(err)
	}
	var b record.Builder
	var in, out int64
	for l := range strings.Lines(string(wrote.Text())) {
		said, ok := parse([]byte(l), false)
		if ok != !strings.Contains(l, `"type":"system"`) {
			t.Errorf("read is %v: %s", ok, l)
		}
		b.Take(&said.Event, record.Words|record.Edits)
		if r := said.Reply; r != nil {
			in, out = in+r.In, out+r.Out
		}
	}
	r := b.Record("/src/shop")
	if r.Prompt != "edit it" || r.Said != "All **done**." || in != 1300 || out != 260 {
		t.Errorf("asked %q, said %q, used %d and %d", r.Prompt, r.Said, in, out)
	}
	if c := r.Changed; len(c.Files) != 1 || c.Files[0].Path != "a.txt" || c.Added != 2 || c.Removed != 0 || !c.Partial {
		t.Errorf("changed is %+v", c)
	}
	var l line
	if !l.read([]byte(`{"type":"tool_result","toolCallResult":`+notRun+`}`)) || !l.denied() {
		t.Error("a denial is not read as one")
	}
}

func FuzzChat(f *testing.F) {
	f.Add(`{"type":"assistant","message":{"parts":[{"functionCall":{"id":"1","name":"edit","args":{}}}]}}`, true)
	f.Add(`{"type":"tool_result","message":{"parts":[{"functionResponse":{"id":"1"}},{}]},"toolCallResult":`+ran+`}`, false)
	f.Fuzz(func(_ *testing.T, text string, sub bool) { parse([]byte(text), sub) })
}
