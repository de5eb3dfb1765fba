package deck

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the page: who waits for the user, who is at work, the calls, and in one
// line what there is, each under a rule.
func (p *Page) Render(f *tui.Frame) []string {
	p.lay(f.Now)
	p.areas, p.said = p.areas[:0], ""
	p.look(f)
	p.what = p.inventory(f)
	if p.part != partServers {
		p.said = ansi.Strip(p.what)
	}
	rows := p.warning(f)
	if len(p.waitList) == 0 && p.opts.Questions != nil && len(p.work) > 0 && f.H >= 14 {
		rows = append(rows, p.nothingWaits(f))
	}
	parts := p.parts()
	for i, h := range p.heights(f, parts, f.H-len(rows)) {
		rows = append(rows, p.section(f, parts[i], len(rows), h)...)
	}
	p.reads(f)
	return rows
}

// look notes which call is under the cursor of the pane with the focus.
func (p *Page) look(f *tui.Frame) {
	var c *snapshot.Call
	if p.part == partCalls {
		c, _ = p.call(p.calls.Cursor)
	}
	f.Looks(c)
}

// heights gives h rows out to parts. All have their rule; the part with the focus gets
// what it needs, then those that wait, those at work up to half, and the calls the rest.
func (p *Page) heights(f *tui.Frame, parts []string, h int) []int {
	out := make([]int, len(parts))
	left := h
	give := func(part string, n int) {
		if i := slices.Index(parts, part); i >= 0 {
			n = max(min(n-out[i], left), 0)
			out[i] += n
			left -= n
		}
	}
	rows := func(part string) int {
		n := p.list(part).Len()
		switch {
		case part == partAgents && n == 0:
			return len(p.nobody(f, f.W)) + 1
		case part == partCalls:
			return h
		}
		return n + 1
	}
	for _, part := range parts {
		give(part, 1)
	}
	if p.part != partCalls {
		give(p.part, min(rows(p.part), max(h-len(parts)-1, 2)))
	} else {
		give(partCalls, min(4, h/2))
	}
	give(partWaiting, rows(partWaiting))
	give(partAgents, min(rows(partAgents), max(h/2, 3)))
	give(partCalls, h)
	return out
}

// section draws a part in h rows under its rule.
func (p *Page) section(f *tui.Frame, part string, y, h int) []string {
	if h <= 0 {
		return nil
	}
	th := f.Theme
	focus := p.part == part
	line, name, glyph := th.Border, th.Title, th.Glyph.Frame.Top
	if focus {
		line, name, glyph = th.Focus, th.Accent, th.Glyph.Focus.Top
	}
	if n, _ := p.due(); part == partWaiting && n > 0 {
		name = th.Warn
	}
	if part == partServers && h == 1 {
		p.areas = append(p.areas, tui.Area{Part: part, X: 0, Y: y, W: f.W, H: 1})
		return []string{p.what}
	}
	title, note := p.heading(f, part, f.W)
	lead := line.Render(glyph)
	rows := []string{lead + widget.Rule(line, name, glyph, title, note, f.W-2) + " "}
	if part == partAgents && len(p.work) > 0 && len(p.sessions) > 0 && h > 1 {
		inner := f.W - 2 - margin // beside the cursor
		if len(p.work) > h-1 {
			inner -= 2 // and the scroll bar
		}
		if heads := p.heads(f, line, glyph, inner); heads != "" {
			to := inner - widget.Width(heads)
			for _, s := range sorts() {
				if s.Column != "" {
					p.areas.Head(heads, to+2, y, s.Column, func() tea.Cmd { return p.sortBy(s.Column) })
				}
			}
			rows[0] = lead + widget.Rule(line, name, glyph, title, "", to) + " " + heads + line.Render(widget.Repeat(glyph, f.W-3-inner)) + " "
		}
	}
	p.counts(part, rows[0], y)
	if h > 1 {
		p.areas = append(p.areas, tui.Area{Part: part, X: 0, Y: y + 1, W: f.W, H: h - 1})
		rows = append(rows, p.rows(f, part, f.W, h-1, f.Focus && focus)...)
	}
	return rows
}

