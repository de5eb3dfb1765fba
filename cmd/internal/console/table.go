package console

import (
	"io"
	"strings"

	"charm.land/lipgloss/v2"
	"charm.land/lipgloss/v2/table"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

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
	_, _ = io.WriteString(&colorprofile.Writer{Forward: out, Profile: ColorsOf(w)}, broken(t, rows, widthOf(w))) // a Builder takes all
	for line := range strings.SplitSeq(out.String(), "\n") {
		if _, err := io.WriteString(Bytes(w), strings.TrimRight(line, " ")+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// broken is a table whose long cells are broken where their column begins, so that it is at
// most so wide; 0: that is not known. Where there is room, only the last column is broken,
// between words.
func broken(t *table.Table, rows [][]string, width int) string {
	whole := t.Render()
	if width == 0 || lipgloss.Width(whole) <= width {
		return whole
	}
	last := 0 // where the last column begins
	for col := range len(rows[0]) - 1 {
		most := 0
		for _, row := range rows {
			most = max(most, lipgloss.Width(sanitize.Output(row[col])))
		}
		last += most + 2
	}
	if last > width/2 {
		return t.Width(width).Render()
	}
	lines := strings.Split(whole, "\n")
	for i, line := range lines {
		line = ansi.Truncate(line, ansi.StringWidth(strings.TrimRight(ansi.Strip(line), " ")), "")
		if ansi.StringWidth(line) > width {
			line = hung(line, last, width)
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}
