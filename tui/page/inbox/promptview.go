package inbox

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/conversation"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// permission is how permissions and plans are shown. What they are about may be long, is
// drawn at every key, and is allowed only once all of it was in sight.
type permission struct {
	sight *tui.Sight
	w     int
	th    *theme.Theme
	drawn map[*questions.Prompt]*tui.Drawn // as it was last
	cut   bool                             // and there are more
	alone bool                             // there is room for the list or for the pane
	page  int                              // rows of the open subject that are on the screen
}

// subject draws what a request is about, in full, in rows of w cells. A prompt that has
// changed is another one.
func (g *permission) subject(th *theme.Theme, it *questions.Item, w int) *tui.Drawn {
	if g.w != w || g.th != th || len(g.drawn) > 2*groupMost {
		g.w, g.th, g.drawn = w, th, map[*questions.Prompt]*tui.Drawn{}
	}
	d := g.drawn[it.Request.Prompt]
	if d == nil {
		d = tui.Draw(drawSubject(th, &it.Request, w))
		g.drawn[it.Request.Prompt] = d
	}
	return d
}

// unseen is the first row of what a request is about that was not shown; -1 when all was.
func (g *permission) unseen(it *questions.Item) int {
	d := g.drawn[it.Request.Prompt]
	if d == nil { // it was not drawn at all
		return 0
	}
	first, _ := g.sight.Unseen(subjectID(it.ID), d)
	return first
}

// subjectID names what a request is about.
func subjectID(id int) string { return "ask " + strconv.Itoa(id) }

// renderPrompt draws a permission or a plan: its facts, what it is about, what can be
// answered, and below that what s asked and said; and a note for its heading.
func (p *pane) renderPrompt(f *tui.Frame, it questions.Item, b box, s *snapshot.Session) (rows []string, note string) {
	th, d := f.Theme, it.Request.Prompt
	in := inset(d, b.w)
	whole := p.permission.subject(th, &it, b.w-in)
	facts, unit := factsIn(p, th, it, b), "line"
	if d.Command != "" && strings.Count(strings.TrimSuffix(d.Command, "\n"), "\n")+1 != len(whole.Rows) {
		unit = "row" // some lines take several
	}
	k, _ := p.question()
	opts := k.grantRows(f, d, p.opened, b.w, func(option int) theme.Style { return p.keyStyle(f, d, option) })
	if it.Request.InTerminal() {
		opts = optionRows{caret: -1}
	}
	writes := p.draft.Field == questions.NoteField
	all, options := len(whole.Rows), len(opts.rows)
	cut := len(facts)+all+options > b.h
	p.permission.cut = cut
	p.inSight = nil
	hint := ""
	if cut && !writes {
		options = 0
		if b.h > 10 { // in one row
			options, hint = 1, "y works once every line has been shown."
		}
	}
	left := b.h - len(facts) - options
	hs := min(all, left)
	if cut {
		hs = max(left-1, 1)
		if hint != "" && p.unseen() >= 0 {
			hs = max(hs-1, 1)
		}
	}
	hs = min(hs, all)
	left -= hs
	var above, below []string
	if !cut {
		above, below, s = led(p, f, &it, s, b.w, left)
		left -= len(above) + len(below)
	}
	rows = append(indented(facts), above...)
	windows := p.windows(nil, opts, whole.Rows, 0, len(opts.rows), hs, writes)
	if writes {
		windows = p.windows(nil, opts, whole.Rows, 0, max(b.h-len(facts)-hs-1, 1), hs, true)
	}
	p.permission.page = hs
	top := p.scroll.about
	for _, r := range whole.Rows[top : top+hs] {
		rows = append(rows, widget.Blank(in+1)+r)
	}
	f.Shows(subjectID(it.ID), whole, top, top+hs)
	note = p.permission.shownNote(it.ID, whole, top, hs, unit)
	if cut {
		rows = append(rows, p.permission.unseenRow(th, it.ID, whole, top, hs, f.W, unit))
		if hint != "" && p.unseen() >= 0 && !p.closed() {
			rows = append(rows, " "+th.Muted.Render(hint))
		}
	}
	rows = append(rows, below...)
	if cut && !writes {
		if options > 0 && !p.closed() {
			p.inSight = map[int]bool{} // all of them
			rows = append(rows, " "+k.grantLine(f, d, b.w, func(option int) theme.Style { return p.keyStyle(f, d, option) }))
		}
		return widget.Rows(rows, f.W, b.h), note
	}
	window := windows[2]
	p.aim(f, opts, window, box{x: b.x, y: b.y + len(rows), w: b.w, h: len(opts.rows)}, &p.areas, p.pointAt)
	rows = append(rows, window.draw(th, f.W)...)
	if left > 3 && s != nil {
		rows = append(append(rows, ""), indented(conversation.Rows(f, s, conversation.Room{W: b.w, H: left - 1}))...)
	}
	return widget.Rows(rows, f.W, b.h), note
}

