package drift

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the header, the tree and the details.
func (p *Page) Render(f *tui.Frame) []string {
	p.w = f.W
	head := p.header(f)
	if line := p.timeline(f); line != "" && f.H >= 16 {
		head = append(head, " "+f.Theme.Faint.Render("results ")+line)
	}
	if run := p.work.text(f, p.project().Deeper); run != "" {
		head = append(head, " "+run)
	}
	body := f.H - len(head)
	p.Areas = p.Areas[:0]
	detail := func(x, w int) {
		p.Areas = append(p.Areas, tui.Area{Part: browser.PartDetail, X: x, Y: len(head), W: w, H: body})
	}
	r := p.result()
	switch {
	case r == nil:
		return append(head, p.nothing(f, body)...)
	case r.Status == compare.Failed:
		return append(head, p.failure(f, r, body)...)
	case f.W < wide && p.Focus == browser.PartDetail:
		detail(0, f.W)
		return append(head, p.detailBox(f, box{0, len(head), f.W, body})...)
	case f.W < wide:
		return append(head, p.treeBox(f, len(head), f.W, body)...)
	}
	tree, hit := panes(f.W)
	detail(tree+1, f.W-tree-1)
	middle := f.W - tree - 1
	if hit > 0 {
		middle -= hit + 1
	}
	all := [][]string{p.treeBox(f, len(head), tree, body), p.detailBox(f, box{tree + 1, len(head), middle, body})}
	if hit > 0 {
		all = append(all, p.hitBox(f, hit, body))
	}
	return append(head, widget.Panes(f.Theme, all...)...)
}

func (t *tree) treeBox(f *tui.Frame, y, w, h int) []string {
	th := f.Theme
	focus := f.Focus && t.Focus != browser.PartDetail
	listH := h - 1
	rows := t.Filter.Rows(f, 1, y+1, w-2, t.Typing())
	for i := range rows {
		rows[i] = " " + rows[i]
	}
	listH -= len(rows)
	t.Areas = append(t.Areas, tui.Area{Part: partTree, Y: y + 1 + len(rows), W: w, H: listH})
	if len(t.rows) == 0 {
		rows = append(rows, t.emptyTree(f, w)...)
	} else {
		rows = append(rows, t.List.Render(th, w, listH, focus, func(i, w int) string { return t.row(f, t.rows[i], w) })...)
	}
	return widget.Rows(append([]string{widget.Heading(th, "Changes", t.treeNote(f), focus, w)}, rows...), w, h)
}

func (t *tree) treeNote(f *tui.Frame) string {
	var notes []string
	if t.view.breaking {
		notes = append(notes, "only breaking")
	}
	if t.view.sign != 0 {
		notes = append(notes, "only "+glyph(f.Theme, t.view.sign))
	}
	return f.Theme.Warn.Render(strings.Join(notes, ", "))
}

func (t *tree) emptyTree(f *tui.Frame, w int) []string {
	th := f.Theme
	if t.view.narrowed() {
		return []string{th.Faint.Render(widget.Cut(" no matches; esc clears the filter", w))}
	}
	return []string{th.Good.Render(widget.Cut(" no contract changed", w))}
}

// row draws one line of the tree.
func (t *tree) row(f *tui.Frame, x row, w int) string {
	th := f.Theme
	mark := " "
	if x.opens {
		mark = th.Glyph.Closed
		if x.open {
			mark = th.Glyph.Open
		}
	}
	name := sanitize.Line(x.name)
	if until, ok := t.fresh[x.key]; ok && f.Now.Before(until) {
		f.RedrawAfter(until.Sub(f.Now))
		name = th.Match.Render(name)
	}
	note := ascii(th, x.note)
	if x.kind == sectionRow {
		return widget.Section(th, mark+" "+name, th.Faint.Render(note), w)
	}
	lead := widget.Blank(x.depth) + th.Muted.Render(mark) + " "
	if x.depth > 0 && !x.opens {
		lead = "   "
		if w >= 34 {
			lead = "    "
		}
	}
	sign := signStyle(th, x.sign).Render(glyph(th, x.sign)) + " "
	right := ""
	if x.kind == bundleRow && x.breaking > 0 {
		right = th.Bad.Render(glyph(th, report.Breaking)) + " "
	}
	right += th.Faint.Render(note)
	room := w - widget.Width(lead) - 2
	if right != "" {
		room -= widget.Width(right) + 1
	}
	if strings.Contains(x.name, "/") && name == sanitize.Line(x.name) {
		name = middle(name, room)
	}
	left := name + wordsText(th, x.words, room-widget.Width(name))
	// The folder goes before the words are cut, the words before the name.
	if rest := room - widget.Width(left) - 2; x.where != "" && x.where != "." && right == "" && rest >= 12 {
		right = th.Faint.Render(middle(sanitize.Line(x.where), rest))
	}
	return widget.Ends(lead+sign+left, right, w)
}

// wordsText is what changed, as far as there is room.
func wordsText(th *theme.Theme, list []word, room int) string {
	out := ""
	for i, one := range list {
		sign := glyph(th, one.sign)
		text := sanitize.Line(one.text)
		more := ""
		if left := len(list) - i - 1; left > 0 {
			more = fmt.Sprintf("  +%d", left)
		}
		need := 2 + widget.Width(sign) + widget.Width(text)
		if need+widget.Width(more) > room {
			if i == 0 && room > 8 {
				return "  " + signStyle(th, one.sign).Render(sign+widget.Cut(text, room-3))
			}
			if i > 0 && room >= 4 {
				out += th.Faint.Render(fmt.Sprintf("  +%d", len(list)-i))
			}
			return out
		}
		out += "  " + signStyle(th, one.sign).Render(sign+text)
		room -= need
	}
	return out
}

