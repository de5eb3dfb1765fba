package prompt

import (
	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/windows"
)

const (
	terminalIn  = "CONIN$"
	terminalOut = "CONOUT$"
)

// silent is the state with the echo off.
func silent(state *term.State) *term.State {
	s := *state
	s.Mode &^= windows.ENABLE_ECHO_INPUT
	return &s
}
