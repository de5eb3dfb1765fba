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
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// scrolls are the windows on the parts of a question. Each scrolls by itself;
// follow brings the row under the cursor back into view.
type scrolls struct {
	question, about, options int
	follow                   bool
	hidden                   [3]int // rows each part has more than it shows
}

// by scrolls the first part that has hidden rows: description, question,
// options. The cursor and the choice stay.
func (s *scrolls) by(d int) {
	s.follow = false
	switch {
	case s.hidden[1] > 0:
		s.about = min(max(s.about+d, 0), s.hidden[1])
	case s.hidden[0] > 0:
		s.question = min(max(s.question+d, 0), s.hidden[0])
	default:
		s.options = min(max(s.options+d, 0), s.hidden[2])
	}
}

// part is rows of the screen with a window on them.
type part struct {
	rows   []string
	top, h int

	above, below int // rows that would be there too
}

// draw returns the rows in the window; what is hidden is counted at the right
// ends of the first and the last.
func (s part) draw(th *theme.Theme, w int) []string {
	if s.h <= 0 {
		return nil
	}
	out := slices.Clone(s.rows[s.top:min(s.top+s.h, len(s.rows))])
	if n := s.top + s.above; n > 0 && len(out) > 0 {
		out[0] = widget.Ends(out[0], th.Faint.Render(th.Glyph.Up+strconv.Itoa(n)), w)
	}
	if n := max(len(s.rows)-s.top-s.h, 0) + s.below; n > 0 && len(out) > 0 {
		last := len(out) - 1
		out[last] = widget.Ends(out[last], th.Faint.Render(th.Glyph.Down+strconv.Itoa(n)), w)
	}
	return out
}

// question is a question as it is drawn, with what the user has entered.
type question struct {
	q      questions.Question
	a      *questions.AnswerDraft
	draft  *questions.Draft
	editor *widget.Editor // of the field that is open
	last   func() string  // what the user wrote when the same was asked before
	open   bool           // it has the focus
	closed bool           // it cannot be answered
}

// question is the open one; false on the review.
func (p *pane) question() (*question, bool) {
	q, a, ok := p.at()
	return &question{q, a, &p.draft, &p.editor, p.lastAnswer, p.opened, p.closed()}, ok
}

// questionView is which part of a question is on the screen.
type questionView struct {
	scroll  scrolls
	preview bool // below the options, in narrow windows
}

// render draws a question: its text, the options, and the description with what is left; and
// how many rows that takes. Where the options are goes to areas; point is a click on one.
func (v *questionView) render(f *tui.Frame, k *question, b box, areas *tui.Areas, point func(option int)) (rows []string, used int) {
	th, q := f.Theme, k.q
	w, side := b.w, 0
	preview, name := k.preview()
	if preview != "" && f.W >= sideFrom {
		side = w * 45 / 100
		w -= side + 1
	}
	text := min(w, conversation.Prose)
	ask := indented(widget.Spanned(th, th.Strong, sanitize.BareText(q.Question), text))
	about := indented(widget.Markdown(th, sanitize.BareText(q.Description), text))
	if preview != "" && side == 0 && v.preview {
		about = indented(previewRows(th, preview, w))
	}
	rest := b.h - min(len(ask), max(b.h/3, 2))
	opts := k.optionRows(f, w, true)
	if len(opts.rows) > rest {
		opts = k.optionRows(f, w, false)
	}
	hq, ho, ha, gaps := share(b.h, len(ask), len(opts.rows), len(about))
	parts := v.windows(ask, opts, about, hq, ho, ha, k.draft.Field != questions.NoField)

	rows = parts[0].draw(th, w+1)
	if gaps > 0 {
		rows = append(rows, "")
	}
	if ha > 0 {
		rows = append(rows, parts[1].draw(th, w+1)...)
		if gaps > 1 {
			rows = append(rows, "")
		}
	}
	v.aim(f, opts, parts[2], box{x: b.x - 1, y: b.y + len(rows), w: w + 1, h: ho}, areas, point)
	rows = append(rows, parts[2].draw(th, w+1)...)
	if left := b.h - len(rows); preview != "" && side == 0 && !v.preview && left > 4 {
		rows = append(rows, "", widget.Heading(th, name, th.Muted.Render("preview"), false, w+1))
		rows = append(rows, indented(previewRows(th, preview, w))...)
		rows = rows[:min(len(rows), b.h)]
	}
	used = len(rows)
	if side > 0 {
		pane := append([]string{widget.Heading(th, name, th.Muted.Render("preview"), false, side)}, indented(previewRows(th, preview, side-2))...)
		return widget.Panes(th, widget.Rows(rows, w+1, b.h), widget.Rows(pane, side, b.h)), b.h
	}
	return rows, used
}

