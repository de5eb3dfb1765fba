//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/mockmodel"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/codex"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
	"github.com/mcpdeck/mcpdeck/servers/agents/sessions"
	"github.com/mcpdeck/mcpdeck/servers/support/realtest"
	"github.com/mcpdeck/mcpdeck/servers/support/rpc/frames"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// codexTerminal is the real program in a terminal, with a stand-in model, beside a deck.
type codexTerminal struct {
	t       *testing.T
	dir     string
	project string
	adapter *codex.Adapter
	queue   *ask.Queue
	roster  *sessions.Roster
	stop    func() // of the deck

	pressed time.Time       // when the last key was typed
	here    []time.Duration // from the deck's answers to their confirmation
	there   []time.Duration // from the terminal's answers to when the deck knew

	mu    sync.Mutex
	heard []string // methods and answers of the daemon, to the deck
	raw   [][]byte // the same, as they came
}

func newCodex(t *testing.T, steps ...mockmodel.Step) (*codexTerminal, *mockmodel.Server) {
	t.Helper()
	c, m := prepareCodex(t, steps...)
	c.start()
	c.ready()
	return c, m
}

func prepareCodex(t *testing.T, steps ...mockmodel.Step) (*codexTerminal, *mockmodel.Server) {
	t.Helper()
	bin := filepath.Dir(realtest.Agent(t, "codex"))
	dir, err := os.MkdirTemp("", "cx") // short, for the sockets
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	c := &codexTerminal{t: t, dir: dir, project: filepath.Join(dir, "api")}
	m := mockmodel.New(t, "srv", steps...)
	c.write("api/a.txt", "old\n")
	c.write("home/.codex/config.toml", fmt.Sprintf(`model = "mock"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "%s/v1"
wire_api = "responses"
env_key = "MOCK_KEY"
[projects.%q]
trust_level = "trusted"
[features]
default_mode_request_user_input = true
request_permissions_tool = true
[mcp_servers.srv]
command = %q
args = [%q]
default_tools_approval_mode = "prompt"
`, m.URL, c.project, filepath.Join(bin, "node"), realtest.ServerFromNPM(t, "mcp-server-everything")))
	t.Cleanup(func() {
		_ = c.tmux("kill-server")
		c.endDaemon()
	})
	return c, m
}

// start runs the program in its terminal.
func (c *codexTerminal) start(args ...string) {
	c.t.Helper()
	bin := filepath.Dir(realtest.Agent(c.t, "codex"))
	shell := exec.Command("tmux", "-L", "codex", "-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "50", "-c", c.project, "codex", "-a", "on-request", "-s", "read-only")
	shell.Args = append(shell.Args, args...)
	shell.Env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + filepath.Join(c.dir, "home"), "TMUX_TMPDIR=" + c.dir, "TERM=xterm-256color", "MOCK_KEY=x", "SHELL=/bin/sh", "TMPDIR=" + c.dir}
	if err := realtest.Run(shell); err != nil {
		c.t.Fatal(err)
	}
}

func (c *codexTerminal) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *codexTerminal) home() string { return filepath.Join(c.dir, "home", ".codex") }

// endDaemon ends what Codex leaves running.
func (c *codexTerminal) endDaemon() { endCodexDaemon(c.home()) }

// endCodexDaemon ends what a Codex with a folder of its own files leaves running.
func endCodexDaemon(home string) {
	for _, name := range []string{"daemon-updater.pid", "daemon.pid"} {
		b, err := os.ReadFile(filepath.Join(home, "app-server-daemon", name))
		var p struct{ PID int }
		if err == nil && json.Unmarshal(b, &p) == nil && p.PID > 1 {
			_ = syscall.Kill(p.PID, syscall.SIGKILL)
		}
	}
	for _, name := range []string{"app-server-control/app-server-control.sock", "app-server-daemon/daemon-updater.sock"} {
		if path, err := os.Readlink(filepath.Join(home, name)); err == nil {
			_, _ = os.Remove(path), os.Remove(path+".lock")
		}
	}
}

func (c *codexTerminal) tmux(args ...string) error {
	cmd := exec.Command("tmux", append([]string{"-L", "codex"}, args...)...)
	cmd.Env = []string{"PATH=" + filepath.Dir(realtest.Agent(c.t, "codex")) + ":" + os.Getenv("PATH"), "TMUX_TMPDIR=" + c.dir}
	return realtest.Run(cmd)
}

