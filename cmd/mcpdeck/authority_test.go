//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// guarded is a deck on a screen that pairs, with a question of an agent over
// HTTP and a tool of Pencil that is held.
func guarded(t *testing.T) (*driver, *window) {
	t.Helper()
	d := holding(t, "pair")
	d.echo()
	w := d.window("--page", "inbox", "--port", d.port())
	holdsTool(d)
	return d, w
}

// holding is a home in which a deck takes answers by a method, and has a tool of
// Pencil that is held.
func holding(t *testing.T, method string) *driver {
	t.Helper()
	d := newDriver(t)
	d.choosePort()
	pencil := programs.Program(t, "servers/builtin/pencil/internal/standin/fakepencil")
	d.configure("[ask]\ncli_answers = \"" + method + "\"\n[pencil]\nargs = [\"--change\"]\nstart_on = true\ncommand = \"" + pencil + "\"\n")
	return d
}

func (d *driver) port() string {
	_, port, _ := net.SplitHostPort(d.address)
	return port
}

func holdsTool(d *driver) {
	d.t.Helper()
	d.until("a held tool", func() bool {
		out, _ := d.command("pencil", "status").Output()
		return strings.Contains(string(out), "1 changed")
	})
}

func (d *driver) configure(text string) {
	d.t.Helper()
	d.makes(filepath.Join(d.home, ".config", "mcpdeck", "config.toml"), text)
}

// askOverHTTP asks as an agent without a process that the deck could know of.
func (d *driver) askOverHTTP() {
	d.t.Helper()
	d.asksOverHTTP(whichOne)
	d.until("the question", func() bool { return d.asked() == 1 })
}

