package agy

import (
	"context"
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
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/agents/usage"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// world is a deck, and one Antigravity CLI process.
type world struct {
	t      *testing.T
	a      *seen.Adapter
	q      *ask.Queue
	roster *sessions.Roster
	folder string
}

const transcript = "brain/c1/.system_generated/logs/transcript_full.jsonl"

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

// hook runs a hook with what a step tells, always of one.
func (w *world) hook(more string) {
	w.t.Helper()
	prints, c := agenttest.Fire(w.t.Context(), w.a, agent, fmt.Sprintf(`{"conversationId":"c1","stepIdx":2,"transcriptPath":%q,"workspacePaths":["/src/shop"]%s}`, filepath.Join(w.folder, transcript), more))
	synctest.Wait()
	c.HangUp()
	if text := <-prints; text != `{"decision":"ask"}` {
		w.t.Errorf("it prints %s", text)
	}
}

// writes adds a line to the transcript.
func (w *world) writes(line string) {
	w.t.Helper()
	path := filepath.Join(w.folder, transcript)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	was, _ := os.ReadFile(path) // it may not be there
	if err == nil {
		err = os.WriteFile(path, append(was, line+"\n"...), 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) row() string {
	var out []string
	for _, s := range w.roster.Sessions() {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s in %s", s.ID, s.State, s.WaitingFor, s.Folder)))
	}
	return strings.Join(out, "; ")
}

const (
	typed  = `{"step_index":0,"source":"USER_EXPLICIT","type":"USER_INPUT","created_at":"2026-11-28T10:00:00Z","content":"<USER_REQUEST>\nMend the shop\n</USER_REQUEST>\n<ADDITIONAL_METADATA>\nx\n</ADDITIONAL_METADATA>"}`
	calls  = `{"step_index":1,"source":"MODEL","type":"PLANNER_RESPONSE","created_at":"2026-11-28T10:00:01Z","content":"I look.","tool_calls":[{"name":"run_command","args":{"CommandLine":"make"}}]}`
	mended = `{"step_index":3,"source":"MODEL","type":"PLANNER_RESPONSE","created_at":"2026-11-28T10:00:09Z","content":"It is mended."}`
	runs   = `,"toolCall":{"name":"run_command","args":{"CommandLine":"make","Cwd":"/src/shop"}}`
)

func TestACommandIsShownUntilItHasEnded(t *testing.T) {
	for name, ended := range map[string]string{"without an error": runs, "with an error": `,"error":"exit 1","toolCall":null`} {
		t.Run(name, func(t *testing.T) {
			inDeck(t, func(w *world) {
				w.writes(typed)
				w.writes(calls)
				w.hook(runs)
				items := w.q.Pending().Items
				if len(items) != 1 || items[0].Request.Prompt.Command != "make" || !items[0].Request.InTerminal() || w.q.Send(items[0].ID) == nil {
					t.Fatalf("it asks %+v", items)
				}
				if got := w.row(); got != "c1 permission permission: run_command in /src/shop" {
					t.Error(got)
				}
				w.q.Show(items[0].ID)
				w.hook(ended)
				if h := w.q.Pending().History; len(h) != 1 || h[0].Words("") != "answered in its terminal" {
					t.Errorf("history %+v", h)
				}
				if got := w.row(); got != "c1 working  in /src/shop" {
					t.Error(got)
				}
				w.writes(mended)
				testwait.Pass(2 * time.Second)
				if got := w.row(); got != "c1 idle  in /src/shop" {
					t.Error(got)
				}
			})
		})
	}
}

func TestATryOfDoctorPrintsNothing(t *testing.T) {
	inDeck(t, func(w *world) {
		prints, c := agenttest.Fire(w.t.Context(), w.a, agent, `{"hook_event_name":"Probe","session_id":"","probe":true}`)
		synctest.Wait()
		c.HangUp()
		if text := <-prints; text != "" || w.row() != "" {
			t.Errorf("it prints %s, the sessions are %s", text, w.row())
		}
	})
}

func TestADenialIsSeenInItsTranscript(t *testing.T) {
	inDeck(t, func(w *world) {
		w.writes(typed)
		w.hook(runs)
		w.q.Show(w.q.Pending().Items[0].ID)
		w.writes(mended)
		testwait.Pass(2 * time.Second)
		if h := w.q.Pending().History; len(h) != 1 || h[0].Words("") != "gone: its turn has ended" {
			t.Errorf("history %+v", h)
		}
		w.writes(strings.ReplaceAll(typed, "Mend", "Paint"))
		testwait.Pass(6 * time.Second)
		if got := w.row(); got != "c1 working  in /src/shop" {
			t.Error(got)
		}
	})
}

func TestWhatIsNotUnderstoodIsLeftToTheTerminal(t *testing.T) {
	for _, odd := range []string{`,"toolCall":{"name":"run_command","args":7}`, `,"toolCall":{}`} {
		inDeck(t, func(w *world) {
			w.hook(odd)
			if items := w.q.Pending().Items; len(items) != 1 || !items[0].Request.InTerminal() {
				t.Errorf("%s: it asks %+v", odd, items)
			}
		})
	}
}

func TestItsTranscriptSaysWhatWasAskedAndSaid(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, transcript)
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(strings.Join([]string{typed, calls, mended, "{", ""}, "\n")), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	count := usage.New(usage.Options{Programs: map[string]usage.Program{agent: {Folder: dir, Format: Agent().Usage}}})
	f, _ := count.Look(&snapshot.Session{Agent: agent, ID: "c1"})
	if r := f.Record; r == nil || r.Prompt != "Mend the shop" || r.Said != "It is mended." {
		t.Errorf("it says %+v", r)
	}
}
