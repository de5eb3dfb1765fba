package widget

import "github.com/mcpdeck/mcpdeck/theme"

// Column is a column of a Table.
type Column struct {
	Title string
	Min   int  // cells it needs at least
	Max   int  // cells it takes at most; 0 is any number
	Right bool // numbers stand at the right
	Grow  int  // share of the cells that are left; 0 takes none
	Drop  int  // when there is too little room, columns with the highest go first; 0 stays
}

// Table is a list of rows in columns under a heading.
type Table struct {
	Columns []Column
	List    List
}

// Render draws h rows of w cells; cell draws a column of a row.
func (t *Table) Render(th *theme.Theme, w, h int, focus bool, cell func(row, col int) string) []string {
	if h < 1 {
		return nil
	}
	widths := t.widths(w - 3)
	head := "  " + t.row(widths, func(c int) string { return th.Title.Render(t.Columns[c].Title) })
	out := []string{Fit(head, w)}
	return append(out, t.List.Render(th, w, h-1, focus, func(i, _ int) string {
		return t.row(widths, func(c int) string { return cell(i, c) })
	})...)
}

const gap = 2

// widths shares w cells among the columns; 0 leaves one out.
func (t *Table) widths(w int) []int {
	out := make([]int, len(t.Columns))
	for i, c := range t.Columns {
		out[i] = max(c.Min, 1)
	}
	for used(out) > w && t.drop(out) {
	}
	left := w - used(out)
	for left > 0 {
		shares := 0
		for i, c := range t.Columns {
			if out[i] > 0 && (c.Max == 0 || out[i] < c.Max) {
				shares += c.Grow
			}
		}
		if shares == 0 {
			break
		}
		given := 0
		for i, c := range t.Columns {
			if out[i] == 0 || c.Grow == 0 || c.Max > 0 && out[i] >= c.Max {
				continue
			}
			n := max(left*c.Grow/shares, 1)
			if c.Max > 0 {
				n = min(n, c.Max-out[i])
			}
			n = min(n, left-given)
			out[i] += n
			given += n
		}
		left -= given
	}
	return out
}

func used(widths []int) int {
	n := -gap
	for _, w := range widths {
		if w > 0 {
			n += w + gap
		}
	}
	return n
}

// drop leaves out the column that goes first; false when none may.
func (t *Table) drop(widths []int) bool {
	at := -1
	for i, c := range t.Columns {
		if widths[i] > 0 && c.Drop > 0 && (at < 0 || c.Drop >= t.Columns[at].Drop) {
			at = i
		}
	}
	if at < 0 {
		return false
	}
	widths[at] = 0
	return true
}

func (t *Table) row(widths []int, cell func(c int) string) string {
	row := ""
	for i, w := range widths {
		if w == 0 {
			continue
		}
		if row != "" {
			row += "  "
		}
		s := cell(i)
		if n := Width(s); t.Columns[i].Right && n < w {
			s = blank(w-n) + s
		}
		row += Fit(s, w)
	}
	return row
}