// led draws what stands above and below what a prompt is about, in left rows: the agent's words, and what
// the user asked, on one line unless there is room for the conversation, which is what rest is then. Blank
// rows come last.
func led(p *pane, f *tui.Frame, it *questions.Item, s *snapshot.Session, w, left int) (above, below []string, rest *snapshot.Session) {
	words, gaps := p.promptWords(f.Theme, it, w), 2
	if len(words) > left {
		words = nil
	}
	if left -= len(words); len(words) > 0 {
		gaps++
	}
	if row := askedRow(f.Theme, s, w); row != "" && left > 0 && left <= gaps+len(conversation.Rows(f, s, conversation.Room{W: w, H: 1, Apart: true})) {
		words, left, s = append(words, row), left-1, nil
	}
	if gaps = min(gaps, left); gaps > 1 {
		above = []string{""}
	}
	if gaps > 2 {
		below = []string{""}
	}
	below = append(below, indented(words)...)
	if gaps > 0 {
		below = append(below, "")
	}
	return above, below, s
}

// inset is how many cells stand before what a prompt is about, in a pane of w.
func inset(d *questions.Prompt, w int) int {
	if w < roomyFrom-2 && strings.Contains(strings.TrimSpace(d.Command), "\n") {
		return 0
	}
	return 2
}

// askedRow is what the user asked, on one line.
func askedRow(th *theme.Theme, s *snapshot.Session, w int) string {
	if s == nil || s.Record == nil || s.Record.Prompt == "" {
		return ""
	}
	return widget.Cut(th.Muted.Render("You asked: ")+sanitize.Line(s.Record.Prompt), w)
}

// shownNote says how much of a subject is shown: of one that fits, how much was; else which
// lines are, or rows where some lines take several.
func (g *permission) shownNote(id int, whole *tui.Drawn, top, h int, unit string) string {
	all := len(whole.Rows)
	if h < all {
		return fmt.Sprintf("%ss %d–%d of %d", unit, top+1, top+h, all)
	}
	if _, n := g.sight.Unseen(subjectID(id), whole); n > 0 {
		return humanize.Count(all, unit)
	}
	return "all " + humanize.Count(all, unit) + " shown"
}

// unseenRow says how much of a subject has not been shown, below the part of it that is.
func (g *permission) unseenRow(th *theme.Theme, id int, whole *tui.Drawn, top, h, w int, unit string) string {
	first, n := g.sight.Unseen(subjectID(id), whole)
	if n == 0 {
		return widget.Heading(th, "all "+humanize.Count(len(whole.Rows), unit)+" shown", "", false, w)
	}
	where, key := "below", "pgdn"
	if first < top {
		where, key = "above", "pgup"
	} else if first < top+h {
		where = "here and below"
	}
	said, more := humanize.Count(n, unit)+" "+where+", not shown yet", " shows more"
	if w < 50 {
		said, more = humanize.Count(n, unit)+" "+where, " more"
	}
	return widget.Heading(th, said, th.Key.Render(key)+th.Muted.Render(more), false, w)
}

