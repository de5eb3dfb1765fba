package drift

import (
	"fmt"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/problem"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/browser"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// glyph is a sign as the theme can draw it.
func glyph(th *theme.Theme, s report.Sign) string {
	if s == report.Moved {
		return th.Glyph.Right
	}
	return string(rune(s))
}

// signStyle is the colour that repeats a sign.
func signStyle(th *theme.Theme, s report.Sign) theme.Style {
	switch s {
	case report.Added:
		return th.Added
	case report.Removed:
		return th.Removed
	default:
		return th.Info
	}
}

// Render draws what changed and the details of what is selected.
func (p *Page) Render(f *tui.Frame) []string {
	p.fact = p.baselineFact(f)
	switch r := p.result(); {
	case r == nil:
		return p.message(f, p.nothing(f))
	case r.Status == compare.Failed:
		return p.message(f, p.failure(f, r))
	}
	v := browser.View{
		Title: p.title(f), Note: p.note(f), W: min(max(f.W/3, 32), 44),
		Row:    func(i, w int) string { return p.row(f, i, w) },
		Detail: func(x, y, w, h int) []string { return p.changes(f, x, y, w, h) },
	}
	if len(p.rows) == 0 {
		v.Empty = []string{" " + f.Theme.Faint.Render("No matches. Esc clears the filter.")}
		if p.Filter.Empty() {
			v.Empty[0] = " " + f.Theme.Text.Render("No contract changed.")
		}
	}
	return p.Panes(f, v)
}

// changes draws what there is to say of the row under the cursor and, below it, of those after it
// that fit, from the first again after the last.
func (p *Page) changes(f *tui.Frame, x, y, w, h int) []string {
	left, text, beside := p.change(f, p.selected(), w)
	var below []string
	own := 2 + max(len(text), len(beside)) // with its heading, and air
	for i := 1; i < len(p.rows); i++ {
		at := (p.List.Cursor + i) % len(p.rows)
		o := &p.rows[at]
		left, text, beside := p.change(f, o, w)
		need := 2 + max(len(text), len(beside))
		if own+len(below)+need > h {
			break
		}
		p.Areas = append(p.Areas, tui.Area{X: x, Y: y + own + len(below), W: w, H: need, Run: func() tea.Cmd {
			return p.Move(func() { p.List.MoveTo(at) })
		}})
		pane := widget.Pane(f.Theme, sanitize.Line(o.name), f.Theme.Faint.Render(tui.Place(at, len(p.rows))), false, text, left, need)
		below = append(below, p.sideBySide(f, o, pane, beside, w-left-1)...)
	}
	if len(below) == 0 {
		own = h
	}
	pane := p.DetailPane(f, p.detailTitle(), p.detailNote(f), text, x, y, left, own)
	return widget.Rows(append(p.sideBySide(f, p.selected(), pane, beside, w-left-1), below...), w, h)
}

// change is what there is to say of a row, and what stands beside that where there is room: the
// lines of the source that changed. left is how wide the pane of the text is, of w cells.
func (p *Page) change(f *tui.Frame, x *row, w int) (left int, text, beside []string) {
	if left = w; f.W >= browser.Wide && x != nil && x.contract != nil {
		left = min((w-3)/2, browser.Prose)
		beside = p.detail(f, x, w-left-1-3, p.besideMode(x))
	}
	return left, p.detail(f, x, left-4, p.mode), beside
}

// besideMode is how a contract is shown beside the pane: as the pane does not.
func (p *Page) besideMode(x *row) mode {
	if len(x.contract.Lines) == 0 || p.mode == source {
		return contracts
	}
	return source
}

// sideBySide draws beside in w cells next to a pane about a row.
func (p *Page) sideBySide(f *tui.Frame, x *row, pane, beside []string, w int) []string {
	if w <= 0 {
		return pane
	}
	note := f.Theme.Faint.Render(p.besideMode(x).String())
	return widget.Panes(f.Theme, pane, widget.Pane(f.Theme, sanitize.Line(x.file), note, false, beside, w, len(pane)))
}

// title is the heading of the page: which project it shows.
func (p *Page) title(f *tui.Frame) string {
	if p.path == "" {
		return "Drift"
	}
	name := widget.Cut(sanitize.Line(filepath.Base(p.project().Path)), max(f.W/3, 16)-8)
	if n := len(p.state.Projects); n > 1 && p.place() >= 0 {
		name += " " + tui.Place(p.place(), n)
	}
	return "Drift " + f.Theme.Glyph.Dot + " " + name
}

// note is what runs, or how many changes break something, or may.
func (p *Page) note(f *tui.Frame) string {
	th := f.Theme
	if run := p.work.run; run != nil {
		return th.Info.Render(tui.Spin + " " + f.Ago(run.since))
	}
	if !p.Filter.Empty() {
		return th.Faint.Render(fmt.Sprintf("%d of %d", len(p.rows), len(p.all)))
	}
	switch r := p.result(); {
	case r.Status == compare.Pass && len(report.Badges(r)) > 0:
		return th.Warn.Render("no drift seen")
	case r.Status == compare.Pass:
		return th.Good.Render(th.Glyph.OK + " no drift")
	}
	var out []string
	if n := p.result().Summary.Breaking.Errors; n > 0 {
		out = append(out, th.Bad.Render(fmt.Sprint(th.Glyph.Fail, n)))
	}
	if n := p.result().Summary.Breaking.Warnings; n > 0 {
		out = append(out, th.Warn.Render(fmt.Sprint("!", n)))
	}
	return strings.Join(out, " ")
}

// baselineFact says what the project is compared with, and what runs.
func (p *Page) baselineFact(f *tui.Frame) string {
	var out []string
	switch run, r := p.work.run, p.result(); {
	case run != nil:
		out = append(out, sanitize.Line(run.what), "x stops")
	case r != nil:
		out = append(out, "since "+since(f, r))
		if p.behind() > 0 {
			out = append(out, humanize.Count(p.behind(), "result")+" ago")
		} else if at := r.ComparedAt; r.BaselineInfo == nil || r.BaselineInfo.CreatedAt.IsZero() {
			out = append(out, "compared "+f.Since(at))
		}
	}
	if d := p.project().Deeper; d != nil && p.work.run == nil {
		out = append(out, "looking deeper, "+humanize.Took(d.Limit)+" at most", "x stops")
	}
	if p.project().Watching {
		out = append(out, "following")
	}
	return strings.Join(out, " "+f.Theme.Glyph.Dot+" ")
}

// since names a baseline with its age: "claude's snapshot, 21 s ago".
func since(f *tui.Frame, r *compare.Result) string {
	text := sanitize.Line(report.BaselineName(r))
	if i := r.BaselineInfo; i != nil && !i.CreatedAt.IsZero() {
		text += ", " + f.Since(i.CreatedAt)
	}
	return text
}

// row draws one line of the list.
func (p *Page) row(f *tui.Frame, i, w int) string {
	th, x := f.Theme, &p.rows[i]
	mark, style := x.mark(th)
	name, left := sanitize.Line(x.name), w-3 // with air at the end
	lead := style.Render(mark) + " "
	if len(x.items) > 0 {
		var items []string
		for _, one := range x.items[:min(len(x.items), 20)] { // more have no room
			id, _, _ := strings.Cut(one, " ")
			items = append(items, strings.TrimSuffix(filepath.Base(id), filepath.Ext(id)))
		}
		return lead + th.Text.Render(widget.Cut(name+": "+sanitize.Line(strings.Join(items, ", ")), left))
	}
	if name = widget.Cut(name, left); len(x.words) > 0 {
		name = widget.Cut(name, max(left*3/5, left-10))
		name += widget.Blank(min(p.names, left/3) - widget.Width(name))
	}
	return lead + th.Text.Render(name) + wordsText(th, x.words, left-widget.Width(name))
}

// wordsText is what changed, as far as there is room.
func wordsText(th *theme.Theme, list []word, room int) string {
	out := ""
	for i, one := range list {
		sign, more := glyph(th, one.sign), ""
		text := sanitize.Line(one.text)
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
func (p *Page) Legend(th *theme.Theme) (out []tui.Sign) {
	for i, means := range []string{"breaks what uses it", "may break", "", "", "", "not covered", "affected, or edited inside"} {
		if mark, style := (row{weight: weight(i)}).mark(th); means != "" {
			out = append(out, tui.Sign{Mark: style.Render(mark), Means: means})
		}
	}
	return out
}

// nothing is shown before the first comparison.
func (p *Page) nothing(f *tui.Frame) []string {
	th := f.Theme
	if p.path == "" {
		rows := widget.Paragraph(th.Faint, "", "No project yet. One appears with an agent's first LogicStamp call.", min(f.W-2, browser.Prose))
		return append(append([]string{""}, rows...), f.Example()...)
	}
	rows := []string{"", th.Strong.Render("What changed in the contracts?")}
	if f.H >= 14 { // else the keys would not fit
		rows = append(rows, widget.Paragraph(th.Muted, "", "A component's contract is what it promises those that use it: its props, exports and functions.", min(f.W-2, browser.Prose))...)
	}
	with := "the last commit"
	if len(p.project().Snapshots) > 0 {
		with = "the newest snapshot"
	}
	rows = append(rows, "")
	for _, one := range [][2]string{{"r", "compare with " + with}, {"y", "make this the baseline"}, {"f", "compare after every change"}} {
		rows = append(rows, th.Key.Render(one[0])+"  "+th.Text.Render(one[1]))
	}
	return append(rows, f.Example()...)
}

// failure shows why there is no result, and what to do.
func (p *Page) failure(f *tui.Frame, r *compare.Result) []string {
	th, w := f.Theme, min(f.W-2, browser.Prose)
	text, next, _ := strings.Cut(r.Error, ". Next: ")
	rows := append([]string{"", th.Bad.Render(th.Glyph.Fail + " " + words(string(r.ErrorCode))), ""}, widget.Wrap(sanitize.Line(text), w)...)
	if next != "" {
		rows = append(append(rows, ""), widget.Paragraph(th.Muted, "", sanitize.Line(next), w)...)
	}
	rows = append(rows, "")
	if p.missingCLI() {
		if p.work.notInstalled != "" {
			rows = append(append(rows, widget.Paragraph(th.Bad, "", sanitize.Text(p.work.notInstalled), w)...), "")
		}
		rows = append(rows, th.Key.Render("enter")+"  install it into mcpdeck's own folder")
	}
	rows = append(rows, th.Key.Render("r")+"  compare again")
	if lacksBaseline(r.ErrorCode) {
		rows = append(rows, th.Key.Render("y")+"  make this the baseline")
	}
	return rows
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

// message fills the page with rows.
func (p *Page) message(f *tui.Frame, rows []string) []string {
	p.Areas = p.Areas[:0]
	note := ""
	if p.work.run != nil {
		note = p.note(f)
	}
	return widget.Pane(f.Theme, p.title(f), note, f.Focus, rows, f.W, f.H)
}
