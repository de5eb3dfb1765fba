package deck

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/servers/span"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Render draws the page: servers and agents side by side above the calls, or, in
// a small terminal, one below the other without frames.
func (p *Page) Render(f *tui.Frame) []string {
	p.areas, p.said = p.areas[:0], ""
	var rows []string
	for _, w := range p.opts.Widgets {
		if line := w.Line(f, f.W-2); line != "" {
			rows = append(rows, " "+line)
			p.said += ansi.Strip(line) + "\n"
		}
	}
	rows = append(rows, p.warning(f)...)
	h := f.H - len(rows)
	if f.W < 72 || h < 14 {
		return append(rows, p.small(f, len(rows), h)...)
	}
	top := min(max(len(p.snap.Servers), len(p.snap.Agents), 5)+2, h/2)
	left := p.serversWidth(f)
	y := len(rows)
	rows = append(rows, widget.Beside(
		p.box(f, partServers, 0, y, left, top),
		p.box(f, partAgents, left, y, f.W-left, top))...)
	return append(rows, p.box(f, partCalls, 0, y+top, f.W, h-top)...)
}

// serversWidth is how wide the servers are beside the agents: as wide as what is
// to be said of them, while the agents keep what theirs need.
func (p *Page) serversWidth(f *tui.Frame) int {
	const frame = 6 // with the cursor and the air
	least := min(f.W*2/5, 52)
	need, agents := 0, min(f.W*3/5, 60)
	for i := range p.snap.Servers {
		s := &p.snap.Servers[i]
		need = max(need, serverNameW+serverToolsW+2+widget.Width(p.stateText(f.Theme, s, f.W))+frame)
	}
	for i := range p.snap.Agents {
		a := &p.snap.Agents[i]
		_, _, doing, age := p.doing(f, a)
		agents = max(agents, p.nameWidth(f.W)+widget.Width(doing)+widget.Width(age)+28+frame)
	}
	return max(least, min(need, f.W-min(agents, f.W-least)))
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
	text := plain.Line(w.Text)
	if from := plain.Line(w.From); !strings.HasPrefix(text, from) {
		text = from + ": " + text
	}
	return []string{widget.Ends(" "+th.Warn.Render("! "+text), more, f.W)}
}

// saidElsewhere tells whether every page shows a warning, or the line of a widget
// says what it says of its server.
func (p *Page) saidElsewhere(w deck.Warning) bool {
	if w.Pinned {
		return true
	}
	for i := range p.snap.Servers {
		if s := &p.snap.Servers[i]; s.Name == w.From {
			return strings.Contains(p.said, plain.Line(w.Text))
		}
	}
	return false
}

func (p *Page) box(f *tui.Frame, part string, x, y, w, h int) []string {
	focus := f.Focus && p.part == part
	p.areas = append(p.areas, tui.Area{Part: part, X: x + 1, Y: y + 1, W: w - 2, H: h - 2})
	title, note := p.heading(f, part, w-4)
	return widget.Box(f.Theme, title, note, focus, p.rows(f, part, w-4, h-2, focus), w, h)
}

