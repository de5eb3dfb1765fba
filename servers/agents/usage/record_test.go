package usage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/contract"
	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const codexSession = "01a20cd4-0ca8-7980-b9df-d8be4c1b67fc"

// recorded is what a real program wrote.
func recorded(t *testing.T, name string) string {
	t.Helper()
	r, err := contract.Find(name + "-conversation")
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Text())
}

// steps writes the steps of a record, one to a line.
func steps(r *snapshot.Record) string {
	var b strings.Builder
	for _, s := range r.Steps {
		mark := " "
		switch {
		case s.Running:
			mark = ">"
		case s.Failed:
			mark = "x"
		}
		fmt.Fprintf(&b, "%s%s %s (%s)\n", mark, s.Tool, s.Subject, s.Outcome)
	}
	return b.String()
}

func changes(c snapshot.Changed) string {
	var all []string
	for _, f := range c.Files {
		all = append(all, fmt.Sprintf("%s +%d -%d", f.Path, f.Added, f.Removed))
	}
	sign := ""
	if c.Partial {
		sign = " or more"
	}
	return fmt.Sprintf("%s = +%d -%d%s", strings.Join(all, ", "), c.Added, c.Removed, sign)
}

func TestRecordsOfRealProgramsSayWhatWasAskedSaidAndDone(t *testing.T) {
	const claudeSteps = ` Read a.txt ()
 Edit a.txt (+2 −1)
 Write b.txt (+2)
 Write b.txt (+1 −1)
xBash false (exit 1)
 Bash echo hi ()
xEdit a.txt (String to replace not found in file.)
`
	for _, tt := range []struct{ name, agent, id, file, steps, changes string }{
		{"claude-2.1.197", "claude", "s1", conversation, claudeSteps, "a.txt +2 -1, b.txt +2 -0 = +4 -1"},
		{"claude-2.1.330", "claude", "s1", conversation, claudeSteps, "a.txt +2 -1, b.txt +2 -0 = +4 -1"},
		{"codex-0.169.0", "codex", codexSession, "sessions/2026/11/24/rollout-2026-11-24T09-12-33-" + codexSession + ".jsonl", ` exec_command echo hi ()
xexec_command false (exit 1)
 apply_patch a.txt (+4 −1)
`, "a.txt +2 -1, b2.txt +2 -0 = +4 -1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t, tt.agent)
			lines := strings.SplitAfter(recorded(t, tt.name), "\n")
			var r *snapshot.Record
			for _, line := range lines { // as it grows
				h.add(tt.file, line)
				r = h.look(tt.agent, tt.id).Record
			}
			h.count = New(h.opts) // all at once
			whole := h.look(tt.agent, tt.id).Record
			for _, r := range []*snapshot.Record{r, whole} {
				if r == nil {
					t.Fatal("nothing is known")
				}
				if r.Prompt != "Mend the file\nwith care" || r.Said != "END" || r.Asked.IsZero() || !r.SaidAt.After(r.Asked) {
					t.Errorf("asked %q at %v, said %q at %v", r.Prompt, r.Asked, r.Said, r.SaidAt)
				}
				if got := steps(r); got != tt.steps {
					t.Errorf("steps\n%swant\n%s", got, tt.steps)
				}
				if got := changes(r.Changed); got != tt.changes {
					t.Errorf("changed %s, want %s", got, tt.changes)
				}
			}
		})
	}
}

func TestRecordSurvivesARestartWithoutItsWordsBeingKept(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, recorded(t, "claude-2.1.330"))
	before := h.look("claude", "s1").Record
	if err := h.count.Save("claude", "s1"); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(h.count.path(key{"claude", "s1"}))
	if err != nil || strings.Contains(string(kept), "Mend") || strings.Contains(string(kept), "echo hi") {
		t.Errorf("kept is %s, %v", kept, err)
	}
	h.count = New(h.opts)
	after := h.look("claude", "s1").Record
	b, _ := json.Marshal(before)
	a, _ := json.Marshal(after)
	if string(a) != string(b) {
		t.Errorf("after a restart\n%s\nbefore\n%s", a, b)
	}
}

// turn is a line of the user's.
func turn(at time.Time, text, more string) string {
	return fmt.Sprintf(`{"type":"user","timestamp":%q,"message":{"content":%q}%s}`+"\n", at.Format(time.RFC3339Nano), text, more)
}

