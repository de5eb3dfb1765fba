package gemini

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/rawjson"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is a deck, and one Gemini CLI process.
type world struct {
	t      *testing.T
	a      *seen.Adapter
	q      *ask.Queue
	roster *sessions.Roster
	pid    int
	dead   atomic.Int64 // process that has ended
	folder string
	chat   string
}

func inDeck(t *testing.T, test func(*world)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, q: ask.New(ask.Options{}), roster: &sessions.Roster{}, pid: 7, folder: folder, chat: filepath.Join(folder, "chats", "1.jsonl")}
		w.a = Agent().New(approvals.Deps{Queue: w.q, Roster: w.roster, Folder: folder}).(*seen.Adapter)
		w.a.Behind = func(int) int { return w.pid }
		w.a.Alive = func(pid int) bool { return w.dead.Load() != int64(pid) }
		w.talk("1")
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); w.a.Run(ctx) }()
		test(w)
		stop()
		<-over
		w.q.Close()
	})
}

// talk writes to the session's file.
func (w *world) talk(text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.chat), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(w.chat, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// fire runs a hook, and returns what it prints.
func (w *world) fire(payload string) string {
	w.t.Helper()
	payload = strings.Replace(payload, "{", `{"session_id":"s1","cwd":"/p","transcript_path":`+fmt.Sprintf("%q", w.chat)+`,`, 1)
	prints, c := agenttest.Fire(w.t.Context(), w.a, "gemini", payload)
	synctest.Wait()
	c.HangUp()
	select {
	case text := <-prints:
		return text
	default:
		w.t.Fatal("the deck hung up")
		return ""
	}
}

func (w *world) row() string {
	var out []string
	for _, s := range w.roster.Sessions() {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", s.ID, s.State, s.WaitingFor)))
	}
	return strings.Join(out, "; ")
}

const (
	shell = `{"hook_event_name":"Notification","notification_type":"ToolPermission","message":"m","details":{"type":"exec","title":"Confirm Shell Command","command":"echo hi > a.txt","rootCommand":"echo"}}`
	edit  = `{"hook_event_name":"Notification","notification_type":"ToolPermission","message":"m","details":{"type":"edit","title":"Confirm Write: b.txt","fileName":"b.txt","filePath":"/p/b.txt","fileDiff":"--- b.txt\n+++ b.txt\n@@ -0,0 +1 @@\n+one\n","originalContent":"","newContent":"one\n"}}`
	mcp   = `{"hook_event_name":"Notification","notification_type":"ToolPermission","details":{"type":"mcp","title":"Confirm","serverName":"git","toolName":"push","toolDisplayName":"push"}}`
	asks  = `{"hook_event_name":"BeforeTool","tool_name":"ask_user","tool_input":{"questions":[{"question":"Which db?","header":"DB","type":"choice","options":[{"label":"SQLite","description":"small"},{"label":"Postgres","description":"big"}]},{"question":"Sure?","type":"yesno"},{"question":"Why?","type":"text"}]}}`
	asked = `{"hook_event_name":"Notification","notification_type":"ToolPermission","message":"Tool requires confirmation","details":{"type":"ask_user","title":"Ask User"}}`
	after = `{"hook_event_name":"AfterTool","tool_name":"run_shell_command","tool_input":{"command":"echo hi > a.txt"}}`
)

func TestAPermissionIsShownAndNotAnswered(t *testing.T) {
	for _, tt := range []struct{ name, event, want string }{
		{"a command", shell, `Shell "echo hi > a.txt" "" "" `},
		{"an edit", edit, `Edit "" "/p/b.txt" "--- b.txt\n+++ b.txt\n@@ -0,0 +1 @@\n+one\n" `},
		{"a server's tool", mcp, `push "" "" "" {"serverName":"git","toolName":"push"}`},
		{"another kind", strings.ReplaceAll(mcp, `"mcp"`, `"exit_plan_mode"`), `Confirm "" "" "" `},
		{"no details", `{"hook_event_name":"Notification","notification_type":"ToolPermission","details":[]}`, ` "" "" "" `},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				if got := w.fire(tt.event); got != "" {
					t.Errorf("it prints %q", got)
				}
				items := w.q.Pending().Items
				if len(items) != 1 {
					t.Fatalf("%d are open", len(items))
				}
				p := items[0].Request.Prompt
				if got := fmt.Sprintf("%s %q %q %q %s", p.Tool, p.Command, p.Path, p.Diff, p.Args); got != tt.want || p.Door != ask.InTerminal || p.Session != "s1" {
					t.Errorf("got %s of %+v", got, p)
				}
				w.q.SetDraft(items[0].ID, ask.Draft{Answers: []ask.AnswerDraft{{Chosen: []int{0}, Accepted: true}}})
				if w.q.Send(items[0].ID) == nil {
					t.Error("it could be answered")
				}
				if got := w.row(); got != strings.TrimSpace("s1 permission permission: "+p.Tool) {
					t.Errorf("session %s", got)
				}
			})
		})
	}
}

