//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/card/settings"
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
	if err := agree(cfg, s); err != nil {
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
	if pid == 0 || syscall.Kill(pid, 0) != nil {
		return 0
	}
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
		return 0
	}
	return pid
}

// A server may start programs in the background that outlive it. Those of its group end
// with the deck, and with the next one when the deck is killed. What has left the group
// may be the user's own editor or browser, and is named.
func TestWhatAKilledDecksServersLeaveEndsWithTheNextDeck(t *testing.T) {
	echo, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("needs setsid")
	}
	d := newDriver(t)
	daemon, let := filepath.Join(d.home, "daemon"), filepath.Join(d.home, "let")
	script := fmt.Sprintf(`(sleep 600 & echo $! >%s); (setsid sleep 600 & echo $! >%s); exec %s`, daemon, let, echo)
	d.turnedOn("echo", fmt.Sprintf("command = ['sh', '-c', '''%s''']\nmode = 'on'\nkeep = true\n", script))
	begin := func() *exec.Cmd {
		deck := d.serve()
		d.until("the server runs", func() bool {
			out, _ := d.command("status", "echo").Output()
			return strings.Contains(string(out), "ready, process") && running(daemon) != 0 && running(let) != 0
		})
		return deck
	}
	deck := begin()
	first, free := running(daemon), running(let)
	defer func() {
		_ = syscall.Kill(first, syscall.SIGKILL) // it has ended unless the test fails
		_ = syscall.Kill(free, syscall.SIGKILL)
		_ = syscall.Kill(running(let), syscall.SIGKILL)
	}()
	d.kill(deck)
	if running(daemon) != first {
		t.Fatal("the daemon ended with the deck: there is nothing to find")
	}
	if err := os.Rename(daemon, daemon+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(let, let+".old"); err != nil {
		t.Fatal(err)
	}
	deck = begin()
	d.until("the daemon of the killed deck ends", func() bool { return running(daemon+".old") == 0 })
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
	if pid := running(daemon); pid != 0 {
		t.Errorf("process %d is left when the deck has ended", pid)
	}
}
