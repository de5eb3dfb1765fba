package claude

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func bashInput(command string) map[string]any {
	return map[string]any{"command": command, "description": "words"}
}

// TestATerminalMayWaitBeforeItsHookIsHeard has the hook take its time to connect.
func TestATerminalMayWaitBeforeItsHookIsHeard(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.status("waiting", "permission prompt")
		testwait.Pass(startWithin / 2)
		h := d.bash("make")
		d.only()
		d.status("busy", "")
		testwait.Pass(lookEvery)
		d.gone("answered in its terminal")
		d.prints(h, "")
	})
}

func TestATerminalThatWaitsForAMomentIsSeen(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.status("busy", "")
		h := d.bash("make")
		d.only()
		d.waited() // sooner than the next look
		d.gone("answered in its terminal")
		d.prints(h, "")
	})
}

// TestATerminalMayBeAnsweredBeforeItsHookIsHeard has the hook begin long before it connects.
func TestATerminalMayBeAnsweredBeforeItsHookIsHeard(t *testing.T) {
	for name, tt := range map[string]struct {
		before bool // what the terminal waited for was answered before the hook began
	}{
		"this prompt":    {},
		"another prompt": {before: true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				began := time.Now()
				d.a.began = func(int) time.Time { return began }
				d.waited()
				if tt.before {
					began = began.Add(startWithin + time.Millisecond)
				}
				testwait.Pass(time.Second)
				h := d.bash("make")
				testwait.Pass(lookEvery)
				if tt.before {
					d.only()
					d.waits(h)
					return
				}
				d.gone("answered in its terminal")
				d.prints(h, "")
			})
		})
	}
}

// waited has the terminal wait, and be answered before an item looks at its file.
func (d *desk) waited() {
	d.t.Helper()
	name := fileOf(os.Getpid())
	d.status("busy", "")
	d.a.lookAt([]string{name}, map[string]session{name: {PID: os.Getpid(), Status: "waiting", Stamp: time.Now().UnixMilli()}})
}

func TestWhatWasAnsweredInTheTerminalLeaves(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, h *hooked)
		how  string
	}{
		{"denied, its hook is ended, and that is recorded", func(d *desk, h *hooked) {
			_ = h.conn.Close()
			testwait.Pass(200 * time.Millisecond)
			d.record(result(`,"toolDenialKind":"user-rejected"`))
			testwait.Pass(watchEvery)
		}, "answered in its terminal: denied"},
		{"by another tool's hook", func(d *desk, _ *hooked) {
			d.record(byHook("deny") + result(`,"toolDenialKind":"permission-rule"`))
			testwait.Pass(lookEvery)
		}, "answered by another hook: denied"},
		{"the terminal no longer waits", func(d *desk, _ *hooked) {
			testwait.Pass(time.Second)
			d.status("waiting", "permission prompt")
			testwait.Pass(time.Second)
			d.status("busy", "")
			testwait.Pass(lookEvery)
		}, "answered in its terminal"},
		{"allowed", func(d *desk, _ *hooked) {
			d.record(result(`,"permissionDecision":{"decision":"accept","source":"user_temporary"}`))
			testwait.Pass(lookEvery)
		}, "answered in its terminal: allowed"},
		{"denied, and the hook is ended", func(d *desk, h *hooked) {
			d.record(result(`,"toolDenialKind":"user-rejected"`))
			_ = h.conn.Close()
		}, "answered in its terminal: denied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.record(used("t1", "Bash", bashInput("make")))
				h := d.bash("make")
				d.only()
				tt.do(d, h)
				d.gone(tt.how)
				if _, err := h.conn.Read(make([]byte, 10)); err == nil {
					synctest.Wait() // the reader of the harness has it
				}
			})
		})
	}
}

func TestTheHookOfASettledPromptEndsWithoutOutput(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(used("t1", "Bash", bashInput("make")))
		h := d.bash("make")
		d.record(result(""))
		testwait.Pass(lookEvery)
		d.prints(h, "")
	})
}