// counts makes the counts in the rule of a part show what they count.
func (p *Page) counts(part, rule string, y int) {
	on := func(count, page string, msg tea.Msg) {
		p.areas.Count(rule, y, count, func() tea.Cmd { return p.show(page, msg) })
	}
	switch part {
	case partWaiting:
		on(p.waitingHeading(), p.opts.AskPage, nil)
	case partAgents:
		if title, some := p.workHeading(); some {
			on(title, p.opts.AgentsPage, tui.FilterSessionsMsg{Text: "status:" + string(snapshot.Working)})
		}
	case partCalls:
		on(p.failed(), p.opts.CallsPage, tui.FilterCallsMsg{Failed: true})
	}
}

// warning is the newest warning that is not said on the page anyway, and how many
// there are.
func (p *Page) warning(f *tui.Frame) []string {
	th, n, i := f.Theme, len(p.snap.Warnings), len(p.snap.Warnings)-1
	for i >= 0 && p.saidElsewhere(p.snap.Warnings[i]) {
		i--
	}
	if i < 0 {
		return nil
	}
	w := p.snap.Warnings[i]
	words := " all " + strconv.Itoa(n)
	if n == 1 {
		words = " read"
	}
	more := th.Key.Render("w") + th.Muted.Render(words) + " "
	text := sanitize.Line(w.Text)
	if from := sanitize.Line(w.From); !strings.HasPrefix(text, from) {
		text = from + ": " + text
	}
	return []string{widget.Ends(" "+th.Warn.Render("! "+text), more, f.W)}
}

// saidElsewhere reports whether a warning needs no line here: every page shows it, it was said
// once, or the line about what there is says what it says of its server.
func (p *Page) saidElsewhere(w snapshot.Warning) bool {
	if w.Pinned || w.Once {
		return true
	}
	for i := range p.snap.Servers {
		if s := &p.snap.Servers[i]; s.Name == w.From {
			return strings.Contains(p.said, sanitize.Line(w.Text))
		}
	}
	return false
}

// heading is what stands in the rule of a part, and at its end.
func (p *Page) heading(f *tui.Frame, part string, w int) (title, note string) {
	th := f.Theme
	switch part {
	case partWaiting:
		return p.waitingHeading(), ""
	case partServers:
		return "Cards", th.Faint.Render(p.offered(w))
	case partAgents:
		title, _ := p.workHeading()
		return title, ""
	}
	if note = p.verdict(th, w); p.snap.Total == 0 && len(p.earlier) > 0 {
		note = th.Faint.Render("before this deck opened")
	}
	if !p.follow {
		note = th.Warn.Render("paused") + th.Faint.Render(", end continues") + "  " + note
	}
	return "Calls", note
}

func (p *Page) waitingHeading() string {
	switch n, _ := p.due(); n {
	case 0: // what was answered last is still there
		return p.noneWait()
	case 1:
		return "1 waits for you"
	default:
		return strconv.Itoa(n) + " wait for you"
	}
}

// failed is how many calls have failed, in words; "" if none has.
func (p *Page) failed() string {
	if p.snap.Errors == 0 {
		return ""
	}
	return strconv.FormatUint(p.snap.Errors, 10) + " failed"
}

// verdict sums the calls up: how many, how many failed, and how long they took.
func (p *Page) verdict(th *theme.Theme, w int) string {
	if p.snap.Total == 0 {
		return ""
	}
	parts := []string{th.Faint.Render(strconv.FormatUint(p.snap.Total, 10))}
	if w < 60 {
		parts[0] = th.Faint.Render(humanize.Count(p.snap.Total, "call"))
	}
	if failed := p.failed(); failed != "" {
		style := th.Faint
		if p.failures.Fresh() > 0 {
			style = th.Bad
		}
		parts = append(parts, style.Render(failed))
	}
	if p50, p95, ok := p.took(); ok && w >= 60 {
		parts = append(parts, th.Faint.Render("p50 "+humanize.Took(p50)), th.Faint.Render("p95 "+humanize.Took(p95)))
	}
	return strings.Join(parts, th.Faint.Render(" "+th.Glyph.Dot+" "))
}