func drawSubject(th *theme.Theme, r *questions.Request, w int) []string {
	d, q := r.Prompt, r.Questions[0]
	switch {
	case d.Kind == questions.Plan:
		return widget.Markdown(th, sanitize.Text(cmp.Or(q.Description, q.Question)), w)
	case d.Command != "":
		rows := widget.Code(th, d.Command, w)
		if len(d.Args) > 0 { // which change how it runs
			rows = append(rows, widget.Arguments(th, d.Args, w)...)
		}
		if d.Diff != "" { // of what it runs
			rows = append(append(rows, ""), widget.Diff(th, d.Diff, w)...)
		}
		return rows
	case d.Diff != "":
		return widget.Diff(th, d.Diff, w)
	case len(d.Args) > 0:
		return widget.Arguments(th, d.Args, w)
	}
	return widget.Code(th, cmp.Or(d.Path, q.Description, q.Question), w)
}

// promptWords are the agent's own words about what it wants, with its name.
func (p *pane) promptWords(th *theme.Theme, it *questions.Item, w int) []string {
	text := strings.TrimSpace(sanitize.Line(it.Request.Prompt.Words))
	if text == "" {
		return nil
	}
	return widget.Paragraph(th.Muted, "", sanitize.Line(it.Request.Client())+": "+straight(text), w)
}

// straight are words in quotation marks.
func straight(text string) string { return `"` + text + `"` }

// factsIn are the facts of a permission that leave room for what it is about: whole, or else a row each.
func factsIn(p *pane, th *theme.Theme, it questions.Item, b box) []string {
	rows := p.promptFacts(th, it, b.w, widget.Wrap)
	if len(rows) > b.h/2 {
		rows = p.promptFacts(th, it, b.w, func(s string, w int) []string { return []string{widget.Cut(s, w)} })
	}
	if most := max(b.h-4, 1); len(rows) > most {
		rows = append(rows[:most-1], th.Warn.Render(widget.Cut(fmt.Sprintf("! and %d more; make the window higher", len(rows)-most+1), b.w)))
	}
	return rows
}

// promptFacts are what the deck noticed about a permission, and what it knows.
func (p *pane) promptFacts(th *theme.Theme, it questions.Item, w int, fit func(text string, w int) []string) (rows []string) {
	d := it.Request.Prompt
	what := cmp.Or(sanitize.Line(d.Tool), "a tool")
	if d.Kind == questions.Plan {
		what = "Plan"
	}
	if d.Path != "" && d.Command == "" {
		what += " " + sanitize.Exact(it.Request.Brief())
	}
	if cwd := it.Request.Cwd(); cwd != "" {
		what += " in " + sanitize.Exact(humanize.Tilde(cwd, p.opt.Home))
	}
	facts := []string{th.Strong.Render(widget.Cut(what, w))}
	if n := strings.Count(strings.TrimSuffix(d.Command, "\n"), "\n") + 1; n > 1 {
		facts = append(facts, th.Muted.Render(humanize.Count(n, "line")))
	}
	if d.Refused != nil {
		for _, row := range fit(d.Refused.Words(), w) {
			facts = append(facts, th.Warn.Render(row))
		}
	}
	for _, m := range d.Marks {
		for _, row := range fit("! "+sanitize.Line(m), w) {
			facts = append(facts, th.Warn.Render(row))
		}
	}
	for _, n := range d.Notes {
		for _, row := range fit(sanitize.Line(n), w) {
			facts = append(facts, th.Muted.Render(row))
		}
	}
	if twin := tui.Twin(p.snap, &it); twin != "" {
		facts = append(facts, th.Muted.Render(twin))
	}
	if d.Subagent != "" {
		facts = append(facts, th.Muted.Render("sub-agent "+sanitize.Line(d.Subagent)))
	}
	dot, row := th.Faint.Render(" "+th.Glyph.Dot+" "), ""
	for _, s := range facts {
		switch {
		case row == "":
			row = s
		case widget.Width(row)+3+widget.Width(s) <= w:
			row += dot + s
		default:
			rows, row = append(rows, row), s
		}
	}
	return append(rows, row)
}

// grantKey is the key of an option, "" if only its digit gives it.
func grantKey(d *questions.Prompt, option int) string {
	if option >= len(d.Grants) || !d.Offers(option) {
		return ""
	}
	own := tui.GrantKey(d.Grants[option])
	switch {
	case tui.Lasting(d) == option:
		return "a"
	case own != "" && tui.Granted(d, own) == option:
		return own
	}
	return ""
}

