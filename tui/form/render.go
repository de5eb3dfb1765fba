package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	model "github.com/mcpdeck/mcpdeck/servers/support/form"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

const (
	listRows  = 8 // of options that are found by typing
	aboutRows = 4 // of what a schema says about the field under the cursor
)

// drawing is the rows of a form while they are drawn.
type drawing struct {
	f    *Form
	th   *theme.Theme
	w    int
	name int // cells of the names

	rows        []string
	clicks      []func() tea.Cmd // by row; nil: none
	first, last int              // rows of the field under the cursor
	at          int              // the one of these that must be seen; -1: none
	x, y        int              // of the text cursor; y -1: none
}

// Render draws the form, f.H rows of f.W cells.
func (f *Form) Render(fr *tui.Frame) []string {
	th := fr.Theme
	top := f.warning(th, fr.W)
	if f.asJSON {
		return f.renderJSON(fr, top)
	}
	d := &drawing{f: f, th: th, w: fr.W - 1, at: -1, y: -1}
	d.name = d.names()
	for i := range f.fields {
		d.field(i)
	}
	d.send()
	h := max(fr.H-len(top), 1)
	if f.follow {
		f.bring(d, h)
	}
	body := f.scroll.Render(th, d.rows, fr.W, h)
	f.areas = f.areas[:0]
	for y := range h {
		if i := f.scroll.Top + y; i < len(d.rows) && d.clicks[i] != nil {
			f.areas = append(f.areas, tui.Area{X: 0, Y: len(top) + y, W: fr.W, H: 1, Run: d.clicks[i]})
		}
	}
	if y := d.y - f.scroll.Top; d.y >= 0 && y >= 0 && y < h {
		fr.Cursor(d.x, len(top)+y)
	}
	return append(top, body...)
}

// bring brings the field under the cursor into view.
func (f *Form) bring(d *drawing, h int) {
	top := f.scroll.Top
	if d.last-top >= h {
		top = d.last - h + 1
	}
	top = min(top, d.first)
	if d.at >= 0 {
		top = max(min(top, d.at), d.at-h+1)
	}
	f.scroll.Top = max(top, 0)
}

// warning is about fields that no form should have.
func (f *Form) warning(th *theme.Theme, w int) []string {
	names := model.Secrets(f.fields)
	if len(names) == 0 {
		return nil
	}
	text := "looks like a secret: " + sanitize.Bare(strings.Join(names, ", "))
	if more := text + "; servers must not ask for one in a form"; widget.Width(more) <= w {
		text = more
	}
	return []string{widget.Fit(th.Warn.Render(widget.Cut(text, w)), w)}
}

func (f *Form) renderJSON(fr *tui.Frame, top []string) []string {
	th := fr.Theme
	top = append(top, widget.Fit(th.Muted.Render("as JSON"), fr.W))
	h := max(fr.H-len(top), 1)
	rows, x, y := f.edit.Render(th, fr.W-2, h, true)
	fr.Cursor(x+2, len(top)+y)
	for i := range rows {
		rows[i] = th.Accent.Render(th.Glyph.Focus.Left) + " " + rows[i]
	}
	return append(top, rows...)
}

// names is how many cells the names take.
func (d *drawing) names() int {
	most := 0
	for _, field := range d.f.fields {
		if !field.Heading() && field.Role != model.Added {
			most = max(most, 2*field.Depth+widget.Width(sanitize.Bare(field.Name))+1)
		}
	}
	return min(max(most, 4), d.w*2/5)
}

func (d *drawing) add(click func() tea.Cmd, rows ...string) {
	for _, r := range rows {
		d.rows, d.clicks = append(d.rows, r), append(d.clicks, click)
	}
}

// field draws a field: its name and value, and under the cursor what there is to know
// and to choose from.
func (d *drawing) field(i int) {
	f, th := d.f, d.th
	field := f.fields[i]
	here := i == f.cursor
	click := func() tea.Cmd { f.pointAt(i); return nil }
	start := len(d.rows)
	typing := here && f.open && !chooses(field)
	if typing {
		d.typing(field, click)
	} else {
		d.add(click, d.label(field, here)+" "+widget.Cut(d.value(field), max(d.w-d.name-4, 4)))
	}
	if here {
		for _, l := range d.about(field) {
			d.add(nil, "    "+l)
		}
		if f.open && chooses(field) {
			d.options(field)
		}
	}
	if p := f.problem(field); p != nil && (f.tried || p.Soft) && (!typing || f.tried) {
		for _, l := range widget.Wrap(sanitize.Bare(p.Text), max(d.w-6, 4)) {
			d.add(nil, "    "+th.Warn.Render("! "+l))
		}
	}
	if here {
		d.first, d.last = start, len(d.rows)-1
	}
}

