package inbox

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// partGroup is the list of permissions that are alike.
const partGroup = "group"

// groupMost is how many permissions are answered at once.
const groupMost = 20

// group is permissions that one key may answer together: of one session, for one tool,
// with the same options. What comes later is never among them.
type group struct {
	ids    []int
	off    map[int]bool // not to be answered
	cursor int
	follow bool // the one under the cursor is brought into view
	scroll widget.Scroll
	key    string // of what enter gives
}

// alike reports whether two permissions may have a common answer: those of one session with
// the same options.
func alike(a, b *questions.Item) bool {
	d, e := decision(&a.Request), decision(&b.Request)
	return d != nil && e != nil && d.Kind == questions.Permission && e.Kind == questions.Permission &&
		b.Waits() && !a.Request.InTerminal() && !b.Request.InTerminal() &&
		e.Agent == d.Agent && e.Session == d.Session && a.Request.Peer.Host == b.Request.Peer.Host && slices.Equal(a.Request.Questions[0].Options, b.Request.Questions[0].Options) && slices.Equal(e.Grants, d.Grants) &&
		tui.Granted(d, "y") >= 0 && tui.Granted(d, "n") >= 0
}

// mark marks the permission that is selected for a common answer, or no longer.
func (p *pane) mark() tea.Cmd {
	it, ok := p.current()
	if !ok || !alike(&it, &it) {
		return tui.Toast(tui.Info, "only permissions can have a common answer")
	}
	if i := slices.Index(p.marks, it.ID); i >= 0 {
		p.marks = slices.Delete(p.marks, i, i+1)
		return nil
	}
	marked := p.marked()
	switch {
	case len(marked) == groupMost:
		return tui.Toast(tui.Info, fmt.Sprintf("at most %d can have a common answer", groupMost))
	case len(marked) > 0 && !alike(&marked[0], &it):
		return tui.Toast(tui.Info, "a common answer needs one session and the same options")
	}
	p.marks = append(p.marks, it.ID)
	return nil
}

// marked are the permissions with a mark that still wait.
func (p *pane) marked() (out []questions.Item) {
	for _, id := range p.marks {
		if it, ok := p.snap.Item(id); ok && it.Waits() && !it.Request.InTerminal() {
			out = append(out, it)
		}
	}
	return out
}

// openGroup shows all that is marked, for a common answer.
func (p *pane) openGroup(key string) {
	p.group = group{ids: p.marks, off: map[int]bool{}, follow: true, key: key}
	p.place, p.opened, p.message = partGroup, true, ""
	p.marks = nil
}

// grouped are the permissions of the group that still wait.
func (p *pane) grouped() []questions.Item {
	var out []questions.Item
	for _, id := range p.group.ids {
		if it, ok := p.snap.Item(id); ok && it.Waits() && !it.Request.InTerminal() {
			out = append(out, it)
		}
	}
	return out
}

// leaveGroup goes back to the list.
func (p *pane) leaveGroup() {
	id := p.id
	p.place, p.id, p.message, p.opened = "", 0, "", false
	p.open(id)
}

func (p *pane) moveInGroup(d int) {
	p.group.cursor = min(max(p.group.cursor+d, 0), max(len(p.grouped())-1, 0))
	p.group.follow = true
}

func (p *pane) tickInGroup() {
	if items := p.grouped(); p.group.cursor < len(items) {
		id := items[p.group.cursor].ID
		p.group.off[id] = !p.group.off[id]
	}
}

// whole are the permissions that enter answers: ticked, and seen whole.
func (p *pane) whole() (due []int, unseen int) {
	for _, it := range p.grouped() {
		switch {
		case p.group.off[it.ID]:
		case p.permission.unseen(&it) < 0:
			due = append(due, it.ID)
		default:
			unseen++
		}
	}
	return due, unseen
}

// answerGroup gives what was chosen to all that are ticked and were seen whole.
func (p *pane) answerGroup() tea.Cmd {
	due, unseen := p.whole()
	switch {
	case p.group.key == "":
		return nil
	case len(due) == 0:
		p.message = "show each ticked command in full first"
		return nil
	}
	n, rest := 0, ""
	if unseen > 0 {
		rest = fmt.Sprintf("; %d not shown in full; still waiting", unseen)
	}
	for _, id := range due {
		it, ok := p.snap.Item(id)
		if !ok {
			continue
		}
		d := it.Draft.Clone()
		if it.LentBy != "" { // with a note that is not shown here
			d = questions.NewDraft(it.Request.Questions)
		}
		d.Answers[0].Chosen = []int{tui.Granted(it.Request.Prompt, p.group.key)}
		p.queue.SetDraft(id, d)
		if err := p.queue.Send(id); err == nil {
			n++
		} else {
			rest = "; " + err.Error()
		}
	}
	done := "allowed once"
	if p.group.key == "n" {
		done = "denied"
	}
	p.refresh()
	said := fmt.Sprintf("%d %s", n, done)
	if rest != "" {
		p.group.key, p.message = "", said+rest
		return nil
	}
	p.answered(said, due...)
	return nil
}