// keyAt is where the keys of options stand at least, and at most.
const keyAt, keyMost = 29, 48

// grantRows draws the options with their keys. What lasts is shown whole before it is given.
func (k *question) grantRows(f *tui.Frame, d *questions.Prompt, open bool, w int, key func(option int) theme.Style) optionRows {
	th, q, a := f.Theme, k.q, k.a
	o := optionRows{caret: -1}
	const in = 5
	at := keyAt
	for i, label := range shownLabels(q) {
		if n := in + widget.Width(label) + 3; n <= keyMost && grantKey(d, i) != "" {
			at = max(at, n)
		}
	}
	for i, label := range shownLabels(q) {
		start := len(o.rows)
		if i < len(d.Grants) {
			g := d.Grants[i]
			switch e := sanitize.Exact(g.Effect); {
			case !d.Offers(i):
				label += " (unconfirmed: not offered)"
			case e != "" && !strings.Contains(label, e) && open:
				label += ": " + strings.ReplaceAll(e, "\n", " ")
			case g.Lasts():
				label += "…"
			}
		}
		if t := sanitize.Bare(q.Options[i].Description); t != "" {
			label += ": " + t
		}
		cursor, style, number := "   ", th.Text, " "
		if i < 9 {
			number = strconv.Itoa(i + 1)
		}
		if i == a.Cursor {
			style = th.Strong
			if cursor = " " + th.Accent.Render("›") + " "; th.Glyph.ASCII {
				cursor = " " + th.Accent.Render(">") + " "
			}
			if open {
				cursor = th.Key.Render(th.Glyph.Cursor) + "  "
			}
			o.first = start
		}
		lines := widget.Wrap(label, max(w-in-3, 4))
		for n, l := range lines {
			if n > 0 {
				o.add(i, strings.Repeat(" ", in)+style.Render(l))
				continue
			}
			row := cursor + th.Faint.Render(number) + " " + style.Render(l)
			if letter := grantKey(d, i); letter != "" && !k.closed {
				row = widget.Fit(row, max(min(max(at, widget.Width(row)+2), w-1), 1)) + key(i).Render(letter)
			}
			o.add(i, row)
		}
		if k.draft.Field == questions.NoteField && k.draft.Option == i {
			k.editRows(f, &o, i, in, w)
		}
		if i == a.Cursor {
			o.last = len(o.rows) - 1
		}
	}
	return o
}

// grantLine draws the options in one row.
func (k *question) grantLine(f *tui.Frame, d *questions.Prompt, w int, key func(option int) theme.Style) string {
	out := ""
	for i, label := range shownLabels(k.q) {
		if label = strings.ToLower(label[:1]) + label[1:]; i < len(d.Grants) && d.Grants[i].Lasts() {
			label += "…"
		}
		out += key(i).Render(strconv.Itoa(i+1)) + " " + f.Theme.Muted.Render(label) + "   "
	}
	return widget.Cut(strings.TrimSpace(out), w)
}

// keyStyle is that of an option's key: faint while it does not count yet.
func (p *pane) keyStyle(f *tui.Frame, d *questions.Prompt, option int) theme.Style {
	if !f.Ready() || option < len(d.Grants) && d.Grants[option].Allow && p.unseen() >= 0 {
		return f.Theme.Faint
	}
	return f.Theme.Key
}

// promptTextTop is where the subject begins in a promptText.
const promptTextTop = 2

// promptText is everything of a permission or a plan, to be read.
func (p *pane) promptText(th *theme.Theme, it questions.Item, w int) []string {
	d, q := it.Request.Prompt, it.Request.Questions[0]
	facts := p.promptFacts(th, it, w, widget.Wrap)
	rows := append([]string{facts[0], ""}, drawSubject(th, &it.Request, w)...)
	rows = append(append(rows, ""), append(p.promptWords(th, &it, w), facts[1:]...)...)
	for i, l := range shownLabels(q) {
		rows = append(rows, "", th.Key.Render(strconv.Itoa(i+1))+" "+l)
		if i < len(d.Grants) && d.Grants[i].Effect != "" {
			for _, l := range widget.Code(th, d.Grants[i].Effect, w-2) {
				rows = append(rows, "  "+l)
			}
		}
	}
	return rows
}
