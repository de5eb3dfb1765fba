package kimi

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/seen"
	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/agents/record"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is a deck, and one Kimi Code process.
type world struct {
	t      *testing.T
	a      *seen.Adapter
	q      *ask.Queue
	roster *sessions.Roster
	folder string
}

func inDeck(t *testing.T, test func(*world)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, q: ask.New(ask.Options{}), roster: &sessions.Roster{}, folder: folder}
		w.a = Agent().New(approvals.Deps{Queue: w.q, Roster: w.roster, Folder: folder}).(*seen.Adapter)
		w.a.Behind, w.a.Alive = func(int) int { return 7 }, func(int) bool { return true }
		ctx, stop := context.WithCancel(t.Context())
		over := make(chan struct{})
		go func() { defer close(over); w.a.Run(ctx) }()
		test(w)
		stop()
		<-over
		w.q.Close()
	})
}

// fire runs a hook.
func (w *world) fire(payload string) {
	w.t.Helper()
	prints, c := agenttest.Fire(w.t.Context(), w.a, agent, payload)
	synctest.Wait()
	c.HangUp()
	if text := <-prints; text != "" {
		w.t.Errorf("it prints %q", text)
	}
}

func (w *world) event(name, more string) {
	w.t.Helper()
	w.fire(`{"hook_event_name":"` + name + `","session_id":"session_1","cwd":"/src/shop"` + more + `}`)
}

// writes adds lines to a file of the session.
func (w *world) writes(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.folder, "sessions", "wd_shop", "session_1", name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(text)
		f.Close()
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) row() string {
	var out []string
	for _, s := range w.roster.Sessions() {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", s.ID[:min(9, len(s.ID))], s.State, s.WaitingFor)))
	}
	return strings.Join(out, "; ")
}

const (
	wire   = "agents/main/wire.jsonl"
	begins = `{"type":"turn.prompt","agentId":"main"}` + "\n"
	ends   = `{"type":"turn.ended","agentId":"main","turnId":0,"reason":"completed"}` + "\n"
)

func recording(t *testing.T, name string) contract.Recording {
	t.Helper()
	r, err := contract.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestWhatItsHooksReportedIsShownAndWithdrawn plays what Kimi Code has reported.
func TestWhatItsHooksReportedIsShownAndWithdrawn(t *testing.T) {
	lines := recording(t, "kimi-2.1.0-prompts").Lines
	inDeck(t, func(w *world) {
		var got []string
		for _, line := range lines {
			var e struct {
				Event string `json:"hook_event_name"`
			}
			if json.Unmarshal(line, &e) != nil || e.Event == "" {
				continue
			}
			w.fire(string(line))
			if items := w.q.Pending().Items; len(items) > 0 {
				r := items[0].Request
				p := r.Prompt
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s%s %s %s", p.Tool, p.Command, p.Path, p.Subagent, strings.Join(p.Marks, ","))))
				if !r.InTerminal() || w.q.Send(items[0].ID) == nil {
					t.Errorf("%s could be answered", p.Tool)
				}
				w.q.Show(items[0].ID)
			} else if h := w.q.Pending().History; len(h) > 0 && strings.HasSuffix(e.Event, "Result") {
				got = append(got, h[len(h)-1].Words(""))
			}
		}
		want := []string{
			"Bash mkdir -p one", "answered in its terminal: allowed",
			"Bash mkdir -p two", "answered in its terminal: denied",
			"Write /src/shop/b.txt", "answered in its terminal: allowed",
			"Edit /src/shop/b.txt", "answered in its terminal: allowed",
			"AskUserQuestion",
			"Bash mkdir -p sub sub-agent", "answered in its terminal: allowed",
		}
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("it shows\n%q\nwant\n%q", got, want)
		}
		if row := w.row(); row != "session_f ended; session_8 idle" && row != "session_8 idle; session_f ended" {
			t.Errorf("its sessions are %s", row)
		}
	})
}

// TestATurnEndsWhenItsRecordSaysSo has a sub-agent and a user end turns: the one by a hook that
// looks as if the session's turn had ended, the other without any.
func TestATurnEndsWhenItsRecordSaysSo(t *testing.T) {
	inDeck(t, func(w *world) {
		w.writes(wire, `{"type":"metadata"}`+"\n")
		w.event("SessionStart", "")
		w.event("UserPromptSubmit", "")
		w.writes(wire, begins)
		w.event("Stop", "")
		testwait.Pass(2 * time.Second)
		if got := w.row(); got != "session_1 working" {
			t.Errorf("after the sub-agent it is %s", got)
		}
		w.event("PermissionRequest", `,"id":"a","agent_id":"main","tool_name":"Bash","tool_input":{"command":"make"},"display":{"kind":"command"}`)
		if got := w.row(); got != "session_1 permission permission: Bash" {
			t.Errorf("it is %s", got)
		}
		w.q.Show(1)
		w.writes(wire, ends)
		testwait.Pass(time.Second)
		if s := w.q.Pending(); w.row() != "session_1 idle" || len(s.Items) != 0 || s.History[0].Words("") != "gone: its turn has ended" {
			t.Errorf("it is %s, open are %+v", w.row(), s.Items)
		}
	})
}

func TestASessionIsFoundAtItsNextHook(t *testing.T) {
	inDeck(t, func(w *world) {
		w.writes(wire, begins+ends+begins)
		w.event("PermissionResult", `,"id":"earlier","decision":"approved"`)
		if got := w.row(); got != "session_1 working" {
			t.Errorf("it is %s", got)
		}
	})
}

