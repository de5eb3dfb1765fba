// Package conversation draws what an agent's program recorded of a session: what the user
// asked, what the agent said, the files that it changed, and its steps.
package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Prose is how wide text is drawn at most, in cells.
const Prose = 88

// Room is what there is for a conversation.
type Room struct {
	W int // cells
	H int // rows; 0: as many as it takes
	// Apart is for steps that stand in a pane of their own.
	Apart bool
}

// Heading is the rule above a session's pane, w cells wide: which session it is, what it
// does, and what it costs; project is what the session's project is called.
func Heading(f *tui.Frame, s *snapshot.Session, project, does string, focus bool, w int) string {
	title := join(f, sanitize.Line(s.Agent), project, does)
	var note string
	for _, parts := range figures(s, min(f.W, w)) {
		if note = join(f, parts...); widget.Width(title)+widget.Width(note)+8 <= w {
			break
		}
	}
	return widget.Heading(f.Theme, title, f.Theme.Muted.Render(note), focus, w)
}

// figures are a session's in a pane of w cells, and what is left of them where there is
// less room.
func figures(s *snapshot.Session, w int) [3][]string {
	full, cost := tui.Filled(s), tui.Dollars(s)
	if full != "" {
		full = "context " + full
	}
	out := [3][]string{{full, cost}, {full, cost}, {cost}}
	if w >= 100 {
		long := full
		if full != "" {
			long += " of " + snapshot.CountTokens(s.Context.Window)
		}
		out[0] = []string{sanitize.Line(s.Model), long, cost}
	}
	return out
}

// Rows draws a conversation. Where there is too little room, steps go first, from the top,
// then the lines of files; what was asked and said is whole, and may take more rows than
// there are. Where there is more, there is a blank row between its parts.
func Rows(f *tui.Frame, s *snapshot.Session, room Room) []string {
	r := record(s)
	text := min(room.W, Prose)
	parts := [][]string{asked(f, r, text), said(f, s, r, text), changed(f.Theme, &r.Changed, text)}
	rows := func() (n int) {
		for _, part := range parts {
			n += len(part)
		}
		return n
	}
	airs := room.H == 0 || rows()+len(parts) <= room.H
	if n := len(r.Steps); !room.Apart && n > 0 {
		const least, many = 2, 5 // steps that are shown in any case, and before there is air
		left := room.H - rows() - 1
		switch {
		case room.H == 0:
			left = n
		case left-len(parts) >= min(many, n):
			left -= len(parts)
		default:
			airs = false
		}
		if left < min(least, n) {
			parts[2] = parts[2][:min(len(parts[2]), 1)]
			left = max(room.H-rows()-1, min(least, n))
		}
		parts = append(parts, append([]string{heading(f.Theme, "Steps", "")}, Steps(f, s, room.W, left)...))
	}
	var out []string
	for _, part := range parts {
		if airs && len(out) > 0 && len(part) > 0 {
			out = append(out, "")
		}
		out = append(out, part...)
	}
	return out
}

// Latest draws what a session at work said last, and below it its last steps, in at most h
// rows.
func Latest(f *tui.Frame, s *snapshot.Session, w, h int) []string {
	r := record(s)
	rows := widget.Markdown(f.Theme, sanitize.Text(r.Said), min(w, Prose))
	steps := min(len(r.Steps), (h+1)/2)
	if most := h - steps; len(rows) > most {
		rows = rows[:most]
		if most > 0 {
			rows[most-1] = widget.Cut(rows[most-1], min(w, Prose)-2) + f.Theme.Faint.Render(" …")
		}
	}
	if len(rows) > 0 && len(rows)+steps < h {
		rows = append(rows, "")
	}
	return append(rows, Steps(f, s, w, h-len(rows))...)
}