// TestAStatusFromBeforeThePromptSettlesNothing has the status of the terminal lag behind.
func TestAStatusFromBeforeThePromptSettlesNothing(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.status("waiting", "permission prompt") // for what was answered just before
		testwait.Pass(startWithin + time.Millisecond)
		h := d.bash("make")
		d.only()
		testwait.Pass(time.Second)
		d.status("busy", "")
		testwait.Pass(time.Second)
		d.only()
		d.waits(h)
	})
}

func TestASecondPromptSurvivesTheEndOfTheFirst(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(used("t1", "Bash", bashInput("make")) + used("t2", "Bash", bashInput("make")))
		first, second := d.bash("make"), d.bash("make", map[string]any{"prompt_id": "q"})
		d.record(result(""))
		testwait.Pass(lookEvery)
		d.prints(first, "")
		d.waits(second)
	})
}

func TestASubAgentsPromptIsHeldUntilItIsLetGo(t *testing.T) {
	agent := map[string]any{"agent_id": "a1", "agent_type": "tests"}
	for name, letGo := range map[string]func(d *desk, it ask.Item){
		"after a minute": func(*desk, ask.Item) { testwait.Pass(time.Minute) },
		"by the user": func(d *desk, it ask.Item) {
			if err := d.q.Release(it.ID); err != nil {
				d.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				h := d.bash("make", agent)
				it := d.only()
				if p := it.Request.Prompt; p.Door != ask.Held || p.Subagent != "tests" {
					t.Errorf("the prompt is %+v", p)
				}
				testwait.Pass(50 * time.Second)
				d.status("busy", "") // it is, while its sub-agent waits
				d.waits(h)
				letGo(d, it)
				d.prints(h, "")
				if it := d.only(); !inTerminal(it) {
					t.Error("it can still be answered here")
				}
				appendTo(t, filepath.Join(d.folder, "projects/p", sessionID, "subagents/agent-a1.jsonl"), used("t1", "Bash", bashInput("make"))+result(""))
				testwait.Pass(lookEvery)
				d.gone("answered in its terminal")
			})
		})
	}
}

func TestAHeldPromptThatTheUserLooksAtIsNotLetGo(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.form()
		it := d.only()
		d.q.Show(it.ID)
		testwait.Pass(10 * time.Minute)
		d.waits(h)
		d.q.Show(0)
		testwait.Pass(2 * time.Minute)
		d.prints(h, "")
	})
}

func TestAHeldPromptThatTheUserLooksAtIsNotTriedWithoutEnd(t *testing.T) {
	var tried, hold atomic.Int64
	hold.Store(int64(time.Minute))
	wants := func(o *Options) {
		o.Rules = func() approvals.Rules {
			if tried.Add(1) > 1000 { // a clock that is looked at without end stands still in a bubble
				return approvals.Rules{Hold: time.Hour}
			}
			return approvals.Rules{Hold: time.Duration(hold.Load())}
		}
	}
	bubble(t, wants, func(d *desk) {
		d.form()
		d.q.Show(d.only().ID)
		hold.Store(0) // while the prompt is held
		testwait.Pass(time.Minute + 10*time.Second)
		if n := tried.Load(); n < 3 || n > 50 {
			t.Errorf("within ten seconds it was tried %d times", n)
		}
	})
}

func TestNothingIsHeldIfTheUserWantsThat(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.rules.Hold = 0 // set while the adapter is in use
		h := d.form()
		d.prints(h, "")
		if !inTerminal(d.only()) {
			t.Error("it can still be answered here")
		}
	})
}

func TestADeckThatEndsDecidesNothing(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		shared, held := d.bash("make"), d.form()
		d.close()
		d.prints(shared, "")
		d.prints(held, "")
		for _, r := range d.q.Pending().History {
			if r.Reply.Status != "" {
				t.Errorf("recorded is %+v", r)
			}
		}
	})
}

