//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/app"
	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/settings"
)

// turnedOn configures a server that the user has turned on before.
func (d *driver) turnedOn(name, text string) {
	d.t.Helper()
	s, warnings, err := settings.Decode(name, []byte(text))
	if err != nil || len(warnings) > 0 {
		d.t.Fatal(warnings, err)
	}
	folder := filepath.Join(d.home, ".config", "mcpdeck", "servers.d")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name+".toml"), []byte(text), 0o600); err != nil {
		d.t.Fatal(err)
	}
	state := filepath.Join(d.home, ".local", "state", "mcpdeck")
	if err := os.MkdirAll(state, 0o700); err != nil {
		d.t.Fatal(err)
	}
	cfg := &config.Config{}
	cfg.Paths.CardState = filepath.Join(state, "cards")
	if err := new(app.Consents).Agree(cfg, s); err != nil {
		d.t.Fatal(err)
	}
}

// running reads the process that a script has noted in a file; 0 while there is none, or
// when it has ended.
func running(file string) (pid int) {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	_, _ = fmt.Sscan(string(b), &pid)
	if !runs(pid) {
		return 0
	}
	return pid
}

// runs tells whether a process does something still, and does not wait to be buried.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// A server may start programs in the background that outlive it. Those of its group end
// with the deck, and with the next one when the deck is killed, whatever their environment.
// What has left the group may be the user's own editor or browser, and is named.
func TestWhatAKilledDecksServersLeaveEndsWithTheNextDeck(t *testing.T) {
	t.Parallel()
	echo, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	d := newDriver(t)
	daemon, bare, let := filepath.Join(d.home, "daemon"), filepath.Join(d.home, "bare"), filepath.Join(d.home, "let")
	script := fmt.Sprintf(`(sleep 600 & echo $! >%s); (env -i sleep 600 & echo $! >%s); (setsid sleep 600 & echo $! >%s); exec %s`, daemon, bare, let, echo)
	d.turnedOn("echo", fmt.Sprintf("command = ['sh', '-c', '''%s''']\nmode = 'on'\nkeep = true\n", script))
	begin := func() *exec.Cmd {
		deck := d.serve()
		d.until("the server runs", func() bool {
			out, _ := d.command("status", "echo").Output()
			return strings.Contains(string(out), "ready, process") && running(daemon) != 0 && running(bare) != 0 && running(let) != 0
		})
		return deck
	}
	deck := begin()
	first, unmarked, free := running(daemon), running(bare), running(let)
	defer func() {
		_ = syscall.Kill(first, syscall.SIGKILL) // it has ended unless the test fails
		_ = syscall.Kill(unmarked, syscall.SIGKILL)
		_ = syscall.Kill(free, syscall.SIGKILL)
		_ = syscall.Kill(running(let), syscall.SIGKILL)
	}()
	d.kill(deck)
	if running(daemon) != first || running(bare) != unmarked {
		t.Fatal("the daemon ended with the deck: there is nothing to find")
	}
	for _, file := range []string{daemon, bare, let} {
		if err := os.Rename(file, file+".old"); err != nil {
			t.Fatal(err)
		}
	}
	deck = begin()
	d.until("the daemon of the killed deck ends", func() bool { return running(daemon+".old") == 0 })
	d.until("the one without an environment ends", func() bool { return running(bare+".old") == 0 })
	d.until("the other is named", func() bool {
		return strings.Contains(d.log.String(), fmt.Sprintf("sleep (process %d) was started by a server", free))
	})
	if running(let+".old") != free {
		t.Error("what had left its server was ended")
	}
	if err := deck.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = deck.Wait() // it ends by a signal
	d.until("the daemon of the deck that has ended ends", func() bool { return running(daemon) == 0 && running(bare) == 0 })
}

