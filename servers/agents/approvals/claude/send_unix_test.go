//go:build unix

package claude

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// fakeClaude ends a session's process when it is told to stop it, notes what it was told, and
// fails as it is told.
const fakeClaude = `#!/bin/sh
echo "$*" >>"$SAID"
case $1 in
"$FAILS") echo "no such session" >&2; exit 1 ;;
stop) kill "$SESSION" ;;
esac
`

func TestASessionInTheBackgroundIsStoppedBeforeItIsResumedWithAPrompt(t *testing.T) {
	const both = "stop 9f3a\n--bg --resume s -- -x; Mend it\n"
	for _, tt := range []struct {
		name    string
		session session
		job     string // what the file of its job says
		key     bool   // the deck has one
		fails   string // the command that does
		said    string
		why     string // it is not sent; "": it is
	}{
		{name: "idle", said: both},
		{name: "with the deck's key", job: `{"providerEnv":{"CLAUDE_BG_SESSION_CREDENTIAL":"env-key"}}`, key: true, said: both},
		{name: "at work", session: session{Status: "busy"}, why: "not sent: it is not an idle session in the background"},
		{name: "another one", session: session{ID: "t"}, why: "not sent: it is not an idle session in the background"},
		{name: "in its terminal", session: session{Job: "-"}, why: "not sent: it is not an idle session in the background"},
		{name: "of a version that its terminal may show", session: session{Version: "2.1.197"}, why: "not sent: it is not an idle session in the background"},
		{name: "with a task", job: `{"inFlight":{"tasks":1,"queued":0}}`, why: "not sent: something that it started still runs"},
		{name: "with a key of its own", job: `{"providerEnv":{"CLAUDE_BG_SESSION_CREDENTIAL":"env-key"}}`, why: "not sent: it has its key from ANTHROPIC_API_KEY, which mcpdeck was started without"},
		{name: "that is not stopped", fails: "stop", said: "stop 9f3a\n", why: "not sent: claude stop: exit status 1: no such session"},
		{name: "that is not resumed", fails: "--bg", said: both, why: "it is stopped: claude --bg: exit status 1: no such session"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder, bin := t.TempDir(), t.TempDir()
			process := exec.Command("sleep", "60")
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() { defer close(ended); _ = process.Wait() }()
			t.Cleanup(func() { _ = process.Process.Kill(); <-ended })
			s := session{ID: "s", PID: process.Process.Pid, Folder: folder, Version: "2.1.330", Job: "9f3a", Status: "idle"}
			for _, set := range []struct {
				to   *string
				from string
			}{{&s.ID, tt.session.ID}, {&s.Job, tt.session.Job}, {&s.Status, tt.session.Status}, {&s.Version, tt.session.Version}} {
				if set.from != "" {
					*set.to = strings.TrimPrefix(set.from, "-")
				}
			}
			text, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{
				filepath.Join(folder, "sessions", fmt.Sprint(s.PID)+".json"): string(text),
				filepath.Join(folder, "jobs", "9f3a", "state.json"):          tt.job,
				filepath.Join(bin, "claude"):                                 fakeClaude,
			} {
				if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(name, []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			said := filepath.Join(folder, "said")
			env := []string{"SAID=" + said, "FAILS=" + tt.fails, fmt.Sprint("SESSION=", s.PID)}
			if tt.key {
				env = append(env, "ANTHROPIC_API_KEY=k")
			}
			t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
			a := New(Options{Deps: approvals.Deps{Folder: folder, Environ: append(env, "PATH="+os.Getenv("PATH"))}})
			err = a.Send(t.Context(), snapshot.Session{Agent: agent, ID: "s", PID: s.PID}, "-x; Mend it")
			if got := fmt.Sprint(err); tt.why == "" && err != nil || tt.why != "" && got != tt.why || errors.Is(err, approvals.ErrUnsent) != strings.HasPrefix(tt.why, "not sent") {
				t.Errorf("want %q, got %v", tt.why, err)
			}
			if b, _ := os.ReadFile(said); string(b) != tt.said {
				t.Errorf("it is told %q, want %q", b, tt.said)
			}
		})
	}
}