func TestAnAgentWithoutATerminalIsNotKeptWaiting(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"not attended": {"CLAUDE_CODE_SESSION_ATTENDED": "0"}, "a program": {"CLAUDE_CODE_ENTRYPOINT": "sdk-cli"},
	} {
		for _, holds := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				bubble(t, func(o *Options) { o.HoldsHeadless = func(string) bool { return holds } }, func(d *desk) {
					h := d.hookWith("PermissionRequest", map[string]any{"tool_name": "Bash", "tool_input": bashInput("make")}, env)
					if holds {
						d.waits(h)
						d.only()
						return
					}
					d.prints(h, "")
					if n := len(d.q.Pending().Items); n != 0 {
						t.Errorf("%d items are open", n)
					}
				})
			})
		}
	}
}

func TestASessionInTheBackgroundAsksThoughNobodyAttendsIt(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.writes(session{ID: sessionID, Kind: "bg", Job: "0a1b2c3d", Status: "busy"})
		h := d.hookWith("PermissionRequest", map[string]any{"tool_name": "Bash", "tool_input": bashInput("make")}, map[string]string{"CLAUDE_CODE_SESSION_ATTENDED": "0"})
		d.waits(h)
		d.only()
	})
}

func TestTwoHooksOfOneEventAreOnePrompt(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		first := d.bash("make")
		testwait.Pass(time.Second)
		second := d.bash("make")
		d.chooses(d.only(), chosen("Deny"))
		want := `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"the user denied this"}}}`
		d.prints(first, want)
		testwait.Pass(recordedIn) // it watches what became of the first
		d.prints(second, want)
	})
}

func TestWhatIsTooLargeIsAnsweredInItsTerminal(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.bash(strings.Repeat("x", 300<<10))
		d.prints(h, "")
		if it := d.only(); !inTerminal(it) || !strings.Contains(it.Request.Questions[0].Description, "too large") {
			t.Errorf("it is %+v", it.Request.Questions)
		}
	})
}

func TestAnUnknownFormatIsNeverAnswered(t *testing.T) {
	for name, members := range map[string]map[string]any{
		"no tool":                    {"tool_name": nil},
		"an input that is no object": {"tool_input": "x"},
		"other suggestions":          {"permission_suggestions": map[string]any{"a": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.prints(d.bash("make", members), "")
				if !inTerminal(d.only()) {
					t.Error("it can be answered here")
				}
			})
		})
	}
}

func TestOneSessionCannotFloodTheDeck(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		for i := range approvals.MostOpen + 5 {
			d.bash("make " + strconv.Itoa(i))
		}
		if n := len(d.q.Pending().Items); n != approvals.MostOpen {
			t.Errorf("%d items are open", n)
		}
		d.prints(d.bash("one more"), "")
	})
	bubble(t, nil, func(d *desk) {
		taken := 0
		for i := range approvals.PerMinute + 10 {
			h := d.bash("make " + strconv.Itoa(i))
			taken += len(d.q.Pending().Items)
			_ = h.conn.Close()
			testwait.Pass(unrecorded + watchEvery)
		}
		if taken != approvals.PerMinute {
			t.Errorf("%d were taken in a moment", taken)
		}
		if n := d.q.Pending().Notices; len(n) != 1 || n[0] != "claude in "+filepath.Base(d.project)+" asks too much at once; the rest of its prompts stay in its terminal" {
			t.Errorf("told %q", n)
		}
		testwait.Pass(time.Minute)
		d.bash("later")
		d.only()
	})
}

// TestAPromptIsTakenOnlyFromTheProcessOfItsSession has processes claim what they are not.
func TestAPromptIsTakenOnlyFromTheProcessOfItsSession(t *testing.T) {
	for name, set := range map[string]func(d *desk){
		"another session":          func(d *desk) { d.writes(session{ID: "other", Status: "busy"}) },
		"a process of another age": func(d *desk) { d.writes(session{ID: sessionID, Status: "busy", Started: "1"}) },
		"no session": func(d *desk) {
			if err := os.Remove(filepath.Join(d.folder, "sessions", strconv.Itoa(os.Getpid())+".json")); err != nil {
				d.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				set(d)
				d.prints(d.bash("make"), "")
				if n := len(d.q.Pending().Items); n != 0 {
					t.Errorf("%d items are open", n)
				}
			})
		})
	}
}