func TestQuestionsComeFromTheCallBefore(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fire(asks)
		if n := len(w.q.Pending().Items); n != 0 {
			t.Errorf("%d are open before it asks", n)
		}
		w.fire(asked)
		r := w.q.Pending().Items[0].Request
		if len(r.Questions) != 3 || r.Questions[0].Options[1].Label != "Postgres" || len(r.Questions[1].Options) != 2 || r.Questions[2].Kind != ask.Text || r.Prompt.Kind != ask.OwnQuestion || !r.InTerminal() {
			t.Errorf("got %+v", r)
		}
		if got := w.row(); got != "s1 answer an answer" {
			t.Errorf("session %s", got)
		}
		w.q.Show(1)
		w.fire(strings.ReplaceAll(after, "run_shell_command", "ask_user"))
		if n := len(w.q.Pending().Items); n != 0 {
			t.Errorf("%d are left", n)
		}
		w.fire(asked) // without questions before it
		if r := w.q.Pending().Items[0].Request; len(r.Questions) != 1 || !r.InTerminal() {
			t.Errorf("got %+v", r)
		}
	})
}

func TestAPromptLeavesWithTheNextSign(t *testing.T) {
	for _, tt := range []struct {
		name string
		sign func(w *world)
		row  string
		says string
	}{
		{"the tool has run", func(w *world) { w.fire(after) }, "s1 working", "answered in its terminal"},
		{"the turn is over", func(w *world) { w.fire(`{"hook_event_name":"AfterAgent"}`) }, "s1 idle", "gone: its turn has ended"},
		{"a new turn", func(w *world) { w.fire(`{"hook_event_name":"BeforeAgent","prompt":"x"}`) }, "s1 working", "gone: a new turn has begun"},
		{"the session's end", func(w *world) { w.fire(`{"hook_event_name":"SessionEnd","reason":"exit"}`) }, "s1 ended", "gone: its session has ended"},
		{"its file grows: it was denied", func(w *world) { w.talk("2"); testwait.Pass(2 * time.Second) }, "s1 idle", "answered in its terminal"},
		{"its process is gone", func(w *world) { w.dead.Store(7); testwait.Pass(2 * time.Second) }, "s1 ended", "gone: its session has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				w.fire(shell)
				testwait.Pass(time.Minute)
				if n := len(w.q.Pending().Items); n != 1 {
					t.Fatalf("%d are open before", n)
				}
				w.q.Show(1)
				tt.sign(w)
				s := w.q.Pending()
				if len(s.Items) != 0 || len(s.History) != 1 || s.History[0].Words("") != tt.says {
					t.Errorf("left is %+v, history %+v", s.Items, s.History)
				}
				if got := w.row(); got != tt.row {
					t.Errorf("session %s", got)
				}
			})
		})
	}
}

// TestASessionIsFoundByItsFiles has processes run before the deck.
func TestASessionIsFoundByItsFiles(t *testing.T) {
	const head, asked, replied = `{"sessionId":"s1","kind":"main"}`, `{"id":"u","type":"user","content":"go","timestamp":%q}`, `{"id":"g","type":"gemini","content":"Done.","tokens":{"input":1},"timestamp":%[1]q}`
	running := func(pids ...int) (all []seen.Process) {
		for _, pid := range pids {
			all = append(all, seen.Process{PID: pid, Folder: "/src/shop"})
		}
		return all
	}
	other := []seen.Process{{PID: 7, Folder: "/src/other"}}
	for _, tt := range []struct {
		name, chat, want string
		running          []seen.Process
	}{
		{"in the middle of a turn", head + "\n" + asked, "s1 working", running(7)},
		{"after a turn", head + "\n" + asked + "\n" + replied, "s1 idle", running(7)},
		{"after a turn that was stopped", head + "\n" + asked + "\n" + `{"id":"i","type":"info","content":"Request cancelled."}` + "\n" + `{"id":"v","type":"user","content":[{"text":"<session_context>x</session_context>"},{"text":"go"}],"timestamp":%q}`, "s1 idle", running(7)},
		{"before the first turn", head, "s1 unknown", running(7)},
		{"half a line", `{"sessionId":"s`, "", running(7)},
		{"two in a folder", head, "", running(7, 8)},
		{"in another folder", head, "", other},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				dir := filepath.Join(w.folder, "tmp", "shop", "chats")
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				chat := strings.ReplaceAll(strings.ReplaceAll(tt.chat, "%[1]q", "%q"), "%q", strconv.Quote(time.Now().Format(time.RFC3339)))
				for name, text := range map[string]string{"../.project_root": "/src/shop", "session-2026-11-22T10-00-s1.jsonl": chat + "\n"} {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				a := Agent().New(approvals.Deps{Queue: w.q, Roster: w.roster, Folder: w.folder}).(*seen.Adapter)
				a.Alive, a.Running = func(int) bool { return true }, func() []seen.Process { return tt.running }
				if !a.Left() {
					t.Error("nothing is looked for")
				}
				ctx, stop := context.WithCancel(w.t.Context())
				over := make(chan struct{})
				go func() { defer close(over); a.Run(ctx) }()
				testwait.Pass(2 * time.Second)
				if got := w.row(); got != tt.want {
					t.Errorf("the session is %s, want %s", got, tt.want)
				}
				stop()
				<-over
			})
		})
	}
}

