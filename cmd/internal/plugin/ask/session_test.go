//go:build unix

package ask_test

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestMain(m *testing.M) {
	programs.M = m
	os.Exit(programs.Run())
}

var programs decktest.Shared

// world is a home folder with a deck in a terminal.
type world struct {
	t    *testing.T
	home string
	bin  string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home, err := testwait.MkdirTemp("md")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return &world{t: t, home: home, bin: programs.Program(t, "cmd/mcpdeck")}
}

func (w *world) command(dir string, args ...string) *exec.Cmd {
	c := exec.Command(w.bin, args...)
	c.Dir = filepath.Join(w.home, dir)
	if err := os.MkdirAll(c.Dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	c.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}
	return c
}

// orphan runs the program as somebody else's: not below the agent, which here is
// the test.
func (w *world) orphan(args ...string) (said string) {
	w.t.Helper()
	out := filepath.Join(w.home, "orphan")
	sh := exec.Command("/bin/sh", append([]string{"-c", `out=$1; shift; { "$@" >"$out.new" 2>&1; mv "$out.new" "$out"; } &`, "sh", out, w.bin}, args...)...)
	sh.Env = w.command("").Env
	if err := sh.Run(); err != nil {
		w.t.Fatal(err)
	}
	testwait.Until(w.t, "the orphan ends", func() (ended bool) {
		b, err := os.ReadFile(out)
		said = string(b)
		return err == nil
	})
	return said
}

// saved waits until the deck's file of questions has all texts: what is done is on
// disk a moment later.
func (w *world) saved(texts ...string) {
	w.t.Helper()
	testwait.For(w.t, fmt.Sprintf("the deck has written %q", texts), func() string {
		b, _ := os.ReadFile(filepath.Join(w.home, ".local/state/mcpdeck/drafts.json"))
		return string(b)
	}, hasAll(texts))
}

func hasAll(texts []string) func(string) bool {
	return func(s string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(s, text) })
	}
}

// deck is the running program on an emulated terminal.
type deck struct {
	t    *testing.T
	cmd  *exec.Cmd
	tty  *os.File
	done chan struct{}

	mu sync.Mutex
	em *vt.Emulator
}

