package widget

import "strings"

// The most that can be undone in a field.
const (
	undoMost  = 500
	undoBytes = 1 << 20
)

// edit is a change of an Editor's text: at a place, one text stands for another. The
// place is lead bytes behind the start of cluster from of a row: clusters before that
// one are none of the change's.
type edit struct {
	row, from, lead  int
	removed, written string
}

// edits are the changes of a field, and those that were undone.
type edits struct {
	done, undone []edit
	bytes        int  // of both
	closed       bool // what comes next is a change of its own
	off          bool
}

// note keeps a change that is about to be made at a place.
func (e *Editor) note(row, col int, removed, written string) {
	h := &e.history
	if h.off || removed == "" && written == "" {
		return
	}
	from := col
	l := e.lines[row]
	for n := 0; from > 0 && (n < nearby || isFlag(l[from])); n++ {
		from--
	}
	for _, gone := range h.undone {
		h.bytes -= gone.size()
	}
	h.undone = nil
	c := edit{row, from, len(strings.Join(l[from:col], "")), removed, written}
	h.bytes += c.size()
	if n := len(h.done); n > 0 && !h.closed && h.done[n-1].joins(l, c) {
		last := &h.done[n-1]
		last.written += written
		if removed != "" {
			c.removed += last.removed
			*last = c
		}
		return
	}
	h.done, h.closed = append(h.done, c), false
	for len(h.done) > undoMost || h.bytes > undoBytes && len(h.done) > 0 {
		h.bytes -= h.done[0].size()
		h.done = h.done[1:]
	}
}

func (c *edit) size() int { return len(c.removed) + len(c.written) }

// joins reports whether a change in the same row goes on with this one: both write one
// word, or take one away from its end.
func (c *edit) joins(l []string, next edit) bool {
	if c.row != next.row || max(c.from, next.from) > len(l) || max(c.from, next.from)-min(c.from, next.from) > 1000 {
		return false
	}
	distance := next.lead - c.lead + len(strings.Join(l[min(c.from, next.from):next.from], "")) - len(strings.Join(l[min(c.from, next.from):c.from], ""))
	if c.removed == "" && next.removed == "" {
		return distance == len(c.written) && isWord(next.written) && !strings.ContainsAny(c.written, " \n\t")
	}
	return c.written == "" && next.written == "" && distance == -len(next.removed) && isWord(next.removed) && isWord(c.removed)
}

// Undo takes the last change back, Redo makes it again. They report whether there was
// one.
func (e *Editor) Undo() bool { return e.travel(&e.history.done, &e.history.undone, false) }

// Redo makes the change again that was undone last.
func (e *Editor) Redo() bool { return e.travel(&e.history.undone, &e.history.done, true) }

func (e *Editor) travel(from, to *[]edit, again bool) bool {
	n := len(*from)
	if n == 0 {
		return false
	}
	c := (*from)[n-1]
	*from = (*from)[:n-1]
	*to = append(*to, c)
	old, text := c.written, c.removed
	if again {
		old, text = text, old
	}
	e.history.off = true
	e.exchange(c, old, text)
	e.history.off = false
	e.history.closed = true
	return true
}

// exchange puts text where old stands at the place of a change. A cluster that the
// place is within is taken apart and put together anew.
func (e *Editor) exchange(c edit, old, text string) {
	col, before := within(e.lines[c.row], c.from, c.lead)
	row, from, end := c.row, c.from, c.lead+len(old)
	if i := strings.LastIndexByte(old, '\n'); i >= 0 {
		row, from, end = c.row+strings.Count(old, "\n"), 0, len(old)-i-1
	}
	to, part := within(e.lines[row], from, end)
	after := ""
	if part != "" {
		after = e.lines[row][to][len(part):]
		to++
	}
	e.remove(c.row, col, row, to)
	e.Insert(before + text)
	row, col = e.row, e.col
	e.Insert(after)
	e.row, e.col = row, min(col, len(e.lines[row]))
}

// within finds the cluster that is n bytes behind the start of another one, and how
// much of it comes before.
func within(l []string, from, n int) (i int, part string) {
	for i = from; i < len(l) && n >= len(l[i]); i++ {
		n -= len(l[i])
	}
	if i < len(l) {
		part = l[i][:n]
	}
	return i, part
}

// Replace puts another text in the field, which can be undone.
func (e *Editor) Replace(s string) {
	e.init()
	last := len(e.lines) - 1
	old := e.Value()
	s = e.printable(s)
	e.note(0, 0, old, s)
	e.history.off = true
	e.remove(0, 0, last, len(e.lines[last]))
	e.Insert(s)
	e.history.off = false
}
