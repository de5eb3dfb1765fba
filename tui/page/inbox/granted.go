package inbox

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/rules/granted"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/verb"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// partGranted is the view of what agents were allowed in their own files.
const partGranted = "granted"

// Grants are what agents were allowed in their own files.
type Grants interface {
	// List reads them, those of projects by folders in them.
	List(folders []string) granted.List
	// Exact plans how the agent's program allows exactly what it has denied by itself. The error says why
	// it does not.
	Exact(d *ask.Denied) (tui.SetupPlan, error)
}

// grants is their view, beside the rules.
type grants struct {
	from Grants // nil: there are none
	all  []granted.Entry
	past []granted.Skipped
	read bool
	list widget.List
}

// grantedMsg is what was read.
type grantedMsg struct{ list granted.List }

// look reads what agents that work in the sessions' folders, or anywhere, were allowed.
func (g *grants) look(sessions []snapshot.Session) tea.Cmd {
	var folders []string
	for i := range sessions {
		if s := &sessions[i]; s.Machine == "" && s.Folder != "" && !slices.Contains(folders, s.Folder) {
			folders = append(folders, s.Folder)
		}
	}
	from := g.from
	return func() tea.Msg { return grantedMsg{from.List(folders)} }
}

func (g *grants) take(m grantedMsg) tea.Cmd {
	g.read, g.past, g.all = true, m.list.Skipped, m.list.Entries
	g.all = slices.DeleteFunc(g.all, func(e granted.Entry) bool { return e.Verdict != granted.Allow })
	g.list.SetLen(len(g.all))
	return nil
}

func (g *grants) selected() *granted.Entry { return widget.Selected(&g.list, g.all) }

func (g *grants) actions(p *Page) []tui.Action {
	return slices.Concat(p.past.leaving("inbox.granted", partGranted), []tui.Action{
		{ID: "inbox.denied", Title: "What agents were denied", Hint: "view", Verb: verb.View, Part: partGranted, Moves: true, Run: tui.Do(func() {
			p.past.view = partDenied
			p.denials.update(p.snap.History)
		})},
		{ID: "inbox.granted.copy", Title: "Copy the entry", Hint: "copy", Verb: verb.Copy, Part: partGranted, Enabled: func() string { return tui.Because(g.selected() == nil, "no entry is selected") }, Run: func() tea.Cmd {
			return tui.Copy(g.selected().Text, "the entry")
		}},
	}, tui.ListActions("inbox.granted", partGranted, &g.list))
}

// worse reports whether a mark says that more is allowed than it seems.
func worse(mark string) bool { return mark != granted.Shadowed && mark != granted.Untrusted }

func (g *grants) render(f *tui.Frame, home string) []string {
	th := f.Theme
	past := ""
	if n := len(g.past); n > 0 {
		past = humanize.Count(n, "file") + " not read"
	}
	rows := []string{widget.Heading(th, "Granted "+strconv.Itoa(len(g.all)), past, true, f.W)}
	if !g.read {
		return append(rows, "", "  "+th.Muted.Render("reading the files of agents"))
	}
	if len(g.all)+len(g.past) == 0 {
		return append(rows, "", "  "+th.Muted.Render("no agent was allowed anything in its own files"))
	}
	for _, s := range g.past[:min(len(g.past), f.H/12)] {
		rows = append(rows, " "+th.Warn.Render(widget.Cut("not read: "+sanitize.Line(humanize.Tilde(s.File, home))+": "+sanitize.Line(s.Why), f.W-2)))
	}
	wide := 0
	for i := range g.all {
		wide = max(wide, widget.Width(g.all[i].Agent))
	}
	var about []remark
	if e := g.selected(); e != nil {
		about = append(about, remark{th.Text, e.Text + ": " + e.Says})
		if len(e.Marks) > 0 {
			about = append(about, remark{th.Warn, strings.Join(e.Marks, ", ")})
		}
		about = append(about, remark{th.Muted, string(e.Scope) + ", line " + strconv.Itoa(e.Line) + " of " + humanize.Tilde(e.File, home)})
		if e.Fixed != "" {
			about = append(about, remark{th.Muted, "cannot be revoked here: " + e.Fixed})
		}
	}
	return listAbout(f, rows, &g.list, 3, 7, about, func(i, w int) string {
		e := &g.all[i]
		room := w - wide - 3
		if len(e.Marks) > 0 { // the first counts most
			room = max(room-widget.Width(e.Marks[0])-2, room/2)
		}
		text := widget.Cut(sanitize.Line(e.Text), room)
		marks := widget.Cut(strings.Join(e.Marks, ", "), w-wide-widget.Width(text)-5)
		style := th.Muted
		if slices.ContainsFunc(e.Marks, worse) {
			style = th.Warn
		}
		return widget.Ends(th.Muted.Render(widget.Fit(e.Agent, wide))+"  "+th.Text.Render(text), style.Render(marks), w-1)
	})
}
