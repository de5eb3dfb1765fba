//go:build !windows

package prompt

const (
	terminalIn  = "/dev/tty"
	terminalOut = "/dev/tty"
)
