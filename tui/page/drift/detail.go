package drift

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// mode is how contracts are shown.
type mode int

const (
	differs   mode = iota // what differs, and who is hit
	contracts             // both contracts, side by side where there is room
	source                // the lines of the source
	modes
)

// String is what a pane says of how it shows a contract.
func (m mode) String() string { return []string{"", "before and after", "diff"}[m] }

// writer collects the lines of a pane.
type writer struct {
	th  *theme.Theme
	w   int
	out []string
}

func (d *writer) add(line string) { d.out = append(d.out, line) }

func (d *writer) gap() {
	if len(d.out) > 0 && d.out[len(d.out)-1] != "" {
		d.add("")
	}
}

func (d *writer) wrap(style theme.Style, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		d.out = append(d.out, widget.Paragraph(style, "", sanitize.Line(line), d.w)...)
	}
}

func (p *Page) detailTitle() string {
	if x := p.selected(); x != nil {
		return sanitize.Line(x.name)
	}
	return ""
}

func (p *Page) detailNote(f *tui.Frame) string {
	x, note := p.selected(), tui.Place(p.List.Cursor, len(p.rows))
	if x != nil && x.contract != nil && p.mode != differs {
		note = p.mode.String() + " " + f.Theme.Glyph.Dot + " " + note
	}
	return f.Theme.Faint.Render(note)
}

// detail is what there is to say of a row, or without one of the comparison, in rows of w cells.
func (p *Page) detail(f *tui.Frame, x *row, w int, m mode) []string {
	d, r := &writer{th: f.Theme, w: w}, p.result()
	switch {
	case x == nil:
		d.facts(f, r)
		return d.out
	case x.contract == nil:
		if x.file != "" {
			d.path(x.file, 0)
			d.gap()
		}
		d.wrap(d.th.Text, x.about)
		d.gap()
		for _, one := range x.items {
			d.add("  " + middle(sanitize.Line(one), w-2))
		}
	case m == contracts:
		d.contracts(x.contract)
	case m == source && len(x.contract.Lines) > 0:
		d.lines(x.contract.Lines)
	default:
		d.contract(x.contract, r)
	}
	if p.details && m == p.mode && x == p.selected() {
		d.gap()
		if c := x.contract; c != nil {
			d.fact("contract", strings.TrimSpace(c.Kind+"  "+c.Role))
			d.hash("semantic", c.SemanticHashBefore, c.SemanticHashAfter)
			d.hash("file", c.FileHashBefore, c.FileHashAfter)
			if n := max(len(c.Affects), c.AffectsTotal); n > 0 {
				d.fact("in bundles", strings.Join(c.Affects, ", "))
			}
		}
		d.facts(f, r)
	}
	for n := len(d.out); n > 0 && d.out[n-1] == ""; n-- {
		d.out = d.out[:n-1]
	}
	return d.out
}

// contract shows what broke and where, who is hit, then the rest of what changed.
func (d *writer) contract(c *compare.ContractChange, r *compare.Result) {
	line := 0
	if len(c.Breaking) > 0 {
		line, _ = c.Breaking[0].Place()
	}
	d.path(c.EntryID, line)
	switch f := r.Freshness; {
	case f == nil:
	case slices.Contains(f.ChangedFiles, c.EntryID):
		d.wrap(d.th.Warn, "changed since the analysis; r compares again")
	case slices.Contains(f.DeletedFiles, c.EntryID):
		d.wrap(d.th.Warn, "deleted since the analysis; r compares again")
	}
	if reason := report.Reason(c.Details, *c, r.Depth()); reason != "" {
		d.wrap(d.th.Text, reason)
	}
	d.gap()
	told := map[string]bool{}
	for _, x := range c.Breaking {
		told[x.Name] = true
		d.breaking(x)
	}
	d.users(c)
	d.gap()
	side, sign := c.After, report.Added
	if side == nil {
		side, sign = c.Before, report.Removed
	}
	if c.Change != compare.Changed && c.Change != compare.Moved {
		d.members(entriesOf(side), sign)
	}
	for _, f := range report.Fields(*c) {
		left := slices.DeleteFunc(slices.Clone(f.Lines), func(l report.Line) bool { return told[nameOf(l)] })
		if len(left) > 0 {
			d.add(d.th.Strong.Render(strings.TrimPrefix(path.Ext(f.Name), ".")))
		}
		for _, l := range left {
			d.line(l)
		}
	}
}

// breaking shows what breaks, as the source has or had it.
func (d *writer) breaking(x compare.Breaking) {
	mark, style := d.th.Glyph.Fail, d.th.Bad
	if x.Severity != compare.Error {
		mark, style = "!", d.th.Warn
	}
	what, rest, _ := strings.Cut(x.Message, ": ")
	d.add(style.Render(mark) + " " + style.Render(sanitize.Line(what)))
	if before, after, ok := strings.Cut(rest, " → "); ok {
		d.line(report.Line{Sign: report.Changed, Before: before, After: after})
		return
	}
	sign := report.Added
	first, was := x.Place()
	if was || first == 0 && strings.HasSuffix(x.Kind, "_removed") {
		sign = report.Removed
	}
	text := strings.TrimSpace(sanitize.Text(x.Source))
	if text == "" || len(widget.Wrap(text, d.w-5)) > 4 {
		text = sanitize.Line(rest)
	}
	d.signed(sign, text)
}

