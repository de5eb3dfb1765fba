package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/prompts"
)

func bashInput(command string) map[string]any {
	return map[string]any{"command": command, "description": "words"}
}

func TestWhatWasAnsweredInTheTerminalLeaves(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(d *desk, h *hooked)
		how  string
	}{
		{"the hook is ended", func(_ *desk, h *hooked) { _ = h.conn.Close() }, "answered in its terminal"},
		{"the terminal no longer waits", func(d *desk, _ *hooked) {
			time.Sleep(time.Second)
			d.status("waiting", "permission prompt")
			time.Sleep(time.Second)
			d.status("busy", "")
			time.Sleep(lookEvery)
		}, "answered in its terminal"},
		{"allowed", func(d *desk, _ *hooked) {
			d.record(result(`,"permissionDecision":{"decision":"accept","source":"user_temporary"}`))
			time.Sleep(lookEvery)
		}, "answered in its terminal: allowed"},
		{"denied, and the hook is ended", func(d *desk, h *hooked) {
			d.record(result(`,"toolDenialKind":"user-rejected"`))
			_ = h.conn.Close()
		}, "answered in its terminal: denied"},
		{"the session is another one", func(d *desk, _ *hooked) {
			d.writes(session{ID: "cleared", Status: "busy"})
			time.Sleep(lookEvery)
		}, "its session has ended"},
		{"the session ends", func(d *desk, _ *hooked) { d.hook("SessionEnd", nil) }, "its session has ended"},
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
		time.Sleep(lookEvery)
		d.prints(h, "")
	})
}

// TestAStatusFromBeforeThePromptSettlesNothing has the status of the terminal lag behind.
func TestAStatusFromBeforeThePromptSettlesNothing(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.status("waiting", "permission prompt") // for what was answered just before
		time.Sleep(time.Millisecond)
		h := d.bash("make")
		d.only()
		time.Sleep(time.Second)
		d.status("busy", "")
		time.Sleep(time.Second)
		d.only()
		d.waits(h)
	})
}

func TestASecondPromptSurvivesTheEndOfTheFirst(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		d.record(used("t1", "Bash", bashInput("make")) + used("t2", "Bash", bashInput("make")))
		first, second := d.bash("make"), d.bash("make", map[string]any{"prompt_id": "q"})
		d.record(result(""))
		time.Sleep(lookEvery)
		d.prints(first, "")
		d.waits(second)
	})
}

func TestASubAgentsPromptIsHeldUntilItIsLetGo(t *testing.T) {
	agent := map[string]any{"agent_id": "a1", "agent_type": "tests"}
	for name, letGo := range map[string]func(d *desk, it ask.Item){
		"after a minute": func(*desk, ask.Item) { time.Sleep(time.Minute) },
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
				time.Sleep(50 * time.Second)
				d.status("busy", "") // it is, while its sub-agent waits
				d.waits(h)
				letGo(d, it)
				d.prints(h, "")
				if it := d.only(); !inTerminal(it) {
					t.Error("it can still be answered here")
				}
				appendTo(t, filepath.Join(d.folder, "projects/p", sessionID, "subagents/agent-a1.jsonl"), used("t1", "Bash", bashInput("make"))+result(""))
				time.Sleep(lookEvery)
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
		time.Sleep(10 * time.Minute)
		d.waits(h)
		d.q.Show(0)
		time.Sleep(2 * time.Minute)
		d.prints(h, "")
	})
}

