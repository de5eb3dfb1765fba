// Package process starts every program that mcpdeck runs, with an allow-list of
// environment variables and in its own process group, and ends it with all its
// descendants.
//
// No other package starts programs; a test holds that.
package process

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Command is a program to run. Nothing passes through a shell.
type Command struct {
	Program string // a path, or a name that is looked up in PATH
	Args    []string
	Dir     string // working folder; "" is mcpdeck's own

	Kind  Kind     // decides which variables of Own it gets
	Own   []string // mcpdeck's environment, each entry "NAME=value"
	Extra []string // more for this program, each "NAME=value"; wins over Own

	Mark string // tells what descends from it, wherever it goes; "": it has none

	// Patience is how long it may take to end after its input was closed, and again
	// after it was asked to; 0 is 400 ms, and then it is not asked while it is busy.
	Patience time.Duration
}

// With returns c with more arguments at its end.
func (c Command) With(args ...string) Command {
	c.Args = append(c.Args[:len(c.Args):len(c.Args)], args...)
	return c
}

// Of makes a Command of a program and its arguments as one list, which may be
// empty.
func Of(line []string, kind Kind, own []string) Command {
	c := Command{Kind: kind, Own: own}
	if len(line) > 0 {
		c.Program, c.Args = line[0], line[1:]
	}
	return c
}

// Find returns the path of a program that PATH leads to, or of one that is
// given by its path. It never finds one in the working folder by name alone.
func Find(name string) (string, error) { return exec.LookPath(name) }

// ExitCode returns the code with which a program ended that failed, false when
// err does not come from its end.
func ExitCode(err error) (code int, exited bool) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), true
	}
	return -1, false
}

// command is c for the system. It never has a nil environment, which would mean
// mcpdeck's own.
func (c Command) command() *exec.Cmd {
	cmd := exec.Command(c.Program, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, Environment(c.Kind, c.Own, c.Extra...)
	if c.Mark != "" {
		cmd.Env = append(cmd.Env, markName+"="+c.Mark)
	}
	return cmd
}

// StartReason says in words why a program could not be started.
func StartReason(program string, err error) string {
	switch {
	case errors.Is(err, os.ErrNotExist):
		if _, statErr := os.Stat(program); statErr == nil {
			return "the system cannot load this program (missing dynamic loader; NixOS and musl systems need a wrapper)"
		}
		return "no such file"
	case errors.Is(err, os.ErrPermission):
		return "not executable"
	case wrongFormat(err):
		return "built for another processor"
	}
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return strings.TrimPrefix(err.Error(), "exec: ")
}

func describeExit(s *os.ProcessState) string {
	switch {
	case s == nil:
		return "unknown"
	case s.Exited():
		return fmt.Sprintf("code %d", s.ExitCode())
	}
	return s.String()
}
