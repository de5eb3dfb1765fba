package claude

import (
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// byHook is the transcript's line for what a hook has decided about call t1.
func byHook(decision string) string {
	return `{"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"` + decision + `","toolUseID":"t1","hookEvent":"PermissionRequest"}}` + "\n"
}

// TestWhatNothingAnsweredIsGone has prompts end of which no record says that they were
// answered: their terminals may still ask.
func TestWhatNothingAnsweredIsGone(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, h *hooked)
		want string
	}{
		{"the hook was killed", func(_ *desk, h *hooked) { _ = h.conn.Close() }, "gone; answer in its terminal"},
		{"the session is another one", func(d *desk, _ *hooked) {
			d.writes(session{ID: "cleared", Status: "busy"})
			testwait.Pass(lookEvery)
		}, "gone: its session has ended"},
		{"the session ends", func(d *desk, _ *hooked) { d.hook("SessionEnd", nil) }, "gone: its session has ended"},
		{"the turn was ended", func(d *desk, _ *hooked) {
			testwait.Pass(time.Second)
			d.status("waiting", "permission prompt")
			testwait.Pass(time.Second)
			d.status("idle", "")
			testwait.Pass(recordedIn)
		}, "gone: its terminal no longer asks"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.record(used("t1", "Bash", bashInput("make")))
				h := d.bash("make")
				d.only()
				tt.do(d, h)
				testwait.Pass(lookEvery + unrecorded + watchEvery)
				d.words(tt.want)
			})
		})
	}
}

// TestWhatIsAnsweredAfterItsHookWasKilledIsSaid once the terminal has recorded it.
func TestWhatIsAnsweredAfterItsHookWasKilledIsSaid(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(used("t1", "Bash", bashInput("make")))
		h := d.bash("make")
		_ = h.conn.Close()
		testwait.Pass(time.Second)
		d.words("gone; answer in its terminal")
		testwait.Pass(30 * time.Second)
		d.record(result(`,"permissionDecision":{"decision":"accept","source":"user_temporary"}`))
		testwait.Pass(watchSlowly)
		d.words("answered in its terminal: allowed")
	})
}

// TestAHookThatHasWaitedItsWholeTimeAnswersNothing ends hooks without an answer after a
// minute, as Claude Code does and as they do themselves when they hear nothing more. Their
// terminals ask then, also where they showed nothing before.
func TestAHookThatHasWaitedItsWholeTimeAnswersNothing(t *testing.T) {
	for name, tt := range map[string]struct {
		members map[string]any
		before  string // what the terminal does meanwhile
	}{
		"its terminal asks too":        {nil, "waiting"},
		"its terminal asked not":       {map[string]any{"agent_id": "a1", "agent_type": "tests"}, "busy"},
		"what it does is not recorded": {nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			hold := func(o *Options) { o.Rules = func() approvals.Rules { return approvals.Rules{Hold: time.Hour} } }
			bubble(t, hold, func(d *desk) {
				record := d.record
				if tt.members != nil {
					record = func(lines string) {
						appendTo(t, filepath.Join(d.folder, "projects/p", sessionID, "subagents/agent-a1.jsonl"), lines)
					}
				}
				record(used("t1", "Bash", bashInput("make")))
				h := d.bash("make", tt.members)
				d.only()
				testwait.Pass(time.Second)
				if tt.before != "" {
					d.status(tt.before, "permission prompt")
				}
				testwait.Pass(59 * time.Second)
				d.waits(h)
				_ = h.conn.Close()
				if tt.before != "" {
					d.status("waiting", "permission prompt")
				}
				for range 3 {
					testwait.Pass(30 * time.Second)
					d.words("gone; answer in its terminal")
				}
				record(result(`,"permissionDecision":{"decision":"accept","source":"user_temporary"}`))
				testwait.Pass(watchSlowly)
				d.words("answered in its terminal: allowed")
			})
		})
	}
}

// words fails the test unless this is what is said of the only prompt.
func (d *desk) words(want string) {
	d.t.Helper()
	synctest.Wait()
	s := d.q.Pending()
	if len(s.Items) != 0 || len(s.History) != 1 {
		d.t.Fatalf("%d are open, and %d have ended", len(s.Items), len(s.History))
	}
	if got := s.History[0].Words(""); got != want {
		d.t.Errorf("it says %q, want %q", got, want)
	}
}