func TestNothingIsHeldIfTheUserWantsThat(t *testing.T) {
	bubble(t, func(o *Options) { o.Hold = 0 }, func(d *desk) {
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

func TestTwoHooksOfOneEventAreOnePrompt(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		first := d.bash("make")
		time.Sleep(time.Second)
		second := d.bash("make")
		d.chooses(d.only(), chosen("Deny"))
		want := `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"the user denied this"}}}`
		d.prints(first, want)
		time.Sleep(takenWithin) // it watches what became of the first
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
		for i := range mostOpen + 5 {
			d.bash("make " + strconv.Itoa(i))
		}
		if n := len(d.q.Pending().Items); n != mostOpen {
			t.Errorf("%d items are open", n)
		}
		d.prints(d.bash("one more"), "")
	})
	bubble(t, nil, func(d *desk) {
		taken := 0
		for i := range prompts.PerMinute + 10 {
			h := d.bash("make " + strconv.Itoa(i))
			taken += len(d.q.Pending().Items)
			_ = h.conn.Close()
			synctest.Wait()
		}
		if taken != prompts.PerMinute {
			t.Errorf("%d were taken in a moment", taken)
		}
		time.Sleep(time.Minute)
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
				time.Sleep(confirmIn + lookEvery)
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

func TestWhetherAnAnswerCountedIsSaid(t *testing.T) {
	for want, status := range map[ask.Delivery]string{ask.Delivered: "busy", ask.Unconfirmed: "waiting"} {
		t.Run(string(want), func(t *testing.T) {
			bubble(t, nil, func(d *desk) {
				d.bash("make")
				d.status("waiting", "permission prompt")
				d.chooses(d.only(), chosen("Allow once"))
				d.status(status, "permission prompt")
				time.Sleep(takenWithin + lookEvery)
				if h := d.q.Pending().History; len(h) != 1 || h[0].Delivery != want {
					t.Errorf("history %+v", h)
				}
			})
		})
	}
}

func TestSessionsAreListedWithWhatTheyWaitFor(t *testing.T) {
	bubble(t, nil, func(d *desk) {
		shown := map[string]deck.Session{}
		state := func(want deck.SessionState) deck.Session {
			t.Helper()
			d.a.report(shown)
			all := d.roster.Sessions()
			if len(all) != 1 || all[0].State != want || all[0].Folder != d.project || all[0].PID != os.Getpid() || all[0].Place.TmuxPane != "%7" {
				t.Fatalf("sessions %+v, want %s", all, want)
			}
			return all[0]
		}
		state(deck.Working)
		d.status("waiting", "input needed")
		state(deck.WaitsForAnswer)
		d.status("busy", "")
		h := d.form() // held: its terminal is busy
		if s := state(deck.WaitsForAnswer); s.WaitingFor == "" {
			t.Errorf("it waits for nothing: %+v", s)
		}
		_ = h.conn.Close()
		synctest.Wait()
		d.status("shell", "")
		state(deck.Background)
		d.status("dancing", "")
		if s := state(deck.StateUnknown); !strings.Contains(s.Note, "dancing") {
			t.Errorf("the note is %q", s.Note)
		}
		d.writes(session{ID: "cleared", Status: "idle"})
		if s := state(deck.Idle); s.ID != "cleared" {
			t.Errorf("the session is %+v", s)
		}
		if err := os.Remove(filepath.Join(d.folder, "sessions", strconv.Itoa(os.Getpid())+".json")); err != nil {
			t.Fatal(err)
		}
		d.a.report(shown)
		if all := d.roster.Sessions(); len(all) != 1 || all[0].State != deck.Ended {
			t.Errorf("left are %+v", all)
		}
	})
}

func FuzzTranscript(f *testing.F) {
	f.Add(used("t1", "Bash", bashInput("make"))+result(`,"toolDenialKind":"user-rejected"`), `{"command":"make"}`)
	f.Add(`{"type":"user","message":{"content":"tool_"}}`, `[]`)
	f.Fuzz(func(t *testing.T, lines, input string) {
		log := &transcript{results: map[string]end{}}
		for line := range strings.SplitSeq(lines, "\n") {
			log.line([]byte(line))
		}
		_ = log.outcome()
		if json.Valid([]byte(input)) && !sameInput(json.RawMessage(input), json.RawMessage(input)) {
			t.Errorf("%s is not itself", input)
		}
	})
}