func (w *world) open() *deck {
	w.t.Helper()
	d := &deck{t: w.t, cmd: w.command("", "--port", "0", "--page", "inbox", "--background", "dark"), em: vt.NewEmulator(100, 30), done: make(chan struct{})}
	var err error
	if d.tty, err = pty.StartWithSize(d.cmd, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		w.t.Fatal(err)
	}
	go func() { _, _ = io.Copy(d.tty, d.em) }() // the terminal's answers
	go func() {
		defer close(d.done)
		buf := make([]byte, 32<<10)
		for {
			n, err := d.tty.Read(buf)
			d.mu.Lock()
			_, _ = d.em.Write(buf[:n])
			d.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(d.kill)
	d.wait("mcpdeck")
	return d
}

// kill ends the deck as a crash would.
func (d *deck) kill() {
	_ = d.cmd.Process.Kill()
	_ = d.cmd.Wait()
	d.tty.Close()
	// The emulator may be writing an answer that nobody reads any more. Its own
	// Close would race with whoever reads its answers.
	if c, ok := d.em.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	<-d.done
}

func (d *deck) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for y := range d.em.Height() {
		for x := 0; x < d.em.Width(); {
			c := d.em.CellAt(x, y)
			if c == nil || c.Width == 0 {
				b.WriteByte(' ')
				x++
				continue
			}
			b.WriteString(c.Content)
			x += max(c.Width, 1)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// wait waits until all texts are on the screen.
func (d *deck) wait(texts ...string) {
	d.t.Helper()
	testwait.For(d.t, fmt.Sprintf("%q is on the screen", texts), d.text, hasAll(texts))
}

// press types keys as a user does who has read what is there: before each comes one that
// means nothing, so that none counts as held since before. What then comes on screen must
// have been there for a while, also on a machine that has other things to do.
func (d *deck) press(keys ...string) {
	d.t.Helper()
	for _, k := range keys {
		d.typed("\x1b[24~")
		time.Sleep(1500 * time.Millisecond) // a key counts by how long what it answers has been there
		d.typed(k)
		if k == "\x1b" {
			time.Sleep(500 * time.Millisecond) // or it would be taken for the beginning of the key that comes next
		}
	}
}

// typed types a text in one go, in a field that is open.
func (d *deck) typed(text string) {
	d.t.Helper()
	if _, err := io.WriteString(d.tty, text); err != nil {
		d.t.Fatal(err)
	}
}

// command does the command that is listed first for a word.
func (d *deck) command(word, title string) {
	d.t.Helper()
	d.press(":")
	d.typed(word)
	d.wait("> "+word, "▌ "+title)
	d.press("\r")
}

// guarded waits until keys count: those that come within a moment after what is on
// the screen came by itself were meant for something else.
func (d *deck) guarded() {
	time.Sleep(1200 * time.Millisecond) // nothing on the screen tells that keys count again
}

// agent speaks MCP with a server process.
type agent struct{ *decktest.Agent }

func (w *world) agent(name, dir string, args ...string) *agent {
	w.t.Helper()
	return w.agentOf(name, w.command(dir, args...))
}

func (w *world) agentOf(name string, cmd *exec.Cmd) *agent {
	w.t.Helper()
	cmd.Stderr = os.Stderr
	a := &agent{decktest.Serve(w.t, cmd)}
	a.Last = -1 // so that what a test asks begins with 1
	a.Handshake(name)
	return a
}

func (a *agent) ask(id int, args string) {
	a.Send(id, "tools/call", fmt.Sprintf(`{"name":"ask","arguments":%s,"_meta":{"progressToken":1}}`, args))
}

// text is the text of a tool's result.
func text(m map[string]any) string {
	b, _ := json.Marshal(m["result"])
	var r struct{ Content []struct{ Text string } }
	_ = json.Unmarshal(b, &r)
	if len(r.Content) == 0 {
		return fmt.Sprint(m)
	}
	return r.Content[0].Text
}

func TestTwoAgentsAndAKilledDeck(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	first := w.agent("claude-code", "shop", "mcp", "ask")
	second := w.agent("codex-mcp-client", "menu", "ask-server")

	first.ask(1, `{"questions":[{"id":"auth","question":"Which login?","options":["OAuth","API key"]},{"id":"cache","question":"Which cache?","options":["Redis","none"]}]}`)
	d.wait("Which login?", "claude", "shop")
	second.ask(1, `{"questions":[{"id":"auth","question":"Which colour?","options":["red","blue"]}]}`)
	d.wait("Needs you 2")
	d.guarded()

	d.press("\r", "\r", "j")
	d.wait("Which cache?", "▌( ) 2 none")
	d.command("note", "Add a note to the option")
	d.wait("what the agent should know")
	d.typed("use v2\x1b[D")
	d.wait("Which cache?", "use v2")
	w.saved("use v2", `"caret":5`)
	d.kill()
	time.Sleep(3 * time.Second) // nothing tells that the relay has gone on without a deck: long enough for it

	d = w.open()
	d.wait("Inbox ◆2", "Which cache?", "▌( ) 2 none", "use v2", "asked again")
	d.guarded()
	d.typed("X") // the caret was before the 2
	d.wait("use vX2")
	d.press("\r", "2")
	d.wait("enter sends these answers")
	d.press("\r")
	d.wait("Which colour?", "codex · menu · answer?")
	if got := text(first.Answer(1)); got != "User answers:\nauth: OAuth\ncache: none (note: use vX2)" {
		t.Errorf("the first agent got %q", got)
	}
	d.guarded()
	d.press("2")
	if got := text(second.Answer(1)); got != "User answers:\nauth: blue" {
		t.Errorf("the second agent got %q", got)
	}
}

func TestQuitKeepsWaitingQuestions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.open()
	relayed := w.agent("claude-code", "shop", "mcp", "ask")
	served := w.agent("codex-mcp-client", "menu", "ask-server")
	relayed.ask(1, `{"questions":[{"id":"a","question":"Which login?","options":["OAuth","API key"]}]}`)
	d.wait("Which login?")
	served.ask(1, `{"questions":[{"id":"a","question":"Which colour?","options":["red","blue"]}]}`)
	d.wait("Needs you 2")
	d.press("q")
	d.wait("Quit mcpdeck?", "keep the questions")
	d.press("k")
	select {
	case <-d.done:
	case <-time.After(testwait.Patience):
		t.Fatal("the deck did not end")
	}

	d = w.open()
	d.wait("claude · shop · answer?", "Needs you 2", "asked again")
	d.guarded()
	d.press("2")
	if got := text(relayed.Answer(1)); got != "User answers:\na: API key" {
		t.Errorf("over the relay: %q", got)
	}
	d.wait("codex · menu · answer?")
	d.guarded()
	d.press("1")
	if got := text(served.Answer(1)); got != "User answers:\na: red" {
		t.Errorf("over ask-server: %q", got)
	}
}

func TestFromTheShell(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := filepath.Join(w.home, ".config", "mcpdeck")
	if err := os.MkdirAll(state, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(state, "config.toml"), []byte("[ask]\ncli_answers = \"pair\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		t.Helper()
		out, err := w.command("", args...).CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	if got := run("ask", "list"); !strings.Contains(got, "no deck is running") {
		t.Errorf("without a deck: %q", got)
	}
	d := w.open()
	if got := run("ask", "list"); got != "no open questions\n" {
		t.Errorf("list: %q", got)
	}
	conf := filepath.Join(w.home, "claude.json")
	if got := run("ask", "config", "--client", "claude-code", "--session", "payments", "--write", conf); !strings.Contains(got, "mcpdeck setup claude --prompts") || strings.Contains(got, "disallowed") {
		t.Errorf("config: got %q, want how the client's own questions come to the deck", got)
	}
	b, err := os.ReadFile(conf)
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Servers map[string]struct {
			Type, Command string
			Args          []string
			Env           map[string]string
			Timeout       int
			AlwaysLoad    bool
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	s := c.Servers["mcpdeck"]
	if info, _ := os.Stat(conf); info.Mode().Perm() != 0o600 || s.Command != w.bin || s.Timeout != 86_400_000 || !s.AlwaysLoad || s.Env["MCPDECK_SESSION"] != "payments" {
		t.Errorf("got mode %v and the entry %+v", info.Mode(), s)
	}
	cmd := w.command("shop", s.Args...)
	cmd.Env = append(cmd.Env, "PI_ASK_SOCKET="+s.Env["PI_ASK_SOCKET"])
	in, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"claude-code","version":"2"},"io.modelcontextprotocol/clientCapabilities":{}},"name":"ask","arguments":{"questions":[{"id":"a","question":"Which?","options":["x","y"]}]}}}`+"\n")
	list := func() string { return run("ask", "list") }
	testwait.For(t, "the question is listed", list, hasAll([]string{"a: Which?\n     - x\n     - y"}))
	answer := []string{"ask", "answer", "1", "x"}
	if got := run(answer...); !strings.Contains(got, "no pairing code is valid") {
		t.Errorf("without a code: %q", got)
	}
	d.guarded()
	d.command("shell", "Let a shell answer")
	d.wait("Pairing code for a shell", "It works once")
	if got := run(answer...); !strings.Contains(got, "only the user may answer") {
		t.Errorf("a process of the agent's: %q", got)
	}
	if got := w.orphan(answer...); !strings.Contains(got, "no terminal") {
		t.Errorf("a process that has left the agent: %q", got)
	}
	// A signal ends the server within a second and withdraws the question.
	_ = cmd.Process.Signal(os.Interrupt)
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(testwait.Patience):
		t.Fatal("the server did not end")
	}
	testwait.For(t, "the question is withdrawn", list, hasAll([]string{", gone"}))
}

const which = `{"questions":[{"id":"a","question":"Which one?","options":["x","y"]}]}`
