//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
)

// smallHook is mcpdeck-hook.
func smallHook(t *testing.T) string {
	t.Helper()
	return programs.Program(t, "cmd/mcpdeck-hook", "CGO_ENABLED=0") // as it is released
}

// session makes this process the Claude Code session of the driver's home.
func (d *driver) session(id string) {
	d.t.Helper()
	d.sessionOf(os.Getpid(), id)
}

func (d *driver) sessionOf(process int, id string) {
	d.t.Helper()
	dir := filepath.Join(d.home, ".claude/sessions")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		d.t.Fatal(err)
	}
	b, err := json.Marshal(map[string]any{
		"pid": process, "sessionId": id, "cwd": d.project, "procStart": pid.Born(process), "version": "2.1.330",
		"kind": "interactive", "entrypoint": "cli", "status": "busy", "statusUpdatedAt": 1, "startedAt": 1,
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, strconv.Itoa(process)+".json"), b, 0o600)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// prompts starts another process that is a Claude Code session, and its hook for a command.
func (d *driver) prompts(id, command string) *waiting {
	d.t.Helper()
	return d.promptsBy(id, strings.NewReplacer(`"s1"`, strconv.Quote(id), `"make"`, strconv.Quote(command)).Replace(permissionEvent))
}

// promptsBy is prompts of a hook's whole event.
func (d *driver) promptsBy(id, event string) *waiting {
	d.t.Helper()
	w := &waiting{c: d.command()}
	w.c.Path, w.c.Args = "/bin/sh", []string{"sh", "-c", `read begin; "$0" hook claude; true`, d.program}
	w.c.Stdout, w.c.Stderr = &w.out, &w.err
	in, err := w.c.StdinPipe()
	if err == nil {
		err = w.c.Start()
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(w.c) })
	d.sessionOf(w.c.Process.Pid, id)
	_, _ = io.WriteString(in, "begin\n"+event) // a process that has ended brings no prompt
	in.Close()
	return w
}

const permissionEvent = `{"hook_event_name":"PermissionRequest","session_id":"s1","tool_name":"Bash","tool_input":{"command":"make"}}`

// prompted is how many permissions the deck shows.
func (d *driver) prompted() int {
	out, _ := d.command("ask", "list").Output()
	return strings.Count(string(out), "Allow Bash?")
}

// waiting is a hook that was started.
type waiting struct {
	c        *exec.Cmd
	out, err bytes.Buffer
}

func (d *driver) hook(program []string, input string) *waiting {
	d.t.Helper()
	w := &waiting{c: d.command()}
	w.c.Path, w.c.Args = program[0], append(program, "claude")
	w.c.Stdin, w.c.Stdout, w.c.Stderr = strings.NewReader(input), &w.out, &w.err
	if err := w.c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(w.c) })
	return w
}

// silent fails the test unless the hook has ended well and without a word.
func (w *waiting) silent(t *testing.T, name string) {
	t.Helper()
	if err := w.c.Wait(); err != nil || w.out.Len() > 0 || w.err.Len() > 0 {
		t.Errorf("%s: %v, output %q, errors %q", name, err, &w.out, &w.err)
	}
}

func TestAHookWithoutADeckSaysNothingAndSucceeds(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	small := smallHook(t)
	for _, program := range [][]string{{small}, {d.program, "hook"}} {
		for name, tt := range map[string]struct {
			args  []string
			input string
			env   string
		}{
			"a prompt":             {nil, permissionEvent, "A=b"},
			"not JSON":             {nil, "{", "A=b"},
			"nothing":              {nil, "", "A=b"},
			"too much":             {nil, strings.Repeat("x", 2<<20), "A=b"},
			"an unknown flag":      {[]string{"--verbose"}, permissionEvent, "A=b"},
			"two agents":           {[]string{"codex"}, permissionEvent, "A=b"},
			"no home":              {nil, permissionEvent, "HOME="},
			"a socket of no deck":  {nil, permissionEvent, "MCPDECK_PROMPTS_SOCKET=" + d.home},
			"a socket without / …": {nil, permissionEvent, "MCPDECK_PROMPTS_SOCKET=x"},
			"a flag without value": {[]string{"--name"}, permissionEvent, "A=b"},
		} {
			w := &waiting{c: d.command()}
			w.c.Path, w.c.Args = program[0], append(append(append([]string{}, program...), "claude"), tt.args...)
			w.c.Env = append(w.c.Env, tt.env)
			w.c.Stdin, w.c.Stdout, w.c.Stderr = strings.NewReader(tt.input), &w.out, &w.err
			if err := w.c.Start(); err != nil {
				t.Fatal(err)
			}
			w.silent(t, filepath.Base(program[0])+" with "+name)
		}
	}
}

