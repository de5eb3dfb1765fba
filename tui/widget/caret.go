package widget

import (
	"strings"
	"unicode/utf8"
)

// beforeMost is how many characters Before looks back at most: a line may be a whole book.
const beforeMost = 1000

// Before is the end of what stands before the cursor in its line.
func (e *Editor) Before() string {
	e.init()
	return strings.Join(e.lines[e.row][max(e.col-beforeMost, 0):e.col], "")
}

// Complete puts text in the place of a word that ends at the cursor, as one change.
func (e *Editor) Complete(word, text string) {
	e.init()
	l, from := e.lines[e.row], e.col
	for n := len(word); n > 0 && from > 0; {
		from--
		n -= len(l[from])
	}
	text = e.printable(text)
	e.note(e.row, from, strings.Join(l[from:e.col], ""), text)
	e.history.off = true
	e.remove(e.row, from, e.row, e.col)
	e.Insert(text)
	e.history.off, e.history.closed = false, true
}

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
