// Package hook implements what the hooks of agents' programs start: it hands an event to
// the deck and prints its decision.
package hook

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// Run is the whole of the program mcpdeck-hook, and of mcpdeck hook. The arguments are the
// ID of the agent's program and the flags --name and --state; MCPDECK_NAME and
// MCPDECK_STATE stand for these as for mcpdeck's; with [StatusLine] it runs the user's own
// status line. Else it prints a decision or nothing, never an
// error, since the agent's program would take any other output and any exit code but 0 for
// an answer, or show it to the user.
//
// It reads the environment and writes to standard output by itself: the packages through
// which all else does cost more time than a hook may take.
func Run(args []string) {
	if n := len(args) - 2; n > 0 && args[n] == StatusLine {
		statusLine(args[:n], args[n+1])
		return
	}
	agent, socket, ok := read(args, os.Getenv)
	if !ok || os.Getenv(hook.Mirrored) != "" {
		return
	}
	// Nothing else ends a read of standard input.
	slow := time.AfterFunc(hook.ReadWithin, func() { os.Exit(0) })
	program, _ := os.Executable() // "" is a program that is not known
	reply := hook.Ask(context.Background(), hook.Call{
		Socket: socket, Agent: agent, Program: program, Env: os.Getenv, Input: input{slow},
	})
	_, _ = os.Stdout.WriteString(reply) // an agent's program that has gone needs none
}

// input is standard input, which must end before slow does something.
type input struct{ slow *time.Timer }

func (i input) Read(b []byte) (int, error) {
	n, err := os.Stdin.Read(b)
	if err != nil {
		i.slow.Stop()
	}
	return n, err
}

// read returns the ID of the agent's program and the path of the prompt socket.
func read(args []string, env func(string) string) (agent, socket string, ok bool) {
	name, state := env("MCPDECK_NAME"), env("MCPDECK_STATE")
	for i := 0; i < len(args); i++ {
		flag, value, given := strings.Cut(args[i], "=")
		if (flag == "--name" || flag == "--state") && !given {
			if i++; i == len(args) {
				return "", "", false
			}
			value = args[i]
		}
		switch {
		case flag == "--name":
			name = value
		case flag == "--state":
			state = value
		case agent != "" || strings.HasPrefix(args[i], "-"):
			return "", "", false
		default:
			agent = args[i]
		}
	}
	if path := env("MCPDECK_PROMPTS_SOCKET"); path != "" {
		return agent, path, agent != "" && filepath.IsAbs(path)
	}
	if state == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", "", false
		}
		state = hook.State(home)
	}
	return agent, hook.Path(state, name), agent != ""
}
