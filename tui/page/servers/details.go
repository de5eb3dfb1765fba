package servers

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// details are what is known of the server in the reading pane.
type details struct {
	snapshot.Details
	at       string // the server
	of       string // the one whose details these are; "" before they are loaded
	loading  bool
	again    bool // they have changed since
	plumbing bool // processes, sizes and protocol are shown
}

// cost says in a sentence or two what a server costs agents, or would.
func (d *details) cost(s *snapshot.Server) string {
	n, bytes := s.State.Adds.Tools, s.State.Adds.Context
	switch {
	case s.IsOn() && !s.Lazy:
		n, bytes = s.Tools, s.Context
	case n == 0:
		bytes = len(d.Instructions)
		for i := range d.Tools {
			if t := &d.Tools[i]; t.Verdict == snapshot.Allow {
				n, bytes = n+1, bytes+t.Context
			}
		}
	}
	tools, tokens := humanize.Count(n, "tool"), "≈ "+snapshot.AboutTokens(bytes)+" tokens per agent"
	switch {
	case !s.IsOn() && n == 0:
		return "Off. What it costs is counted once it is on."
	case !s.IsOn():
		return "Off. Turning it on adds " + tools + ", " + tokens + "."
	case s.Lazy:
		return "On demand. Agents search for its " + tools + "; listed, they would be " + tokens + "."
	case s.Context > snapshot.LargeContext:
		return "On: " + tools + ", " + tokens + ". On demand, agents search for them instead."
	}
	return "On: " + tools + ", " + tokens + "."
}

// chosen is which of the options of the select a server is at: off, on, on demand.
func chosen(s *snapshot.Server) int {
	switch {
	case !s.IsOn():
		return 0
	case s.Lazy:
		return 2
	}
	return 1
}

// options draws the select in w cells: on one row, or below each other.
func options(th *theme.Theme, s *snapshot.Server, w int, row bool) []string {
	means := "agents search for its tools"
	texts := []string{"1 Off", "2 On", "3 On demand"}
	at := chosen(s)
	for i := range texts {
		on, off := "(•) ", "( ) "
		if th.Glyph.ASCII {
			on = "(*) "
		}
		if i == at {
			texts[i] = th.Text.Render(on + texts[i])
		} else {
			texts[i] = th.Muted.Render(off + texts[i])
		}
	}
	if row {
		all := strings.Join(texts, "   ")
		if widget.Width(all) > w {
			all = strings.Join(texts, "  ")
		}
		if widget.Width(all)+widget.Width(means)+3 <= w {
			all += th.Muted.Render(" (" + means + ")")
		}
		return []string{widget.Fit(all, w)}
	}
	if w >= 60 {
		texts[2] += th.Muted.Render(": " + means)
	}
	return texts
}

// changed is the digest of changed definitions.
func changed(all []snapshot.Held) string {
	var texts []string
	for _, h := range all {
		texts = append(texts, h.Kind, h.Tool, h.Digest)
	}
	return strconv.FormatUint(tui.Digest(texts...), 36)
}

// heldName is what the user calls a changed definition.
func heldName(h *snapshot.Held) string {
	if h.Tool == "" {
		return "the instructions"
	}
	return strings.TrimSpace(h.Kind + " " + h.Tool)
}

// heldRows are a changed definition: its name, and each line that went or came.
func heldRows(th *theme.Theme, h *snapshot.Held, w int) []string {
	var rows []string
	for i, part := range widget.Wrap(sanitize.Line(heldName(h))+"  "+h.What, w-2) {
		lead := "  "
		if i == 0 {
			lead = "! "
		}
		rows = append(rows, th.Warn.Render(lead+part))
	}
	for _, l := range h.Diff {
		style := th.Muted
		switch l.Mark {
		case '+':
			style = th.Added
		case '-':
			style = th.Removed
		}
		for i, part := range widget.Wrap(l.Text, w-4) {
			mark := string(l.Mark)
			if i > 0 {
				mark = " "
			}
			rows = append(rows, "  "+style.Render(mark+" "+part))
		}
	}
	return rows
}

