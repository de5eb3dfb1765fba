package inbox

import (
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

	decides bool // it is a permission, or a plan
}

// question is the open one; false on the review.
func (p *pane) question() (*question, bool) {
	q, a, ok := p.at()
	return &question{q, a, &p.draft, &p.editor, p.lastAnswer, p.opened, p.closed(), p.deciding() != nil}, ok
}

// questionView is which part of a question is on the screen.
type questionView struct {
	scroll  scrolls
	preview bool         // below the options, in narrow windows
	drawn   bool         // it is on the screen
	inSight map[int]bool // options of which all is on the screen, or as much as there is room for
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
	if left := b.h - len(rows); preview != "" && side == 0 && !v.preview && left > 2 {
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

// needs is how many rows all of a question takes, w cells wide; beside is for a preview that has
// a pane of its own.
func (k *question) needs(f *tui.Frame, w int, beside bool) int {
	preview, _ := k.preview()
	shown := len(strings.Split(preview, "\n")) + 1 // with its heading
	if preview != "" && beside {
		w -= w*45/100 + 1
	}
	text := min(w, conversation.Prose)
	n := len(widget.Spanned(f.Theme, f.Theme.Strong, sanitize.BareText(k.q.Question), text)) + 1 + len(k.optionRows(f, w, true).rows)
	if about := widget.Markdown(f.Theme, sanitize.BareText(k.q.Description), text); len(about) > 0 {
		n += len(about) + 1
	}
	switch {
	case preview == "":
		return n
	case beside:
		return max(n, shown)
	}
	return n + 1 + shown
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

// aim remembers where the options are, for clicks and so that none is chosen unseen, and places the text cursor.
func (v *questionView) aim(f *tui.Frame, o optionRows, s part, b box, areas *tui.Areas, point func(option int)) {
	all, shown := map[int]int{}, map[int]int{}
	for _, option := range o.owner {
		all[option]++
	}
	v.inSight = map[int]bool{}
	for y := range b.h {
		i := s.top + y
		if i >= len(o.rows) {
			break
		}
		option := o.owner[i]
		shown[option]++
		v.inSight[option] = shown[option] == min(all[option], b.h)
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
