// Command mcpdeck hosts MCP servers for coding agents in a terminal, and puts
// the user at the terminal in charge of them.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/hook"
	journal "github.com/mcpdeck/mcpdeck/cmd/internal/log"
	"github.com/mcpdeck/mcpdeck/cmd/internal/pencil"
)

func main() {
	// A hook must end at once, and print nothing that is not for its agent: it comes before
	// everything that could take time or fail. The program mcpdeck-hook does the same, and
	// spares it this program's start.
	if len(os.Args) > 1 && os.Args[1] == "hook" && !slices.Contains(os.Args, "--help") {
		hook.Run(os.Args[2:])
		return
	}
	os.Exit(run(os.Args[1:]))
}

// Exit codes besides 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// run is main for tests: it returns the exit code.
func run(args []string) int {
	log.SetOutput(console.Err()) // until there is a file for it
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	var code exitCode
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	}
	fmt.Fprintln(console.Err(), "mcpdeck: "+err.Error())
	if errors.As(err, new(usage)) || errors.As(err, new(config.UsageError)) || errors.As(err, new(pencil.UsageError)) || errors.As(err, new(journal.UsageError)) {
		return exitUsage
	}
	return exitFailed
}

// exitCode ends the program with a code and no message of its own.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit %d", int(c)) }

// usage is an error in how the program was called.
type usage struct{ error }

func usagef(format string, args ...any) error { return usage{fmt.Errorf(format, args...)} }
