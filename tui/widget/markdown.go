package widget

import (
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/theme"
)

// Markdown draws clean text as rows of at most w cells: headings, lists, quotes, code,
// tables, emphasis, and links with their target, since what a link says need not be
// where it leads. What is no Markdown stays as it is written, and nothing is left
// out but the marks: what agents write is often only nearly Markdown.
//
// It is not goldmark, which makes the program 1.3 MB larger and knows no rows of cells.
func Markdown(th *theme.Theme, text string, w int) []string {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	m := &markdown{th: th, w: max(w, 8), lines: strings.Split(strings.Trim(text, "\n"), "\n")}
	for len(m.lines) > 0 {
		if len(m.rows) > jsonMost {
			return append(m.rows[:jsonMost], th.Faint.Render("… and more; copying takes all"))
		}
		m.block()
	}
	return m.rows
}

// LooksMarkdown reports whether text is likely to be meant as Markdown: it has a heading,
// a list with emphasis or links, fenced code or a table.
func LooksMarkdown(text string) bool {
	score := 0
	lines := strings.Split(text, "\n")
	for i, line := range lines[:min(len(lines), 400)] {
		t := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(t, "```"), heading(t) > 0 && (i+1 == len(lines) || strings.TrimSpace(lines[i+1]) == "" || i == 0):
			score += 2
		case i+1 < len(lines) && tableRule(lines[i+1]) && strings.Contains(t, "|"):
			score += 2
		case item(t) > 0:
			score++
		}
		if Unmarked(t) != t {
			score++
		}
		if score >= 2 {
			return true
		}
	}
	return false
}

type markdown struct {
	th    *theme.Theme
	w     int
	lines []string
	rows  []string
}

func (m *markdown) next() string {
	line := m.lines[0]
	m.lines = m.lines[1:]
	return line
}

// block draws what begins at the next line.
func (m *markdown) block() {
	th, line := m.th, m.lines[0]
	in := len(line) - len(strings.TrimLeft(line, " "))
	body := line[in:]
	switch n := item(body); {
	case strings.HasPrefix(body, "```") || strings.HasPrefix(body, "~~~"):
		m.fence(in, body[:3])
	case heading(body) > 0:
		m.next()
		style := th.Strong
		if heading(body) == 1 {
			style = th.Accent
		}
		text := strings.TrimRight(strings.TrimSpace(body[heading(body):]), "# ")
		for _, l := range Wrap(Unmarked(text), m.w) {
			m.rows = append(m.rows, style.Render(l))
		}
	case rule(body):
		m.next()
		m.rows = append(m.rows, th.Border.Render(Repeat(th.Glyph.Frame.Top, m.w)))
	case strings.HasPrefix(body, "> ") || body == ">":
		m.next()
		bar := th.Border.Render(th.Glyph.Cursor) + " " // unlike the line beside code
		m.para(0, bar, bar, strings.TrimPrefix(body[1:], " "), th.Muted)
	case n > 0:
		m.next()
		mark := th.Glyph.Dot + " "
		if body[0] >= '0' && body[0] <= '9' {
			mark = body[:n]
		}
		m.para(in, th.Muted.Render(mark), blank(Width(mark)), body[n:], th.Text)
	case len(m.lines) > 1 && strings.Contains(body, "|") && tableRule(m.lines[1]):
		m.table()
	default:
		m.next()
		m.para(in, "", "", body, th.Text)
	}
}

// para draws a line of text behind first, and what it is wrapped to behind rest.
func (m *markdown) para(in int, first, rest, text string, style theme.Style) {
	pad := blank(max(min(in, m.w/2, m.w-Width(first)-2), 0))
	for i, l := range Closed(Wrap(Spans(m.th, style, text), max(m.w-len(pad)-Width(first), 2))) {
		head := rest
		if i == 0 {
			head = first
		}
		m.rows = append(m.rows, pad+head+l)
	}
}

// fence draws code: every line as it is, broken where it does not fit.
func (m *markdown) fence(in int, fence string) {
	m.next()
	gutter := m.th.Border.Render(m.th.Glyph.Frame.Left) + " "
	for len(m.lines) > 0 {
		line := m.next()
		if t := strings.TrimSpace(line); strings.HasPrefix(t, fence) && strings.Trim(t, fence[:1]) == "" {
			return
		}
		own := len(line) - len(strings.TrimLeft(line, " "))
		for _, l := range hard(line[min(in, own):], max(m.w-2, 2)) {
			m.rows = append(m.rows, gutter+m.th.Info.Render(l))
		}
	}
}

// heading is how many signs of a heading a line begins with.
func heading(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "#"))
	if n == 0 || n > 6 || n == len(s) || s[n] != ' ' {
		return 0
	}
	return n
}

// item is how long the mark of a list is that a line begins with.
func item(s string) int {
	if len(s) > 1 && strings.ContainsRune("-*+", rune(s[0])) && s[1] == ' ' {
		return 2
	}
	n := len(s) - len(strings.TrimLeft(s, "0123456789"))
	if n > 0 && n < 4 && n+1 < len(s) && (s[n] == '.' || s[n] == ')') && s[n+1] == ' ' {
		return n + 2
	}
	return 0
}

