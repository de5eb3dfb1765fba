package ask

import (
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	questions "github.com/mcpdeck/mcpdeck/ask"
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
	key    string // of what enter gives; "" until it is chosen
}

// alike are the permissions that can be answered with the open one, itself among them.
func (p *Page) alike() []int {
	d := p.deciding()
	if d == nil || d.Kind != questions.Permission || tui.Granted(d, "y") < 0 || tui.Granted(d, "n") < 0 {
		return nil
	}
	it, _ := p.current()
	options := it.Request.Questions[0].Options
	var ids []int
	for _, o := range p.snap.Items {
		e := decision(&o.Request)
		if e == nil || !o.Waits() || o.Request.InTerminal() || len(ids) == groupMost {
			continue
		}
		same := e.Kind == d.Kind && e.Agent == d.Agent && e.Session == d.Session && e.Tool == d.Tool
		if same && slices.Equal(o.Request.Questions[0].Options, options) && slices.Equal(e.Grants, d.Grants) {
			ids = append(ids, o.ID)
		}
	}
	return ids
}

func (p *Page) whyNoGroup() string {
	return tui.Because(len(p.alike()) < 2, "nothing else that waits is like this")
}

func (p *Page) groupHint() string { return fmt.Sprintf("group of %d", len(p.alike())) }

func (p *Page) openGroup() {
	ids := p.alike()
	p.group = group{ids: ids, off: map[int]bool{}, cursor: max(slices.Index(ids, p.id), 0), follow: true}
	p.place, p.message = partGroup, ""
}

// grouped are the permissions of the group that still wait.
func (p *Page) grouped() []questions.Item {
	var out []questions.Item
	for _, id := range p.group.ids {
		if it, ok := p.snap.Item(id); ok && it.Waits() && !it.Request.InTerminal() {
			out = append(out, it)
		}
	}
	return out
}

// leaveGroup goes back to the permission from which the group was opened, or on.
func (p *Page) leaveGroup() {
	p.place, p.message = partRequest, ""
	if it, ok := p.current(); !ok || it.State == questions.Sending {
		p.leaveEnded(true)
	}
}

func (p *Page) moveInGroup(d int) {
	p.group.cursor = min(max(p.group.cursor+d, 0), max(len(p.grouped())-1, 0))
	p.group.follow = true
}

func (p *Page) tick() {
	if items := p.grouped(); p.group.cursor < len(items) {
		id := items[p.group.cursor].ID
		p.group.off[id] = !p.group.off[id]
	}
}

// verdict chooses what enter gives.
func (p *Page) verdict(key string) func() tea.Cmd {
	return tui.Do(func() { p.group.key, p.message = key, "" })
}

// due are the permissions that enter answers: ticked, and seen whole.
func (p *Page) due() (due []int, unseen int) {
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
func (p *Page) answerGroup() tea.Cmd {
	due, unseen := p.due()
	switch {
	case p.group.key == "":
		p.message = "press y to allow these once, or n to deny them; enter then does it"
		return nil
	case len(due) == 0:
		p.message = "nothing that is ticked was on screen in full"
		return nil
	}
	n := 0
	for _, id := range due {
		it, ok := p.snap.Item(id)
		if !ok {
			continue
		}
		d := it.Draft.Clone()
		d.Answers[0].Chosen = []int{tui.Granted(it.Request.Prompt, p.group.key)}
		p.queue.SetDraft(id, d)
		if p.queue.Send(id) == nil {
			n++
		}
	}
	done := "allowed once"
	if p.group.key == "n" {
		done = "denied"
	}
	p.refresh()
	if unseen > 0 {
		p.group.key = ""
		p.message = fmt.Sprintf("%d %s; %d were not on screen in full and wait on", n, done, unseen)
		return nil
	}
	p.answered(fmt.Sprintf("%d %s", n, done), due...)
	return nil
}

func (p *Page) groupActions() []tui.Action {
	rows := []row{
		{"group.answer", "Answer all that are ticked and were on screen in full", "answer these", []string{"enter"}, true, p.answerGroup},
		{"group.allow", "Have enter allow them once", "allow once", []string{"y"}, true, p.verdict("y")},
		{"group.deny", "Have enter deny them", "deny", []string{"n"}, true, p.verdict("n")},
		{"group.tick", "Leave one out, or take it in", "tick", []string{"space"}, true, tui.Do(p.tick)},
		{"group.up", "Up", "", []string{"up", "k"}, false, tui.Do(func() { p.moveInGroup(-1) })},
		{"group.down", "Down", "", []string{"down", "j"}, false, tui.Do(func() { p.moveInGroup(1) })},
		{"group.pageup", "A page up", "", []string{"pgup", "shift+up"}, false, tui.Do(func() { p.group.scroll.Page(-1) })},
		{"group.pagedown", "A page down", "", []string{"pgdown", "shift+down"}, false, tui.Do(func() { p.group.scroll.Page(1) })},
		{"group.leave", "Back to the permission", "back", []string{"esc", "A", "ctrl+c"}, false, tui.Do(p.leaveGroup)},
	}
	return p.actionsOf(partGroup, rows)
}

// renderGroup draws every subject of the group in full, one below the other, and notes
// which of them were seen.
func (p *Page) renderGroup(f *tui.Frame) []string {
	th, g := f.Theme, &p.group
	items := p.grouped()
	w := min(f.W, widest) - 2
	if len(items) == 0 {
		return nil
	}
	f.Asks(p.askedGroup(items))
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
	title := th.Text.Render(sanitize.Line(r.Client())) + th.Muted.Render(" "+th.Glyph.Dot+" "+project(r)+": ") +
		th.Strong.Render(sanitize.Line(r.Prompt.Tool)) + th.Muted.Render(fmt.Sprintf(" wants %d times", len(items)))
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
func (p *Page) askedGroup(items []questions.Item) tui.Asked {
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = strconv.Itoa(items[i].ID)
	}
	return tui.Asked{ID: "group", Digest: tui.Digest(ids...), Quiet: tui.ReadPrompt}
}

func (p *Page) groupHead(f *tui.Frame, it questions.Item, i, n, w int) string {
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
func (p *Page) groupFoot(f *tui.Frame, w int) []string {
	th := f.Theme
	if p.message != "" {
		return []string{" " + th.Warn.Render(widget.Cut(p.message, w))}
	}
	due, unseen := p.due()
	s := "y allows, n denies, enter then answers"
	switch p.group.key {
	case "y":
		s = fmt.Sprintf("enter allows %d once", len(due))
	case "n":
		s = fmt.Sprintf("enter denies %d", len(due))
	}
	if unseen > 0 {
		s += fmt.Sprintf("; %d not seen in full", unseen)
	}
	style := th.Muted
	if p.group.key != "" {
		style = th.Strong
	}
	return []string{" " + style.Render(widget.Cut(s, w))}
}
