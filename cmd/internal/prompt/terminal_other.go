//go:build !windows

package prompt

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"
)

const (
	terminalIn  = "/dev/tty"
	terminalOut = "/dev/tty"
)

// silent is the state with the echo off.
func silent(state *term.State) *term.State {
	s := *state
	s.Lflag &^= unix.ECHO
	return &s
}
