package widget

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
)

// Code draws text that is about to run or to be stored in rows of at most w cells,
// exactly: what a terminal would obey or hide is shown, and nothing is cut. Several
// lines are numbered, so that a line break can be told from a row that is full.
func Code(th *theme.Theme, text string, w int) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	gutter := 0
	if len(lines) > 1 {
		gutter = len(strconv.Itoa(len(lines))) + 1
	}
	var rows []string
	for n, line := range lines {
		for i, row := range hard(spaced(sanitize.Exact(line)), w-gutter) {
			head := blank(gutter)
			if i == 0 && gutter > 0 {
				head = th.Faint.Render(padNumber(n+1, gutter-1)) + " "
			}
			rows = append(rows, head+exact(th, row, theme.Style{}))
		}
	}
	return rows
}

// Diff draws a unified diff as Code draws text. Its signs tell what it does where there
// is no colour.
func Diff(th *theme.Theme, diff string, w int) []string {
	var rows []string
	hunk := false // in there, "--- x" is a line "-- x" that goes
	for line := range strings.SplitSeq(strings.TrimSuffix(diff, "\n"), "\n") {
		sign, style := "", th.Muted
		switch {
		case strings.HasPrefix(line, "@@"):
			hunk, style = true, th.Info
		case strings.HasPrefix(line, "diff "):
			hunk = false
		case !hunk, line == "":
		case line[0] == '+':
			sign, style = "+", th.Added
		case line[0] == '-':
			sign, style = "-", th.Removed
		case line[0] == ' ':
			sign, style = " ", th.Text
		}
		for _, row := range hard(spaced(sanitize.Exact(line[len(sign):])), w-len(sign)) {
			rows = append(rows, exact(th, sign+row, style)) // a row that goes on has its line's sign
		}
	}
	return rows
}

// Arguments draws the arguments of a call as Code draws text, those that say most
// first.
func Arguments(th *theme.Theme, raw json.RawMessage, w int) []string {
	var args map[string]json.RawMessage
	if json.Unmarshal(raw, &args) != nil {
		return Code(th, string(raw), w)
	}
	type arg struct{ name, text string }
	list := make([]arg, 0, len(args))
	for name, value := range args {
		list = append(list, arg{name, argument(value)})
	}
	slices.SortFunc(list, func(a, b arg) int {
		return cmp.Or(cmp.Compare(len(b.text), len(a.text)), cmp.Compare(a.name, b.name))
	})
	var rows []string
	for _, a := range list {
		name := th.Accent.Render(sanitize.Exact(a.name) + ":")
		code := Code(th, a.text, w-2)
		if one := name + " " + code[0]; len(code) == 1 && Width(one) <= w {
			rows = append(rows, one)
			continue
		}
		rows = append(rows, hard(name, w)...)
		for _, l := range code {
			rows = append(rows, "  "+l)
		}
	}
	return rows
}

// argument is a value as text: a string is what it says.
func argument(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// hard breaks one line into rows of w cells, wherever they end: spaces count.
func hard(line string, w int) []string {
	if w <= 0 || Width(line) <= w {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, w, true), "\n")
}

// spacesMost is how many spaces in a row are drawn as they are. More of them would move what
// follows to where nobody looks.
const spacesMost = 40

// spaced writes long runs of spaces as how many there are.
func spaced(line string) string {
	if !strings.Contains(line, strings.Repeat(" ", spacesMost+1)) {
		return line
	}
	var b strings.Builder
	for line != "" {
		text := strings.IndexByte(line, ' ')
		if text < 0 {
			text = len(line)
		}
		b.WriteString(line[:text])
		rest := strings.TrimLeft(line[text:], " ")
		if n := len(line) - text - len(rest); n > spacesMost {
			b.WriteString("<" + strconv.Itoa(n) + " spaces>")
		} else {
			b.WriteString(blank(n))
		}
		line = rest
	}
	return b.String()
}

// exact draws a row of exact text in a style, and what stands for a character that
// cannot be seen so that it is.
func exact(th *theme.Theme, row string, style theme.Style) string {
	var b strings.Builder
	for {
		at := strings.Index(row, "<U+")
		end := strings.IndexByte(row[max(at, 0):], '>')
		if at < 0 || end < 0 {
			b.WriteString(style.Render(row))
			return b.String()
		}
		b.WriteString(style.Render(row[:at]))
		b.WriteString(th.Warn.Render(row[at : at+end+1]))
		row = row[at+end+1:]
	}
}

func padNumber(n, w int) string {
	s := strconv.Itoa(n)
	return blank(w-len(s)) + s
}
