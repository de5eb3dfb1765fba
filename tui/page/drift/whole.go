package drift

import (
	"maps"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/compare"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/contract"
	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/report"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// entry is one line of a normalised contract: a key, which aligns the two
// sides, and its text.
type entry struct{ field, key, text string }

// entriesOf lists a contract in the order of the fields.
func entriesOf(c *contract.Contract) []entry {
	if c == nil {
		return nil
	}
	var out []entry
	types := func(field string, m map[string]contract.Type) {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, entry{field, name, compare.Typed(name, m[name])})
		}
	}
	set := func(field string, list []string) {
		for _, name := range list {
			out = append(out, entry{field, name, name})
		}
	}
	text := func(field, v string) {
		if v != "" {
			out = append(out, entry{field, "", v})
		}
	}
	types("props", c.Props)
	types("emits", c.Emits)
	types("state", c.State)
	text("apiSignature", c.API)
	if c.Exports.Default {
		set("exports", []string{"default"})
	}
	set("exports", c.Exports.Names)
	if c.Exports.Unnamed || !c.Exports.Known() {
		text("exports", strings.Trim(c.Exports.Raw, `"`))
	}
	set("hooks", c.Hooks)
	set("components", c.Components)
	set("functions", c.Functions)
	set("variables", c.Variables)
	set("imports", c.Imports)
	set("languageSpecific", c.Language)
	text("kind", c.Kind)
	text("nextjs", c.NextJS)
	text("style", c.Style)
	return out
}

// pair is an entry of both sides; one of the texts is "" when a side has none.
type pair struct {
	field         string
	before, after string
}

func (p pair) sign() report.Sign {
	switch {
	case p.before == p.after:
		return report.Same
	case p.before == "":
		return report.Added
	case p.after == "":
		return report.Removed
	}
	return report.Changed
}

// align puts the entries of two contracts beside each other by field and key.
func align(before, after *contract.Contract) []pair {
	a, b := entriesOf(before), entriesOf(after)
	var out []pair
	at := map[string]int{}
	for _, e := range a {
		at[e.field+"\x00"+e.key] = len(out)
		out = append(out, pair{field: e.field, before: e.text})
	}
	var extra []pair
	for _, e := range b {
		if i, ok := at[e.field+"\x00"+e.key]; ok {
			out[i].after = e.text
		} else {
			extra = append(extra, pair{field: e.field, after: e.text})
		}
	}
	order := []string{"props", "emits", "state", "apiSignature", "exports", "hooks", "components", "functions", "variables", "imports", "languageSpecific", "kind", "nextjs", "style"}
	out = append(out, extra...)
	slices.SortStableFunc(out, func(x, y pair) int { return slices.Index(order, x.field) - slices.Index(order, y.field) })
	return out
}

// whole shows both contracts, side by side or one line per entry.
func (d *writer) whole(c *compare.ContractChange) {
	field := ""
	half := (d.w - 3) / 2
	side := d.mode == beside && d.w >= sideWidth
	if side {
		d.add(d.th.Faint.Render(widget.Fit("before", half)) + " " + d.th.Border.Render(d.th.Glyph.Frame.Left) + " " + d.th.Faint.Render("after"))
	}
	for _, p := range align(c.Before, c.After) {
		if p.field != field {
			field = p.field
			d.add(d.th.Strong.Render(field))
		}
		p.before, p.after = sanitize.Line(p.before), sanitize.Line(p.after)
		sign := p.sign()
		if side {
			d.pairSide(p, sign, half)
			continue
		}
		switch sign {
		case report.Same:
			d.add(d.th.Faint.Render("  " + widget.Cut(glyph(d.th, sign)+" "+p.before, d.w-2)))
		case report.Changed:
			d.line(report.Line{Sign: report.Removed, Text: p.before}, 2)
			d.line(report.Line{Sign: report.Added, Text: p.after}, 2)
		case report.Added:
			d.line(report.Line{Sign: sign, Text: p.after}, 2)
		default:
			d.line(report.Line{Sign: sign, Text: p.before}, 2)
		}
	}
}

// pairSide adds an entry of the side by side view, in as many rows as the longer
// side takes.
func (d *writer) pairSide(p pair, sign report.Sign, half int) {
	left, right := d.th.Faint, d.th.Faint
	if sign != report.Same {
		left, right = signStyle(d.th, report.Removed), signStyle(d.th, report.Added)
	}
	mark := signStyle(d.th, sign).Render(glyph(d.th, sign))
	before, after := widget.Wrap(p.before, half), widget.Wrap(p.after, half)
	row := func(rows []string, i int) string {
		if i < len(rows) {
			return rows[i]
		}
		return ""
	}
	for i := range max(len(before), len(after), 1) {
		if i > 0 {
			mark = " "
		}
		d.add(left.Render(widget.Fit(row(before, i), half)) + " " + mark + " " + right.Render(row(after, i)))
	}
}