// TestHooksWithoutADeckNeverSayAnything runs many, one after another, and reports how long
// they take.
func TestHooksWithoutADeckNeverSayAnything(t *testing.T) {
	d := newDriver(t)
	small := smallHook(t)
	took := make([]time.Duration, 200)
	for i := range took {
		begun := time.Now()
		d.hook([]string{small}, permissionEvent).silent(t, "mcpdeck-hook")
		took[i] = time.Since(begun)
	}
	slices.Sort(took)
	t.Logf("half take at most %v, 99 of 100 at most %v", took[len(took)/2], took[len(took)*99/100])
}

// TestAHookIsSmall bounds what the program that is started for each prompt links: its
// packages take most of its time.
func TestAHookIsSmall(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "github.com/mcpdeck/mcpdeck/cmd/mcpdeck-hook").Output()
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Fields(string(out))
	for _, p := range all {
		for _, heavy := range []string{"net/http", "charm.land/", "github.com/charmbracelet/", "modernc.org/", "github.com/spf13/", "github.com/mark3labs/", "crypto/tls", "database/sql", "regexp"} {
			if p == heavy || strings.HasSuffix(heavy, "/") && strings.HasPrefix(p, heavy) {
				t.Errorf("it links %s", p)
			}
		}
	}
	const most = 160
	if len(all) > most {
		t.Errorf("it links %d packages", len(all))
	}
}

// TestAHookOutlivesNoDeck has hooks wait in a deck that is killed, and in one that ends.
func TestAHookOutlivesNoDeck(t *testing.T) {
	t.Parallel()
	small := smallHook(t)
	for name, end := range map[string]func(d *driver, deck *exec.Cmd){
		"killed": func(d *driver, deck *exec.Cmd) { d.kill(deck) },
		"ended":  func(_ *driver, deck *exec.Cmd) { _ = deck.Process.Signal(os.Interrupt) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			d.session("s1")
			deck := d.serve()
			one, other := d.hook([]string{small}, permissionEvent), d.hook([]string{d.program, "hook"}, strings.Replace(permissionEvent, "make", "make all", 1))
			d.until("two prompts", func() bool { return d.prompted() == 2 })
			end(d, deck)
			one.silent(t, "the small program")
			other.silent(t, "mcpdeck hook")
		})
	}
}

func TestAHookThatItsAgentEndsWithdrawsItsPrompt(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.session("s1")
	d.serve()
	w := d.hook([]string{smallHook(t)}, permissionEvent)
	d.until("a prompt", func() bool { return d.prompted() == 1 })
	d.kill(w.c)
	d.until("no prompt", func() bool { return d.prompted() == 0 })
}

// TestAProcessWithoutASessionBringsNoPrompt has a program that no agent has started use
// the prompt socket, and one that claims another's session.
func TestAProcessWithoutASessionBringsNoPrompt(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.serve()
	small := smallHook(t)
	d.hook([]string{small}, permissionEvent).silent(t, "without a session")
	d.session("other")
	d.hook([]string{small}, permissionEvent).silent(t, "with another's session")
	if n := d.prompted(); n != 0 {
		t.Errorf("%d prompts were taken", n)
	}
}

// TestThePromptSocketAnswersNothing sends a running deck what the other sockets take.
func TestThePromptSocketAnswersNothing(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.session("s1")
	d.serve()
	w := d.hook([]string{smallHook(t)}, permissionEvent)
	d.until("a prompt", func() bool { return d.prompted() == 1 })
	path := hook.Path(filepath.Join(d.home, ".local/state/mcpdeck"), "")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket: %v, %v", info, err)
	}
	hello := `{"v":1,"hello":"claude","mode":"hook"}` + "\n"
	for _, lines := range []string{
		`{"type":"list","v":1}`, `{"type":"answer","id":1,"results":[{"id":"permission","selectedOptions":["Allow once"]}]}`, `{"type":"ping"}`,
		`{"deck":"pencil","verb":"on"}`, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`,
		hello + `{"answer":1,"option":0}`, hello + `{"event":"hook","payload":{"hook_event_name":"SessionEnd","session_id":"s2"}}`,
		hello + `{"event":"hook","payload":{"hook_event_name":"Stop"}}`, hello + `{"event":"hook","payload":{"hook_event_name":"` + strings.Repeat("x", 2<<20) + `"}}`,
		hello + strings.Repeat(`{"event":`, 1000) + "1" + strings.Repeat("}", 1000), hello + `{"event":"hook","payload":{"hook_event_name":"Stop","a":1,"a":2}}`,
	} {
		c, err := new(net.Dialer).DialContext(context.Background(), "unix", path)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = io.WriteString(c, lines+"\n") }() // the deck may hang up before the end
		said, _ := io.ReadAll(c)                             // a reset is a refusal, too
		if s := strings.TrimSpace(strings.ReplaceAll(string(said), `{"ping":true}`, "")); s != "" && s != `{"print":""}` {
			t.Errorf("%.80q is answered with %q", lines, s)
		}
		_ = c.Close()
	}
	if n := d.prompted(); n != 1 {
		t.Errorf("%d prompts are open", n)
	}
	d.kill(w.c)
	if w.out.Len() > 0 {
		t.Errorf("the prompt was answered: %s", &w.out)
	}
}
