//go:build unix

package terminal

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Terminal {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	term, err := Start(exec.Command(sh, "-c", script), 40, 5, "PATH=/usr/bin:/bin")
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func shows(text string) func(string) bool {
	return func(screen string) bool { return strings.Contains(screen, text) }
}

func TestKeysReachTheProgramAndItsTextTheScreen(t *testing.T) {
	term := start(t, `read -r line; printf 'got <%s>' "$line"; read -r line`)
	if err := term.Press("a b enter"); err != nil {
		t.Fatal(err)
	}
	when, err := term.Until(time.Minute, shows("got <ab>"))
	if err != nil || when.Before(term.Started) || term.PID() <= 0 {
		t.Errorf("%v, %v", when, err)
	}
	term.Settle()
	if _, err := term.Until(time.Millisecond, shows("nothing")); err == nil || !strings.Contains(err.Error(), "got <ab>") {
		t.Errorf("what is not on the screen: %v", err)
	}
	if err := term.End(time.Minute); err != nil {
		t.Error(err)
	}
}

func TestUntilSaysThatTheProgramEnded(t *testing.T) {
	term := start(t, "printf bye")
	if _, err := term.Until(time.Minute, shows("nothing")); err == nil || !strings.Contains(err.Error(), "ended") || !strings.Contains(err.Error(), "bye") {
		t.Errorf("%v", err)
	}
	if err := term.End(time.Minute); err != nil {
		t.Error(err)
	}
}

func TestAProgramThatIgnoresInterruptsIsKilled(t *testing.T) {
	term := start(t, `trap '' INT; printf ready; while :; do read -r line; done`)
	if _, err := term.Until(time.Minute, shows("ready")); err != nil {
		t.Fatal(err)
	}
	if err := term.End(10 * time.Millisecond); err != nil {
		t.Error(err)
	}
}

func TestStartNamesAProgramThatIsNotThere(t *testing.T) {
	if _, err := Start(exec.Command("/no/such/program"), 10, 2); err == nil || !strings.Contains(err.Error(), "/no/such/program") {
		t.Errorf("%v", err)
	}
}
