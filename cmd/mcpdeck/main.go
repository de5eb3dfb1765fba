// Command mcpdeck hosts MCP servers for coding agents in a terminal, and puts
// the user at the terminal in charge of them.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"slices"

	"github.com/mcpdeck/mcpdeck/cmd/internal/console"
	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
	"github.com/mcpdeck/mcpdeck/cmd/internal/hook"
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

// run is main for tests: it returns the exit code.
func run(args []string) int {
	log.SetOutput(console.Err()) // until there is a file for it
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	code, message := exit.Of(err)
	if message {
		fmt.Fprintln(console.Err(), "mcpdeck: "+err.Error())
	}
	return int(code)
}
