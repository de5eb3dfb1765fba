package console

import (
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Fold breaks the lines that are too long for the terminal behind w, between words. A
// row goes on where its second column begins. For anything else s is returned as it is.
func Fold(w io.Writer, s string) string {
	to, ok := w.(text)
	if !ok || to.File != os.Stdout {
		return s
	}
	width, _, err := term.GetSize(to.Fd())
	if err != nil {
		return s
	}
	return fold(s, width)
}

// firstColumn of a row, with the space before and behind it.
var firstColumn = regexp.MustCompile(`^ *(?:\S.*? {2,})?`)

var spaceAtEnd = regexp.MustCompile(` +\n`)

// fold breaks lines that are wider than so many columns; 0: that is not known.
func fold(s string, width int) string {
	if width <= 0 {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if ansi.StringWidth(line) <= width {
			continue
		}
		bare := ansi.Strip(line)
		hang := ansi.StringWidth(firstColumn.FindString(bare))
		if hang > width/2 {
			hang = len(bare) - len(strings.TrimLeft(bare, " "))
		}
		rest := ansi.Wrap(ansi.TruncateLeft(line, hang, ""), max(width-hang, 1), "")
		rest = spaceAtEnd.ReplaceAllString(rest, "\n") // it may be one too many for the row
		lines[i] = ansi.Truncate(line, hang, "") + strings.ReplaceAll(rest, "\n", "\n"+strings.Repeat(" ", hang))
	}
	return strings.Join(lines, "\n")
}
