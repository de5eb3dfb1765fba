package drift

import (
	"fmt"
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

// members lists a contract that is there on one side only.
func (d *writer) members(list []entry, sign report.Sign) {
	field := ""
	for _, e := range list {
		if e.field != field {
			field = e.field
			d.add(d.th.Strong.Render(field))
		}
		d.signed(sign, e.text)
	}
}

// pair is an entry of both sides; one of the texts is "" when a side has none.
type pair struct{ field, before, after string }

// align puts the entries of two contracts beside each other by field and key.
func align(before, after []entry) []pair {
	var out []pair
	var fields []string
	at := map[string]int{}
	for i, e := range append(slices.Clip(before), after...) {
		key := e.field + "\x00" + e.key
		j, known := at[key]
		if !known {
			at[key] = len(out)
			out = append(out, pair{field: e.field})
			if j = len(out) - 1; !slices.Contains(fields, e.field) {
				fields = append(fields, e.field)
			}
		}
		if i < len(before) {
			out[j].before = e.text
		} else {
			out[j].after = e.text
		}
	}
	slices.SortStableFunc(out, func(x, y pair) int { return slices.Index(fields, x.field) - slices.Index(fields, y.field) })
	return out
}

// sideWidth is the width from which two contracts stand side by side.
const sideWidth = 56

// contracts shows both contracts, side by side or one line per entry.
func (d *writer) contracts(c *compare.ContractChange) {
	side, half, field := d.w >= sideWidth, (d.w-3)/2, ""
	if side {
		d.columns("before", "after", half, true)
	}
	for _, p := range align(entriesOf(c.Before), entriesOf(c.After)) {
		if p.field != field {
			field = p.field
			d.add(d.th.Strong.Render(field))
		}
		switch {
		case p.before == p.after && side:
			d.columns(p.before, p.after, half, true)
		case p.before == p.after:
			d.add(d.th.Faint.Render("     " + widget.Cut(sanitize.Line(p.before), d.w-5)))
		case side:
			d.columns(p.before, p.after, half, false)
		default:
			if p.before != "" {
				d.signed(report.Removed, p.before)
			}
			if p.after != "" {
				d.signed(report.Added, p.after)
			}
		}
	}
}

// columns adds an entry of two sides, in as many rows as the longer one takes.
func (d *writer) columns(before, after string, half int, same bool) {
	left, right, marks := d.th.Removed, d.th.Added, []string{"−", "+"}
	if same {
		left, right, marks = d.th.Faint, d.th.Faint, []string{" ", " "}
	}
	rows := func(text, mark string) []string {
		if text == "" {
			mark = " "
		}
		rows := widget.Wrap(sanitize.Line(text), half-2)
		for i := range rows {
			rows[i] = mark + " " + rows[i]
			mark = " "
		}
		return rows
	}
	a, b := rows(before, marks[0]), rows(after, marks[1])
	n := max(len(a), len(b))
	a, b = widget.Rows(a, half, n), widget.Rows(b, half, n)
	for i := range n {
		d.add(left.Render(a[i]) + " " + d.th.Border.Render(d.th.Glyph.Frame.Left) + " " + right.Render(b[i]))
	}
}

// lines shows what differs in a source, with the numbers of the lines.
func (d *writer) lines(list []compare.SourceLine) {
	last := 0
	for _, l := range list {
		sign, n := report.Sign(' '), l.New
		style := d.th.Text
		switch {
		case l.New == 0:
			sign, n = report.Removed, l.Old
			style = d.th.Removed
		case l.Old == 0:
			sign, style = report.Added, d.th.Added
		}
		if last > 0 && n > last+2 {
			d.add(d.th.Faint.Render("  ⋮"))
		}
		last = n
		lead := d.th.Faint.Render(fmt.Sprintf("%3d ", n)) + style.Render(string(rune(sign))) + " "
		for _, text := range widget.Wrap(strings.TrimRight(sanitize.Text(l.Text), " "), max(d.w-6, 10)) {
			d.add(lead + style.Render(text))
			lead = widget.Blank(6)
		}
	}
}