// users are those who import a component that breaks.
func (d *writer) users(c *compare.ContractChange) {
	if len(c.Breaking) == 0 {
		return
	}
	d.gap()
	total := max(len(c.Importers), c.ImportersTotal)
	d.add(d.th.Strong.Render("Used by ") + d.th.Muted.Render(fmt.Sprint(total)))
	place := func(one compare.Importer) string { return sanitize.Line(fmt.Sprintf("%s:%d", one.EntryID, one.Line)) }
	w := 0
	for _, one := range c.Importers {
		w = max(w, widget.Width(place(one)))
	}
	for _, one := range c.Importers {
		how := strings.Join(one.Lost, ", ")
		if how != "" {
			how = "uses " + how
		}
		if one.PassesOn {
			how = strings.TrimPrefix(how+", exports it on", ", ")
		}
		at := middle(place(one), min(w, d.w-2-min(widget.Width(how)+3, d.w/3)))
		d.add(widget.Cut("  "+d.th.Text.Render(at)+widget.Blank(min(w, d.w*2/3)-widget.Width(at))+"   "+d.th.Muted.Render(sanitize.Line(how)), d.w))
	}
	if more := total - len(c.Importers); more > 0 {
		d.add(d.th.Faint.Render(fmt.Sprintf("  and %d more", more)))
	}
}

// path says where something is.
func (d *writer) path(p string, line int) {
	at := ""
	if line > 0 {
		at = fmt.Sprintf("   %d", line)
	}
	d.add(d.th.Muted.Render(middle(sanitize.Line(p), d.w-len(at))) + d.th.Faint.Render(at))
}

// middle cuts the middle out of a path that is too long.
func middle(s string, w int) string {
	n := widget.Width(s)
	if n <= w || w < 8 {
		return widget.Cut(s, w)
	}
	left := strings.TrimSuffix(widget.Cut(s, w/2), "…") // the other half has one
	return left + widget.CutLeft(s, w-widget.Width(left))
}

// line shows one entry that differs.
func (d *writer) line(l report.Line) {
	if l.Sign == report.Changed {
		d.signed(report.Removed, l.Before)
		d.signed(report.Added, l.After)
		return
	}
	d.signed(l.Sign, l.Text)
}

// signed adds a text behind a sign.
func (d *writer) signed(sign report.Sign, text string) {
	style := signStyle(d.th, sign)
	lead := "  " + style.Render(glyph(d.th, sign)) + "  "
	for _, line := range widget.Wrap(sanitize.Text(text), max(d.w-5, 10)) {
		d.add(lead + style.Render(line))
		lead = widget.Blank(5)
	}
}

// fact is a line of the details.
func (d *writer) fact(name, text string) {
	for i, line := range widget.Wrap(sanitize.Line(text), max(d.w-12, 10)) {
		if i > 0 {
			name = ""
		}
		d.add(d.th.Faint.Render(fmt.Sprintf("%-12s", name)) + d.th.Muted.Render(line))
	}
}

// hash shows a hash before and after.
func (d *writer) hash(name, before, after string) {
	short := func(h string) string {
		_, digits, _ := strings.Cut(h, ":")
		return fmt.Sprintf("%.8s", digits)
	}
	switch text := short(before) + " " + d.th.Glyph.Right + " " + short(after); {
	case before == "" && after == "":
	case before == after:
		d.fact(name, short(before)+" same")
	default:
		d.fact(name, strings.Trim(text, " "+d.th.Glyph.Right))
	}
}

// facts say what was compared.
func (d *writer) facts(f *tui.Frame, r *compare.Result) {
	s := r.Summary
	name := report.BaselineName(r)
	if i := r.BaselineInfo; i != nil && i.SnapshotID != "" {
		name += ", " + i.SnapshotID
	}
	d.fact("baseline", name)
	if i := r.CurrentInfo; i != nil {
		d.fact("current", strings.ReplaceAll(i.Source, "private", "kept context")+", "+f.Since(r.ComparedAt))
	}
	_, contracts := report.Totals(r)
	d.fact("contracts", contracts)
	if c := r.Coverage; c != nil {
		d.fact("components", fmt.Sprintf("%d of %d seen, in %s", c.Visible, c.Components, humanize.Count(s.TotalFolders, "folder")))
	}
	if n := s.ToolOnly; n > 0 {
		d.fact("tool only", fmt.Sprint(n))
	}
	if t := s.TokenDelta; t.GPT4oMini != 0 || t.Claude != 0 {
		d.fact("tokens", report.Signed(t.GPT4oMini)+" gpt, "+report.Signed(t.Claude)+" claude")
	}
}
