//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/rules/book"
	"github.com/mcpdeck/mcpdeck/servers/rules/book/booktest"
)

const ofCalls = `version = 1
[[rule]]
id = "c1"
verdict = "allow"
agent = ["claude"]
mcp = { server = "echo", tool = "echo", args = { "/do" = "=run" } }
[[rule]]
id = "c2"
verdict = "deny"
mcp = { server = "echo", tool = "echo", args = { "/do" = "=stop" } }
`

// toAllow reports whether the deck shows a call that its user is to allow.
func toAllow(d *driver, call string) bool {
	out, _ := d.command("ask", "list", "--json").Output()
	return strings.Contains(string(out), call)
}

// TestNoCallReachesItsServerWithoutAVerdictOrTwiceWhateverIsKilled kills the deck, the relay or the server while calls
// wait for their user, or a rule answers them. The server's end of the pipe tells what has reached it.
func TestNoCallReachesItsServerWithoutAVerdictOrTwiceWhateverIsKilled(t *testing.T) {
	t.Parallel()
	rounds := 12
	if n, err := strconv.Atoi(os.Getenv("MCPDECK_TEST_ROUNDS")); err == nil {
		rounds = n
	}
	echo, err := exec.LookPath("echo-server") // TestMain has put it there
	if err != nil {
		t.Fatal(err)
	}
	d := newDriver(t)
	config, state := filepath.Join(d.home, ".config", "mcpdeck"), filepath.Join(d.home, ".local", "state", "mcpdeck")
	heard, child := filepath.Join(d.home, "heard"), filepath.Join(d.home, "child")
	d.turnedOn("echo", fmt.Sprintf("command = ['sh', '-c', '''echo $$ >%s; tee -a %s | %s''']\nmode = 'on'\nkeep = true\ntools = { echo = 'ask' }\n", child, heard, echo))
	d.makes(filepath.Join(config, "rules.toml"), ofCalls)
	booktest.Accept(t, book.NewStore(config, state))

	said := map[string]string{} // what agents were answered, by call
	begin := func() *exec.Cmd {
		deck := d.serve()
		d.until("the server runs", func() bool {
			out, _ := d.command("status", "echo").Output()
			return strings.Contains(string(out), "ready, process")
		})
		return deck
	}
	deck := begin()
	for i := range rounds {
		do := []string{"run", "stop", "wait"}[i%3]
		call := fmt.Sprintf("%s-%d", do, i)
		a := d.relay()
		a.Handshake("claude")
		a.Send(7, "tools/call", fmt.Sprintf(`{"name":"echo_echo","arguments":{"do":%q,"call":%q}}`, do, call))
		victim := rand.IntN(4)
		if i < 3 {
			victim = 3 // none, so that what is to happen does
		} else {
			time.Sleep(time.Duration(rand.IntN(20<<rand.IntN(5))) * time.Millisecond) // somewhere in between, also on a busy machine
		}
		switch victim {
		case 0:
			d.kill(deck)
			deck = begin()
		case 1:
			d.kill(a.Cmd)
		case 2:
			if pid := running(child); pid != 0 {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
		}
		switch {
		case victim == 1:
		case do == "wait":
			if i < 3 {
				d.until("its user is asked", func() bool { return toAllow(d, "wait-2") })
			}
		default:
			said[call] = fmt.Sprint(a.Answer(7))
		}
		d.kill(a.Cmd)
	}
	d.kill(deck)
	b, err := os.ReadFile(heard)
	if err != nil {
		t.Fatal(err)
	}
	ran, answered := 0, 0
	for i := range rounds {
		do := []string{"run", "stop", "wait"}[i%3]
		call := fmt.Sprintf("%s-%d", do, i)
		n := strings.Count(string(b), strconv.Quote(call))
		done := strings.Contains(said[call], "call:"+call) || strings.Contains(said[call], `"call":"`+call)
		switch {
		case do != "run" && (n > 0 || done):
			t.Errorf("%s has reached its server %d times, and its agent was told %s", call, n, said[call])
		case n > 1 || done && n == 0:
			t.Errorf("%s has reached its server %d times, and its agent was told %s", call, n, said[call])
		case i == 0 && !done:
			t.Errorf("the rule allows nothing: %s", said[call])
		case i == 1 && !strings.Contains(said[call], "rule"):
			t.Errorf("the rule denies nothing: %s", said[call])
		}
		ran += n
		if done {
			answered++
		}
	}
	t.Logf("of %d calls %d have reached their server, once, and %d of their agents were told what became of them", rounds, ran, answered)
}
