package console

import (
	"io"
	"os"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/term"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Table prints rows of the same number of cells in columns, each as wide as its
// longest cell. Cells lose what a terminal would obey, like all text. Their styles
// are shown where standard output is a terminal that shows them; style may be nil.
func Table(w io.Writer, rows [][]string, style func(row, col int) lipgloss.Style) error {
	if len(rows) == 0 {
		return nil
	}
	t := table.New().BorderTop(false).BorderBottom(false).BorderLeft(false).BorderRight(false).BorderColumn(false).
		StyleFunc(func(row, col int) lipgloss.Style {
			s := lipgloss.NewStyle()
			if style != nil {
				s = style(row, col)
			}
			if col < len(rows[0])-1 {
				s = s.PaddingRight(2)
			}
			return s
		})
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = sanitize.Output(cell)
		}
		t.Row(cells...)
	}
	out := &strings.Builder{}
	if to, ok := w.(text); ok && to.File == os.Stdout {
		if w, _, err := term.GetSize(to.Fd()); err == nil && w < lipgloss.Width(t.Render()) {
			t.Width(w) // long cells are broken where their column begins
		}
	}
	_, _ = io.WriteString(&colorprofile.Writer{Forward: out, Profile: ColorsOf(w)}, t.Render()) // a Builder takes all
	for line := range strings.SplitSeq(out.String(), "\n") {
		if _, err := io.WriteString(Bytes(w), strings.TrimRight(line, " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}
