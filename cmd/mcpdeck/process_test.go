//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/cmd/internal/decktest"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// driver is a user's home with the program in it, as processes. What sets up or drives one agent's program,
// or serves one topic, is a function that takes it.
type driver struct {
	t       *testing.T
	home    string
	project string
	program string
	path    string   // PATH
	env     []string // other variables
	root    string   // that programs run in; "" for that of the system
	log     lines    // of the deck
	address string   // of its HTTP, where the test has chosen one
	coder   string   // the Claude Code that runs; "" for the one that was measured
	sh      string   // its user's; "" for bash
	talks   bool     // its agents have twelve conversations
	bare    bool     // who comes by ssh finds no mcpdeck in its PATH
}

func newDriver(t *testing.T) *driver {
	t.Helper()
	if os.Getenv("MCPDECK_TEST_REAL") != "" {
		return newDriverOnDisk(t)
	}
	return newDriverIn(t, testwait.MkdirTemp)
}

// newDriverOnDisk has its home where users have theirs: rules allow nothing below /dev, and what real agents may do depends on the place.
func newDriverOnDisk(t *testing.T) *driver {
	t.Helper()
	return newDriverIn(t, func(pattern string) (string, error) { return os.MkdirTemp("", pattern) })
}

func newDriverIn(t *testing.T, temp func(pattern string) (string, error)) *driver {
	t.Helper()
	program, err := exec.LookPath("mcpdeck") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	home, err := temp("md")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	d := &driver{t: t, home: home, project: filepath.Join(home, "shop"), program: program, path: "/usr/bin:/bin"}
	for _, dir := range []string{d.project, filepath.Join(home, "Desktop")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// command runs the program with the few variables that Codex gives a server.
func (d *driver) command(args ...string) *exec.Cmd {
	c := exec.Command(d.program, args...)
	c.Dir = d.project
	if d.root != "" {
		c.SysProcAttr = &syscall.SysProcAttr{Chroot: d.root}
	}
	c.Env = []string{
		"HOME=" + d.home, "PATH=" + d.path, "LANG=C.UTF-8", "SHELL=/bin/sh", "TERM=xterm-256color", "PWD=" + d.project, decktest.Hasty,
	}
	c.Env = append(c.Env, d.env...)
	return c
}

// serve starts a deck without a screen and waits until it answers.
func (d *driver) serve(flags ...string) *exec.Cmd {
	d.t.Helper()
	c := d.command(append([]string{"serve", "--port", "0"}, flags...)...)
	c.Stderr = &d.log
	if err := c.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { d.kill(c) })
	d.until("a deck", func() bool {
		out, _ := d.command("doctor").Output()
		return bytes.Contains(out, []byte("running on"))
	})
	return c
}

func (d *driver) kill(c *exec.Cmd) {
	_ = c.Process.Kill() // it may have ended
	_ = c.Wait()
}

// choosePort finds a port for the decks of this home.
func (d *driver) choosePort() { d.address = freePort(d) }

// freePort finds an address among those that a system does not give to whoever asks for any:
// decks of other tests do.
func freePort(d *driver) (address string) {
	d.t.Helper()
	d.until("a free port", func() bool {
		address = fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000))
		l, err := net.Listen("tcp", address)
		if err == nil {
			l.Close()
		}
		return err == nil
	})
	return address
}

func (d *driver) until(what string, ok func() bool) {
	d.t.Helper()
	testwait.Until(d.t, what, ok)
}

// logged waits until the deck's journal tells of a call.
func (d *driver) logged(words ...string) {
	d.t.Helper()
	d.until("the journal has "+strings.Join(words, " "), func() bool {
		out, _ := d.command("log").Output()
		for _, line := range strings.Split(string(out), "\n") {
			all := true
			for _, w := range words {
				all = all && strings.Contains(line, w)
			}
			if all {
				return true
			}
		}
		return false
	})
}

// agent is a client of the deck's, mostly on a relay's stdio.
type agent struct {
	*decktest.Agent
	t *testing.T
}

func (d *driver) relay(args ...string) *agent { return d.hears(nil, args...) }

