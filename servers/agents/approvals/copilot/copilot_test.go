package copilot

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
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

const id = "4d9080a6"

// world is a deck, and one Copilot CLI process: this one.
type world struct {
	t      *testing.T
	a      *Adapter
	q      *ask.Queue
	roster *sessions.Roster
	dir    string // of the session
	hold   atomic.Int64
	dead   atomic.Bool
	args   []string
}

func inDeck(t *testing.T, test func(*world)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, q: ask.New(ask.Options{Hold: -1}), roster: &sessions.Roster{}, dir: filepath.Join(folder, "session-state", id)}
		w.hold.Store(int64(time.Hour))
		w.a = Agent().New(approvals.Deps{
			Queue: w.q, Roster: w.roster, Folder: folder,
			Rules: func() approvals.Rules { return approvals.Rules{Hold: time.Duration(w.hold.Load())} },
		}).(*Adapter)
		w.a.ancestors = func(int) []int { return []int{1, os.Getpid()} }
		w.a.alive = func(int) bool { return !w.dead.Load() }
		w.a.args = func(int) []string { return w.args }
		if err := os.MkdirAll(w.dir, 0o700); err != nil {
			t.Fatal(err)
		}
		w.write(fmt.Sprintf("inuse.%d.lock", os.Getpid()), "")
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
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

// happens adds an event, and waits until the deck has looked.
func (w *world) happens(kind, data string) {
	w.write("events.jsonl", fmt.Sprintf(`{"type":%q,"id":"e","timestamp":"2026-11-23T10:00:00Z","data":%s}`+"\n", kind, data))
	testwait.Pass(lookEvery)
}

// asks runs the hook for a command; what it prints comes when it is let go.
func (w *world) asks(command string) (prints <-chan string, ends func()) {
	w.t.Helper()
	told := fmt.Sprintf(`{"hookName":"permissionRequest","sessionId":%q,"timestamp":17,"cwd":"/src/shop","toolName":"bash","toolInput":{"command":%q},"permissionSuggestions":[]}`, id, command)
	w.happens("hook.start", `{"hookInvocationId":"h","hookType":"permissionRequest","input":`+told+`}`)
	return w.fires(told)
}

func (w *world) fires(told string) (prints <-chan string, ends func()) {
	w.t.Helper()
	prints, c := agenttest.Fire(w.t.Context(), w.a, "copilot", told)
	testwait.Pass(time.Millisecond)
	return prints, func() { c.Close(); synctest.Wait() }
}

// settles writes what became of the command's permission once its hook has ended.
func (w *world) settles(command, result string) {
	w.happens("hook.end", `{"hookInvocationId":"h","hookType":"permissionRequest","success":true}`)
	w.happens("permission.requested", `{"requestId":"other","permissionRequest":{"kind":"shell","fullCommandText":"rm -rf /"}}`)
	w.happens("permission.requested", fmt.Sprintf(`{"requestId":"r","permissionRequest":{"kind":"shell","fullCommandText":%q}}`, command))
	w.happens("permission.completed", `{"requestId":"other","result":{"kind":"approved"},"decisionSource":"human_response"}`)
	w.happens("permission.completed", `{"requestId":"r",`+result+`}`)
}

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
		result         ask.Result
		prints, became string
		end            ask.End
	}{
		"allowed": {ask.Result{SelectedOptions: []string{"Allow once"}}, `{"behavior":"allow"}`, `"result":{"kind":"approved"}`, ask.EndAllowed},
		"denied with a note": {
			ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "not here"},
			`{"behavior":"deny","message":"not here"}`, `"result":{"kind":"denied-by-permission-request-hook"}`, ask.EndDenied,
		},
		"stopped": {
			ask.Result{SelectedOptions: []string{"Deny and stop the turn"}},
			`{"behavior":"deny","message":"the user denied this","interrupt":true}`, `"result":{"kind":"denied-by-permission-request-hook"}`, ask.EndDenied,
		},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				prints, _ := w.asks("mkdir one")
				p := w.only().Request.Prompt
				if p.Door != ask.Held || p.Command != "mkdir one" || p.Tool != "bash" || p.Session != id || got(prints) != "nothing yet" {
					t.Fatalf("it asks %+v", p)
				}
				tt.result.ID = "permission"
				if err := w.q.Answer(w.only().ID, []ask.Result{tt.result}); err != nil {
					t.Fatal(err)
				}
				testwait.Pass(time.Second)
				if text := got(prints); text != tt.prints {
					t.Errorf("it prints %s", text)
				}
				if r := w.q.Pending().History[0]; r.Delivery == ask.Delivered {
					t.Error("it is delivered before the agent's events have it")
				}
				w.settles("mkdir one", tt.became)
				if r := w.q.Pending().History[0]; r.End() != tt.end || r.Delivery != ask.Delivered {
					t.Errorf("it became %q", w.became())
				}
			})
		})
	}
}

