package widget

import "unicode/utf8"

// Caret is where the cursor is: how many runes come before it, line breaks
// counted.
func (e *Editor) Caret() int {
	e.init()
	n := 0
	for i, l := range e.lines[:e.row+1] {
		if i == e.row {
			l = l[:e.col]
		} else {
			n++ // the line break
		}
		for _, c := range l {
			n += utf8.RuneCountInString(c)
		}
	}
	return n
}

// SetCaret puts the cursor behind n runes, or at the nearest end.
func (e *Editor) SetCaret(n int) {
	e.init()
	e.goal = -1
	for row, l := range e.lines {
		e.row, e.col = row, 0
		for _, c := range l {
			if n <= 0 {
				return
			}
			n -= utf8.RuneCountInString(c)
			e.col++
		}
		if n <= 0 {
			return
		}
		n--
	}
}