func (c *codexTerminal) screen() string {
	cmd := exec.Command("tmux", "-L", "codex", "capture-pane", "-p")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + c.dir}
	out, _ := cmd.Output()
	return string(out)
}

// press types keys of tmux, each when the screen has taken the one before.
func (c *codexTerminal) press(keys ...string) {
	c.t.Helper()
	for _, k := range keys {
		c.pressed = time.Now()
		if err := c.tmux("send-keys", k); err != nil {
			c.t.Fatal(err)
		}
		time.Sleep(300 * time.Millisecond) // else the program takes them for a paste
	}
}

// say has the user send words. The program may miss an Enter while it is busy.
func (c *codexTerminal) say(words string) {
	c.t.Helper()
	typed := func() bool {
		last := ""
		for line := range strings.Lines(c.screen()) {
			if strings.HasPrefix(line, "›") {
				last = strings.TrimSpace(line)
			}
		}
		return last == "› "+words
	}
	c.press(words)
	c.until("the terminal shows what was typed", typed)
	var entered time.Time
	c.until("the terminal has sent it", func() bool {
		if typed() && time.Since(entered) > 5*time.Second {
			entered = time.Now()
			c.press("Enter")
		}
		return !typed()
	})
}

func (c *codexTerminal) until(what string, is func() bool) {
	c.t.Helper()
	if !testwait.Holds(is) {
		c.t.Fatalf("never: %s; the terminal shows\n%s", what, c.screen())
	}
}

