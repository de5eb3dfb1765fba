//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/agenttest"
)

// asking is a session whose command a deck may allow, and its hook.
type asking struct {
	*driver
	w      *window
	claude *agenttest.Claude
}

const askedCommand = "make all"

func (a *asking) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}

// asks has the session ask, in its terminal and by its hook.
func (a *asking) asks() {
	a.t.Helper()
	a.must(a.claude.Calls("t1", askedCommand))
	_, err := a.claude.Permission(askedCommand)
	a.must(err)
	a.must(a.claude.Status("waiting", "permission prompt"))
}

// shown waits until the user has read what is asked, as a key that counts takes.
func (a *asking) shown() {
	a.t.Helper()
	a.w.shows(a.driver, "allow? ─")
	a.w.reads()
}

// signals sends a signal to the deck.
func (a *asking) signals(s syscall.Signal) {
	a.t.Helper()
	a.must(a.w.cmd.Process.Signal(s))
}

// hooked are the hooks that wait.
func (a *asking) hooked() (all []int) {
	a.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	a.must(err)
	for _, link := range links {
		dir, _ := os.Readlink(link) // it may have ended
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(link), "cmdline"))
		if strings.HasPrefix(dir, a.home) && strings.HasPrefix(string(line), a.program+"\x00hook\x00") {
			n, err := strconv.Atoi(filepath.Base(filepath.Dir(link)))
			a.must(err)
			all = append(all, n)
		}
	}
	return all
}

// records has the transcript say what the terminal was told.
func (a *asking) records(decision, more string) {
	a.t.Helper()
	a.must(a.claude.Log(json.RawMessage(`{"type":"user","message":{"content":[{"tool_use_id":"t1","type":"tool_result","content":"x"}]},"permissionDecision":{"decision":"` + decision + `","source":"user"}` + more + `}`)))
}

// said are the words that the deck has written down, one after the other.
func (a *asking) said() (all []string) {
	a.t.Helper()
	b, _ := os.ReadFile(filepath.Join(a.home, ".local", "state", "mcpdeck", "history.jsonl")) // it may come later
	for line := range strings.Lines(string(b)) {
		var r ask.Record
		if json.Unmarshal([]byte(line), &r) == nil {
			all = append(all, r.Words(""))
		}
	}
	return all
}

// TestADeckSaysOfAnAnswerOnlyWhatTheAgentRecorded ends prompts in ways in which an answer may
// be lost, and follows what the screen and the history say.
func TestADeckSaysOfAnAnswerOnlyWhatTheAgentRecorded(t *testing.T) {
	t.Parallel()
	outcomes := []string{"allowed", "denied", "answered", "answered in its terminal", "answered in its terminal: allowed", "answered in its terminal: denied"}
	for name, tt := range map[string]struct {
		do   func(a *asking)
		want string   // said at last
		seen []string // of outcomes, by the agent's record
	}{
		"its hook is killed": {func(a *asking) {
			a.asks()
			a.shown()
			for _, hook := range a.hooked() {
				a.must(syscall.Kill(hook, syscall.SIGKILL))
			}
		}, "gone; answer in its terminal", nil},
		"its agent is killed": {func(a *asking) {
			a.asks()
			a.shown()
			a.claude.Close()
		}, "gone", nil},
		"the deck is stopped until the hook has ended": {func(a *asking) {
			a.signals(syscall.SIGSTOP)
			a.asks()
			a.until("a hook", func() bool { return len(a.hooked()) > 0 })
			a.until("no hook", func() bool { return len(a.hooked()) == 0 })
			a.signals(syscall.SIGCONT)
			a.w.key("y")
		}, "", nil},
		"the deck is stopped and its hook killed, then y": {func(a *asking) {
			a.asks()
			a.shown()
			a.signals(syscall.SIGSTOP)
			for _, hook := range a.hooked() {
				a.must(syscall.Kill(hook, syscall.SIGKILL))
			}
			a.w.press("y")
			a.signals(syscall.SIGCONT)
		}, "answer in its terminal", nil},
		"Esc in its terminal, then y": {func(a *asking) {
			a.asks()
			a.shown()
			a.must(a.claude.Status("idle", ""))
			time.Sleep(80 * time.Millisecond)                        // what came of the terminal is not looked at so soon
			a.w.again("y", func() bool { return len(a.said()) > 0 }) // the answer is on its way when the record comes
			a.records("reject", `,"toolDenialKind":"user-rejected"`)
		}, "answered in its terminal: denied", []string{"answered in its terminal: denied"}},
		"y": {func(a *asking) {
			a.asks()
			a.shown()
			a.w.again("y", func() bool { return len(a.hooked()) == 0 })
			a.must(a.claude.Log(json.RawMessage(`{"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"allow","toolUseID":"t1","hookEvent":"PermissionRequest"}}`)))
			a.must(a.claude.Answered("t1"))
		}, "allowed", []string{"allowed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			a := &asking{driver: d}
			var err error
			a.claude, err = agenttest.NewClaude(agenttest.ClaudeOptions{ID: "s1", Folder: d.project, Home: d.home, Dir: filepath.Join(d.home, "hooks"), Hook: []string{d.program, "hook", "claude"}})
			a.must(err)
			t.Cleanup(a.claude.Close)
			a.must(a.claude.Status("busy", ""))
			a.w = d.window("--page", "inbox")
			a.w.wide()
			d.until("a deck", func() bool { return strings.Contains(a.w.screen(), "Inbox") })
			t.Cleanup(func() { _ = a.w.cmd.Process.Signal(syscall.SIGCONT) }) // it may have ended
			tt.do(a)
			check := func() (last string) {
				for _, last = range a.said() {
					if slices.Contains(outcomes, last) && !slices.Contains(tt.seen, last) {
						t.Fatalf("it says %q, of which there is no record\n%s", last, a.w.screen())
					}
				}
				if s := a.w.screen(); tt.seen == nil && (strings.Contains(s, "allowed") || strings.Contains(s, "answered")) {
					t.Fatalf("the screen says more than is known:\n%s", s)
				}
				return last
			}
			d.until("it says "+tt.want, func() bool { return strings.Contains(check(), tt.want) })
			for range 15 { // longer than an answer may be unseen
				time.Sleep(200 * time.Millisecond) // nothing tells that it will say no more
				check()
			}
			if last := check(); !strings.Contains(last, tt.want) {
				t.Errorf("at last it says %q, want %q", last, tt.want)
			}
			t.Logf("it says %q", a.said())
		})
	}
}