func (p *Page) heading(f *tui.Frame, part string, w int) (title, note string) {
	th := f.Theme
	switch part {
	case partServers:
		tools, bytes := 0, 0
		for _, s := range p.snap.Servers {
			tools += s.Tools
			bytes += s.Context
		}
		note = strconv.Itoa(tools) + " tools"
		for _, of := range []string{" of context", " context"} {
			if full := note + ", " + tui.Bytes(bytes) + of; len(" Servers ")+len(full)+4 <= w {
				return "Servers", th.Faint.Render(full)
			}
		}
		return "Servers", th.Faint.Render(note)
	case partAgents:
		return "Agents", ""
	}
	note = th.Faint.Render(span.Count(p.snap.Total, "call"))
	switch {
	case p.snap.Total == 0 && len(p.earlier) > 0:
		note = th.Faint.Render("before this deck opened")
	case p.snap.Total == 0:
		note = ""
	}
	if p.snap.Errors > 0 {
		note += th.Faint.Render(", ") + th.Bad.Render(strconv.FormatUint(p.snap.Errors, 10)+" failed")
	}
	if !p.follow {
		note = th.Warn.Render("paused") + th.Faint.Render(", end continues") + "  " + note
	}
	return "Calls", note
}

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
	return l.Render(f.Theme, w, h, focus, func(i, w int) string {
		switch part {
		case partServers:
			return p.serverRow(f, &p.snap.Servers[i], w)
		case partAgents:
			return p.agentRow(f, &p.snap.Agents[i], w)
		}
		c, _ := p.call(i)
		return tui.CallRow(f, tui.Standing(c, left), w)
	})
}