func TestOnlyWhatTheUserSentIsAPrompt(t *testing.T) {
	const human = `,"origin":{"kind":"human"}`
	for _, tt := range []struct{ name, line, want string }{
		{"a human's", turn(began, "Mend it", human), "Mend it"},
		{"from before there was an origin", turn(began, "Mend it", ""), "Mend it"},
		{"a task's notice", turn(began, "<task-notification>", `,"origin":{"kind":"task-notification"}`), "first"},
		{"another session's", turn(began, "Do this", `,"origin":{"kind":"peer"}`), "first"},
		{"a note for the model", turn(began, "skill", `,"isMeta":true`), "first"},
		{"a sub-agent's", turn(began, "look", `,"isSidechain":true`), "first"},
		{"a summary", turn(began, "This session is being continued", `,"isCompactSummary":true`), "first"},
		{"a local command's output", turn(began, "<local-command-stdout>x", ""), "first"},
		{"an interruption", turn(began, "[Request interrupted by user]", ""), "first"},
		{"a command", turn(began, "<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>the tests</command-args>", human), "/review the tests"},
		{"a command without words", turn(began, "<command-name>/init</command-name>", human), "/init"},
		{"parts", `{"type":"user","message":{"content":[{"type":"text","text":"Mend"},{"type":"image"},{"type":"text","text":"it"}]}}` + "\n", "Mend\nit"},
		{"while it was at work", `{"type":"attachment","attachment":{"type":"queued_command","prompt":"And this","commandMode":"prompt"}}` + "\n", "And this"},
		{"a notice while it was at work", `{"type":"attachment","attachment":{"type":"queued_command","prompt":"x","commandMode":"task-notification"}}` + "\n", "first"},
		{"repeated on one line", `{"type":"last-prompt","lastPrompt":"fi rst"}` + "\n", "first"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := newHome(t, "claude")
			h.add(conversation, turn(began, "first", human)+tt.line)
			if r := h.look("claude", "s1").Record; r.Prompt != tt.want {
				t.Errorf("got %q, want %q", r.Prompt, tt.want)
			}
		})
	}
	h := newHome(t, "claude")
	h.add(conversation, `{"type":"last-prompt","lastPrompt":"once"}`+"\n"+`{"type":"last-prompt","lastPrompt":"twice"}`+"\n")
	if r := h.look("claude", "s1").Record; r.Prompt != "twice" {
		t.Errorf("without the prompt itself: %q", r.Prompt)
	}
}

func TestGrowthOfALargeTranscriptCostsOnlyItsGrowth(t *testing.T) {
	h := newHome(t, "claude")
	const large = 50 << 20
	line := `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"` + strings.Repeat("x", 1<<20) + `"}]}}` + "\n"
	h.add(conversation, turn(began, "Mend it", "")+strings.Repeat(line, large/len(line)+1))
	h.look("claude", "s1")
	s := h.count.sessions[key{"claude", "s1"}]
	at := s.Files[0].At
	if at < large {
		t.Fatalf("%d bytes are read", at)
	}
	before := h.count.reading.bytes
	more := said("a", "r", 10, 0, 1)
	h.add(conversation, more)
	h.look("claude", "s1")
	h.look("claude", "s1")
	if got := h.count.reading.bytes - before; got != int64(len(more)) {
		t.Errorf("%d bytes were read for %d", got, len(more))
	}
}

func TestForkAndReplacementBeginTheRecordAnew(t *testing.T) {
	h := newHome(t, "claude")
	h.add(conversation, recorded(t, "claude-2.1.330"))
	h.look("claude", "s1")
	if err := os.Remove(filepath.Join(h.dir, conversation)); err != nil {
		t.Fatal(err)
	}
	h.add(conversation, turn(began, "Something else", ""))
	if r := h.look("claude", "s1").Record; r.Prompt != "Something else" || r.Said != "" || len(r.Steps)+len(r.Changed.Files) > 0 {
		t.Errorf("%+v", r)
	}
}

func TestOfALongRolloutThatIsNotReadWholeMoreMayHaveChanged(t *testing.T) {
	h := newHome(t, "codex")
	text := recorded(t, "codex-0.169.0")
	h.count.reading.first = int64(len(text)) / 2
	h.add("sessions/2026/11/24/rollout-2026-11-24T09-12-33-"+codexSession+".jsonl", text)
	if r := h.look("codex", codexSession).Record; r == nil || !r.Changed.Partial || r.Said != "END" {
		t.Errorf("%+v", r)
	}
}

func TestValuesThatTheUserEnteredAreNotShown(t *testing.T) {
	h := newHome(t, "claude")
	h.opts.Redact.Known = &redact.Known{}
	h.opts.Redact.Known.Add("tulips-in-june")
	h.count = New(h.opts)
	h.add(conversation, turn(began, "log in with tulips-in-june", ""))
	if r := h.look("claude", "s1").Record; !strings.HasPrefix(r.Prompt, "log in with ") || strings.Contains(r.Prompt, "tulips") {
		t.Errorf("it shows %q", r.Prompt)
	}
}
