package drift

import (
	"fmt"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// mode is how contracts are shown.
type mode int

const (
	unified mode = iota // what differs, field by field
	beside              // both contracts side by side
	raw                 // both contracts, one line per entry
)

// sideWidth is the width from which two contracts stand side by side.
const sideWidth = 56

// writer collects the lines of the right pane.
type writer struct {
	th   *theme.Theme
	w    int
	mode mode
	// apart is set where who is hit has a pane of its own.
	apart bool
	// digits are how many of a hash are shown.
	digits int
	out    []string
}

func (d *writer) add(line string) { d.out = append(d.out, line) }

func (d *writer) gap() {
	if len(d.out) > 0 && d.out[len(d.out)-1] != "" {
		d.add("")
	}
}

func (d *writer) wrap(style theme.Style, text string) {
	for _, line := range widget.Wrap(sanitize.Line(text), d.w) {
		d.add(style.Render(line))
	}
}

// detailLines draws what stands under the cursor.
func detailLines(th *theme.Theme, b *board, x row, m mode, w int, apart bool) []string {
	d := &writer{th: th, w: w, mode: m, digits: 8, apart: apart}
	if w < 50 {
		d.digits = 6
	}
	switch x.kind {
	case bundleRow:
		d.bundle(b, x)
	case contractRow:
		d.contract(b, x.contract)
	case folderRow:
		d.folder(x.folder)
	case contentRow:
		d.title(x.name, "", "")
		d.wrap(th.Text, "The text of this file changed, but not its contract: comments, formatting, a function body. This is not drift.")
		d.gap()
		d.wrap(th.Faint, "stamp's contracts record neither parameter types nor inline prop types. Changes to those of exported declarations are listed under signatures; for others this is unknown.")
	case uncoveredRow:
		d.title(x.name, "", "not covered")
		d.wrap(th.Text, "This file changed, but it is in no bundle on at least one side: it is beyond the depth, or in a cycle that no root reaches. It could not be compared.")
		d.gap()
		d.wrap(th.Faint, "With a commit as baseline (B) mcpdeck looks deeper; a pure cycle is never covered.")
	case signatureRow:
		d.title(x.name, "", "signature")
		d.path(fmt.Sprintf("%s:%d", x.signature.EntryID, x.signature.Line))
		d.gap()
		d.line(report.Line{Sign: report.Changed, Before: x.signature.Before, After: x.signature.After}, 0)
		d.gap()
		d.wrap(th.Faint, "Contracts do not record parameter types and inline prop types, so the status does not count this change.")
	case warningRow:
		d.title(x.name, "", "warning")
		d.wrap(th.Text, x.warning)
	case sameRow:
		if b.result.Status == compare.Pass {
			d.overview(b.result)
		} else {
			d.title(x.name, "", "")
		}
		if !x.opens {
			d.gap()
			d.wrap(th.Faint, "This result does not list unchanged folders; press r to compare again and list them.")
		}
	default:
		d.overview(b.result)
	}
	return d.out
}

func (d *writer) title(name, kind, role string) {
	right := strings.TrimSpace(kind + "   " + role)
	left := d.th.Accent.Render(sanitize.Line(name))
	if widget.Width(left)+widget.Width(right)+2 <= d.w {
		d.add(widget.Ends(left, d.th.Muted.Render(right), d.w))
		return
	}
	d.add(widget.Cut(left, d.w))
	if right != "" {
		d.add(d.th.Muted.Render(widget.Cut(right, d.w)))
	}
}

// bundle shows a root: what happened to it, and its own contract or what
// changed below it.
func (d *writer) bundle(b *board, x row) {
	c := x.bundle
	own := x.contract
	kind := ""
	if own != nil {
		kind = own.Kind
	}
	d.title(c.RootComponent, kind, "root")
	d.path(c.EntryID)
	d.add(signStyle(d.th, x.sign).Render(glyph(d.th, x.sign)) + " " + typeWords(c.Type))
	change := compare.ContractChange{}
	if own != nil {
		change = *own
	}
	if reason := report.Reason(c.Details, change, b.result.Depth()); reason != "" {
		d.wrap(d.th.Muted, reason)
	}
	d.gap()
	d.hash("semantic", c.SemanticHashBefore, c.SemanticHashAfter)
	d.hash("bundle", c.BundleHashBefore, c.BundleHashAfter)
	d.tokens(c.TokensBefore, c.TokensAfter)
	if c.Type == compare.HashChanged && c.Details != nil {
		d.through(b, c.Details)
		return
	}
	if own != nil {
		d.breaking(own)
		d.fields(own)
	}
}

func typeWords(t compare.ChangeType) string {
	switch t {
	case compare.ContractChanged:
		return "its contract changed"
	case compare.PropsChanged:
		return "its interface or exports changed"
	case compare.BundleAdded:
		return "bundle added"
	case compare.BundleRemoved:
		return "bundle removed"
	default:
		return "itself unchanged; something it reaches changed"
	}
}

// through lists what below a root changed it.
func (d *writer) through(b *board, det *compare.Details) {
	d.gap()
	list := func(sign report.Sign, ids []string) {
		for _, id := range ids {
			d.add(signStyle(d.th, sign).Render(glyph(d.th, sign)) + " " + middle(sanitize.Line(id), d.w-2))
		}
	}
	for _, dep := range det.ChangedDependencies {
		list(report.Changed, []string{dep.EntryID})
		if c := b.contracts[dep.EntryID]; c != nil {
			for _, f := range report.Fields(*c) {
				for _, l := range f.Lines {
					d.line(l, 4)
				}
			}
			for _, x := range c.Breaking {
				d.breakingLine(x, 4)
			}
		}
	}
	list(report.Added, det.AddedDependencies)
	list(report.Removed, det.RemovedDependencies)
	for _, f := range det.ModifiedFields {
		d.add(d.th.Muted.Render(f + " changed"))
	}
	if len(det.ChangedDependencies) > 0 {
		d.gap()
		d.add(d.th.Faint.Render("press enter to go to the component that caused it"))
	}
}

// contract shows one contract: what broke, where, who is hit, then the rest.
func (d *writer) contract(b *board, c *compare.ContractChange) {
	d.title(c.Name, c.Kind, c.Role)
	d.path(c.EntryID)
	d.outdated(c, b.result.Freshness)
	if reason := report.Reason(c.Details, *c, b.result.Depth()); reason != "" {
		d.wrap(d.th.Text, glyph(d.th, report.SignOfContract(*c))+" "+reason)
	}
	d.breaking(c)
	if !d.apart {
		d.hit(c, 0)
	}
	if c.Change != compare.Changed && c.Change != compare.Moved {
		d.members(c)
	}
	d.fields(c)
	d.gap()
	d.hash("semantic", c.SemanticHashBefore, c.SemanticHashAfter)
	d.hash("file", c.FileHashBefore, c.FileHashAfter)
}

// members lists what a component that is there on one side only consists of.
func (d *writer) members(c *compare.ContractChange) {
	side, sign := c.After, report.Added
	if side == nil {
		side, sign = c.Before, report.Removed
	}
	d.gap()
	field := ""
	for _, e := range entriesOf(side) {
		if e.field != field {
			field = e.field
			d.add(d.th.Strong.Render(field))
		}
		d.line(report.Line{Sign: sign, Text: e.text}, 2)
	}
}

func (d *writer) path(p string) { d.add(d.th.Muted.Render(middle(sanitize.Line(p), d.w))) }

// middle cuts the middle out of a path that is too long.
func middle(s string, w int) string {
	n := widget.Width(s)
	if n <= w || w < 8 {
		return widget.Cut(s, w)
	}
	left := strings.TrimSuffix(widget.Cut(s, w/2), "…") // the other half has one
	return left + widget.CutLeft(s, w-widget.Width(left))
}

// hash shows a hash before and after; what differs is strong.
func (d *writer) hash(name, before, after string) {
	if before == "" && after == "" {
		return
	}
	short := func(h string) string {
		_, digits, ok := strings.Cut(h, ":")
		if !ok {
			digits = h
		}
		return sanitize.Line(digits[:min(len(digits), d.digits)])
	}
	label := d.th.Faint.Render(fmt.Sprintf("%-9s ", name))
	switch {
	case before == after:
		d.add(label + d.th.Faint.Render(short(before)+" same"))
	case before == "":
		d.add(label + d.th.Strong.Render(short(after)))
	case after == "":
		d.add(label + d.th.Strong.Render(short(before)))
	default:
		d.add(label + short(before) + " " + d.th.Glyph.Right + " " + d.th.Strong.Render(short(after)))
	}
}

func (d *writer) tokens(before, after int) {
	if before == 0 && after == 0 {
		return
	}
	text := fmt.Sprintf("%d %s %d (%s)", before, d.th.Glyph.Right, after, ascii(d.th, report.Signed(after-before)))
	if before == after {
		text = fmt.Sprint(after)
	}
	d.add(d.th.Faint.Render("tokens    ") + text)
}

// fields shows a contract in the mode that was chosen.
func (d *writer) fields(c *compare.ContractChange) {
	d.gap()
	if d.mode != unified && (c.Before != nil || c.After != nil) {
		d.whole(c)
		return
	}
	for _, f := range report.Fields(*c) {
		name := d.th.Strong
		if f.Changed == 0 {
			name = d.th.Faint
		}
		d.add(widget.Ends(name.Render(f.Name), d.th.Faint.Render(f.Note()), d.w))
		for _, l := range f.Lines {
			d.line(l, 2)
		}
		if rest := f.Total - f.Changed; f.Changed > 0 && rest > 0 {
			d.add(d.th.Faint.Render(fmt.Sprintf("  %s %d unchanged", glyph(d.th, report.Same), rest)))
		}
	}
}

// line shows one entry that differs: a changed one on one line if it fits, else
// on two with the differing words strong.
func (d *writer) line(l report.Line, indent int) {
	style := signStyle(d.th, l.Sign)
	lead := widget.Blank(indent) + style.Render(glyph(d.th, l.Sign)) + " "
	room := d.w - indent - 2
	if l.Sign != report.Changed {
		for i, text := range widget.Wrap(sanitize.Line(l.Text), room) {
			if i > 0 {
				lead = widget.Blank(indent + 2)
			}
			d.add(lead + style.Render(text))
		}
		return
	}
	before, after := sanitize.Line(l.Before), sanitize.Line(l.After)
	was, is := wordDiff(before, after)
	if widget.Width(before)+widget.Width(after)+3 <= room {
		d.add(lead + marked(d.th, d.th.Removed, was) + d.th.Muted.Render(" "+d.th.Glyph.Right+" ") + marked(d.th, d.th.Added, is))
		return
	}
	for _, half := range []struct {
		sign   report.Sign
		pieces []piece
	}{{report.Removed, was}, {report.Added, is}} {
		style := signStyle(d.th, half.sign)
		lead := widget.Blank(indent) + style.Render(glyph(d.th, half.sign)) + " "
		for i, text := range wrapPieces(half.pieces, room) {
			if i > 0 {
				lead = widget.Blank(indent + 2)
			}
			d.add(lead + marked(d.th, style, text))
		}
	}
}

func (d *writer) folder(f *compare.FolderDiff) {
	d.title(f.Path, "", string(f.Status))
	count := map[compare.ChangeType]int{}
	for _, c := range f.Changes {
		count[c.Type]++
	}
	for _, t := range []compare.ChangeType{compare.BundleAdded, compare.BundleRemoved, compare.ContractChanged, compare.PropsChanged, compare.HashChanged} {
		if n := count[t]; n > 0 {
			d.add(fmt.Sprintf("%4d  %s", n, typeWords(t)))
		}
	}
	if len(f.Changes) == 0 {
		d.add(d.th.Faint.Render("nothing changed"))
	}
}

// overview says what was compared: the right pane when nothing is selected.
func (d *writer) overview(r *compare.Result) {
	s := r.Summary
	if r.Status == compare.Pass {
		d.add(statusStyle(d.th, r).Render("No contract changed."))
	}
	d.gap()
	line := func(name, text string) { d.add(d.th.Faint.Render(fmt.Sprintf("%-14s", name)) + text) }
	line("folders", fmt.Sprint(s.TotalFolders))
	if c := r.Coverage; c != nil {
		line("components", fmt.Sprintf("%d of %d seen", c.Visible, c.Components))
	}
	line("content only", humanize.Count(s.ContentOnly, "file"))
	if s.ToolOnly > 0 {
		line("tool only", humanize.Count(s.ToolOnly, "contract"))
	}
	if f := r.Freshness; f != nil && f.State == "stale" {
		d.gap()
		d.wrap(d.th.Warn, "The current side is older than the sources; press F to analyse them.")
	}
}
