package ask

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// permission is how permissions and plans are shown. What they are about may be long, is
// drawn at every key, and is allowed only once all of it was in sight.
type permission struct {
	sight *tui.Sight
	w     int
	th    *theme.Theme
	drawn map[*questions.Prompt]*tui.Drawn // as it was last
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

// renderPrompt draws a permission or a plan: what it is about, what is known of it, and
// what can be answered.
func (p *Page) renderPrompt(f *tui.Frame, it questions.Item, b box) []string {
	th := f.Theme
	d := it.Request.Prompt
	whole := p.permission.subject(th, &it, b.w-2)
	k, _ := p.question()
	opts := k.grantRows(f, d, !p.closed(), b.w, func(option int) theme.Style { return p.keyStyle(f, d, option) })
	facts, noticed := promptFacts(th, it, b.w)
	words := promptWords(th, d, b.w)

	// The beginning of the subject and three options come first, then what the deck noticed,
	// all options, one row of facts, the rest of the subject, and what explains it. Of a
	// subject that is longer than the screen, more can be seen where fewer options are.
	left := b.h - 1
	most := len(opts.rows)
	if len(whole.Rows) > max(left-most-noticed-2, 1) {
		most = min(most, 4)
	}
	hs := min(len(whole.Rows), 7, max(left-min(most, 3), 1))
	left -= hs
	hf := max(min(noticed, left-min(most, 3)), 0)
	left -= hf
	ho := max(min(most, left), 0)
	left -= ho
	take := func(n int) int {
		n = max(min(n, left), 0)
		left -= n
		return n
	}
	hf += take(min(len(facts)-hf, 1-min(hf, 1)))
	hs += take(len(whole.Rows) - hs)
	hf += take(len(facts) - hf)
	hw := take(len(words))
	rows := []string{promptTitle(th, d, b.w)}
	if take(1) > 0 {
		rows = append([]string{""}, rows...)
	}
	cut := hs < len(whole.Rows)
	if cut {
		hs = max(hs-1, 1)
	}
	windows := p.windows(nil, opts, whole.Rows, 0, ho, hs, p.draft.Field != questions.NoField)
	p.permission.page = hs
	bar := th.Border.Render(th.Glyph.Frame.Left) + " "
	for _, r := range whole.Rows[p.scroll.about : p.scroll.about+hs] {
		rows = append(rows, bar+r)
	}
	f.Shows(subjectID(it.ID), whole, p.scroll.about, p.scroll.about+hs)
	if cut {
		rows = append(rows, p.permission.unseenRow(th, it.ID, whole, p.scroll.about, hs, b.w))
	}
	rows = append(rows, words[:hw]...)
	rows = append(rows, facts[:hf]...)
	if left > 0 {
		rows = append(rows, "")
	}
	window := windows[2]
	p.aim(f, opts, window, box{x: b.x, y: b.y + len(rows), w: b.w, h: ho}, &p.areas, p.pointAt)
	rows = append(rows, window.draw(th, b.w)...)
	return widget.Rows(rows, b.w, b.h)
}

// promptTitle says what wants to happen.
func promptTitle(th *theme.Theme, d *questions.Prompt, w int) string {
	if d.Kind == questions.Plan {
		return th.Strong.Render(widget.Cut("The agent proposes this plan", w))
	}
	tool := cmp.Or(sanitize.Line(d.Tool), "a tool")
	wants := " wants to run"
	if d.Path != "" && d.Command == "" {
		wants = " wants to change "
		if d.Diff == "" {
			wants = " wants "
		}
		wants += widget.CutLeft(sanitize.Exact(d.Path), max(w-widget.Width(tool+wants), 8))
	}
	return widget.Cut(th.Strong.Render(tool)+th.Muted.Render(wants), w)
}

// unseenRow says how much of a subject has not been shown, below the part of it that is.
func (g *permission) unseenRow(th *theme.Theme, id int, whole *tui.Drawn, top, h, w int) string {
	first, n := g.sight.Unseen(subjectID(id), whole)
	all := len(whole.Rows)
	if n == 0 {
		return widget.Ends(th.Muted.Render("all "+humanize.Count(all, "line")+" shown"), th.Faint.Render("pgup pgdn"), w)
	}
	where, key := "below", "pgdn"
	if first < top {
		where, key = "above", "pgup"
	} else if first < top+h {
		where = "here and below"
	}
	said, more := humanize.Count(n, "line")+" "+where+", not shown yet", " shows more"
	if w < 50 {
		said, more = humanize.Count(n, "line")+" not shown yet", " more"
	}
	return widget.Ends(th.Warn.Render(said), th.Key.Render(key)+th.Muted.Render(more), w)
}

func drawSubject(th *theme.Theme, r *questions.Request, w int) []string {
	d, q := r.Prompt, r.Questions[0]
	switch {
	case d.Kind == questions.Plan:
		return widget.Markdown(th, sanitize.Text(cmp.Or(q.Description, q.Question)), w)
	case d.Command != "" && len(d.Args) > 0: // which change how it runs
		return append(widget.Code(th, d.Command, w), widget.Arguments(th, d.Args, w)...)
	case d.Command != "":
		return widget.Code(th, d.Command, w)
	case d.Diff != "":
		return widget.Diff(th, d.Diff, w)
	case len(d.Args) > 0:
		return widget.Arguments(th, d.Args, w)
	}
	return widget.Code(th, cmp.Or(d.Path, q.Description, q.Question), w)
}

// promptWords are the agent's own words about what it wants, marked as such.
func promptWords(th *theme.Theme, d *questions.Prompt, w int) []string {
	text := strings.TrimSpace(sanitize.Line(d.Words))
	if text == "" {
		return nil
	}
	return widget.Paragraph(th.Muted, "", quoted(th, text)+" (the agent's own words)", w)
}

// promptFacts are what the deck noticed about a permission, and what it knows. The first
// noticed rows have what it noticed.
func promptFacts(th *theme.Theme, it questions.Item, w int) (rows []string, noticed int) {
	d := it.Request.Prompt
	var facts []string
	for _, m := range d.Marks {
		facts = append(facts, sanitize.Line(m))
	}
	marks := len(facts)
	if cwd := it.Request.Cwd(); cwd != "" {
		facts = append(facts, "in "+sanitize.Exact(cwd))
	}
	if d.Mode != "" {
		facts = append(facts, "mode "+sanitize.Line(d.Mode))
	}
	if n := strings.Count(strings.TrimSuffix(d.Command, "\n"), "\n") + 1; n > 1 {
		facts = append(facts, fmt.Sprintf("%d lines", n))
	}
	row := ""
	for i, s := range facts {
		style, dot := th.Muted, th.Faint.Render(" "+th.Glyph.Dot+" ")
		if i < marks {
			style, s = th.Warn, "! "+s
		}
		switch s = style.Render(widget.Cut(s, w)); {
		case row == "":
			row = s
		case widget.Width(row)+3+widget.Width(s) <= w:
			row += dot + s
		default:
			rows, row = append(rows, row), s
		}
		if i < marks {
			noticed = len(rows) + 1
		}
	}
	if row == "" {
		return nil, 0
	}
	return append(rows, row), noticed
}

// grantRows draws the options with their keys. What lasts says exactly what it does.
func (k *question) grantRows(f *tui.Frame, d *questions.Prompt, open bool, w int, key func(option int) theme.Style) optionRows {
	th, q, a := f.Theme, k.q, k.a
	o := optionRows{caret: -1}
	const in = 4
	for i, label := range shownLabels(q) {
		start := len(o.rows)
		letter := ""
		if i < len(d.Grants) {
			g := d.Grants[i]
			if e := sanitize.Exact(g.Effect); e != "" && !strings.Contains(label, e) {
				label += ": " + strings.ReplaceAll(e, "\n", " ")
			}
			switch own := tui.GrantKey(g); {
			case !d.Offers(i):
				label += " (unconfirmed: not offered)"
			case tui.Lasting(d) == i:
				letter = "a"
			case own != "" && tui.Granted(d, own) == i:
				letter = own
			}
		}
		if t := sanitize.Bare(q.Options[i].Description); t != "" {
			label += ": " + t
		}
		cursor, style, number := "  ", th.Text, " "
		if i < 9 {
			number = strconv.Itoa(i + 1)
		}
		if open && i == a.Cursor {
			cursor, style = th.Accent.Render(th.Glyph.Right)+" ", th.Strong
			o.first = start
		}
		for n, l := range widget.Wrap(label, max(w-in-3, 4)) {
			switch {
			case n > 0:
				o.add(i, strings.Repeat(" ", in)+style.Render(l))
			case open:
				o.add(i, widget.Ends(cursor+th.Faint.Render(number)+" "+style.Render(l), key(i).Render(letter), w))
			default:
				o.add(i, strings.Repeat(" ", in)+th.Muted.Render(l))
			}
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

// keyStyle is that of an option's key: faint while it does not count yet.
func (p *Page) keyStyle(f *tui.Frame, d *questions.Prompt, option int) theme.Style {
	if !f.Ready() || option < len(d.Grants) && d.Grants[option].Allow && p.unseen() >= 0 {
		return f.Theme.Faint
	}
	return f.Theme.Key
}

// promptTextTop is where the subject begins in a promptText.
const promptTextTop = 2

// promptText is everything of a permission or a plan, to be read.
func promptText(th *theme.Theme, it questions.Item, w int) []string {
	d, q := it.Request.Prompt, it.Request.Questions[0]
	rows := append([]string{promptTitle(th, d, w), ""}, drawSubject(th, &it.Request, w)...)
	facts, _ := promptFacts(th, it, w)
	rows = append(append(rows, ""), append(promptWords(th, d, w), facts...)...)
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