// problem is what is wrong with a field itself; nil for nothing.
func (f *Form) problem(field model.Field) *model.Problem {
	if field.Role == model.Added || field.Role == model.Extra {
		return nil
	}
	if i := slices.IndexFunc(f.problems, func(p model.Problem) bool { return p.Path == field.Path }); i >= 0 {
		return &f.problems[i]
	}
	return nil
}

// missing reports whether a field has no answer and needs one.
func (f *Form) missing(field model.Field) bool {
	return field.Required && takes(field) && field.Words() == "" && f.problem(field) != nil
}

// label is the beginning of a field's row: the cursor, and its name.
func (d *drawing) label(field model.Field, here bool) string {
	th := d.th
	mark, style := "  ", th.Muted
	if here {
		mark, style = th.Accent.Render(th.Glyph.Right)+" ", th.Strong
	}
	name := sanitize.Bare(field.Name)
	w := d.name
	switch {
	case field.Role == model.Added:
		name, w = "+ add", d.w-8
	case field.Heading():
		w = d.w - 8 // its value is short
		if !here {
			style = th.Title
		}
	}
	indent := min(2*field.Depth, w/2)
	star := ""
	if field.Required && field.Role == model.Member {
		star = "*"
		if d.f.missing(field) {
			star = th.Warn.Render(star)
		} else {
			star = th.Faint.Render(star)
		}
	}
	text := strings.Repeat(" ", indent) + style.Render(widget.Cut(name, w-indent-widget.Width(star))) + star
	if field.Heading() || field.Role == model.Added {
		return mark + text
	}
	return mark + widget.Fit(text, w)
}

// value is what a field has, on one line.
func (d *drawing) value(field model.Field) string {
	th := d.th
	words := sanitize.Line(field.Words())
	n := len(field.Shape.Options)
	switch {
	case field.Role == model.Added:
		return ""
	case field.Closed() && !field.Value.Null:
		return th.Faint.Render("not set")
	case field.Heading() && field.Kind() == model.List:
		return th.Muted.Render(humanize.Count(len(field.Value.Entries), "entry"))
	case field.Heading():
		return ""
	case words != "" && field.Value.Given:
		return th.Text.Render(words) + th.Faint.Render(" (default)")
	case words != "":
		return th.Text.Render(words)
	}
	if s := sanitize.Bare(field.Suggested()); s != "" {
		return th.Faint.Render("default: " + s)
	}
	switch field.Kind() {
	case model.Several:
		return th.Faint.Render(fmt.Sprintf("any of %d", n))
	case model.Choice, model.Variant:
		return th.Faint.Render(fmt.Sprintf("one of %d", n))
	case model.JSON:
		return th.Faint.Render("JSON")
	default:
		return th.Faint.Render("-")
	}
}

// about is what the schema says of a field.
func (d *drawing) about(field model.Field) []string {
	if field.Role == model.Added || field.Role == model.Extra {
		return nil
	}
	s := field.Shape
	var facts []string
	switch {
	case s.Integer:
		facts = append(facts, "whole number")
	case field.Kind() == model.Number:
		facts = append(facts, "number")
	case field.Kind() == model.Text && s.Format != "":
		facts = append(facts, sanitize.Bare(s.Format))
	case field.Kind() == model.JSON && takes(field):
		facts = append(facts, "any value, as JSON")
	}
	if s.Limits != "" {
		facts = append(facts, sanitize.Bare(s.Limits))
	}
	if s.Nullable {
		facts = append(facts, "may be null")
	}
	var rows []string
	w := max(d.w-4, 4)
	if text := sanitize.BareText(s.About); text != "" {
		rows = widget.Spanned(d.th, d.th.Muted, text, w)
	}
	if len(facts) > 0 { // patterns among them, which are no Markdown
		rows = append(rows, widget.Paragraph(d.th.Muted, "", strings.Join(facts, ", "), w)...)
	}
	if len(rows) > aboutRows {
		rows = append(rows[:aboutRows-1], rows[len(rows)-1])
	}
	return rows
}

