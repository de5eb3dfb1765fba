// Package prompt asks the user on the terminal: for a secret, or for a yes.
package prompt

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/charmbracelet/x/term"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
)

// ErrNoTerminal says that nobody can be asked. A secret is taken from a terminal
// alone: arguments, the environment and standard input can be read by others or
// come from others.
var ErrNoTerminal = errors.New("no terminal to prompt on")

// Proof asks for what a deck wants to be shown: "pair", "passphrase" or "push".
func Proof(method string) (string, error) {
	switch userauth.Method(method) {
	case userauth.Pair:
		return Secret("Pairing code on the deck's screen: ")
	case userauth.Passphrase:
		return Secret("The deck's passphrase: ")
	case userauth.Push:
		return Secret("Code in the notification of this question: ")
	default:
		return "", fmt.Errorf("the deck asks for %q, which this version of mcpdeck does not know", method)
	}
}

// Terminal reports whether the process has a terminal, at which the user may be.
func Terminal() bool {
	in, err := os.OpenFile(terminalIn, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = in.Close()
	return true
}

// Secret reads a line from the process's terminal without echo.
func Secret(question string) (string, error) {
	if err := userauth.Hide(); err != nil {
		return "", fmt.Errorf("keep other programs out of this process: %w", err)
	}
	in, err := os.OpenFile(terminalIn, os.O_RDWR, 0)
	if err != nil {
		return "", ErrNoTerminal
	}
	defer in.Close()
	state, err := term.GetState(in.Fd())
	if err != nil {
		return "", ErrNoTerminal
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)
	done := make(chan struct{})
	defer close(done)
	recovery.Go("prompt", func() {
		select {
		case <-signals: // reading cannot be interrupted
			_ = term.Restore(in.Fd(), state) // nothing else can be done
			os.Exit(130)
		case <-done:
		}
	})
	out := io.Writer(in)
	if terminalOut != terminalIn {
		out = console.Err()
	}
	return ask(in, out, state, question)
}

// ask puts the question to out and reads a line from in, whose state it leaves as it
// was. The echo is off before the question shows: who answers at once, such as a
// password manager, must not be echoed either.
func ask(in *os.File, out io.Writer, state *term.State, question string) (string, error) {
	if err := term.Restore(in.Fd(), silent(state)); err != nil {
		return "", fmt.Errorf("turn the terminal's echo off: %w", err)
	}
	defer func() { _ = term.Restore(in.Fd(), state) }() // nothing else can be done
	fmt.Fprint(out, question)
	b, err := term.ReadPassword(in.Fd())
	fmt.Fprintln(out)
	if err != nil {
		return "", fmt.Errorf("read from the terminal: %w", err)
	}
	return string(b), nil
}