// waiting puts the definitions into a body that wait until the user accepts them.
func (d *details) waiting(th *theme.Theme, b *body, w int) {
	if len(d.Held) == 0 {
		return
	}
	head := humanize.Count(len(d.Held), "definition") + " hidden until you accept the change"
	if len(d.Held) > 1 {
		head += "s"
	}
	if why, _, ok := strings.Cut(sanitize.Line(d.Holding), ": "); ok {
		head += ": " + strings.ReplaceAll(why, "→", th.Glyph.Right)
	}
	b.add("")
	b.add(widget.Paragraph(th.Warn, "", head+".", w)...)
	b.add(widget.Paragraph(th.Faint, "", "Agents follow what a server says of its tools: accept what you have read.", w)...)
	if n := len(d.Asked); n > 0 {
		text := "mcpdeck accept was run by " + sanitize.Line(d.Asked[n-1])
		if n > 1 {
			text = "mcpdeck accept was run " + humanize.Count(n, "time") + ", last by " + sanitize.Line(d.Asked[n-1])
		}
		b.add(widget.Paragraph(th.Warn, "", text+".", w)...)
	}
	for i := range d.Held {
		h := &d.Held[i]
		rows := heldRows(th, h, w)
		s := subject{held: h, id: "held " + d.of + " " + heldName(h), from: len(b.rows), to: len(b.rows) + len(rows), drawn: tui.Draw(rows)}
		b.put(item{held: h}, rows[0])
		b.add(rows[1:]...)
		b.subjects = append(b.subjects, s)
	}
}

// agentsOf says how many of the agents connected have a server in their view, and by which
// profiles.
func agentsOf(snap *snapshot.Snapshot, server string) string {
	n, by := 0, map[string]int{}
	for i := range snap.Agents {
		if a := &snap.Agents[i]; a.Gone.IsZero() && a.Sees(server) {
			n++
			if a.Profile != "" {
				by[sanitize.Line(a.Profile)]++
			}
		}
	}
	text := humanize.Count(n, "agent") + " connected"
	for _, name := range slices.Sorted(maps.Keys(by)) {
		text += fmt.Sprintf(", %d by profile %s", by[name], name)
	}
	return text
}

