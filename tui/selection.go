package tui

import (
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// selection is text of the frame on screen that the user marks by dragging over it,
// as in a terminal, but within the pane in which it begins. What is marked is
// cells of the screen: it is copied as it stands there when the button is let go.
type selection struct {
	held     bool // the button is down
	on       bool // something is marked
	from, to tea.Position
	text     string // as it was copied
}

// press notes where the left button went down. The click itself follows when it is
// let go, since it may become a drag.
func (s *selection) press(x, y int) {
	*s = selection{held: true, from: tea.Position{X: x, Y: y}}
}

// drag marks up to a cell.
func (s *selection) drag(x, y int) {
	s.to = tea.Position{X: x, Y: y}
	s.on = s.on || s.to != s.from
}

// endDrag ends a click, or copies what was marked. The mark stays until a key or the
// mouse does something else.
func (m *Model) endDrag(x, y int) tea.Cmd {
	if !m.sel.held {
		m.unchanged()
		return nil
	}
	m.sel.held = false
	m.sel.drag(x, y)
	if !m.sel.on {
		m.sel = selection{}
		return m.click(x, y)
	}
	rows := strings.Split(ansi.Strip(m.frame.Content), "\n")
	m.sel.text = textOf(rows, m.sel.spans(m.sel.paneOf(rows, m.layout(), m.theme, m.w)))
	if m.sel.text == "" {
		m.sel = selection{}
		return nil
	}
	what := humanize.Count(len([]rune(m.sel.text)), "character")
	if n := strings.Count(m.sel.text, "\n"); n > 0 {
		what = humanize.Count(n+1, "line")
	}
	return Copy(m.sel.text, what)
}

// mark draws what is marked in a frame. A copied text that is no longer there is
// marked no more.
func (s *selection) mark(content string, l layout, th *theme.Theme, w int) string {
	rows := strings.Split(content, "\n")
	texts := strings.Split(ansi.Strip(content), "\n")
	spans := s.spans(s.paneOf(texts, l, th, w))
	if !s.held && textOf(texts, spans) != s.text {
		*s = selection{}
		return content
	}
	style := theme.NewStyle(lipgloss.NewStyle().Reverse(true))
	for y, cells := range spans {
		rows[y] = widget.Restyle(rows[y], []widget.Span{cells}, style.Render)
	}
	return strings.Join(rows, "\n")
}

// paneOf is the pane in which the selection stays: the frame around where it began, or
// what is between the lines that part the page from its top to its bottom.
func (s *selection) paneOf(rows []string, l layout, th *theme.Theme, w int) pane {
	p := pane{left: 0, right: w, top: l.bodyY, bottom: l.bodyY + l.bodyH - 1}
	if s.from.Y < p.top || s.from.Y > p.bottom { // the header, the footer
		p.top, p.bottom = s.from.Y, s.from.Y
		return p
	}
	lines := frameLines{glyphs: th.Glyph.Frame.Left + th.Glyph.Focus.Left}
	for _, row := range rows {
		lines.cells = append(lines.cells, cellsOf(row))
	}
	first, last := max(min(s.from.Y, s.to.Y), p.top), min(max(s.from.Y, s.to.Y), p.bottom)
	left, okLeft := lines.nearest(s.from, -1, first, last)
	right, okRight := lines.nearest(s.from, 1, first, last)
	if okLeft && okRight && left.top == right.top && left.bottom == right.bottom {
		return pane{left: left.x + 1, right: right.x, top: left.top, bottom: left.bottom}
	}
	if okLeft && left.along(first, last) {
		p.left = left.x + 1
	}
	if okRight && right.along(first, last) {
		p.right = right.x
	}
	return p
}

// spans are the cells of each row in a pane that are marked.
func (s *selection) spans(p pane) map[int]widget.Span {
	a, b := s.from, s.to
	if b.Y < a.Y || b.Y == a.Y && b.X < a.X {
		a, b = b, a
	}
	out := map[int]widget.Span{}
	for y := max(a.Y, p.top); y <= min(b.Y, p.bottom); y++ {
		cells := widget.Span{From: p.left, To: p.right}
		if y == a.Y {
			cells.From = max(a.X, p.left)
		}
		if y == b.Y {
			cells.To = min(b.X+1, p.right)
		}
		if cells.From < cells.To {
			out[y] = cells
		}
	}
	return out
}

// textOf is what stands in the cells of spans, without the blanks at the ends of rows,
// and those that all rows behind the first begin with: the air beside a pane.
func textOf(rows []string, spans map[int]widget.Span) string {
	var lines []string
	air := math.MaxInt
	for y, row := range rows {
		s, ok := spans[y]
		if !ok {
			continue
		}
		line := strings.TrimRight(pictureless(widget.CutCells(row, s)), " ")
		if len(lines) > 0 && line != "" {
			air = min(air, blanks(line))
		}
		lines = append(lines, line)
	}
	for i, line := range lines {
		lines[i] = line[min(air, blanks(line)):]
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// blanks is how many a line begins with.
func blanks(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// placeholder is the character that kitty shows a cell of a picture for.
const placeholder = '\U0010eeee'

// pictureless is text with blanks for the cells of pictures.
func pictureless(text string) string {
	if !strings.ContainsRune(text, placeholder) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		cluster, w := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		if strings.HasPrefix(cluster, string(placeholder)) {
			b.WriteString(widget.Blank(w))
		} else {
			b.WriteString(cluster)
		}
		text = text[len(cluster):]
	}
	return b.String()
}

// pane is the cells between two frame lines: rows from top to bottom, columns from left
// to before right.
type pane struct{ left, right, top, bottom int }

// frameLines finds the vertical lines of frames in the cells of a screen.
type frameLines struct {
	cells  [][]string
	glyphs string
}

// run is a line in column x.
type run struct{ x, top, bottom int }

// along reports whether a line goes along the rows from first to last.
func (r run) along(first, last int) bool { return r.top <= first && r.bottom >= last }

func (l *frameLines) at(x, y int) bool {
	return y >= 0 && y < len(l.cells) && x >= 0 && x < len(l.cells[y]) && l.cells[y][x] != "" && strings.Contains(l.glyphs, l.cells[y][x])
}

// nearest is the line next to a cell on one side that goes along the rows from first
// to last, else the longest: a line that is shorter, as beside a quoted text, bounds
// what stays beside it.
func (l *frameLines) nearest(from tea.Position, d, first, last int) (best run, found bool) {
	for x := from.X; x >= 0 && from.Y >= 0 && from.Y < len(l.cells) && x < len(l.cells[from.Y]); x += d {
		if !l.at(x, from.Y) {
			continue
		}
		r := run{x, from.Y, from.Y}
		for l.at(x, r.top-1) {
			r.top--
		}
		for l.at(x, r.bottom+1) {
			r.bottom++
		}
		switch {
		case r.top == r.bottom: // a sign in a text
		case r.along(first, last):
			return r, true
		case !found || r.bottom-r.top > best.bottom-best.top:
			best, found = r, true
		}
	}
	return best, found
}

// cellsOf is what stands in each cell of a plain row; "" behind a wide character.
func cellsOf(row string) []string {
	out := make([]string, 0, len(row))
	for len(row) > 0 {
		cluster, w := ansi.FirstGraphemeCluster(row, ansi.GraphemeWidth)
		if w > 0 {
			out = append(append(out, cluster), make([]string, w-1)...)
		}
		row = row[len(cluster):]
	}
	return out
}