// Panes draws sessions at work below each other, each in a pane of the same height, as many
// as fit into w × h cells; projects are what theirs are called.
func Panes(f *tui.Frame, all []*snapshot.Session, projects []string, w, h int) []string {
	const least = 6 // rows of a pane
	n := min(len(all), h/least)
	var rows []string
	for i := range n {
		s := all[i]
		_, _, does := tui.SessionMark(f, s)
		if !s.Since.IsZero() {
			does += " " + f.Ago(s.Since)
		}
		title := join(f, sanitize.Line(s.Agent), projects[i], sanitize.Line(s.Name()))
		rows = append(rows, widget.Heading(f.Theme, title, f.Theme.Muted.Render(does), false, w))
		for _, l := range Latest(f, s, w-2, h/n-1) {
			rows = append(rows, " "+l)
		}
		rows = widget.Rows(rows, w, (i+1)*(h/n))
	}
	return rows
}

// join puts dots between what is not empty.
func join(f *tui.Frame, parts ...string) string {
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.Join(parts, " "+f.Theme.Glyph.Dot+" ")
}

// record is what is recorded of a session; of one without steps, its last call of a tool
// is one.
func record(s *snapshot.Session) *snapshot.Record {
	var r snapshot.Record
	if s.Record != nil {
		r = *s.Record
	}
	if len(r.Steps) == 0 && s.LastTool != "" {
		r.Steps = []snapshot.Step{{Tool: s.LastTool, Subject: s.LastSubject, Running: s.State == snapshot.Working || s.State.Waits()}}
	}
	return &r
}

func heading(th *theme.Theme, name, rest string) string {
	return th.Muted.Render(name) + th.Faint.Render(rest)
}

// when is how long ago something was, behind a heading; "" if that is not known.
func when(f *tui.Frame, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return ", " + f.Since(t)
}

func asked(f *tui.Frame, r *snapshot.Record, w int) []string {
	if strings.TrimSpace(r.Prompt) == "" {
		return nil
	}
	rows := []string{heading(f.Theme, "You asked", when(f, r.Asked))}
	for l := range strings.SplitSeq(strings.TrimSpace(sanitize.Text(r.Prompt)), "\n") {
		rows = append(rows, widget.Paragraph(f.Theme.Text, "  ", l, w-2)...)
	}
	return rows
}

func said(f *tui.Frame, s *snapshot.Session, r *snapshot.Record, w int) []string {
	if strings.TrimSpace(r.Said) == "" {
		return nil
	}
	rows := []string{heading(f.Theme, sanitize.Line(s.Agent)+" said", when(f, r.SaidAt))}
	for _, l := range widget.Markdown(f.Theme, sanitize.Text(r.Said), w-2) {
		rows = append(rows, "  "+l)
	}
	return rows
}

// changed draws the files that were changed, one a line; if it is one, on the line of the
// heading.
func changed(th *theme.Theme, c *snapshot.Changed, w int) []string {
	if len(c.Files) == 0 {
		return nil
	}
	lines := func(added, removed int) string {
		out := th.Good.Render(fmt.Sprintf("+%d", added))
		if removed > 0 || added == 0 {
			out += " " + th.Bad.Render(fmt.Sprintf("−%d", removed))
		}
		return out
	}
	all := lines(c.Added, c.Removed)
	if c.Partial {
		all = th.Faint.Render("≥ ") + all
	}
	rows := []string{heading(th, "Files changed", fmt.Sprintf("  %d  ", len(c.Files))) + all}
	if file := sanitize.Line(c.Files[0].Path); len(c.Files) == 1 && widget.Width(rows[0]+"  "+file) <= w {
		return []string{rows[0] + "  " + th.Text.Render(file)}
	}
	plus, path := 0, 0
	for i := range c.Files {
		plus = max(plus, len(fmt.Sprint(c.Files[i].Added)))
		path = max(path, widget.Width(sanitize.Line(c.Files[i].Path)))
	}
	const least, figures = 12, 12 // cells: of a path, and of what stands behind it
	path = max(min(path, w-2-figures), least)
	for i := range c.Files {
		file := &c.Files[i]
		name := widget.CutLeft(sanitize.Line(file.Path), path)
		air := path - widget.Width(name) + 3 + plus - len(fmt.Sprint(file.Added))
		rows = append(rows, "  "+th.Text.Render(name)+widget.Blank(air)+lines(file.Added, file.Removed))
	}
	return rows
}