// hears is relay, with what it says on standard error.
func (d *driver) hears(stderr io.Writer, args ...string) *agent {
	d.t.Helper()
	return d.speaks(stderr, append([]string{"mcp"}, args...)...)
}

// speaks is a client of a command that serves MCP.
func (d *driver) speaks(stderr io.Writer, args ...string) *agent {
	d.t.Helper()
	c := d.command(args...)
	c.Stderr = stderr
	return &agent{decktest.Serve(d.t, c), d.t}
}

// note calls a tool that leaves a file, and waits for the file, which may come after the call has given up on a
// busy disk.
func (a *agent) note(d *driver, name, meta string) {
	a.t.Helper()
	m := a.Request("tools/call", `{"name":"haunt_desktop","arguments":{"filename":"`+name+`","content":"boo"}`+meta+`}`)
	d.until(fmt.Sprintf("%s is there after %v", name, m), func() bool {
		_, err := os.Stat(filepath.Join(d.home, "Desktop", name))
		return err == nil
	})
}

const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"new","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`

// TestSessionOutlivesAKilledDeck ends the deck in the hardest way while an agent is
// connected, in both eras of the protocol.
func TestSessionOutlivesAKilledDeck(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, meta, client string }{
		{"initialize", "", "old"},
		{"2026-07-28", "," + modern, "new"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDriver(t)
			deck := d.serve()
			a := d.relay()
			if tt.meta == "" {
				a.Handshake(tt.client)
			} else if m := a.Request("server/discover", "{"+modern+"}"); m["result"] == nil {
				t.Fatalf("discover: %v", m)
			}
			a.note(d, "one.txt", tt.meta)
			d.logged(tt.client, "haunt_desktop", "one.txt")
			a.Send(`"waits"`, "tools/call", `{"name":"ask","arguments":{"questions":[{"question":"Which?","header":"Which","options":[{"label":"a"},{"label":"b"}]}]}`+tt.meta+`}`)
			d.until("a question", func() bool { return d.asked() == 1 })

			d.kill(deck)
			d.serve()
			a.note(d, "two.txt", tt.meta)
			d.logged(tt.client, "haunt_desktop", "two.txt")
			d.until("the question is asked again", func() bool { return d.asked() == 1 })
			a.Send(nil, "notifications/cancelled", `{"requestId":"waits"}`) // else its answer is waited for
			d.ends(a)
		})
	}
}

// asked counts the questions that wait in the deck.
func (d *driver) asked() int {
	out, _ := d.command("ask", "list").Output()
	return strings.Count(string(out), "Which?")
}

// ends closes the agent's side and waits for the relay to end well.
func (d *driver) ends(a *agent) {
	d.t.Helper()
	began := time.Now()
	a.In.Close()
	for range a.Lines { // until its output is closed
	}
	if err := a.Cmd.Wait(); err != nil {
		d.t.Errorf("the relay ended with %v", err)
	}
	d.t.Logf("the relay ended %v after its input", time.Since(began).Round(time.Millisecond))
}

func TestRelaySwitchesToADeckOpenedLater(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	a := d.relay()
	a.Handshake("early")
	a.note(d, "alone.txt", "")
	before := a.Request("tools/list", "{}")
	deck := d.serve()
	d.until("a call through the deck", func() bool {
		time.Sleep(200 * time.Millisecond) // the tool may be called so often only
		a.Request("tools/call", `{"name":"read_project_context","arguments":{}}`)
		return strings.Contains(d.log.String(), "tool=read_project_context") // the relay logs to its own standard error
	})
	if after := a.Request("tools/list", "{}"); fmt.Sprint(names(after)) != fmt.Sprint(names(before)) {
		t.Errorf("tools before and after: %v %v", names(before), names(after))
	}
	// For good: this process hosts the tools again.
	d.kill(deck)
	d.until("the tools are back", func() bool { return a.Request("tools/list", "{}")["result"] != nil })
	a.note(d, "again.txt", "")
	d.ends(a)
}

func names(answer map[string]any) (list []any) {
	result, _ := answer["result"].(map[string]any)
	tools, _ := result["tools"].([]any)
	for _, t := range tools {
		tool, _ := t.(map[string]any)
		list = append(list, tool["name"])
	}
	return list
}