func TestAnEditIsShownAsCopilotShowsIt(t *testing.T) {
	inDeck(t, func(w *world) {
		w.fires(`{"hookName":"permissionRequest","sessionId":"` + id + `","timestamp":17,"cwd":"/src/shop","toolName":"edit","toolInput":{"file_path":"/src/a.txt","diff":"\ndiff --git a b\nindex 0\n--- a\n+++ b\n@@ -1,0 +1,1 @@\n+one\n"}}`)
		if p := w.only().Request.Prompt; p.Path != "/src/a.txt" || p.Diff != "--- a\n+++ b\n@@ -1,0 +1,1 @@\n+one\n" || len(p.Marks) != 1 {
			t.Errorf("it asks %+v", p)
		}
	})
	inDeck(t, func(w *world) {
		prints, _ := w.fires(`{"hookName":"permissionRequest","sessionId":"` + id + `","timestamp":17,"cwd":"/src/shop","toolName":"edit","toolInput":7}`)
		if r := w.only().Request; !r.InTerminal() || got(prints) != "" {
			t.Errorf("what cannot be read asks %+v", r)
		}
	})
}

func TestAPermissionLeavesWithItsSession(t *testing.T) {
	for name, tt := range map[string]struct {
		does   func(w *world, ends func())
		became string
	}{
		"the hook's end":  {func(_ *world, ends func()) { ends() }, stopped},
		"the turn's end":  {func(w *world, _ func()) { w.happens("abort", `{"reason":"user_abort"}`) }, stopped},
		"the agent's end": {func(w *world, _ func()) { w.dead.Store(true) }, agentEnded},
		"allowed in a terminal": {func(w *world, _ func()) {
			w.settles("mkdir one", `"result":{"kind":"approved"},"decisionSource":"human_response"`)
		}, byTerminal + ": allowed"},
		"denied in a terminal": {func(w *world, _ func()) {
			w.settles("mkdir one", `"result":{"kind":"denied-interactively-by-user"},"decisionSource":"human_response"`)
		}, byTerminal + ": denied"},
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				if strings.HasSuffix(name, "terminal") {
					w.hold.Store(int64(time.Second))
				}
				prints, ends := w.asks("mkdir one")
				testwait.Pass(2 * time.Second)
				tt.does(w, ends)
				testwait.Pass(time.Second)
				if got := w.became(); !strings.Contains(got, tt.became) || len(w.q.Pending().Items) > 0 {
					t.Errorf("it became %q", got)
				}
				if text := got(prints); text != "" && name != "the hook's end" {
					t.Errorf("it prints %q", text)
				}
			})
		})
	}
}

func TestWhatNobodyIsToBeAskedIsLeftToTheProgram(t *testing.T) {
	for name, does := range map[string]func(*world) string{
		"no terminal":     func(w *world) string { w.args = []string{"copilot", "-p", "go"}; return id },
		"all is allowed":  func(w *world) string { w.args = []string{"copilot", "--allow-all-tools"}; return id },
		"another session": func(*world) string { return "other" },
		"no session":      func(*world) string { return ".." },
		"another process": func(w *world) string { w.a.ancestors = func(int) []int { return []int{1} }; return id },
	} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				session := does(w)
				prints, _ := w.fires(`{"hookName":"permissionRequest","sessionId":"` + session + `","toolName":"bash","toolInput":{"command":"x"}}`)
				if text := got(prints); text != "" || len(w.q.Pending().Items) > 0 {
					t.Errorf("it prints %q", text)
				}
			})
		})
	}
}