// Legend explains the signs of changes.
func (t *tree) Legend(th *theme.Theme) (out []tui.Sign) {
	for _, m := range meanings() {
		out = append(out, tui.Sign{Mark: signStyle(th, m.sign).Render(glyph(th, m.sign)), Means: m.text})
	}
	return out
}

type meaning struct {
	sign report.Sign
	text string
}

func meanings() []meaning {
	return []meaning{
		{report.Breaking, "breaks"},
		{report.Warning, "may break"},
		{report.Added, "new"},
		{report.Removed, "gone"},
		{report.Changed, "changed"},
		{report.Moved, "moved"},
		{report.Through, "affected"},
		{report.Unseen, "not covered"},
		{report.Same, "same"},
	}
}

// hitBox shows who is hit by what stands under the cursor.
func (t *tree) hitBox(f *tui.Frame, w, h int) []string {
	x, _ := t.selected()
	d := &writer{th: f.Theme, w: w - 2}
	if x.contract != nil {
		d.hit(x.contract, h)
	}
	if len(d.out) == 0 {
		d.add(f.Theme.Faint.Render("no known importer"))
	}
	return widget.Pane(f.Theme, "Imported by", "", false, d.out[:min(len(d.out), h-1)], w, h)
}

// box is a place on the page.
type box struct{ x, y, w, h int }

func (t *tree) detailBox(f *tui.Frame, b box) []string {
	th := f.Theme
	focus := f.Focus && t.Focus == browser.PartDetail
	title := "Details"
	switch t.mode {
	case beside:
		title = "Side by side"
	case raw:
		title = "Whole contracts"
	default:
	}
	rows := t.Search.Render(f, &t.Detail, t.detail(f, b.w-4), b.x+1, b.y+1, b.w-2, b.h-1)
	return widget.Pane(th, title, "", focus, rows, b.w, b.h)
}

// detail draws the right pane, once for each row, width and mode.
func (t *tree) detail(f *tui.Frame, w int) []string {
	x, ok := t.selected()
	if !ok {
		x = row{kind: sectionRow}
	}
	d := &t.drawn
	if d.key != x.key || d.board != t.board || d.w != w || d.mode != t.mode || d.theme != f.Theme || d.lines == nil {
		*d = drawn{key: x.key, board: t.board, w: w, mode: t.mode, theme: f.Theme}
		d.lines = detailLines(f.Theme, t.board, x, t.mode, w, f.W >= broad)
	}
	return d.lines
}

// nothing is shown before the first comparison.
func (p *Page) nothing(f *tui.Frame, h int) []string {
	th := f.Theme
	key := func(k, text string) string { return th.Key.Render(k) + "  " + th.Text.Render(text) }
	rows := []string{"", th.Strong.Render("What changed in the contracts?")}
	if h >= 14 { // else the keys would not fit
		rows = append(rows, widget.Paragraph(th.Muted, "", "A component's contract is what it promises those that use it: its props, exports and functions.", min(f.W-6, 90))...)
	}
	rows = append(rows, "")
	if p.path == "" {
		rows = []string{"", th.Faint.Render("No project yet. One appears with an agent's first LogicStamp call.")}
	} else {
		with := "the last commit"
		if len(p.project().Snapshots) > 0 {
			with = "the newest snapshot"
		}
		rows = append(rows, key("r", "compare with "+with), key("y", "make this the baseline"), key("f", "compare after every change"))
	}
	return p.message(f, append(rows, f.Example()...), h)
}

// failure shows why there is no result, and what to do.
func (p *Page) failure(f *tui.Frame, r *compare.Result, h int) []string {
	th := f.Theme
	text, next, _ := strings.Cut(r.Error, ". Next: ")
	rows := []string{"", th.Bad.Render(th.Glyph.Fail + " " + words(string(r.ErrorCode))), ""}
	w := min(f.W-6, 90)
	rows = append(rows, widget.Wrap(sanitize.Line(text), w)...)
	if next != "" {
		rows = append(rows, "")
		rows = append(rows, widget.Paragraph(th.Muted, "", sanitize.Line(next), w)...)
	}
	rows = append(rows, "")
	if p.missingCLI() {
		if p.work.notInstalled != "" {
			rows = append(rows, widget.Paragraph(th.Bad, "", sanitize.Text(p.work.notInstalled), w)...)
			rows = append(rows, "")
		}
		rows = append(rows, th.Key.Render("enter")+"  install it into mcpdeck's own folder")
	}
	rows = append(rows, th.Key.Render("r")+"  compare again")
	if lacksBaseline(r.ErrorCode) {
		rows = append(rows, th.Key.Render("y")+"  make this the baseline")
	}
	return p.message(f, rows, h)
}

// lacksBaseline reports whether a new snapshot would help.
func lacksBaseline(code problem.Code) bool {
	switch code {
	case problem.NoSnapshot, problem.SnapshotUnknown, problem.SnapshotExpired, problem.SnapshotLost, problem.SnapshotCorrupt,
		problem.GitNoRepo, problem.GitNotFound, problem.GitBadRef:
		return true
	default:
		return false
	}
}

func (p *Page) message(f *tui.Frame, rows []string, h int) []string {
	out := make([]string, 0, len(rows))
	for _, r := range rows {
		out = append(out, " "+r)
	}
	return widget.Pane(f.Theme, "Drift", "", f.Focus, out, f.W, h)
}
