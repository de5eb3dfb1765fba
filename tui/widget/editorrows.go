package widget

import (
	"slices"
	"sort"
)

// segment is one row on the screen: clusters from up to before to of a line.
type segment struct{ row, from, to int }

// wrap lays the lines out in rows of w cells, broken at spaces where it can.
func (e *Editor) wrap(w int) []segment {
	if e.rowsW == w {
		return e.rows
	}
	out := e.rows[:0]
	for r, l := range e.lines {
		for from, to := 0, -1; to < len(l); from = to {
			to = rowEnd(l, from, w)
			out = append(out, segment{r, from, to})
		}
	}
	e.rows, e.rowsW = out, w
	return out
}

// rowEnd is where a row of w cells ends that begins at from.
func rowEnd(l []string, from, w int) int {
	cells, space := 0, -1
	for i := from; i < len(l); i++ {
		n := cellsOf(l[i])
		if cells+n > w && i > from {
			if space > from {
				return space
			}
			return i
		}
		cells += n
		if l[i] == " " {
			space = i + 1
		}
	}
	return len(l)
}

// rewrap lays a line out anew whose clusters up to before end were changed and
// grew by more: from the row before the change, where a word may fit now, to the
// first that begins where one began.
func (e *Editor) rewrap(row, at, end, more int) {
	if e.rowsW == 0 {
		return
	}
	before := func(i int) bool { return e.rows[i].row < row || e.rows[i].row == row && e.rows[i].to <= at }
	first := sort.Search(len(e.rows), func(i int) bool { return !before(i) })
	if first > 0 && (first == len(e.rows) || e.rows[first].row != row || e.rows[first].from > 0) {
		first--
	}
	l, old := e.lines[row], first
	var rows []segment
	for from, to := e.rows[first].from, -1; to < len(l); from = to {
		for old < len(e.rows) && e.rows[old].row == row && e.rows[old].from+more < from {
			old++
		}
		if from >= end && old < len(e.rows) && e.rows[old].row == row && e.rows[old].from+more == from {
			break
		}
		to = rowEnd(l, from, e.rowsW)
		rows = append(rows, segment{row, from, to})
		if to == len(l) {
			for old < len(e.rows) && e.rows[old].row == row {
				old++
			}
		}
	}
	for i := old; i < len(e.rows) && e.rows[i].row == row; i++ {
		e.rows[i].from += more
		e.rows[i].to += more
	}
	e.rows = slices.Replace(e.rows, first, old, rows...)
}

// at is the index of the row on the screen that holds the cursor.
func (e *Editor) at(segs []segment) int {
	for i, s := range segs {
		last := i+1 == len(segs) || segs[i+1].row != s.row
		if s.row == e.row && e.col >= s.from && (e.col < s.to || last && e.col == s.to) {
			return i
		}
	}
	return 0
}