// The events are what Copilot CLI 1.0.102 wrote.
func TestEventsTellWhatASessionDoes(t *testing.T) {
	wrote, err := contract.Find("copilot-1.0.102-events")
	if err != nil {
		t.Fatal(err)
	}
	inDeck(t, func(w *world) {
		if all := w.roster.Sessions(); len(all) > 0 {
			t.Errorf("one in which nothing was asked is %+v", all)
		}
		var states []snapshot.SessionState
		for line := range strings.Lines(string(wrote.Text())) {
			w.write("events.jsonl", line)
			testwait.Pass(lookEvery)
			if all := w.roster.Sessions(); len(all) > 0 && (len(states) == 0 || states[len(states)-1] != all[0].State) {
				states = append(states, all[0].State)
			}
		}
		const p, q = snapshot.WaitsForPermission, snapshot.WaitsForAnswer
		const works, rests = snapshot.Working, snapshot.Idle
		want := []snapshot.SessionState{works, p, works, p, works, p, works, p, works, rests, works, p, works, rests, works, q, works, rests, works, q, works, rests}
		if fmt.Sprint(states) != fmt.Sprint(want) {
			t.Errorf("it was\n%v, want\n%v", states, want)
		}
		w.write("workspace.yaml", "id: x\nname: My work\nuser_named: true\n")
		w.happens("session.model_change", `{"newModel":"other"}`)
		if s := w.roster.Sessions()[0]; s.Title != "My work" || !s.Named || s.Folder != "/src/shop" || s.Version != "1.0.102" || s.Model != "other" || s.PID != os.Getpid() {
			t.Errorf("it is %+v", s)
		}
		w.dead.Store(true)
		testwait.Pass(lookEvery)
		if s := w.roster.Sessions()[0]; s.State != snapshot.Ended {
			t.Errorf("without its process it is %s", s.State)
		}
	})
}

func TestEventsTellWhatWasAskedSaidChangedAndUsed(t *testing.T) {
	wrote, err := contract.Find("copilot-1.0.102-conversation")
	if err != nil {
		t.Fatal(err)
	}
	var b record.Builder
	var in, out, read, window int64
	for l := range strings.Lines(string(wrote.Text())) {
		said, ok := parse([]byte(l), false)
		if _, known := readEvent([]byte(l)); !known && !strings.Contains(l, `"system.message"`) || ok && said.When.IsZero() {
			t.Errorf("it is not read: %s", l)
		}
		b.Take(&said.Event, record.Words|record.Edits)
		if r := said.Reply; r != nil {
			in, out, read = in+r.In, out+r.Out, read+r.Read
		}
		window = max(window, said.Window)
	}
	r := b.Record("/src/shop")
	if r.Prompt != "go" || r.Said != "done" || in != 240 || out != 80 || read != 160 || window != 128000 {
		t.Errorf("asked %q, said %q, used %d, %d and %d of %d", r.Prompt, r.Said, in, out, read, window)
	}
	if c := r.Changed; len(c.Files) != 1 || c.Files[0].Path != "a.txt" || c.Added != 2 || c.Removed != 0 || c.Partial {
		t.Errorf("changed is %+v", c)
	}
}

func TestTheHookIsKnownAsMcpdecks(t *testing.T) {
	file := hooks("", "'/opt/my mcpdeck/mcpdeck' hook copilot")
	if v, ours := own(file); v != hookVersion || !ours {
		t.Errorf("%s is not its own", file)
	}
	for _, other := range []string{"", "{}", strings.Replace(string(file), "86400", "60", 1), strings.Replace(string(file), "exit 0", "exit 1", 1), string(hooks("", "mine"))} {
		if _, ours := own([]byte(other)); ours {
			t.Errorf("%s is its own", other)
		}
	}
}

func FuzzEvent(f *testing.F) {
	f.Add(`{"type":"tool.execution_complete","data":{"fileEdits":[{"path":"a"}],"result":{"detailedContent":"@@"}}}`)
	f.Fuzz(func(_ *testing.T, text string) {
		parse([]byte(text), false)
		if e, ok := readEvent([]byte(text)); ok {
			s := session{open: map[string]bool{}}
			s.take(&e)
		}
	})
}