// renderGroup draws every subject of the group in full, one below the other, and notes
// which of them were seen.
func (p *pane) renderGroup(f *tui.Frame) []string {
	th, g := f.Theme, &p.group
	items := p.grouped()
	w := min(f.W, 110) - 2
	if len(items) == 0 {
		return nil
	}
	f.Asks(askedGroup(items))
	g.cursor = min(g.cursor, len(items)-1)
	var rows []string
	starts := make([]int, len(items)+1)
	for i, it := range items {
		starts[i] = len(rows)
		rows = append(rows, p.groupHead(f, it, i, len(items), w-1)) // beside the scroll bar
		for _, r := range p.permission.subject(th, &it, w-5).Rows {
			rows = append(rows, "  "+th.Border.Render(th.Glyph.Frame.Left)+" "+r)
		}
	}
	starts[len(items)] = len(rows)

	r := &items[0].Request
	title := th.Strong.Render(sanitize.Line(r.Client())) + th.Muted.Render(" "+th.Glyph.Dot+" "+project(r)+": ") +
		th.Strong.Render(sanitize.Line(r.Prompt.Tool)) + th.Muted.Render(" wants "+humanize.Count(len(items), "time"))
	foot := p.groupFoot(f, w)
	h := max(f.H-1-len(foot), 1)
	if g.follow {
		g.follow = false
		g.scroll.Render(th, rows, w, h)
		top, end := starts[g.cursor], starts[g.cursor+1]
		if end-g.scroll.Top > h {
			g.scroll.Top = end - h
		}
		g.scroll.Top = min(g.scroll.Top, top)
	}
	out := append([]string{title}, g.scroll.Render(th, rows, w, h)...)
	for i, it := range items {
		head := starts[i] + 1
		f.Shows(subjectID(it.ID), p.permission.subject(th, &it, w-5), g.scroll.Top-head, g.scroll.Top+h-head)
	}
	for i := range out {
		out[i] = " " + out[i]
	}
	return append(widget.Rows(out, f.W, f.H-len(foot)), foot...)
}

// askedGroup is the group as it is asked: one that shrinks is another one.
func askedGroup(items []questions.Item) tui.Asked {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = strconv.Itoa(items[i].ID)
	}
	return tui.Asked{ID: "group", Digest: tui.Digest(ids...), Quiet: tui.ReadPrompt}
}

func (p *pane) groupHead(f *tui.Frame, it questions.Item, i, n, w int) string {
	th := f.Theme
	cursor, mark := "  ", th.Good.Render(th.Glyph.Check)
	if i == p.group.cursor {
		cursor = th.Accent.Render(th.Glyph.Right) + " "
	}
	if p.group.off[it.ID] {
		mark = th.Muted.Render(th.Glyph.Uncheck)
	}
	d := it.Request.Prompt
	name := fmt.Sprintf(" %d of %d", i+1, n)
	if d.Subagent != "" {
		name += th.Muted.Render("  sub-agent " + sanitize.Line(d.Subagent))
	}
	if d.Path != "" && d.Command == "" {
		name += "  " + sanitize.Exact(d.Path)
	}
	var marks []string
	for _, doubt := range d.Doubts() {
		marks = append(marks, doubt.Mark)
	}
	for _, m := range append(marks, d.Marks...) {
		name += "  " + th.Warn.Render("! "+sanitize.Line(m))
	}
	return widget.Ends(cursor+mark+name, th.Muted.Render(f.Ago(it.Arrived)), w)
}

// groupFoot says what enter would do.
func (p *pane) groupFoot(f *tui.Frame, w int) []string {
	th := f.Theme
	if p.message != "" {
		return []string{" " + th.Warn.Render(widget.Cut(p.message, w))}
	}
	due, unseen := p.whole()
	s := "y allows, n denies; enter answers these"
	switch p.group.key {
	case "y":
		s = fmt.Sprintf("enter allows %d once", len(due))
	case "n":
		s = fmt.Sprintf("enter denies %d", len(due))
	}
	if unseen > 0 {
		s += fmt.Sprintf("; %d not shown in full", unseen)
	}
	style := th.Muted
	if p.group.key != "" {
		style = th.Strong
	}
	return []string{" " + style.Render(widget.Cut(s, w))}
}
