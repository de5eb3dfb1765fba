package inbox

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// optionRows are the rows of all options.
type optionRows struct {
	rows        []string
	owner       []int // option of each row
	first, last int   // rows of the one under the cursor
	caret       int   // row with the text cursor; -1: none
	x           int   // its column

	above, below int // rows of the open text that are not among rows
}

// optionRows draws the options; all reports whether each shows its description,
// else only the one under the cursor does.
func (k *question) optionRows(f *tui.Frame, w int, all bool) optionRows {
	q, a := k.q, k.a
	o := optionRows{caret: -1}
	labels := shownLabels(q)
	for i, opt := range q.Options {
		at := i == a.Cursor
		start := len(o.rows)
		o.add(i, k.optionHead(f, i, labels[i], w)...)
		if opt.Description != "" && (all || at) {
			for _, l := range widget.Spanned(f.Theme, f.Theme.Muted, sanitize.BareText(opt.Description), max(w-8, 4)) {
				o.add(i, strings.Repeat(" ", indent)+l)
			}
		}
		if k.draft.Field == questions.NoteField && k.draft.Option == i {
			k.editRows(f, &o, i, indent, w)
		}
		if at {
			o.first, o.last = start, len(o.rows)-1
		}
	}
	if q.HasOther() {
		start := len(o.rows)
		k.otherRows(f, &o, w)
		if onOther(q, a) {
			o.first, o.last = start, len(o.rows)-1
		}
	}
	if k.draft.Field == questions.ClarifyField || a.Asks {
		k.clarifyRows(f, &o, w)
	}
	return o
}

func (o *optionRows) add(owner int, rows ...string) {
	for _, r := range rows {
		o.rows = append(o.rows, r)
		o.owner = append(o.owner, owner)
	}
}

// indent is where labels begin, and what stands below them.
const indent = 7

// hung puts lead before the first of rows, and room for it before the others.
func hung(lead string, rows []string) []string {
	out := make([]string, len(rows), len(rows)+1)
	for i, row := range rows {
		out[i] = lead + row
		lead = strings.Repeat(" ", indent)
	}
	return out
}

// optionMark is the cursor, the mark of choice and the number before option i.
func (k *question) optionMark(th *theme.Theme, i int, chosen bool) (lead string, style theme.Style) {
	lead, style = " ", th.Text
	if i == k.a.Cursor {
		style = th.Strong
		switch {
		case k.open:
			lead = th.Key.Render(th.Glyph.Cursor)
		case th.Glyph.ASCII:
			lead = th.Accent.Render(">")
		default:
			lead = th.Accent.Render("›")
		}
	}
	in := " "
	if chosen {
		in = "•"
		if th.Glyph.ASCII {
			in = "*"
		}
	}
	mark := th.Muted.Render("(" + in + ")")
	switch {
	case k.q.Multi && chosen:
		mark = th.Good.Render(th.Glyph.Check)
	case k.q.Multi:
		mark = th.Muted.Render(th.Glyph.Uncheck)
	case chosen:
		mark = th.Good.Render("(" + in + ")")
	}
	number := " "
	if i < 9 {
		number = strconv.Itoa(i + 1)
	}
	return lead + mark + " " + th.Faint.Render(number) + " ", style
}

// optionHead is the label of option i with its marks and its note, wrapped.
func (k *question) optionHead(f *tui.Frame, i int, label string, w int) []string {
	th, q, a := f.Theme, k.q, k.a
	lead, style := k.optionMark(th, i, slices.Contains(a.Chosen, i))
	text := widget.Spans(th, style, label)
	if note := strings.TrimSpace(sanitize.Line(a.Notes[i])); note != "" && (k.draft.Field != questions.NoteField || k.draft.Option != i) {
		text += style.Render(dash(th) + note)
	}
	tail := ""
	if slices.Contains(q.Recommended, i) && !questions.MarkedRecommended(q.Options[i].Label) {
		tail = "  recommended"
	}
	lines := widget.Closed(widget.Wrap(text, max(w-indent-1, 4)))
	out := hung(lead, lines)
	if tail != "" {
		end := len(out) - 1
		if widget.Width(out[end])+len(tail) > w {
			out = append(out, strings.Repeat(" ", indent-2)+th.Good.Render(tail))
		} else {
			out[end] += th.Good.Render(tail)
		}
	}
	return out
}

