package drift

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// outdated says that the file is another than the one that was analysed.
func (d *writer) outdated(c *compare.ContractChange, f *compare.Freshness) {
	switch {
	case f == nil:
	case slices.Contains(f.ChangedFiles, c.EntryID):
		d.wrap(d.th.Warn, "changed since the analysis; press F to analyse it again")
	case slices.Contains(f.DeletedFiles, c.EntryID):
		d.wrap(d.th.Warn, "deleted since the analysis; press F to analyse the project again")
	}
}

func (d *writer) breaking(c *compare.ContractChange) {
	if len(c.Breaking) == 0 {
		return
	}
	d.gap()
	for _, x := range c.Breaking {
		d.breakingLine(x, 0)
		d.source(x)
	}
}

// source shows what the file has, or had, where it breaks.
func (d *writer) source(x compare.Breaking) {
	first, was := x.Place()
	if first == 0 {
		return
	}
	tag := ""
	if was {
		tag = "was "
	}
	lines := outdent(strings.Split(sanitize.Text(x.Source), "\n"))
	digits := len(strconv.Itoa(first + len(lines) - 1))
	room := max(d.w-2-len(tag)-digits-3, 10)
	for i, line := range lines {
		lead := fmt.Sprintf("%s%*d", tag, digits, first+i)
		for _, text := range widget.Wrap(around(line, broken(x), 2*room), room) {
			d.add("  " + d.th.Faint.Render(lead+" "+d.th.Glyph.Frame.Left+" ") + d.named(text, x))
			lead = widget.Blank(len(lead))
		}
		tag = widget.Blank(len(tag))
	}
}

// outdent takes away the indentation that all lines have.
func outdent(lines []string) []string {
	least := math.MaxInt
	for _, line := range lines {
		if text := strings.TrimLeft(line, " "); text != "" {
			least = min(least, len(line)-len(text))
		}
	}
	for i, line := range lines {
		lines[i] = strings.TrimRight(line[min(least, len(line)):], " ")
	}
	return lines
}

// around cuts a line to w cells that show a name in it.
func around(line, name string, w int) string {
	before, _, named := strings.Cut(line, name)
	over := min(widget.Width(before)+widget.Width(name)+w/4, widget.Width(line)) - w
	if named && over > 0 {
		line = widget.CutLeft(line, widget.Width(line)-over)
	}
	return widget.Cut(line, w)
}

// broken is the name that breaks: of a member, without that of its type.
func broken(x compare.Breaking) string {
	if _, member, ok := strings.Cut(x.Message, x.Name+"."); ok {
		member, _, _ = strings.Cut(member, " ")
		return strings.TrimRight(member, "?:")
	}
	return x.Name
}

// named makes the name strong that broke.
func (d *writer) named(text string, x compare.Breaking) string {
	name := broken(x)
	before, after, ok := strings.Cut(text, name)
	if !ok || name == "" {
		return d.th.Text.Render(text)
	}
	return d.th.Text.Render(before) + d.th.Match.Render(name) + d.th.Text.Render(after)
}

func (d *writer) breakingLine(x compare.Breaking, indent int) {
	sign, style := report.Breaking, d.th.Bad
	if x.Severity != compare.Error {
		sign, style = report.Warning, d.th.Warn
	}
	lead := widget.Blank(indent) + style.Render(glyph(d.th, sign)) + " "
	what, rest, _ := strings.Cut(x.Message, ": ")
	if before, after, ok := strings.Cut(rest, " → "); ok {
		d.add(lead + style.Render(sanitize.Line(what)))
		d.line(report.Line{Sign: report.Changed, Before: before, After: after}, indent+4)
		return
	}
	text := widget.Wrap(ascii(d.th, sanitize.Line(what+": "+rest)), max(d.w-widget.Width(lead), 10))
	for i, line := range text {
		if i > 0 {
			lead = widget.Blank(indent + 2)
		}
		if head, tail, ok := strings.Cut(line, ": "); ok && i == 0 {
			line = style.Render(head+": ") + d.th.Strong.Over(style.Render(tail))
		} else {
			line = style.Render(line)
		}
		d.add(lead + line)
	}
}

// hit shows who imports a component that breaks, and in whose bundles it is. A
// height bounds how many are named; 0 is a few.
func (d *writer) hit(c *compare.ContractChange, h int) {
	most := 5
	if h > 0 {
		most = max(h-6, 5)
	}
	if len(c.Importers) > 0 {
		d.gap()
		total := max(len(c.Importers), c.ImportersTotal)
		d.add(d.th.Strong.Render("imported by ") + d.th.Muted.Render(fmt.Sprint(total)))
		for i, one := range c.Importers {
			if i == most {
				d.add(d.th.Faint.Render(fmt.Sprintf("  and %d more", total-i)))
				break
			}
			d.importer(one)
		}
	} else if len(c.Breaking) > 0 {
		d.gap()
		d.add(d.th.Faint.Render("no importer affected"))
	}
	affects := slices.DeleteFunc(slices.Clone(c.Affects), func(p string) bool { return p == c.EntryID }) // its own bundle
	if len(affects) == 0 {
		return
	}
	n := max(len(affects), c.AffectsTotal)
	if h == 0 {
		text := "in the bundle of " + strings.Join(affects[:min(len(affects), 3)], ", ")
		if n > 3 {
			text += fmt.Sprintf(" and %d more", n-3)
		}
		d.wrap(d.th.Faint, text)
		return
	}
	d.gap()
	d.add(d.th.Strong.Render("in the bundles of ") + d.th.Muted.Render(fmt.Sprint(n)))
	for _, root := range affects {
		d.add("  " + d.th.Muted.Render(middle(sanitize.Line(root), d.w-2)))
	}
}

// importer is one line: where, and what of it breaks.
func (d *writer) importer(one compare.Importer) {
	place := sanitize.Line(fmt.Sprintf("%s:%d", one.EntryID, one.Line))
	lost := sanitize.Line(strings.Join(one.Lost, ", "))
	if one.PassesOn {
		lost = strings.TrimSpace(lost + " exports it on")
	}
	if lost != "" {
		lost = "  " + widget.Cut(lost, max(d.w/3, 8))
	}
	style := d.th.Text
	if len(one.Lost) == 0 {
		style = d.th.Muted
	}
	d.add("  " + style.Render(middle(place, d.w-2-widget.Width(lost))) + d.th.Bad.Render(lost))
}