func TestOnlyATitleThatIsNotTheFirstPromptCounts(t *testing.T) {
	for state, want := range map[string]string{
		`{"title":"do it","titleKind":"replaceable","isCustomTitle":false}`:   " false",
		`{"title":"Mend shop","titleKind":"generated","isCustomTitle":false}`: "Mend shop false",
		`{"title":"Mine","titleKind":"custom","isCustomTitle":true}`:          "Mine true",
		`{"title":7}`: " false",
	} {
		inDeck(t, func(w *world) {
			w.writes(wire, begins)
			w.writes("state.json", state)
			w.event("UserPromptSubmit", "")
			if s := w.roster.Sessions()[0]; fmt.Sprintf("%s %v", s.Title, s.Named) != want {
				t.Errorf("%s: %q, %v", state, s.Title, s.Named)
			}
		})
	}
}

func TestAPlanIsShown(t *testing.T) {
	inDeck(t, func(w *world) {
		w.event("PermissionRequest", `,"id":"a","agent_id":"main","tool_name":"ExitPlanMode","tool_input":{},"display":{"kind":"plan_review","plan":"1. mend"}`)
		if r := w.q.Pending().Items[0].Request; r.Prompt.Kind != ask.Plan || !strings.HasPrefix(r.Questions[0].Description, "1. mend\n\nKimi Code takes") {
			t.Errorf("it is %+v", r)
		}
	})
}

// TestAConversationIsReadFromItsRecord reads what Kimi Code has written of two sessions.
func TestAConversationIsReadFromItsRecord(t *testing.T) {
	wrote := recording(t, "kimi-2.1.0-conversation")
	var b record.Builder
	var sum usage.Reply
	var model, mode string
	ids := map[string]bool{}
	for _, text := range wrote.Lines {
		l, ok := parse(text, false)
		if !ok {
			continue
		}
		b.Take(&l.Event, record.Words|record.Edits)
		if l.Reply != nil {
			ids[l.ID] = true
			sum.In, sum.Out, sum.Read = sum.In+l.Reply.In, sum.Out+l.Reply.Out, sum.Read+l.Reply.Read
		}
		if l.Model != "" {
			model = l.Model
		}
		if l.Mode != "" {
			mode = l.Mode
		}
	}
	r := b.Record("/src/shop")
	if r.Prompt != "go on" || r.Said != "END" || model != "mock" || mode != "manual" || r.Asked.IsZero() {
		t.Errorf("asked %q, said %q, model %s, mode %s", r.Prompt, r.Said, model, mode)
	}
	if n := int64(len(ids)); sum.In != 100*n || sum.Out != 7*n || sum.Read != 20*n || n < 12 {
		t.Errorf("%d replies used %+v", n, sum)
	}
	// b.txt was made with two lines, edited, written anew with one, and one was added. A command ran.
	if c := r.Changed; len(c.Files) != 1 || c.Files[0].Path != "b.txt" || c.Added != 2 || c.Removed != 0 || !c.Partial {
		t.Errorf("changed %+v", c)
	}
	var steps []string
	for _, s := range r.Steps {
		steps = append(steps, strings.TrimSpace(fmt.Sprintf("%s %s %s %v", s.Tool, s.Subject, s.Outcome, s.Failed)))
	}
	if got := strings.Join(steps, "; "); got != "Write b.txt +1 false; Edit b.txt  true; Write b.txt +1 false" {
		t.Errorf("steps %s", got)
	}
}

func TestAWriteOverAFileThatWasThereMayHaveRemovedMore(t *testing.T) {
	for was, partial := range map[string]bool{`"key":null`: false, `"key":"file-history/1@v1"`: true} {
		var b record.Builder
		for _, text := range []string{
			`{"type":"file_history.tracked","path":"b.txt","entry":{` + was + `}}`,
			`{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"1","name":"Write","args":{},"display":{"kind":"file_io","operation":"write","path":"/src/shop/b.txt","content":"x\n"}}}`,
			`{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"1","result":{"output":"Wrote 2 bytes"}}}`,
		} {
			l, _ := parse([]byte(text), false)
			b.Take(&l.Event, record.Words|record.Edits)
		}
		if c := b.Changed(); c.Added != 1 || c.Partial != partial {
			t.Errorf("%s: %+v", was, c)
		}
	}
}

func FuzzHooks(f *testing.F) {
	r, err := contract.Find("kimi-2.1.0-prompts")
	if err != nil {
		f.Fatal(err)
	}
	for _, line := range r.Lines {
		f.Add(string(line))
	}
	f.Fuzz(func(t *testing.T, payload string) {
		inDeck(t, func(w *world) {
			prints, c := agenttest.Fire(w.t.Context(), w.a, agent, payload)
			synctest.Wait()
			c.HangUp()
			select {
			case <-prints:
			default: // it is no event
			}
			for _, it := range w.q.Pending().Items {
				if !it.Request.InTerminal() || len(it.Request.Questions) == 0 {
					t.Errorf("%q became %+v", payload, it.Request)
				}
			}
			for _, s := range w.roster.Sessions() {
				if s.State == snapshot.StateUnknown {
					t.Errorf("%q: %+v", payload, s)
				}
			}
		})
	})
}