// otherRows is the free-text row, with the field when it is open.
func (k *question) otherRows(f *tui.Frame, o *optionRows, w int) {
	th, q, a := f.Theme, k.q, k.a
	n := len(q.Options)
	editing := k.draft.Field == questions.OtherField
	if n == 0 {
		if editing {
			k.editRows(f, o, n, 1, w)
			return
		}
		text := sanitize.Text(a.Other)
		if strings.TrimSpace(text) == "" {
			hint := "enter opens a field for your answer"
			if a.Skipped {
				hint = "skipped"
			}
			if q.Placeholder != "" && !a.Skipped {
				hint += " (for example: " + sanitize.Bare(q.Placeholder) + ")"
			}
			o.add(n, " "+th.Accent.Render(th.Glyph.Right)+" "+th.Faint.Render(widget.Cut(hint, w-3)))
			return
		}
		for _, l := range widget.Wrap(text, max(w-3, 4)) {
			o.add(n, " "+th.Accent.Render(th.Glyph.Frame.Left)+" "+l)
		}
		return
	}
	lead, style := k.optionMark(th, n, a.OtherOn)
	label := "Your own answer…"
	if !editing {
		label = ownWords(th, a, label)
	}
	o.add(n, hung(lead, widget.Paragraph(style, "", label, max(w-indent-1, 4)))...)
	if editing {
		k.editRows(f, o, n, indent, w)
	}
}

// ownWords is the label of the free-text row: what stands in it, or fallback.
func ownWords(th *theme.Theme, a *questions.AnswerDraft, fallback string) string {
	s := strings.TrimSpace(sanitize.Line(a.Other))
	switch {
	case s == "":
		return fallback
	case a.OtherOn:
		return quoted(th, s)
	}
	return quoted(th, s) + " (not chosen)"
}

func (k *question) clarifyRows(f *tui.Frame, o *optionRows, w int) {
	th, q, a := f.Theme, k.q, k.a
	o.add(q.Rows(), " "+th.Info.Render("? you ask back:"))
	if k.draft.Field == questions.ClarifyField {
		k.editRows(f, o, q.Rows(), 3, w)
		return
	}
	for _, l := range widget.Wrap(sanitize.Text(a.Clarify), max(w-4, 4)) {
		o.add(q.Rows(), "   "+th.Info.Render(th.Glyph.Frame.Left)+" "+l)
	}
}

// editRows is the open text field, as many rows as it needs.
func (k *question) editRows(f *tui.Frame, o *optionRows, owner, in, w int) {
	th := f.Theme
	width := max(w-in-3, 4)
	// No more than can be seen: a draft may be a book, and this is drawn at every key.
	h := min(k.editor.Rows(width), max(f.H, 1))
	rows, x, y := k.editor.Render(th, width, h, true)
	o.above, o.below = k.editor.Hidden(h)
	if k.editor.Empty() {
		rows = []string{th.Faint.Render(widget.Cut(k.hint(), width))}
		if last := k.last(); last != "" { // not as text: enter would send it once more
			const how = " fills in your last answer"
			key := th.Key.Render(tui.KeyLabel("up", th.Glyph.ASCII))
			rows[0] = th.Faint.Render(widget.Cut(sanitize.Line(last), max(width-len(how)-5, 8))) + "  " + key + th.Muted.Render(how)
		}
	}
	o.caret, o.x = len(o.rows)+y, in+2+x
	for _, r := range rows {
		o.add(owner, strings.Repeat(" ", in)+th.Accent.Render(th.Glyph.Focus.Left)+" "+r)
	}
}

func (k *question) hint() string {
	switch k.draft.Field {
	case questions.NoteField:
		if k.decides {
			return "a message to the agent"
		}
		return "what the agent should know with this option"
	case questions.ClarifyField:
		return "what do you want to know first?"
	default:
	}
	if k.q.Placeholder != "" {
		return sanitize.Bare(k.q.Placeholder)
	}
	return "your answer"
}

// shownLabels are the labels as they are drawn; those that look the same are
// told apart.
func shownLabels(q questions.Question) []string {
	out := make([]string, len(q.Options))
	count := map[string]int{}
	for i, o := range q.Options {
		if out[i] = strings.TrimSpace(sanitize.Bare(o.Label)); out[i] == "" {
			out[i] = "(only invisible characters)"
		}
		count[widget.Unmarked(out[i])]++
	}
	seen := map[string]int{}
	for i, l := range out {
		if drawn := widget.Unmarked(l); count[drawn] > 1 {
			seen[drawn]++
			out[i] = fmt.Sprintf("%s (%d)", l, seen[drawn])
		}
	}
	return out
}