// rule reports whether a line is a rule: "---", "* * *".
func rule(s string) bool {
	s = strings.ReplaceAll(s, " ", "")
	return len(s) > 2 && (strings.Trim(s, "-") == "" || strings.Trim(s, "*") == "" || strings.Trim(s, "_") == "")
}

// Closed ends a style and a link at the end of its row and opens it again in the next,
// so that what stands beside the rows has neither.
func Closed(rows []string) []string {
	style, link := "", ""
	for i, r := range rows {
		r = link + style + r
		style, link = "", ""
		if at := strings.LastIndex(r, "\x1b["); at >= 0 && !strings.HasPrefix(r[at:], sgrReset) {
			if m := strings.IndexByte(r[at:], 'm'); m >= 0 {
				style = r[at : at+m+1]
				r += sgrReset
			}
		}
		if at := strings.LastIndex(r, linkStart); at >= 0 && !strings.HasPrefix(r[at:], linkEnd) {
			if m := strings.IndexByte(r[at:], '\a'); m >= 0 {
				link = r[at : at+m+1]
				r += linkEnd
			}
		}
		rows[i] = r
	}
	return rows
}

// tableRule reports whether a line is the one under the head of a table.
func tableRule(s string) bool {
	s = strings.TrimSpace(s)
	return strings.Contains(s, "-") && strings.Contains(s, "|") && strings.Trim(s, "|-: ") == ""
}

// cellsOfRow are the cells of a line of a table.
func cellsOfRow(line string) []string {
	line = strings.TrimSpace(line)
	line = strings.TrimPrefix(line, "|")
	if strings.HasSuffix(line, "|") && !strings.HasSuffix(line, `\|`) {
		line = line[:len(line)-1]
	}
	var out []string
	cell := ""
	for part := range strings.SplitSeq(line, "|") {
		if cell += part; strings.HasSuffix(part, `\`) {
			cell = cell[:len(cell)-1] + "|"
			continue
		}
		out = append(out, strings.TrimSpace(cell))
		cell = ""
	}
	if cell != "" {
		out = append(out, strings.TrimSpace(cell))
	}
	return out
}

// table draws a table with its columns aligned. One that is too wide has the widest
// columns wrapped.
func (m *markdown) table() {
	head := cellsOfRow(m.next())
	aligns := cellsOfRow(m.next())
	body := [][]string{head}
	for len(m.lines) > 0 && strings.Contains(m.lines[0], "|") && strings.TrimSpace(m.lines[0]) != "" {
		body = append(body, cellsOfRow(m.next()))
	}
	n := 0
	for _, r := range body {
		n = max(n, len(r))
	}
	widths := columns(body, n, m.w)
	if widths == nil { // there is no room for a table
		for _, r := range body {
			m.para(0, "", "", strings.Join(r, " "+m.th.Glyph.Dot+" "), m.th.Text)
		}
		return
	}
	for i, r := range body {
		m.tableRow(r, widths, aligns, i == 0)
		if i == 0 {
			total := 2 * (n - 1)
			for _, w := range widths {
				total += w
			}
			m.rows = append(m.rows, m.th.Border.Render(Repeat(m.th.Glyph.Frame.Top, total)))
		}
	}
}

// columns is how wide each of n columns is in w cells, two between them; nil when
// they do not fit.
func columns(body [][]string, n, w int) []int {
	widths := make([]int, n)
	total := 2 * (n - 1)
	for _, r := range body {
		for i, c := range r {
			widths[i] = max(widths[i], Width(Unmarked(c)))
		}
	}
	for _, cw := range widths {
		total += cw
	}
	for ; total > w; total-- {
		widest := 0
		for i, cw := range widths {
			if cw > widths[widest] {
				widest = i
			}
		}
		if widths[widest] <= 4 {
			return nil
		}
		widths[widest]--
	}
	return widths
}

// tableRow draws the cells of a row, each wrapped to its column.
func (m *markdown) tableRow(cells []string, widths []int, aligns []string, head bool) {
	style := m.th.Text
	if head {
		style = m.th.Strong
	}
	wrapped, h := make([][]string, len(widths)), 1
	for i, w := range widths {
		if i < len(cells) {
			wrapped[i] = Spanned(m.th, style, cells[i], w)
			h = max(h, len(wrapped[i]))
		}
	}
	for y := range h {
		row := ""
		for i, w := range widths {
			text := ""
			if y < len(wrapped[i]) {
				text = Cut(wrapped[i][y], w)
			}
			if i > 0 {
				row += "  "
			}
			row += aligned(text, w, alignOf(aligns, i))
		}
		m.rows = append(m.rows, strings.TrimRight(row, " "))
	}
}

func alignOf(aligns []string, i int) string {
	if i >= len(aligns) {
		return ""
	}
	a := aligns[i]
	return strconv.FormatBool(strings.HasPrefix(a, ":"))[:1] + strconv.FormatBool(strings.HasSuffix(a, ":"))[:1]
}

func aligned(text string, w int, how string) string {
	free := w - Width(text)
	switch how {
	case "ft":
		return blank(free) + text
	case "tt":
		return blank(free/2) + text + blank(free-free/2)
	}
	return text + blank(free)
}
