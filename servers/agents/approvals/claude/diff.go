package claude

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/support/diff"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
)

// Limits of the preview of an edit.
const (
	maxFile = 1 << 20   // bytes of a file that is compared
	maxWork = 4_000_000 // pairs of lines that are compared
	around  = 3         // lines of context
)

// preview returns the edit that a tool is about to make as a unified diff, "" if it cannot
// be told, and what is noticed about it.
func preview(q *asked, folder string) (diff string, noticed []string) {
	path := q.input.Str("file_path")
	if path == "" || q.tool == "NotebookEdit" {
		return "", nil
	}
	if !approvals.Within(folder, path) {
		return "", []string{approvals.Outside}
	}
	root, err := file.Root(folder)
	if err != nil {
		return "", nil
	}
	defer root.Close()
	name, _ := filepath.Rel(folder, path) // it is within
	if info, err := root.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return "", []string{"not a plain file"}
	}
	before, err := file.Inside(root, name, maxFile)
	fresh := err != nil && os.IsNotExist(err)
	if err != nil && !fresh {
		return "", []string{"the file cannot be compared"}
	}
	text := strings.ReplaceAll(string(before), "\r\n", "\n") // as Claude Code reads and edits it
	after, ok := q.edited(text)
	if !ok {
		return "", []string{"the file has changed since"}
	}
	if fresh {
		noticed = append(noticed, "new file")
	}
	return unified(name, text, after), noticed
}

// edited applies a tool's edit to a file's text. It returns false if the edit does not
// fit.
func (q *asked) edited(text string) (string, bool) {
	type change struct {
		Old string `json:"old_string"`
		New string `json:"new_string"`
		All bool   `json:"replace_all"`
	}
	var in struct {
		change
		Content string   `json:"content"`
		Edits   []change `json:"edits"`
	}
	if json.Unmarshal(q.raw, &in) != nil {
		return "", false
	}
	switch q.tool {
	case "Write":
		return in.Content, true
	case "Edit":
		in.Edits = []change{in.change}
	}
	for _, c := range in.Edits {
		switch {
		case c.Old == "" && text == "":
			text = c.New
		case c.Old == "" || !strings.Contains(text, c.Old):
			return "", false
		case c.All:
			text = strings.ReplaceAll(text, c.Old, c.New)
		default:
			text = strings.Replace(text, c.Old, c.New, 1)
		}
	}
	return text, true
}

// unified writes the difference of two texts in the unified format.
func unified(name, before, after string) string {
	a, b := lines(before), lines(after)
	steps := shortest(a, b)
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %[1]s\n", name)
	for from := 0; from < len(steps); {
		for from < len(steps) && kept(steps[from]) {
			from++
		}
		if from == len(steps) {
			break
		}
		start, end := max(from-around, 0), from
		for next := from; next < len(steps) && next-end <= 2*around; next++ { // hunks that would touch are one
			if !kept(steps[next]) {
				end = next + 1
			}
		}
		from, end = end, min(end+around, len(steps))
		hunk(&out, steps[start:end], steps[:start], a, b)
	}
	return out.String()
}

func kept(s diff.Step) bool { return s.Old >= 0 && s.New >= 0 }

func hunk(out *strings.Builder, steps, before []diff.Step, a, b []string) {
	count := func(steps []diff.Step) (olds, news int) {
		for _, s := range steps {
			if s.Old >= 0 {
				olds++
			}
			if s.New >= 0 {
				news++
			}
		}
		return olds, news
	}
	at := func(before, n int) string {
		if n > 0 {
			before++
		}
		return fmt.Sprintf("%d,%d", before, n)
	}
	oldAt, newAt := count(before)
	olds, news := count(steps)
	fmt.Fprintf(out, "@@ -%s +%s @@\n", at(oldAt, olds), at(newAt, news))
	for _, s := range steps {
		mark, line := " ", ""
		switch {
		case s.New < 0:
			mark, line = "-", a[s.Old]
		case s.Old < 0:
			mark, line = "+", b[s.New]
		default:
			line = a[s.Old]
		}
		out.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
		if !strings.HasSuffix(line, "\n") {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}

// lines splits a text; each line keeps its end.
func lines(s string) []string {
	all := strings.SplitAfter(s, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	return all
}

// shortest returns the shortest edit. Where the differing middle is too large to compare,
// all of it is replaced.
func shortest(a, b []string) []diff.Step {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var steps []diff.Step
	for i := range head {
		steps = append(steps, diff.Step{Old: i, New: i})
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x)*len(y) <= maxWork {
		for _, s := range diff.Steps(x, y, func(p, q string) bool { return p == q }) {
			if s.Old >= 0 {
				s.Old += head
			}
			if s.New >= 0 {
				s.New += head
			}
			steps = append(steps, s)
		}
	} else {
		for i := range x {
			steps = append(steps, diff.Step{Old: head + i, New: -1})
		}
		for i := range y {
			steps = append(steps, diff.Step{Old: -1, New: head + i})
		}
	}
	for i := range tail {
		steps = append(steps, diff.Step{Old: len(a) - tail + i, New: len(b) - tail + i})
	}
	return steps
}