// asksOverHTTP calls ask in such a way, and does not wait.
func (d *driver) asksOverHTTP(call string) {
	d.t.Helper()
	token, err := os.ReadFile(filepath.Join(d.home, ".local/state/mcpdeck/run/token"))
	if err != nil {
		d.t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + strings.TrimSuffix(call, "}") + "," + modern + `}}`
	r, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, "http://"+d.address+"/mcp", strings.NewReader(body))
	if err != nil {
		d.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask",
	} {
		r.Header.Set(name, value)
	}
	go func() {
		if answer, err := http.DefaultClient.Do(r); err == nil {
			_, _ = io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}()
}

// runs runs a command of the deck by its name.
func (w *window) runs(command string) {
	w.t.Helper()
	w.key(":")
	w.press(command)
	w.key("\r")
}

// code has the deck show a pairing code and reads it off the screen.
func (w *window) code(d *driver) string {
	w.t.Helper()
	form := regexp.MustCompile(`[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}`)
	before := form.FindAllString(w.text(), -1)
	var all []string
	d.shows(w, "Which?")
	w.runs("let a shell answer")
	d.until("a code on the screen", func() bool {
		all = form.FindAllString(w.text(), -1)
		return len(all) > len(before)
	})
	return all[len(all)-1]
}

// reads takes the time of a user who reads what is there, after which a key counts: none is
// held since before, since one that means nothing comes first.
func (w *window) reads() {
	w.t.Helper()
	w.press("\x1b[24~")
	time.Sleep(1500 * time.Millisecond) // a key counts by how long what it answers has been there
}

// key presses keys on a deck as a user does who has read what is there.
func (w *window) key(keys string) {
	w.t.Helper()
	w.reads()
	w.press(keys)
}

func (w *window) press(keys string) {
	w.t.Helper()
	if _, err := w.tty.Write([]byte(keys)); err != nil {
		w.t.Fatal(err)
	}
}

// TestNothingThatAnAgentStartsActsAsTheUser tries the ways in which a process
// hides where it comes from, while a pairing code is valid.
func TestNothingThatAnAgentStartsActsAsTheUser(t *testing.T) {
	t.Parallel()
	d, w := guarded(t)
	d.askOverHTTP()
	a := d.relay() // its agent is this test
	a.Handshake("claude")
	a.Send(7, "tools/call", whichOne)
	d.until("two questions", func() bool { return d.asked() == 2 })
	w.code(d)
	d.session("s1")
	permission := d.hook([]string{d.program, "hook"}, permissionEvent)
	d.until("a permission", func() bool { return d.prompted() == 1 })
	ways := []struct{ name, run string }{
		{"a child", `"$@"`},
		{"a guess on standard input", `yes ABCD-EFGH | head -20 | "$@"`},
		{"a guess in the environment", `MCPDECK_CODE=ABCD-EFGH MCPDECK_PASSPHRASE=x "$@"`},
		{"two forks", `( ( "$@" ) & ) ; wait`},
		{"a session of its own", `setsid "$@"`},
		{"two forks and a session of its own", `( ( setsid "$@" ) & )`},
		{"a terminal of its own", `( ( setsid script -qec "$*" /dev/null < /dev/null ) & )`},
		{"a guess on a terminal of its own", `( ( ( sleep 1; echo ABCD-EFGH; sleep 1 ) | setsid script -qec "$*" /dev/null ) & )`},
		{"a guess in tmux", `tmux -L "$TMUXNAME" -f /dev/null new-session -d "$* > $OUT.tmux 2>&1; echo over >> $OUT.tmux"
			for i in $(seq 600); do { cat $OUT.tmux; tmux -L "$TMUXNAME" capture-pane -p; } 2> /dev/null | grep -q . && break; sleep 0.1; done
			tmux -L "$TMUXNAME" send-keys ABCD-EFGH Enter
			for i in $(seq 600); do grep -qE "over|Waiting for you" $OUT.tmux && break; sleep 0.1; done
			tmux -L "$TMUXNAME" kill-server; cat $OUT.tmux`},
		{"a unit of systemd", `systemd-run --user --quiet --collect --wait --pipe --setenv=HOME="$HOME" --working-directory="$PWD" "$@"`},
	}
	actions := map[string][]string{
		"allows":  {"ask", "answer", "3", "--json", "'[{\"id\":\"permission\",\"selectedOptions\":[\"Allow once\"]}]'"},
		"answers": {"ask", "answer", "1", "a"},
		"accepts": {"pencil", "accept"},
		"runs":    {"on", "echo"},
	}
	try := func(t *testing.T, run, what string, action []string) {
		t.Helper()
		out := filepath.Join(t.TempDir(), "out")
		quoted := strings.Join(append([]string{d.program}, action...), " ")
		name := fmt.Sprintf("%s-%d", what, os.Getpid()) // its own, for the one before may be ending yet
		// Where accepting waits for the user's key, giving up is all an agent can do: it waits for two seconds, or until the test is over.
		gives := "while kill -0 $$; do if [ ! -d " + filepath.Dir(out) + " ]; then kill -INT $$; elif grep -qs 'Waiting for you' " + out + "*; then sleep 2; kill -INT $$; fi; sleep 0.1; done"
		file := filepath.Join(t.TempDir(), "try.sh")
		if err := os.WriteFile(file, []byte("#!/bin/sh\n("+gives+") </dev/null >/dev/null 2>&1 &\nexec "+quoted+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		script := fmt.Sprintf("set -- %s\n{ %s ; } > $OUT 2>&1", file, run)
		c := d.command()
		c.Path, c.Args = "/bin/sh", []string{"sh", "-c", script}
		c.Env = append(c.Env, "OUT="+out, "TMUXNAME="+name, "TMUX_TMPDIR="+d.home)
		if b, err := c.CombinedOutput(); err != nil && len(b) > 0 {
			t.Logf("%v: %s", err, b)
		}
		refusal := regexp.MustCompile(`only the user may|no terminal|wrong code|Waiting for you|too many failed attempts|Pairing code|over`)
		d.until("a refusal", func() bool {
			b, _ := os.ReadFile(out)
			return refusal.Match(b)
		})
		b, _ := os.ReadFile(out)
		t.Logf("%s: %s", what, strings.TrimSpace(string(b)))
	}
	tries := func(t *testing.T, run string) {
		t.Helper()
		for what, action := range actions {
			try(t, run, what, action)
		}
		if n, m := d.asked(), d.prompted(); n != 2 || m != 1 {
			t.Errorf("%d questions and %d permissions are left, want 2 and 1", n, m)
		}
		status, _ := d.command("pencil", "status").Output()
		if !strings.Contains(string(status), "1 changed") {
			t.Errorf("nothing is held:\n%s", status)
		}
		if status, _ = d.command("status", "echo").Output(); !strings.Contains(string(status), "mode       off") {
			t.Errorf("a server was turned on:\n%s", status)
		}
	}
	t.Cleanup(func() {
		for what := range actions {
			c := d.command()
			c.Path, c.Args = "/usr/bin/tmux", []string{"tmux", "-L", fmt.Sprintf("%s-%d", what, os.Getpid()), "kill-server"}
			c.Env = append(c.Env, "TMUX_TMPDIR="+d.home)
			_ = c.Run() // there may be none
		}
	})
	for _, way := range ways {
		tool, _, _ := strings.Cut(way.run, " ")
		if _, err := exec.LookPath(tool); tool == "tmux" && err != nil {
			t.Logf("%s is not installed: %s is left out", tool, way.name)
			continue
		}
		if tool == "systemd-run" && exec.Command(tool, "--user", "--wait", "--quiet", "true").Run() != nil {
			t.Logf("%s does not run here: %s is left out", tool, way.name)
			continue
		}
		t.Run(way.name, func(t *testing.T) { tries(t, way.run) })
	}
	d.kill(a.Cmd) // the relay, so that nobody is an agent by its processes
	t.Run("a killed relay", func(t *testing.T) { tries(t, `( ( setsid "$@" ) & )`) })
	t.Run("lines on the sockets", func(t *testing.T) {
		for _, send := range []struct{ socket, lines string }{
			{"ask.sock", `{"type":"answer","request":1,"decline":true}`},
			{"ask.sock", `{"type":"answer","request":3,"results":[{"id":"permission","selectedOptions":["Allow once"]}]}`},
			{"ask.sock", `{"type":"prove"}` + "\n" + `{"type":"answer","request":1,"decline":true}`},
			{"ask.sock", `{"type":"prove"}` + "\n" + `{"type":"proof","secret":true}` + "\n" + `{"type":"answer","request":1,"decline":true}`},
			{"deck.sock", `{"mcpdeck":1,"control":"pencil","args":{"verb":"accept"}}` + "\n" + `{"proof":"ABCD-EFGH"}`},
			{"deck.sock", `{"mcpdeck":1,"control":"card","args":{"name":"echo","verb":"on"}}` + "\n" + `{"proof":"ABCD-EFGH"}`},
			{"deck.sock", `{"mcpdeck":1,"control":"card","args":{"name":"echo","verb":"toggle"}}` + "\n" + `{"proof":"ABCD-EFGH"}`},
		} {
			c, err := net.Dial("unix", filepath.Join(d.home, ".local/state/mcpdeck/run", send.socket))
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(c, send.lines+"\n")
			_ = c.(*net.UnixConn).CloseWrite()
			_ = c.SetReadDeadline(time.Now().Add(testwait.Patience))
			s := bufio.NewScanner(c)
			for s.Scan() {
				if line := s.Text(); strings.Contains(line, `"ok"`) || strings.Contains(line, "Accepted") {
					t.Errorf("%s got %s", send.lines, line)
				}
			}
			if s.Err() != nil {
				t.Errorf("%s: the deck does not notice that this end has hung up", send.lines)
			}
			c.Close()
		}
		if d.asked() != 2 || d.prompted() != 1 {
			t.Error("a question was answered")
		}
		if status, _ := d.command("status", "echo").Output(); !strings.Contains(string(status), "mode       off") {
			t.Errorf("a server was turned on:\n%s", status)
		}
	})
	d.kill(permission.c)
	if permission.out.Len() > 0 {
		t.Errorf("the permission was answered: %s", &permission.out)
	}
}

// shell is a command in a terminal of its own, as the user types it.
func (d *driver) shell(args ...string) *window {
	d.t.Helper()
	w := &window{t: d.t, cmd: d.command(args...), done: make(chan struct{})}
	tty, err := pty.Start(w.cmd)
	if err != nil {
		d.t.Fatal(err)
	}
	w.tty = tty
	d.t.Cleanup(func() { d.kill(w.cmd); tty.Close() })
	go w.record()
	return w
}

func (d *driver) shows(w *window, text string) {
	d.t.Helper()
	d.until(text, func() bool { return strings.Contains(w.text(), text) })
}

func TestAPairedShellAnswersAndAccepts(t *testing.T) {
	t.Parallel()
	d, w := guarded(t)
	d.askOverHTTP()
	answer := []string{"ask", "answer", "1", "--json", `[{"id":"q","selectedOptions":["a"]}]`}
	code := w.code(d)
	s := d.shell(answer...)
	d.shows(s, "Pairing code on the deck's screen: ")
	s.press(strings.ToLower(code) + "\n")
	if n := s.ended(); n != 0 || d.asked() != 0 {
		t.Fatalf("exit %d, %d questions are left: %s", n, d.asked(), s.text())
	}
	if strings.Contains(strings.ToUpper(s.text()), code) {
		t.Error("the code was echoed")
	}

	d.askOverHTTP()
	s = d.shell("ask", "answer", "2", "--decline")
	d.shows(s, "no pairing code is valid")
	if n := s.ended(); n == 0 || d.asked() != 1 {
		t.Errorf("without a new code: exit %d, %d questions are left", n, d.asked())
	}

	code = w.code(d)
	s = d.shell("pencil", "accept")
	d.shows(s, "Pairing code on the deck's screen: ")
	s.press(code + "\n")
	d.shows(s, "Accepted 1 of 1 definition.")
	s.succeeds()
}

// TestAPairedShellGivesAPermissionOnce has the code in every place but the terminal, then
// there, then a second time.
func TestAPairedShellGivesAPermissionOnce(t *testing.T) {
	t.Parallel()
	d, w := guarded(t)
	d.askOverHTTP() // the first
	var hooks []*waiting
	for _, id := range []string{"s1", "s2"} {
		hooks = append(hooks, d.prompts(id, "make "+id))
		d.until("a permission", func() bool { return d.prompted() == len(hooks) })
	}
	allow := func(id string) []string {
		return []string{"ask", "answer", id, "--json", `[{"id":"permission","selectedOptions":["Allow once"]}]`}
	}
	code := w.code(d)
	for name, give := range map[string]func(*exec.Cmd){
		"standard input":  func(c *exec.Cmd) { c.Stdin = strings.NewReader(code + "\n") },
		"an argument":     func(c *exec.Cmd) { c.Args = append(c.Args, code) },
		"a flag":          func(c *exec.Cmd) { c.Args = append(c.Args, "--code="+code) },
		"the environment": func(c *exec.Cmd) { c.Env = append(c.Env, "MCPDECK_CODE="+code, "MCPDECK_PAIRING_CODE="+code) },
	} {
		c := d.command(allow("2")...)
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no terminal to ask on
		give(c)
		if out, err := c.CombinedOutput(); err == nil || d.prompted() != 2 {
			t.Errorf("the code in %s: %v, %d permissions are left: %s", name, err, d.prompted(), out)
		}
	}
	s := d.shell(allow("2")...)
	d.shows(s, "Pairing code on the deck's screen: ")
	s.press(code + "\n")
	if n := s.ended(); n != 0 || d.prompted() != 1 {
		t.Fatalf("exit %d, %d permissions are left: %s", n, d.prompted(), s.text())
	}
	if err := hooks[0].c.Wait(); err != nil || !strings.Contains(hooks[0].out.String(), `"behavior":"allow"`) {
		t.Errorf("the hook: %v, it prints %s", err, &hooks[0].out)
	}

	s = d.shell(allow("3")...)
	d.shows(s, "no pairing code is valid")
	if n := s.ended(); n == 0 || d.prompted() != 1 {
		t.Errorf("the code a second time: exit %d, %d permissions are left", n, d.prompted())
	}
	w.code(d)
	for range 3 {
		s = d.shell(allow("3")...)
		d.shows(s, "Pairing code on the deck's screen: ")
		s.press("ABCD-EFGH\n")
		if n := s.ended(); n == 0 {
			t.Errorf("a wrong code: %s", s.text())
		}
	}
	s = d.shell(allow("3")...)
	d.shows(s, "too many failed attempts")
	if n := s.ended(); n == 0 || d.prompted() != 1 {
		t.Errorf("after three wrong ones: exit %d, %d permissions are left", n, d.prompted())
	}
	d.kill(hooks[1].c)
	if hooks[1].out.Len() > 0 {
		t.Errorf("the second was answered: %s", &hooks[1].out)
	}
}

func TestWhatAShellAsksForIsConfirmedInTheDeck(t *testing.T) {
	t.Parallel()
	d, w := guarded(t)
	s := d.shell("pencil", "accept")
	d.shows(s, "press y on Pencil on the Servers page")
	w.key("\x1bs")
	d.shows(w, "mcpdeck accept was run by")
	w.keyed("y", func() bool { return strings.Contains(s.text(), "Accepted on the Servers page.") })
	s.succeeds()

	s = d.shell("on", "echo")
	d.shows(s, "press space on echo on the Servers page")
	w.wide()
	w.key("/echo\r")
	w.shows(d, "▌○ echo")
	w.key(" ")
	w.agree(d)
	d.shows(s, "echo is on: 2 tools offered.")
	s.succeeds()
}

func TestAPassphraseAnswersAndAcceptsWithoutAScreen(t *testing.T) {
	t.Parallel()
	const passphrase = "correct horse battery"
	d := holding(t, "passphrase")
	w := d.window("--page", "inbox", "--port", d.port())
	holdsTool(d)
	d.askOverHTTP()
	answer := []string{"ask", "answer", "1", "--json", `[{"id":"q","selectedOptions":["a"]}]`}
	s := d.shell(answer...)
	d.shows(s, "no passphrase is set")
	if n := s.ended(); n == 0 || d.asked() != 1 {
		t.Errorf("before one is set: exit %d, %d questions are left", n, d.asked())
	}
	d.shows(w, "Which?")
	w.runs("let a shell answer")
	d.shows(w, "12 characters")
	w.key(passphrase + "\r")
	d.shows(w, "the passphrase is set")
	for _, secret := range []string{"correct horse batterz", passphrase} {
		s = d.shell(answer...)
		d.shows(s, "assphrase")
		s.press(secret + "\n")
		ok := secret == passphrase
		if n := s.ended(); (n == 0) != ok || (d.asked() == 0) != ok {
			t.Fatalf("%s: exit %d, %d questions are left: %s", secret, n, d.asked(), s.text())
		}
		if strings.Contains(s.text(), secret) {
			t.Error("what was typed was echoed")
		}
	}
	d.kill(w.cmd)

	d.serve("--port", d.port())
	holdsTool(d)
	d.askOverHTTP()
	for _, action := range [][]string{{"pencil", "accept"}, answer} {
		if out, err := d.command(action...).CombinedOutput(); err == nil || !strings.Contains(string(out), "no terminal") {
			t.Errorf("%v without a terminal: %v, %s", action, err, out)
		}
		s = d.shell(action...)
		d.shows(s, "assphrase")
		s.press("not the passphrase\n")
		if n := s.ended(); n == 0 || d.asked() != 1 {
			t.Errorf("%v with another passphrase: exit %d, %s", action, n, s.text())
		}
	}
	holdsTool(d)
	s = d.shell("pencil", "accept")
	d.shows(s, "assphrase")
	s.press(passphrase + "\n")
	d.shows(s, "Accepted 1 of 1 definition.")
	s.succeeds()
}

func TestWithoutAScreenNothingButAProofAccepts(t *testing.T) {
	t.Parallel()
	for method, why := range map[string]string{"off": "answers from a shell are off", "pair": "no screen to show a pairing code on"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			d := holding(t, method)
			d.serve()
			holdsTool(d)
			s := d.shell("pencil", "accept")
			d.shows(s, why)
			if n := s.ended(); n == 0 || strings.Contains(s.text(), "Waiting for you") {
				t.Errorf("exit %d: %s", n, s.text())
			}
			holdsTool(d)
		})
	}
}