func TestRelayEndsWithItsInput(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.ends(d.relay()) // alone
	deck := d.serve()
	d.ends(d.relay())
	if err := deck.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := deck.Wait(); err != nil {
		t.Errorf("the deck ended with %v", err)
	}
	if _, err := os.Lstat(filepath.Join(d.home, ".local/state/mcpdeck/run/deck.sock")); !os.IsNotExist(err) {
		t.Errorf("its socket is still there: %v", err)
	}
}

// TestRotatedTokenEndsTheOldOne holds that a running deck refuses the old token at once.
func TestRotatedTokenEndsTheOldOne(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	d.serve()
	read := func(args ...string) string {
		t.Helper()
		path, err := d.command(args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(strings.TrimSpace(string(path)))
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(b))
	}
	url := "http://" + d.http() + "/mcp"
	status := func(token string) int {
		t.Helper()
		r, err := http.NewRequest(http.MethodPost, url, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		return answer.StatusCode
	}
	old := read("token")
	if status(old) == http.StatusUnauthorized || status("") != http.StatusUnauthorized {
		t.Errorf("before: %d with the token, %d without", status(old), status(""))
	}
	fresh := read("token", "rotate")
	if fresh == old || status(old) != http.StatusUnauthorized || status(fresh) == http.StatusUnauthorized {
		t.Errorf("after: %d with the old token, %d with the new one", status(old), status(fresh))
	}
}

// TestAPortThatIsTaken holds that a deck says why it has no HTTP.
func TestAPortThatIsTaken(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d.serve("--port", port)
	if want := "port " + port + " is taken"; !strings.Contains(d.log.String(), want) {
		t.Errorf("no %q in %s", want, d.log.String())
	}
}

// http waits for the address that the deck logs.
func (d *driver) http() (address string) {
	d.t.Helper()
	d.until("an address", func() bool {
		_, after, found := strings.Cut(d.log.String(), "http=")
		address, _, _ = strings.Cut(after, "\n")
		return found && address != ""
	})
	return address
}

// lines are what a process has written so far.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// TestNoHome holds what happens without the variable that everything is found
// by.
func TestNoHome(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	c := d.command("token", "--state", filepath.Join(d.home, "state"))
	c.Env = []string{"PATH=" + d.path}
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "token") {
		t.Errorf("%v: %s", err, out)
	}
}

func TestServeFollowsTheConfiguration(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	dir := filepath.Join(d.home, ".config", "mcpdeck")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	d.serve()
	clippy := func() bool {
		out, _ := d.command("tools").Output()
		return bytes.Contains(out, []byte("haunt_desktop"))
	}
	if !clippy() {
		t.Fatal("the tools are not there to begin with")
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[clippy]\nenabled = false\n")
	d.until("the tools are gone", func() bool { return !clippy() })
	write("[clippy\n")
	d.until("a warning", func() bool { return strings.Contains(d.log.String(), "settings unchanged") })
	if clippy() {
		t.Error("a file that cannot be read changed the tools")
	}
	write("[clippy]\n")
	d.until("the tools are back", clippy)
}

// TestWhoHostsLogsOneLineForEach looks at what the log says of one call, where a
// deck without a screen hosts the servers and where the agent's own process does.
func TestWhoHostsLogsOneLineForEach(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(`^\[\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\] \[(DEBUG|INFO|WARN|ERROR)\] `)
	for _, deck := range []bool{true, false} {
		d := newDriver(t)
		if deck {
			d.serve()
		}
		var own lines
		a := d.hears(&own)
		a.Handshake("claude")
		a.note(d, "a.txt", "")
		said := &own
		if deck {
			said = &d.log
		}
		d.until("a line about the call", func() bool { return strings.Contains(said.String(), "tool done tool=haunt_desktop") })
		for _, l := range strings.Split(strings.TrimSpace(said.String()), "\n") {
			if !line.MatchString(l) {
				t.Errorf("with a deck %v: %q", deck, l)
			}
		}
	}
}

// whichOne is a call that asks the user something.
const whichOne = `{"name":"ask","arguments":{"questions":[{"id":"q","question":"Which?","options":["a","b"]}]}}`