// typing draws a field that is being typed.
func (d *drawing) typing(field model.Field, click func() tea.Cmd) {
	th := d.th
	w := max(d.w-d.name-5, 4)
	h := min(d.f.edit.Rows(w), 12)
	rows, x, y := d.f.edit.Render(th, w, h, true)
	d.x, d.y = d.name+5+x, len(d.rows)+y
	d.at = d.y
	before := d.label(field, true)
	for _, r := range rows {
		d.add(click, before+" "+th.Accent.Render(th.Glyph.Focus.Left)+" "+r)
		before = strings.Repeat(" ", d.name+2)
	}
}

// options draws what a field is chosen from.
func (d *drawing) options(field model.Field) {
	f, th := d.f, d.th
	n, from := len(f.found), 0
	if f.Part() == PartFilter {
		edit, x, _ := f.edit.Render(th, max(d.w-8, 4), 1, true)
		d.x, d.y = 6+x, len(d.rows)
		if f.edit.Empty() {
			edit[0] = th.Faint.Render("type to find one of " + strconv.Itoa(len(field.Shape.Options)))
		}
		d.add(nil, "    "+th.Key.Render("> ")+edit[0])
		from = min(max(f.list.Cursor-listRows/2, 0), max(n-listRows, 0))
		n = min(from+listRows, n)
	}
	if n == 0 {
		d.add(nil, "      "+th.Faint.Render("no matches"))
	}
	for at := from; at < n; at++ {
		if at == f.list.Cursor {
			d.at = len(d.rows)
		}
		row := d.option(field, at)
		if at == n-1 && n < len(f.found) {
			row = widget.Ends(row, th.Faint.Render(th.Glyph.Down+strconv.Itoa(len(f.found)-n)), d.w)
		}
		if at == from && from > 0 {
			row = widget.Ends(row, th.Faint.Render(th.Glyph.Up+strconv.Itoa(from)), d.w)
		}
		d.add(func() tea.Cmd { f.list.MoveTo(at); f.toggle(); return nil }, row)
	}
}

// option draws one option.
func (d *drawing) option(field model.Field, at int) string {
	f, th := d.f, d.th
	g := th.Glyph
	i := f.found[at]
	mark, style := "  ", th.Text
	if at == f.list.Cursor {
		mark, style = th.Accent.Render(g.Right)+" ", th.Strong
	}
	chosen := slices.Contains(field.Value.Chosen, i)
	sign := th.Muted.Render(g.Off)
	switch several := field.Kind() == model.Several; {
	case several && chosen:
		sign = th.Good.Render(g.Check)
	case several:
		sign = th.Muted.Render(g.Uncheck)
	case chosen:
		sign = th.Good.Render(g.On)
	}
	number := ""
	if f.Part() == PartOptions {
		number = th.Faint.Render(strconv.Itoa(i+1)) + " "
	}
	return "    " + mark + sign + " " + number + style.Render(widget.Cut(sanitize.Bare(field.Shape.Options[i].Title), max(d.w-14, 4)))
}

// send draws the last row.
func (d *drawing) send() {
	f, th := d.f, d.th
	missing := 0
	for _, field := range f.fields {
		if f.missing(field) {
			missing++
		}
	}
	note := ""
	switch {
	case missing == 1:
		note = "1 required answer is missing"
	case missing > 1:
		note = strconv.Itoa(missing) + " required answers are missing"
	}
	mark, style := "  ", th.Text
	here := f.cursor >= len(f.fields)
	if here {
		mark, style = th.Accent.Render(th.Glyph.Right)+" ", th.Strong
	}
	d.add(nil, "")
	d.add(func() tea.Cmd { f.move(100_000); return nil }, mark+style.Render("[ "+f.opt.Send+" ]")+" "+th.Muted.Render(note))
	if here {
		d.first, d.last = len(d.rows)-1, len(d.rows)-1
	}
}

// pointAt is a click on a field.
func (f *Form) pointAt(i int) {
	f.close()
	f.cursor, f.message = i, ""
	f.do()
	f.told()
}
