// Package conversation draws what an agent's program recorded of a session: what the user
// asked, what the agent said, the files that it changed, and its steps.
package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
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
	// Wide is for the time of day of each step, and for how a file was changed, below the names of
	// all: the one that is number File, see Turn; -1: none.
	Wide bool
	File int
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
	full, cost := tui.Filled(s), ""
	if s.Cost.Known {
		cost = tui.Dollars(s)
	}
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
	count := func() (rows, some int) {
		for _, part := range parts {
			rows, some = rows+len(part), some+min(len(part), 1)
		}
		return rows, some
	}
	rows, some := count()
	airs := room.H == 0 || rows+some <= room.H
	n := len(r.Steps)
	if room.Apart {
		n = 0
	}
	const few, many = 2, 5 // steps that are shown in any case, and before there is air, or a diff
	if room.Wide && room.File >= 0 {
		left := room.H - rows - some
		if n > 0 {
			left -= 2 + min(n, many)
		}
		parts = append(parts, diff(f.Theme, diffed(s), room, left))
		rows, some = count()
	}
	if room.H > 0 && rows+min(n, 1)+min(n, few) > room.H {
		rows -= max(len(parts[2])-1, 0)
		parts[2] = parts[2][:min(len(parts[2]), 1)]
	}
	if n > 0 {
		left := room.H - rows - 1
		switch {
		case room.H == 0:
			left = n
		case left-some >= min(many, n):
			left -= some
		default:
			airs = false
		}
		parts = append(parts, append([]string{heading(f.Theme, "Steps", "")}, steps(f, s, room.W, max(left, min(few, n)), room.Wide)...))
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

// Panes draws sessions at work below each other, as many as fit into w × h cells, each in a pane
// of at most as many rows as it has something to say; projects are what theirs are called.
func Panes(f *tui.Frame, all []*snapshot.Session, projects []string, w, h int) []string {
	const least = 6 // rows of a pane
	n := max(min(len(all), h/least), 0)
	texts, needs, heights := make([]int, n), make([]int, n), make([]int, n)
	for i := range n {
		texts[i], needs[i] = 1+len(Rows(f, all[i], Room{W: w - 2, H: 1, Wide: true, File: -1})), 1+len(Rows(f, all[i], Room{W: w - 2, Wide: true, File: -1}))
		heights[i] = min(needs[i], least)
		h -= heights[i]
	}
	for _, wants := range [][]int{texts, needs} {
		for i, full := 0, 0; n > 0 && h > 0 && full < n; i++ { // a row each in turn
			if full++; heights[i%n] < wants[i%n] {
				heights[i%n]++
				h, full = h-1, 0
			}
		}
	}
	var rows []string
	for i := range n {
		s := all[i]
		_, _, does := tui.SessionMark(f, s)
		if !s.Since.IsZero() {
			does += " " + f.Ago(s.Since)
		}
		title := join(f, sanitize.Line(s.Agent), projects[i], sanitize.Line(s.Name()))
		pane := []string{widget.Heading(f.Theme, title, f.Theme.Muted.Render(does), false, w)}
		body := Rows(f, s, Room{W: w - 2, H: heights[i] - 1, Wide: true, File: -1})
		if len(body) > heights[i]-1 {
			body = Latest(f, s, w-2, heights[i]-1)
		}
		for _, l := range body {
			pane = append(pane, " "+l)
		}
		rows = append(rows, widget.Rows(pane, w, heights[i])...)
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
		working := s.State == snapshot.Working && r.Prompt == "" // else it was before the prompt
		r.Steps = []snapshot.Step{{Tool: s.LastTool, Subject: s.LastSubject, Running: working || s.State.Waits()}}
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

// Turn is the number of the file by files after another one of those whose diffs are drawn.
func Turn(s *snapshot.Session, file, by int) int {
	return max(min(file+by, len(diffed(s))-1), 0)
}

// diffed are the files that a session changed of which it is recorded how.
func diffed(s *snapshot.Session) []snapshot.ChangedFile {
	return slices.DeleteFunc(slices.Clone(record(s).Changed.Files), func(f snapshot.ChangedFile) bool { return f.Diff == "" })
}

// diff draws how a file was changed in at most h rows; all of it in a room without a height.
func diff(th *theme.Theme, files []snapshot.ChangedFile, room Room, h int) []string {
	const least = 6 // rows
	if len(files) == 0 || room.H > 0 && h < least {
		return nil
	}
	i := min(room.File, len(files)-1)
	note := ""
	if n := len(files); n > 1 {
		note = fmt.Sprintf("  %d of %d, %s %s next", i+1, n, tui.KeyLabel("left", th.Glyph.ASCII), tui.KeyLabel("right", th.Glyph.ASCII))
	}
	name := widget.CutLeft(sanitize.Line(files[i].Path), max(room.W-widget.Width(note), 8))
	rows := []string{widget.Cut(th.Text.Render(name)+th.Faint.Render(note), room.W)}
	for _, l := range widget.Diff(th, files[i].Diff, room.W-2) {
		rows = append(rows, "  "+l)
	}
	if room.H > 0 && len(rows) > h {
		rows = append(rows[:h-1], th.Faint.Render(fmt.Sprintf("  %s: enter", humanize.Count(len(rows)-h+1, "more line"))))
	}
	return rows
}