// bare says which connections belong to no conversation: an agent's spares and its list views.
func bare(snap *snapshot.Snapshot, sessions []snapshot.Session, server string) string {
	var names []string
	for i := range snap.Agents {
		a := &snap.Agents[i]
		talks := slices.ContainsFunc(sessions, func(s snapshot.Session) bool { return s.Connection == a.Agent && s.Hidden == "" })
		if a.Gone.IsZero() && a.Sees(server) && !talks {
			name := sanitize.Line(a.Name())
			if a.PID != 0 {
				name += fmt.Sprintf(" (process %d)", a.PID)
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return "without a conversation: " + strings.Join(names, ", ")
}

// facts puts the plumbing into a body: processes, sizes, protocol, and what the server offers
// besides tools.
func (d *details) facts(f *tui.Frame, b *body, s *snapshot.Server, snap *snapshot.Snapshot, sessions []snapshot.Session, w int) {
	th := f.Theme
	wire, trimmed, results := 0, 0, 0
	for i := range d.Tools {
		if t := &d.Tools[i]; t.Verdict == snapshot.Allow {
			wire, trimmed, results = wire+t.Bytes, trimmed+t.Trimmed, results+len(t.Output)
		}
	}
	fact := func(text string) {
		if text != "" {
			b.add(widget.Paragraph(th.Muted, "", sanitize.Line(text), w)...)
		}
	}
	b.add("", th.Strong.Render("Details"))
	about := []string{d.Server}
	if d.Protocol != "" {
		about = append(about, "MCP "+d.Protocol)
	}
	if d.PID != 0 && len(d.Children) < 2 { // else they have rows
		about = append(about, fmt.Sprintf("process %d, started %s", d.PID, f.Since(d.Since)))
	}
	about = slices.DeleteFunc(append(about, s.State.Detail), func(t string) bool { return t == "" })
	fact(strings.Join(about, " "+th.Glyph.Dot+" "))
	fact(agentsOf(snap, s.Name))
	fact(bare(snap, sessions, s.Name))
	if len(d.Tools) > 0 {
		fact("definitions " + humanize.Bytes(wire))
	}
	switch {
	case trimmed > 0:
		fact("trim saves " + humanize.Bytes(trimmed))
	case results > snapshot.LargeContext:
		fact("trim could save " + humanize.Bytes(results))
	}
	if d.Error != "" {
		fact("last error, " + f.Since(d.ErrorAt) + ": " + d.Error)
	}
	if d.Instructions != "" {
		b.put(item{text: true}, widget.Ends("  Instructions for agents", th.Faint.Render(humanize.Bytes(len(d.Instructions))), w))
	}
	for i := range d.Children {
		b.put(item{child: &d.Children[i]}, "  "+childRow(f, snap, &d.Children[i], w-2))
	}
	d.offers(th, b, snapshot.Resources, d.Resources, w)
	d.offers(th, b, snapshot.Prompts, d.Prompts, w)
	b.add(th.Faint.Render("v shows the log"))
}

// offers puts the resources or prompts of a server into a body.
func (d *details) offers(th *theme.Theme, b *body, kind snapshot.Kind, all []snapshot.Item, w int) {
	off := slices.Contains(d.Without, kind)
	if len(all) == 0 && !off {
		return
	}
	name := strings.ToUpper(string(kind[:1])) + string(kind[1:])
	row := fmt.Sprintf("  %s %s %d", th.Good.Render(th.Glyph.On), name, len(all))
	if off {
		row = th.Faint.Render("  " + th.Glyph.Off + " " + name + " off: agents get none")
	}
	b.put(item{kind: kind}, row)
	for i := range all {
		b.put(item{one: &all[i]}, "    "+itemRow(th, &all[i], w-4))
	}
}

func itemRow(th *theme.Theme, it *snapshot.Item, w int) string {
	about := it.Name
	if about == it.Key || about == "" {
		about = it.Description
	}
	if len(it.Args) > 0 {
		about = strings.Join(it.Args, "  ")
	}
	left := sanitize.Line(it.Key) + "  " + th.Faint.Render(sanitize.Line(about))
	return widget.Ends(left, th.Faint.Render(humanize.Bytes(it.Bytes)), w)
}

// childRow draws a program of the server that runs, or a connection to it, and for whom
// it is there.
func childRow(f *tui.Frame, snap *snapshot.Snapshot, c *snapshot.Child, w int) string {
	th := f.Theme
	whose := make([]string, 0, len(c.Agents))
	for _, id := range c.Agents {
		if a := snap.Agent(id); a != nil {
			whose = append(whose, sanitize.Line(a.Name()))
		}
	}
	slices.Sort(whose)
	left := sanitize.Line(c.Name) + "  " + th.Muted.Render(cmp.Or(strings.Join(whose, ", "), "no agent"))
	if c.Root != "" {
		left += th.Faint.Render(" " + th.Glyph.Dot + " " + sanitize.Line(filepath.Base(c.Root)))
	}
	var facts []string
	if c.Running > 0 {
		facts = append(facts, humanize.Count(c.Running, "call"))
	}
	if c.PID != 0 {
		facts = append(facts, fmt.Sprintf("process %d", c.PID))
	}
	facts = append(facts, f.Ago(c.Since))
	right := func() string { return strings.Join(facts, " "+th.Glyph.Dot+" ") }
	for len(facts) > 0 && widget.Width(left)+2+widget.Width(right()) > w { // for whom it runs comes first
		facts = facts[:len(facts)-1]
	}
	return widget.Ends(left, th.Faint.Render(right()), w)
}

// and joins names as a sentence does.
func and(names []string) string {
	if n := len(names); n > 1 {
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1]
	}
	return strings.Join(names, "")
}
