package prompt

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// Confirm asks a question that only y answers with yes. Without a terminal the answer is no.
func Confirm(in io.Reader, out io.Writer, question string) bool {
	if !term.IsTerminal(os.Stdin.Fd()) {
		return false
	}
	fmt.Fprint(out, question+" [y/N] ")
	answer, _ := bufio.NewReader(in).ReadString('\n') // no answer is no
	return strings.EqualFold(strings.TrimSpace(answer), "y")
}
