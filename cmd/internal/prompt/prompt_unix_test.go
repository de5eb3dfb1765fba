//go:build !windows

package prompt

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

type question func(text string)

func (q question) Write(b []byte) (int, error) {
	q(string(b))
	return len(b), nil
}

func TestTheEchoIsOffBeforeTheQuestionShows(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	defer tty.Close()
	before, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	said, echoed := "", false
	answer, err := ask(tty, question(func(text string) {
		if said == "" {
			now, err := term.GetState(tty.Fd())
			echoed = err != nil || now.Lflag&unix.ECHO != 0
			if _, err := user.WriteString("hush\n"); err != nil {
				t.Error(err)
			}
		}
		said += text
	}), before, "Code: ")
	if err != nil || answer != "hush" {
		t.Fatalf("got %q, %v; want hush", answer, err)
	}
	if said != "Code: \n" || echoed {
		t.Errorf("said %q, echo on meanwhile: %v; want the question with the echo off", said, echoed)
	}
	if after, err := term.GetState(tty.Fd()); err != nil || *after != *before {
		t.Errorf("the terminal is left as %+v, %v; want %+v", after, err, before)
	}
}

func TestOnlyYAgreesAtATerminal(t *testing.T) {
	user, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer user.Close()
	defer tty.Close()
	for text, want := range map[string]bool{"y\n": true, " Y \r\n": true, "n\n": false, "\n": false, "yes please\n": false, "": false} {
		agreed, read := asked(t, tty, text, false)
		if agreed != want || !strings.HasPrefix(read, "Write this? [y/N] ") || strings.Contains(read, "nothing was written") == want {
			t.Errorf("%q: agreed %v, the user reads %q", text, agreed, read)
		}
	}
}