// took is how long half of the newest calls took at most, and nineteen in twenty; false
// where there are too few to say. What waited for the user does not count.
func (p *Page) took() (p50, p95 time.Duration, ok bool) {
	if p.figures.of != p.snap {
		var all []time.Duration
		for i := range p.snap.Calls {
			if c := &p.snap.Calls[i]; c.Server != "ask" && (c.Status == snapshot.OK || c.Status.Failed()) {
				all = append(all, c.Duration)
			}
		}
		p.figures = figures{of: p.snap}
		if n := len(all); n >= 4 {
			slices.Sort(all)
			p.figures = figures{p.snap, all[n/2], all[min(n*19/20, n-1)]}
		}
	}
	return p.figures.p50, p.figures.p95, p.figures.p95 > 0
}

// figures are those of a snapshot's calls.
type figures struct {
	of       *snapshot.Snapshot
	p50, p95 time.Duration
}

// margin is what rows leave empty at their end, as rules and the header do.
const margin = 1

// rows draws the list of a part.
func (p *Page) rows(f *tui.Frame, part string, w, h int, focus bool) []string {
	l := p.list(part)
	var left []ask.Item
	if part == partCalls {
		left = p.handedOver()
	}
	if l.Len() == 0 {
		return widget.Rows(p.empty(f, part, w), w, h)
	}
	return l.Render(f.Theme, w-margin, h, focus, func(i, w int) string {
		switch part {
		case partWaiting:
			return p.waitingRow(f, &p.waitList[i], w)
		case partServers:
			return p.serverRow(f, &p.snap.Servers[i], w)
		case partAgents:
			return p.workRow(f, p.work[i], w)
		}
		c, _ := p.call(i)
		return tui.CallRow(f, tui.Standing(c, left), w)
	})
}

func (p *Page) empty(f *tui.Frame, part string, w int) []string {
	th := f.Theme
	var rows []string
	add := func(s theme.Style, text string) {
		rows = append(rows, widget.Paragraph(s, "  ", text, w-2)...)
	}
	switch part {
	case partServers:
		add(th.Faint, "no servers yet")
	case partAgents:
		return p.nobody(f, w)
	default:
		add(th.Faint, "Calls appear here as agents make them.")
	}
	return rows
}

// Columns of the servers.
const serverNameW, serverToolsW = 12, 9

func (p *Page) serverRow(f *tui.Frame, s *snapshot.Server, w int) string {
	th := f.Theme
	mark, style := tui.ServerMark(th, s.State.Status)
	name := th.Strong
	if s.State.Status == snapshot.Off {
		name = th.Muted
	}
	left := style.Render(mark) + " " + name.Render(widget.Fit(sanitize.Line(s.Title), serverNameW))
	tools := ""
	if s.Tools > 0 {
		tools = strconv.Itoa(s.Tools) + " tools"
		if s.Tools == 1 {
			tools = "1 tool"
		}
	}
	switch {
	case s.Tools == 0 && s.State.Reason != "": // which needs the room
	case w < 32 && s.Tools > 0: // the state matters more than the word
		left += th.Muted.Render(widget.Fit(strconv.Itoa(s.Tools), 3))
	default:
		left += th.Muted.Render(widget.Fit(tools, min(serverToolsW, max(w-22, 3))))
	}
	return widget.Fit(left+p.stateText(th, s, w-widget.Width(left)), w)
}

// stateText is what is to be said of a server beside its lamp, in about w cells.
func (p *Page) stateText(th *theme.Theme, s *snapshot.Server, w int) string {
	_, style := tui.ServerMark(th, s.State.Status)
	reason, detail := sanitize.Line(cmp.Or(s.State.Lacks, s.State.Reason)), sanitize.Line(s.State.Detail)
	if strings.Contains(p.said, reason) {
		reason = "" // a line above says it
	}
	switch s.State.Status {
	case snapshot.Ready:
		return th.Faint.Render(detail)
	case snapshot.Degraded, snapshot.Failed:
		switch { // the lamp says the status, too
		case reason != "" && w >= 30 && !strings.HasPrefix(reason, string(s.State.Status)):
			return style.Render(string(s.State.Status) + ": " + reason)
		case reason != "" && w >= 14:
			return style.Render(reason)
		}
	case snapshot.Starting:
		return style.Render("starting…")
	case snapshot.Off:
		detail = cmp.Or(detail, reason)
	default:
	}
	if detail != "" && w >= 20 {
		return style.Render(string(s.State.Status)) + th.Faint.Render("  "+detail)
	}
	return style.Render(string(s.State.Status))
}

