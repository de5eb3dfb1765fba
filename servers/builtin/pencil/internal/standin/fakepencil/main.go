// Command fakepencil is the stand-in as a program of its own, for tests that
// cannot start their own binary as the child.
package main

import (
	"os"

	"github.com/mcpdeck/mcpdeck/servers/builtin/pencil/internal/standin"
)

func main() { os.Exit(standin.Main(os.Args[1:])) }
