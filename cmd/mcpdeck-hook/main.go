// Command mcpdeck-hook is mcpdeck hook as a program of its own, which starts several
// times as fast: agents' programs start it for each prompt.
package main

import (
	"os"

	"github.com/mcpdeck/mcpdeck/cmd/internal/hook"
)

func main() { hook.Run(os.Args[1:]) }
