package prompt

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/mcpdeck/mcpdeck/cmd/internal/exit"
)

// Agreed asks whether what was shown is to be written, unless yes says so. Only y agrees, and
// without a terminal nobody does: then it says how to, and returns [exit.Failed].
func Agreed(c *cobra.Command, yes bool) error {
	answer := map[bool]string{true: "y"}[yes]
	if !yes && term.IsTerminal(os.Stdin.Fd()) {
		fmt.Fprint(c.OutOrStdout(), "Write this? [y/N] ")
		answer, _ = bufio.NewReader(c.InOrStdin()).ReadString('\n') // no answer is no
	}
	if strings.EqualFold(strings.TrimSpace(answer), "y") {
		return nil
	}
	c.Println("nothing was written; --yes writes without asking")
	return exit.Failed
}