// share gives h rows out: to the question up to a third, to the options all
// they need, the description gets what is left, and what remains goes to the
// question and to gaps.
func share(h, ask, opts, about int) (hq, ho, ha, gaps int) {
	hq = min(ask, max(h/3, 2))
	ho = min(opts, max(h-hq, min(3, h)))
	hq = max(min(hq, h-ho), 0)
	left := h - hq - ho
	if about > 0 && left > 1 {
		ha = min(about, left)
		left -= ha
	}
	if more := min(ask-hq, left); more > 0 {
		hq += more
		left -= more
	}
	return hq, ho, ha, min(left, 2)
}

// windows places the three windows so that the edited or marked row is seen.
func (v *questionView) windows(ask []string, opts optionRows, about []string, hq, ho, ha int, editing bool) [3]part {
	s := &v.scroll
	s.hidden = [3]int{max(len(ask)-hq, 0), max(len(about)-ha, 0), max(len(opts.rows)-ho, 0)}
	if ha == 0 {
		s.hidden[1] = 0
	}
	s.question = min(s.question, s.hidden[0])
	s.about = min(s.about, s.hidden[1])
	if s.follow || editing {
		if opts.last-s.options >= ho {
			s.options = opts.last - ho + 1
		}
		s.options = min(s.options, opts.first)
		if opts.caret >= 0 {
			s.options = max(min(s.options, opts.caret), opts.caret-ho+1)
		}
	}
	s.options = min(max(s.options, 0), s.hidden[2])
	return [3]part{
		{rows: ask, top: s.question, h: hq},
		{rows: about, top: s.about, h: ha},
		{rows: opts.rows, top: s.options, h: ho, above: opts.above, below: opts.below},
	}
}

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
	out := make([]string, 0, len(lines)+1)
	for n, l := range lines {
		if n == 0 {
			out = append(out, lead+l)
		} else {
			out = append(out, strings.Repeat(" ", indent)+l)
		}
	}
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
	for i, l := range widget.Wrap(label, max(w-indent-1, 4)) {
		if i == 0 {
			o.add(n, lead+style.Render(l))
		} else {
			o.add(n, strings.Repeat(" ", indent)+style.Render(l))
		}
	}
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
		return "a message to the agent"
	case questions.ClarifyField:
		return "what do you want to know first?"
	default:
	}
	if k.q.Placeholder != "" {
		return sanitize.Bare(k.q.Placeholder)
	}
	return "your answer"
}

// aim remembers where the options are, for clicks, and places the text cursor.
func (v *questionView) aim(f *tui.Frame, o optionRows, s part, b box, areas *tui.Areas, point func(option int)) {
	for y := range b.h {
		i := s.top + y
		if i >= len(o.rows) {
			break
		}
		option := o.owner[i]
		*areas = append(*areas, tui.Area{X: b.x, Y: b.y + y, W: b.w, H: 1, Run: tui.Do(func() { point(option) })})
	}
	if y := o.caret - s.top; o.caret >= 0 && y >= 0 && y < b.h {
		f.Cursor(b.x+o.x, b.y+y)
	}
}

// pointAt is a click on an option: it is chosen, nothing is sent.
func (p *pane) pointAt(option int) {
	q, a, ok := p.at()
	if !ok || p.draft.Field != questions.NoField || option >= q.Rows() {
		return
	}
	a.Cursor = option
	if p.deciding() != nil {
		p.keep() // what a click chooses, a key must send
		return
	}
	p.toggle()
}

// preview is that of the option under the cursor, and how the option is called.
func (k *question) preview() (text, name string) {
	if i := k.a.Cursor; i < len(k.q.Options) {
		return k.q.Options[i].Preview, strconv.Itoa(i+1) + " " + widget.Unmarked(sanitize.Bare(k.q.Options[i].Label))
	}
	return "", ""
}

func previewRows(th *theme.Theme, s string, w int) []string {
	var rows []string
	for l := range strings.SplitSeq(sanitize.BareText(s), "\n") {
		rows = append(rows, th.Muted.Render(widget.Cut(l, w)))
	}
	return rows
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

// hides reports whether a text of the request has characters that are not drawn.
func hides(r *questions.Request) bool {
	if sanitize.Hides(r.Title) {
		return true
	}
	return slices.ContainsFunc(r.Questions, func(q questions.Question) bool {
		return sanitize.Hides(q.Question+q.Header+q.Description+q.Placeholder) || slices.ContainsFunc(q.Options, func(o questions.Option) bool {
			return sanitize.Hides(o.Label + o.Description + o.Preview)
		})
	})
}

// dash stands between a label and its note.
func dash(th *theme.Theme) string {
	if th.Glyph.ASCII {
		return " - "
	}
	return " — "
}

// quoted marks the user's own words.
func quoted(th *theme.Theme, s string) string {
	if th.Glyph.ASCII {
		return `"` + s + `"`
	}
	return "“" + s + "”"
}