// open starts a deck beside the terminal.
func (c *codexTerminal) open() {
	c.t.Helper()
	c.queue, c.roster = ask.New(ask.Options{Hold: -1}), &sessions.Roster{}
	c.adapter = codex.New(codex.Options{
		Homes: func() []string { return []string{c.home()} },
		Deps: approvals.Deps{
			Rules: func() approvals.Rules { return approvals.Rules{Hold: time.Hour} }, Queue: c.queue, Roster: c.roster, Home: filepath.Join(c.dir, "home"), Version: "test",
			Frames: func(ctx context.Context, conn net.Conn) (approvals.Frames, error) {
				f, err := frames.Dial(ctx, conn)
				return &listening{f, c}, err
			},
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.adapter.Run(ctx)
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		<-done
		_ = c.queue.Close()
	})
	c.stop = stop
	c.t.Cleanup(stop)
}

// listening notes what a deck is sent.
type listening struct {
	*frames.Conn
	c *codexTerminal
}

func (l *listening) Read(ctx context.Context) ([]byte, error) {
	b, err := l.Conn.Read(ctx)
	var m struct{ Method string }
	if err == nil && json.Unmarshal(b, &m) == nil {
		l.c.mu.Lock()
		l.c.heard, l.c.raw = append(l.c.heard, m.Method), append(l.c.raw, bytes.Clone(b))
		l.c.mu.Unlock()
	}
	return b, err
}

// item waits for the one prompt.
func (c *codexTerminal) item() ask.Item {
	c.t.Helper()
	var it ask.Item
	c.until("a prompt in the deck", func() bool {
		s := c.queue.Pending()
		if len(s.Items) == 1 && s.Items[0].Absent == ask.Present {
			it = s.Items[0]
		}
		return it.ID != 0
	})
	testwait.For(c.t, "its session waits", c.roster.Sessions, func(s []snapshot.Session) bool { return len(s) == 0 || s[0].State.Waits() }) // of which Codex says so by itself
	return it
}

// consents presses Enter in a dialog until the user's answer has come to something. A dialog does not take it
// as soon as it is there, and one that comes right after would take what is pressed once more.
func (c *codexTerminal) consents(dialog string, is func() bool) {
	c.t.Helper()
	var pressed time.Time
	c.until("an answer in the terminal", func() bool {
		asks := strings.Contains(c.screen(), dialog)
		over := is()
		if asks && !over && time.Since(pressed) > 5*time.Second {
			c.press("Enter")
			pressed = time.Now()
		}
		return over
	})
}

// asks waits until the next prompt is open, and its terminal shows it as well: of one that is
// answered before that, the dialog may come all the same, and stay.
func (c *codexTerminal) asks(shows string) ask.Item {
	c.t.Helper()
	it := c.item()
	c.until(shows, func() bool { return strings.Contains(c.screen(), shows) })
	return it
}

func (c *codexTerminal) answer(it ask.Item, r ...ask.Result) {
	c.t.Helper()
	begun := time.Now()
	c.reply(it, r...)
	c.ends(it, ask.Delivered)
	c.here = append(c.here, time.Since(begun))
}

func (c *codexTerminal) reply(it ask.Item, r ...ask.Result) {
	c.t.Helper()
	for i := range r {
		r[i].ID = it.Request.Questions[i].ID
	}
	if err := c.queue.Answer(it.ID, r); err != nil {
		c.t.Fatalf("%v; it is %+v", err, it.Request)
	}
}

// ends waits until a prompt has ended so.
func (c *codexTerminal) ends(it ask.Item, how ask.Delivery) {
	c.t.Helper()
	c.until("it is "+string(how), func() bool { return !c.ended(it, how).IsZero() })
}

// ended returns when a prompt has ended so, the zero time if it has not.
func (c *codexTerminal) ended(it ask.Item, how ask.Delivery) time.Time {
	for _, r := range c.queue.Pending().History {
		if r.ID == it.ID && r.Delivery == how {
			return r.Ended
		}
	}
	return time.Time{}
}

func chosen(label string) ask.Result { return ask.Result{SelectedOptions: []string{label}} }

// codexPrompts are calls that make Codex ask.
func codexPrompts() []mockmodel.Step {
	return []mockmodel.Step{
		{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"echo it worked","sandbox_permissions":"require_escalated","justification":"To see whether it works"}`)},
		{Tool: "exec_command", Args: json.RawMessage(`{"cmd":"apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: b.txt\n+hello\n*** Update File: a.txt\n@@\n-old\n+new\n*** End Patch\nEOF"}`)},
		{Tool: "request_permissions", Args: json.RawMessage(`{"reason":"Need the network","permissions":{"network":{"enabled":true}}}`)},
		{Tool: "request_user_input", Args: json.RawMessage(`{"questions":[{"id":"db","header":"Database","question":"Which database?","options":[{"label":"SQLite","description":"A file."},{"label":"Postgres","description":"A server."}]}]}`)},
		{Tool: "trigger_elicitation_request"},
	}
}

// TestEveryPromptOfCodexIsAnsweredHereAndThere has the real program ask everything twice:
// once answered in the deck, once in its terminal.
func TestEveryPromptOfCodexIsAnsweredHereAndThere(t *testing.T) {
	t.Parallel()
	steps := append(codexPrompts(), codexPrompts()...)
	c, m := newCodex(t, append(steps, codexPrompts()[0])...)
	c.say("go")
	c.until("the terminal asks", func() bool { return strings.Contains(c.screen(), "Would you like to run") })
	c.open() // late
	c.until("the session is listed", func() bool { return len(c.roster.Sessions()) == 1 })
	c.answer(c.item(), chosen("Allow once"))
	it := c.asks("make the following edits")
	for _, file := range []string{"--- /dev/null\n+++ b.txt\n@@ -0,0 +1,1 @@\n+hello\n", "--- a.txt\n+++ a.txt\n@@ -1 +1 @@\n-old\n+new\n"} {
		if got := it.Request.Prompt.Diff; !strings.Contains(got, file) {
			t.Errorf("the edit is shown as %s", got)
		}
	}
	c.answer(it, ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "leave a.txt alone"})
	c.until("the next request", func() bool { return m.Seen()[1].Result != "" })
	if !strings.Contains(m.Last(), "leave a.txt alone") {
		t.Error("the note is not in the next request")
	}
	c.answer(c.asks("grant these permissions"), chosen("Allow for this session"))
	c.answer(c.asks("enter to submit answer"), ask.Result{CustomInput: "DuckDB"})
	it = c.asks("MCP server to run tool")
	if p := it.Request.Prompt; p.Tool != "srv.trigger-elicitation-request" || len(p.Grants) < 3 {
		t.Errorf("the tool's permission is %+v", p)
	}
	c.answer(it, chosen("Allow once"))
	c.answer(c.asks("needs your approval"), ask.Result{Content: json.RawMessage(`{"name":"Ana"}`)})

	for _, shows := range []string{"like to run", "make the following edits", "grant these permissions", "enter to submit answer", "MCP server to run tool", "needs your approval"} {
		it = c.asks(shows)
		c.consents(shows, func() bool { return !c.ended(it, ask.Elsewhere).IsZero() })
		c.there = append(c.there, c.ended(it, ask.Elsewhere).Sub(c.pressed))
	}

	it = c.item()
	if err := c.tmux("kill-server"); err != nil {
		t.Fatal(err)
	}
	c.answer(it, chosen("Allow once"))
	for i, want := range []string{
		"it worked", "rejected", `"enabled\":true`, "user_note: DuckDB", "Ana",
		"it worked", "Success", `"enabled\":true`, "SQLite", "accept",
		"it worked",
	} {
		c.until("a result", func() bool { return m.Seen()[i].Result != "" })
		if got := m.Seen()[i].Result; !strings.Contains(got, want) {
			t.Errorf("the model reads in %d: %s, want %s", i, got, want)
		}
	}
	if b, err := os.ReadFile(filepath.Join(c.project, "a.txt")); err != nil || string(b) != "new\n" {
		t.Errorf("the file is %q, %v", b, err)
	}
	c.until("the session is idle", func() bool { return c.roster.Sessions()[0].State == snapshot.Idle })
	t.Logf("Codex confirmed the deck's answers after %v; the deck knew of its terminal's %v after their key", c.here, c.there)
	c.stop()
	wanted := []string{
		"", "thread/started", "thread/status/changed", "thread/name/updated", "thread/settings/updated", "thread/readState/changed", "thread/closed", "serverRequest/resolved", "item/started", "item/completed", "account/rateLimits/updated",
		"item/commandExecution/requestApproval", "item/fileChange/requestApproval", "item/permissions/requestApproval", "item/tool/requestUserInput", "mcpServer/elicitation/request",
	}
	for _, method := range c.heard {
		if !slices.Contains(wanted, method) {
			t.Errorf("the deck was sent %s", method)
		}
	}
}

// trusts has the user review hooks, and trust them.
func (c *codexTerminal) trusts() {
	c.t.Helper()
	c.until("the terminal wants the hook reviewed", func() bool { return strings.Contains(c.screen(), "Hooks need review") })
	c.until("the terminal is ready", func() bool {
		switch s := c.screen(); { // it does not take the first keys while it is busy
		case strings.Contains(s, "Trust all and continue"):
			c.press("2", "Enter")
			time.Sleep(2 * time.Second) // it may take the keys one at a time
		case strings.Contains(s, "t trust all"): // it took the Enter alone
			c.press("t")
			time.Sleep(time.Second) // likewise
			c.press("Escape")
			time.Sleep(time.Second) // likewise
		}
		return strings.Contains(c.screen(), "Ask Codex")
	})
}

// TestCodexWithoutItsDaemonAsksByAHook has the real program ask the deck before its
// terminal, which also asks when the hook's program is not there.
func TestCodexWithoutItsDaemonAsksByAHook(t *testing.T) {
	t.Parallel()
	command := codexPrompts()[0]
	c, m := prepareCodex(t, command, command, command, command)
	c.open()
	program := filepath.Join(c.dir, "mcpdeck-hook")
	if err := os.Link(smallHook(t), program); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(c.dir, "run", "prompts.sock")
	s, err := hook.Listen(hook.Options{Path: path, Handlers: map[string]hook.Handler{"codex": c.adapter}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	c.write("home/.codex/hooks.json", fmt.Sprintf(`{"hooks":{"PermissionRequest":[{"hooks":[{"type":"command","command":"MCPDECK_PROMPTS_SOCKET=%s %s codex","timeout":86400}]}]}}`, path, program))
	c.start("--no-daemon")
	c.trusts()
	c.say("go")
	c.reply(c.item(), chosen("Allow once"))
	c.until("the first result", func() bool { return strings.Contains(m.Seen()[0].Result, "it worked") })
	c.reply(c.item(), ask.Result{SelectedOptions: []string{"Deny with a message"}, Note: "not now"})
	c.until("the second result", func() bool { return strings.Contains(m.Seen()[1].Result, "not now") })
	it := c.item()
	if it.Request.Prompt.Door != ask.Held || strings.Contains(c.screen(), "like to run") {
		t.Errorf("the terminal asks, too: %s", c.screen())
	}
	if err := c.queue.Release(it.ID); err != nil {
		t.Fatal(err)
	}
	const dialog = "like to run"
	asks := func() bool { return strings.Contains(c.screen(), dialog) }
	c.until("the terminal asks", asks)
	if err := os.Remove(program); err != nil {
		t.Fatal(err)
	}
	c.consents(dialog, func() bool { return strings.Contains(m.Seen()[2].Result, "it worked") })
	c.until("the terminal asks without the hook's program", asks)
}