func (p *Page) empty(f *tui.Frame, part string, w int) []string {
	th := f.Theme
	var rows []string
	add := func(s theme.Style, text string) {
		for _, l := range widget.Wrap(text, w-2) {
			rows = append(rows, "  "+s.Render(l))
		}
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

func (p *Page) serverRow(f *tui.Frame, s *deck.Server, w int) string {
	th := f.Theme
	mark, style := tui.ServerMark(th, s.State.Status)
	name := th.Strong
	if s.State.Status == deck.Off {
		name = th.Muted
	}
	left := style.Render(mark) + " " + name.Render(widget.Fit(plain.Line(s.Title), serverNameW))
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
func (p *Page) stateText(th *theme.Theme, s *deck.Server, w int) string {
	_, style := tui.ServerMark(th, s.State.Status)
	reason, detail := plain.Line(s.State.Reason), plain.Line(s.State.Detail)
	if strings.Contains(p.said, reason) {
		reason = "" // a line above says it
	}
	switch s.State.Status {
	case deck.Ready:
		return th.Faint.Render(detail)
	case deck.Degraded, deck.Failed:
		switch { // the lamp says the status, too
		case reason != "" && w >= 30 && !strings.HasPrefix(reason, string(s.State.Status)):
			return style.Render(string(s.State.Status) + ": " + reason)
		case reason != "" && w >= 14:
			return style.Render(reason)
		}
	case deck.Starting:
		return style.Render("starting…")
	case deck.Off:
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
	for i := range p.snap.Agents {
		n = max(n, widget.Width(plain.Line(p.snap.Agents[i].Name())))
	}
	return min(n, max(w/3, 8))
}

func (p *Page) agentRow(f *tui.Frame, a *deck.Agent, w int) string {
	th := f.Theme
	name := plain.Line(a.Name())
	mark, style, doing, age := p.doing(f, a)
	left := style.Render(mark) + " " + th.Hue(name).Render(widget.Fit(name, p.nameWidth(w))) + "  "
	if w >= 50 {
		left += th.Muted.Render(widget.Fit(folder(a.Folder()), min(w/6, 16))) + "  "
	}
	if a.Stale && !a.Gateway && a.Gone.IsZero() {
		doing += th.Warn.Render("  old tools")
	}
	return widget.Ends(left+doing, age, w)
}

// doing is the mark of an agent, what it is doing, and for how long.
func (p *Page) doing(f *tui.Frame, a *deck.Agent) (mark string, style theme.Style, doing, age string) {
	th := f.Theme
	if !a.LastCall.IsZero() {
		age = f.Ago(a.LastCall)
	}
	tools := plain.Line(strings.Join(a.InFlight, ", "))
	switch {
	case !a.Gone.IsZero():
		return th.Glyph.Off, th.Faint, th.Faint.Render("gone"), th.Faint.Render(f.Ago(a.Gone))
	case a.Waiting:
		if asked := p.asked(a); asked != "" {
			return th.Glyph.Wait, th.Warn, th.Warn.Render("asks you") + "  " + th.Strong.Render(asked), th.Warn.Render(age)
		}
		return th.Glyph.Wait, th.Warn, th.Warn.Render("waits for you") + th.Muted.Render("  "+tools), th.Warn.Render(age)
	}
	if it := p.left(a.Agent); it != nil {
		return th.Glyph.Wait, th.Warn, th.Warn.Render("asks you") + "  " + th.Strong.Render(words(it)), th.Warn.Render(f.Ago(it.Arrived))
	}
	switch before := p.before(a); {
	case len(a.InFlight) > 0:
		return f.Spin(), th.Info, th.Info.Render(tools), th.Info.Render(age)
	case a.LastTool != "":
		return th.Glyph.On, th.Good, th.Faint.Render(plain.Line(a.LastTool)), th.Faint.Render(f.Since(a.LastCall))
	case before != nil:
		return th.Glyph.On, th.Good, th.Faint.Render(plain.Line(before.Tool)), th.Faint.Render(f.Since(before.Started))
	}
	return th.Glyph.On, th.Good, th.Faint.Render("no calls yet"), ""
}

// asked is the question that an agent waits for the answer to.
func (p *Page) asked(a *deck.Agent) string {
	for _, c := range slices.Backward(p.snap.Calls) {
		if c.Agent == a.Agent && c.Waiting && c.Status == deck.Running {
			return tui.Question(&c)
		}
	}
	return ""
}

func folder(root string) string {
	if root == "" {
		return ""
	}
	return plain.Line(filepath.Base(root))
}

// small draws the parts one below the other, each under a rule.
func (p *Page) small(f *tui.Frame, y, h int) []string {
	th := f.Theme
	var rows []string
	section := func(part string, n int) {
		if n < 2 {
			return
		}
		title, note := p.heading(f, part, f.W)
		line, name, glyph := th.Border, th.Title, th.Glyph.Frame.Top
		if p.part == part {
			line, name, glyph = th.Focus, th.Accent, th.Glyph.Focus.Top
		}
		rows = append(rows, widget.Rule(line, name, glyph, title, note, f.W))
		p.areas = append(p.areas, tui.Area{Part: part, X: 0, Y: y + len(rows), W: f.W, H: n - 1})
		rows = append(rows, p.rows(f, part, f.W, n-1, f.Focus && p.part == part)...)
	}
	ns, na := len(p.snap.Servers)+1, len(p.snap.Agents)+1
	if na == 1 { // room to say how one connects
		na = 5
	}
	switch { // the part with the focus gets the room
	case h >= ns+na+5:
		section(partServers, ns)
		section(partAgents, na)
		section(partCalls, h-ns-na)
	case p.part == partServers:
		section(partServers, min(ns, h-3))
		section(partAgents, h-min(ns, h-3))
	default:
		rows = append(rows, p.lamps(f))
		h--
		if p.part == partAgents {
			na = min(na, h-3)
		} else {
			na = min(na, h/3+1)
		}
		section(partAgents, na)
		section(partCalls, h-na)
	}
	return rows
}

// lamps is one line about the servers: how many are ready, and the others by
// name.
func (p *Page) lamps(f *tui.Frame) string {
	th, ready, rest := f.Theme, 0, ""
	for _, s := range p.snap.Servers {
		if s.State.Status == deck.Ready {
			ready++
			continue
		}
		mark, style := tui.ServerMark(th, s.State.Status)
		rest += "  " + style.Render(mark) + " " + th.Muted.Render(plain.Line(s.Title))
	}
	return widget.Fit(" "+th.Good.Render(th.Glyph.On)+th.Muted.Render(" "+strconv.Itoa(ready)+" ready")+rest, f.W)
}

// Legend explains the lamps of the servers, and the marks of agents and calls.
func (p *Page) Legend(th *theme.Theme) []tui.Sign {
	return append(tui.ServerLegend(th), tui.CallLegend(th)...)
}