// TestWhetherAnAnswerCountedIsSaid gives an answer, and then has Claude Code do what it may.
func TestWhetherAnAnswerCountedIsSaid(t *testing.T) {
	byUser := func(decision, more string) string {
		return result(`,"permissionDecision":{"decision":"` + decision + `","source":"user"}` + more)
	}
	const sent, untaken = "sent", "not taken yet: answer in its terminal"
	for _, tt := range []struct {
		name, option string
		then         func(d *desk)
		soon, late   string // said within a second, and at last
	}{
		{"it runs", "Allow once", func(d *desk) { d.record(byHook("allow") + result("")) }, "allowed", "allowed"},
		{"its hook says that it ran", "Allow once", func(d *desk) {
			d.hook("PostToolUse", map[string]any{"tool_name": "Bash", "tool_input": bashInput("make"), "tool_use_id": "t1"})
		}, "allowed", "allowed"},
		{"it runs for long", "Allow once", func(d *desk) { d.status("busy", "") }, sent, "allowed"},
		{"it does not run", "Deny", func(d *desk) { d.record(byHook("deny") + result(`,"toolDenialKind":"permission-rule"`)) }, "denied", "denied"},
		{"the terminal still asks", "Allow once", func(*desk) {}, sent, untaken},
		{"the terminal still asks, denied here", "Deny", func(*desk) {}, sent, untaken},
		{"denied in the terminal before", "Allow once", func(d *desk) {
			d.status("idle", "")
			testwait.Pass(300 * time.Millisecond)
			d.record(byUser("reject", `,"toolDenialKind":"user-rejected"`))
		}, "answered in its terminal: denied", "answered in its terminal: denied"},
		{"denied in the terminal before, with words", "Allow once", func(d *desk) {
			d.status("busy", "")
			testwait.Pass(300 * time.Millisecond)
			d.record(byUser("reject", `,"toolDenialKind":"user-rejected"`))
		}, "answered in its terminal: denied", "answered in its terminal: denied"},
		{"denied in the terminal before, and not recorded", "Allow once", func(d *desk) { d.status("idle", "") }, sent, untaken},
		{"allowed in the terminal before", "Deny", func(d *desk) {
			d.status("busy", "")
			testwait.Pass(2500 * time.Millisecond)
			d.record(byUser("accept", ""))
		}, "answered in its terminal: allowed", "answered in its terminal: allowed"},
		{"the session ends", "Allow once", func(d *desk) { d.writes(session{ID: "cleared", Status: "idle"}) }, "not taken: its session has ended", "not taken: its session has ended"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.record(used("t1", "Bash", bashInput("make")))
				d.bash("make")
				testwait.Pass(time.Second)
				d.status("waiting", "permission prompt")
				testwait.Pass(time.Second)
				if tt.option == "Deny" {
					d.q.Configure(ask.Options{Hold: -1})
				}
				d.chooses(d.only(), chosen(tt.option))
				tt.then(d)
				testwait.Pass(recordedIn / 2)
				d.words(tt.soon)
				testwait.Pass(3 * time.Second)
				d.words(tt.late)
			})
		})
	}
}

// TestEqualPromptsOfTwoSubAgentsAreToldApart also by what becomes of them.
func TestEqualPromptsOfTwoSubAgentsAreToldApart(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		for i, id := range []string{"a1", "a2"} {
			appendTo(t, filepath.Join(d.folder, "projects/p", sessionID, "subagents/agent-"+id+".jsonl"), used("t"+strconv.Itoa(i), "Bash", bashInput("make")))
			d.bash("make", map[string]any{"agent_id": id, "agent_type": "tests"})
			testwait.Pass(time.Second)
		}
		items := d.q.Pending().Items
		if len(items) != 2 || items[0].Request.Prompt.Subagent != "tests" || items[1].Request.Prompt.Subagent != "tests 2" {
			t.Fatalf("open are %+v", items)
		}
		for _, it := range items {
			d.chooses(it, chosen("Allow once"))
		}
		d.status("waiting", "permission prompt")
		appendTo(t, filepath.Join(d.folder, "projects/p", sessionID, "subagents/agent-a2.jsonl"), byHook("allow")+result(""))
		testwait.Pass(time.Second)
		for i, want := range []string{"sent", "allowed"} {
			if got := d.q.Pending().History[i].Words(""); got != want {
				t.Errorf("of %d it says %q, want %q", i+1, got, want)
			}
		}
	})
}

// TestAnAnswerToADeadHookIsNotTaken answers in the moment in which a hook has ended and
// nothing has told why.
func TestAnAnswerToADeadHookIsNotTaken(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(used("t1", "Bash", bashInput("make")))
		d.status("waiting", "permission prompt")
		h := d.bash("make")
		_ = h.conn.Close()
		testwait.Pass(80 * time.Millisecond)
		d.chooses(d.only(), chosen("Allow once"))
		d.words("not taken yet: answer in its terminal")
		d.record(result(`,"toolDenialKind":"user-rejected"`))
		testwait.Pass(time.Second)
		d.words("answered in its terminal: denied")
	})
}