// What is added is started once to see what it offers. Nothing of that stays, whether it is in
// the program's group or has left it, with its environment or without, and also when the command
// is killed meanwhile.
func TestTryingAServerThatIsAddedLeavesNothing(t *testing.T) {
	t.Parallel()
	echo, err := exec.LookPath("echo-server")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	d := newDriver(t)
	// Each way of starting something, with its file.
	ways := map[string]string{"here": "sleep", "bare": "env -i sleep", "let": "setsid sleep", "far": "env -i setsid sleep"}
	started := func(folder string) (n int) {
		for name := range ways {
			if running(filepath.Join(folder, name)) != 0 {
				n++
			}
		}
		return n
	}
	server := func(name, last string) (folder, script string) {
		folder = filepath.Join(d.home, name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		text := ""
		for way, command := range ways {
			text += fmt.Sprintf("(%s 600 & echo $! >%s/%s); ", command, folder, way)
		}
		t.Cleanup(func() {
			for way := range ways {
				if pid := running(filepath.Join(folder, way)); pid != 0 {
					_ = syscall.Kill(pid, syscall.SIGKILL)
				}
			}
		})
		return folder, text + "exec " + last
	}
	leaves := func(says, folder string, c *exec.Cmd) {
		t.Helper()
		out, err := c.CombinedOutput()
		if err != nil || !strings.Contains(string(out), says) {
			t.Fatalf("%v: %s", err, out)
		}
		files, err := os.ReadDir(folder)
		if err != nil || len(files) != len(ways) {
			t.Fatalf("%d were started, %v", len(files), err)
		}
		if n := started(folder); n != 0 {
			t.Errorf("of %q %d are left", says, n)
		}
	}
	folder, script := server("answers", echo)
	leaves("answers in", folder, d.command("add", "answers", "--yes", "--", "sh", "-c", script))

	folder, script = server("imported", echo)
	file := filepath.Join(d.home, "servers.json")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"imported": map[string]any{"command": "sh", "args": []string{"-c", script}}}})
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	leaves("on, it adds", folder, d.command("import", file, "--yes"))

	folder, script = server("hangs", "sleep 600")
	c := d.command("add", "hangs", "--yes", "--", "sh", "-c", script)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	d.until("it is being tried", func() bool { return started(folder) == len(ways) })
	d.kill(c)
	d.serve()
	d.until("what is in its group ends with the next deck", func() bool {
		return running(filepath.Join(folder, "here")) == 0 && running(filepath.Join(folder, "bare")) == 0
	})
}

// noting is a server that appends its process to a file before it answers, once the
// file gate is there.
func noting(t *testing.T, file, gate string) (command string) {
	t.Helper()
	echo, err := exec.LookPath("echo-server")
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`command = ['sh', '-c', 'echo $$ >>"$0"; while [ ! -e "$1" ]; do sleep 0.05; done; exec "$2"', '%s', '%s', '%s']`+"\n", file, gate, echo)
}

// noted are the processes that a server has noted, and how many of them are running.
func noted(file string) (pids []int, alive int) {
	b, _ := os.ReadFile(file) // there may be none yet
	for _, field := range strings.Fields(string(b)) {
		pid := 0
		_, _ = fmt.Sscan(field, &pid)
		pids = append(pids, pid)
		if runs(pid) {
			alive++
		}
	}
	return pids, alive
}

// Nothing that a server takes to start delays an agent, which hears of its tools when
// they are known.
func TestAViewIsAnsweredBeforeAServerIsListedForTheFirstTime(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	file, gate := filepath.Join(d.home, "pids"), filepath.Join(d.home, "gate")
	d.turnedOn("echo", noting(t, file, gate)+"mode = 'on'\n")
	d.serve()
	a := d.relay()
	a.Handshake("early")
	if a.lists("echo_env") {
		t.Fatal("listed before the server was asked")
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for m := range a.Lines {
		if m["method"] == "notifications/tools/list_changed" {
			break
		}
	}
	d.until("its tools are listed after a change", func() bool { return a.lists("echo_env") })
	d.until("the process that was asked ends", func() bool { _, alive := noted(file); return alive == 0 })
}

// Without a deck an agent has the servers that are on all the same, from its relay. A deck
// that appears has processes of its own, and the relay's end.
func TestServersThatAreOnMoveFromTheRelayToADeck(t *testing.T) {
	t.Parallel()
	d := newDriver(t)
	file, gate := filepath.Join(d.home, "pids"), filepath.Join(d.home, "gate")
	d.turnedOn("echo", noting(t, file, gate)+"mode = 'on'\n")
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	a := d.relay()
	a.Handshake("mover")
	call := func() {
		t.Helper()
		if m := fmt.Sprint(a.Request("tools/call", `{"name":"echo_echo","arguments":{"text":"hi"}}`)); !strings.Contains(m, `{"text":"hi"}`) {
			t.Fatal(m)
		}
	}
	d.until("the relay offers its tools", func() bool { return a.lists("echo_echo") })
	call()
	d.until("the process that was asked for the list ends", func() bool { _, alive := noted(file); return alive == 1 })
	pids, _ := noted(file)
	deck := d.serve()
	for m := range a.Lines {
		if m["method"] == "notifications/tools/list_changed" {
			break
		}
	}
	d.until("the relay's processes end", func() bool { _, alive := noted(file); return alive == 0 })
	call()
	if now, alive := noted(file); alive != 1 || len(now) != len(pids)+1 {
		t.Errorf("%d of %d processes run, %d before", alive, len(now), len(pids))
	}
	d.kill(deck)
	d.until("the killed deck's process ends", func() bool { _, alive := noted(file); return alive == 0 })
	d.until("the relay has them again", func() bool { return a.lists("echo_echo") })
	call()
	d.ends(a)
	if _, alive := noted(file); alive != 0 {
		t.Errorf("%d processes are left", alive)
	}
}