func TestTheNextPromptReplacesTheOne(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fire(shell)
		w.fire(edit)
		if items := w.q.Pending().Items; len(items) != 1 || items[0].Request.Prompt.Tool != "Edit" {
			t.Errorf("open are %+v", items)
		}
	})
}

func TestAnotherProcessCannotReportOnASession(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fire(shell)
		w.pid = 8
		if got := w.fire(after); got != "" {
			t.Errorf("it prints %q", got)
		}
		if n := len(w.q.Pending().Items); n != 1 {
			t.Errorf("%d are open", n)
		}
		w.pid = 0
		w.fire(after)
		if n := len(w.q.Pending().Items); n != 1 {
			t.Errorf("%d are open after an event of no agent", n)
		}
	})
}

func TestAProcessHasOneSessionAtATime(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fire(shell)
		w.a.Take(hook.Message{Event: "SessionStart", Payload: payload(t, `{"session_id":"s2","cwd":"relative"}`)}, 7)
		if got := w.row(); got != "s2 idle" {
			t.Errorf("sessions %s", got)
		}
	})
}

func TestASessionMayNotAskWithoutEnd(t *testing.T) {
	inDeck(t, func(w *world) {
		for range 70 {
			w.fire(shell)
			w.fire(after)
		}
		if n := len(w.q.Pending().History); n != 60 {
			t.Errorf("%d were shown in a minute", n)
		}
	})
}

func TestOnlyFilesInItsOwnFolderAreLookedAt(t *testing.T) {
	inDeck(t, func(w *world) {
		elsewhere := filepath.Join(w.t.TempDir(), "x")
		if err := os.WriteFile(elsewhere, []byte("long"), 0o600); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(filepath.Dir(w.chat), "link")
		if err := os.Symlink(elsewhere, link); err != nil {
			t.Skip("this system makes no links here: ", err)
		}
		for _, path := range []string{elsewhere, link, filepath.Dir(w.chat), "", "chats/1.jsonl", filepath.Join(filepath.Dir(w.chat), "..", "..", "x")} {
			if n := size(w.folder, path); n != 0 {
				t.Errorf("%s has %d bytes", path, n)
			}
		}
		if size(w.folder, w.chat) != 1 {
			t.Error("its own file is not looked at")
		}
	})
}

func payload(t *testing.T, raw string) rawjson.Object {
	t.Helper()
	o, err := rawjson.SplitObject([]byte(raw))
	if err != nil {
		t.Skip("the prompt socket refuses it: ", err)
	}
	return o
}

func FuzzPayloads(f *testing.F) {
	for _, s := range []string{shell, edit, mcp, asks, asked, after} {
		f.Add(s, asked)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		inDeck(t, func(w *world) {
			for _, raw := range []string{first, second} {
				var o map[string]json.RawMessage
				if json.Unmarshal([]byte(raw), &o) != nil {
					return
				}
				o["session_id"] = json.RawMessage(`"s1"`)
				b, err := json.Marshal(o)
				if err != nil {
					return
				}
				m := hook.Message{Payload: payload(t, string(b)), Raw: b}
				m.Event = m.Payload.Str("hook_event_name")
				w.a.Take(m, 7)
			}
			for _, it := range w.q.Pending().Items {
				if !it.Request.InTerminal() || len(it.Request.Questions) == 0 {
					t.Errorf("%q, %q became %+v", first, second, it.Request)
				}
			}
		})
	})
}
