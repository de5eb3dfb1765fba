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
func Fold(w io.Writer, s string) string { return fold(s, widthOf(w)) }

// FoldLine is Fold of one line that goes on at a column of its own.
func FoldLine(w io.Writer, line string, hang int) string {
	if width := widthOf(w); width > 0 && ansi.StringWidth(line) > width {
		return hung(line, hang, width)
	}
	return line
}

// widthOf is how wide the terminal behind a writer is, 0 if there is none.
func widthOf(w io.Writer) int {
	to, ok := w.(text)
	if !ok || to.File != os.Stdout {
		return 0
	}
	width, _, err := term.GetSize(to.Fd())
	if err != nil {
		return 0
	}
	return width
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
		lines[i] = hung(line, hang, width)
	}
	return strings.Join(lines, "\n")
}

// hung breaks a line between words, to go on at a column.
func hung(line string, hang, width int) string {
	if hang > width/2 {
		hang = 0
	}
	const hyphen = "\uf8ff" // ansi would break behind one
	rest := ansi.Wrap(strings.ReplaceAll(ansi.TruncateLeft(line, hang, ""), "-", hyphen), max(width-hang, 1), "")
	rest = spaceAtEnd.ReplaceAllString(rest, "\n") // it may be one too many for the row
	return ansi.Truncate(line, hang, "") + strings.ReplaceAll(strings.ReplaceAll(rest, hyphen, "-"), "\n", "\n"+strings.Repeat(" ", hang))
}