func TestAProcessEndsNoItemsOfAnotherSession(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		h := d.bash("make")
		d.hook("SessionEnd", map[string]any{"session_id": "other"})
		d.only()
		d.waits(h)
	})
}

func TestAPromptThatItsTranscriptDoesNotHaveIsMarked(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		want bool
	}{
		"its call": {used("t1", "Bash", bashInput("make")), false}, "another command": {used("t1", "Bash", bashInput("make all")), true},
		"another tool": {used("t1", "Edit", bashInput("make")), true}, "an old call": {used("t1", "Bash", bashInput("make")) + result(""), true},
		"nothing": {"", true},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.record(tt.line)
				d.bash("make")
				if d.only().Request.Prompt.Unconfirmed {
					t.Error("it is marked before there was time for it")
				}
				testwait.Pass(confirmIn + lookEvery)
				if d.only().Request.Prompt.Unconfirmed != tt.want {
					t.Errorf("unconfirmed: %v", !tt.want)
				}
			})
		})
	}
}

func TestATranscriptElsewhereIsNotRead(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		path := filepath.Join(d.project, "t.jsonl")
		appendTo(t, path, used("t1", "Bash", bashInput("make")))
		link := filepath.Join(d.folder, "projects/p/link.jsonl")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, link, filepath.Join(d.folder, "projects/../../x.jsonl"), "x.jsonl", ""} {
			if log := openTranscript(session{config: d.folder}, p, ""); log != nil {
				if log.read(); len(log.uses) > 0 {
					t.Errorf("%q is read", p)
				}
				log.close()
			}
		}
	})
}

func FuzzTranscript(f *testing.F) {
	f.Add(used("t1", "Bash", bashInput("make")) + result(`,"toolDenialKind":"user-rejected"`))
	f.Add(`{"type":"user","message":{"content":"tool_"}}`)
	f.Fuzz(func(_ *testing.T, lines string) {
		log := &transcript{results: map[string]end{}, hooks: map[string]string{}}
		for line := range strings.SplitSeq(lines, "\n") {
			log.line([]byte(line))
		}
		_ = log.verdict()
	})
}

// The hooks of setup's --signals tell of versions whose files do not.
func TestEventsTellWhatWasAnsweredInTheTerminal(t *testing.T) {
	other := map[string]any{"tool_name": "Bash", "tool_input": bashInput("make install")}
	same := map[string]any{"tool_name": "Bash", "tool_input": bashInput("make")}
	for name, tt := range map[string]struct {
		event   string
		members map[string]any
		gone    bool
	}{
		"the call has run":            {"PostToolUse", same, true},
		"the call has failed":         {"PostToolUseFailure", same, true},
		"another call has run":        {"PostToolUse", other, false},
		"the turn is over":            {"Stop", nil, true},
		"another session's turn":      {"Stop", map[string]any{"session_id": "other"}, false},
		"a call of another session's": {"PostToolUse", map[string]any{"session_id": "other", "tool_name": "Bash", "tool_input": bashInput("make")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.writes(session{ID: sessionID, Entry: "cli"}) // it does not say what it waits for
				h := d.bash("make")
				d.prints(d.hook(tt.event, tt.members), "")
				if !tt.gone {
					d.only()
					d.waits(h)
					return
				}
				testwait.Pass(unrecorded + watchEvery)
				d.prints(h, "")
				if s := d.q.Pending(); len(s.Items) != 0 {
					t.Errorf("%d items are open", len(s.Items))
				}
			})
		})
	}
	bubble(t, nil, func(d *desk) {
		first := d.bash("make")
		testwait.Pass(time.Millisecond)
		second := d.bash("make", map[string]any{"prompt_id": "q"})
		d.prints(d.hook("PostToolUse", same), "")
		d.prints(first, "")
		d.waits(second)
	})
}