// nameWidth is how wide the agents' names are, at most a third of w.
func (p *Page) nameWidth(w int) int {
	n := 6
	for _, wk := range p.work {
		n = max(n, widget.Width(wk.name()))
	}
	for i := range p.waitList {
		n = max(n, widget.Width(sanitize.Line(p.waitList[i].item.Request.Client())))
	}
	return min(n, max(w/3, 8))
}

func (p *Page) agentRow(f *tui.Frame, a *snapshot.Agent, w int) string {
	th := f.Theme
	name := sanitize.Line(a.Name())
	mark, style, doing, age := p.doing(f, a)
	left := style.Render(mark) + " " + th.Text.Render(widget.Fit(name, p.nameWidth(w))) + "  "
	if w >= 50 {
		left += th.Muted.Render(widget.Fit(folder(a.Folder()), min(w/6, 16))) + "  "
	}
	if a.Stale && !a.Gateway && a.Gone.IsZero() {
		doing += th.Warn.Render("  old tools")
	}
	return widget.Ends(left+doing, age, w)
}

// doing is the mark of an agent, what it is doing, and for how long.
func (p *Page) doing(f *tui.Frame, a *snapshot.Agent) (mark string, style theme.Style, doing, age string) {
	th := f.Theme
	if !a.LastCall.IsZero() {
		age = f.Ago(a.LastCall)
	}
	tools := sanitize.Line(strings.Join(a.InFlight, ", "))
	switch {
	case !a.Gone.IsZero():
		return th.Glyph.Off, th.Faint, th.Faint.Render("gone"), th.Faint.Render(f.Ago(a.Gone))
	case a.Waiting:
		if asked := p.asked(a); asked != "" {
			return th.Glyph.Wait, th.Warn, th.Warn.Render("asks you") + "  " + widget.Spans(th, th.Strong, asked), th.Warn.Render(age)
		}
		return th.Glyph.Wait, th.Warn, th.Warn.Render("waits for you") + th.Muted.Render("  "+tools), th.Warn.Render(age)
	}
	switch before := p.before(a); {
	case len(a.InFlight) > 0:
		return f.Spin(), th.Info, th.Info.Render(tools), th.Info.Render(age)
	case a.LastTool != "":
		return th.Glyph.On, th.Good, th.Faint.Render(sanitize.Line(a.LastTool)), th.Faint.Render(f.Since(a.LastCall))
	case before != nil:
		return th.Glyph.On, th.Good, th.Faint.Render(sanitize.Line(before.Tool)), th.Faint.Render(f.Since(before.Started))
	}
	return th.Glyph.On, th.Good, th.Faint.Render("no calls yet"), ""
}

// asked is the question that an agent waits for the answer to.
func (p *Page) asked(a *snapshot.Agent) string {
	for _, c := range slices.Backward(p.snap.Calls) {
		if c.Agent == a.Agent && c.Waiting && c.Status == snapshot.Running {
			return tui.Question(&c)
		}
	}
	return ""
}

func folder(root string) string {
	if root == "" {
		return ""
	}
	return sanitize.Line(filepath.Base(root))
}

// Legend explains the marks of requests, agents, calls and servers.
func (p *Page) Legend(th *theme.Theme) []tui.Sign {
	g := th.Glyph
	return []tui.Sign{
		{Mark: th.Warn.Render(g.Wait), Means: "waits for you"},
		{Mark: th.Warn.Render(g.Held), Means: "waits, its terminal shows nothing"},
		{Mark: th.Warn.Render(g.Right), Means: "answer in its terminal"},
		{Mark: th.Info.Render((&tui.Frame{Theme: th}).Spin()), Means: "works"},
		{Mark: th.Good.Render(g.On), Means: "ready"},
		{Mark: th.Info.Render(g.Half), Means: "under way in the background"},
		{Mark: th.Muted.Render(g.Off), Means: "idle or off"},
		{Mark: th.Bad.Render(g.Fail), Means: "failed or refused"},
		{Mark: th.Good.Render(g.OK), Means: "done"},
		{Mark: th.Warn.Render("!"), Means: "degraded"},
		{Mark: th.Muted.Render("?"), Means: "what it does is not known"},
	}
}
