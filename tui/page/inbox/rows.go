package inbox

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/humanize"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Widths of the list from which it shows more.
const (
	columnsFrom = 70 // one line a request, in columns
	toolFrom    = 78 // what a session does now
	projectFrom = 58
)

const (
	agentMost   = 12
	projectMost = 14
	kindW       = 9 // with what stands between columns
)

// drawing is what the rows of the list are drawn with.
type drawing struct {
	snap           *questions.Snapshot
	calls          []snapshot.Call
	names          map[string]string // of the projects of sessions, by sessionKey and by connection
	marks          []int
	focus          bool
	agent, project int // widths of columns
	permission     *permission
	shows          bool // a row that holds all of what a permission is about has shown it
}

// newDrawing measures the columns.
func newDrawing(l *requestList, w world, width, answers int) *drawing {
	d := &drawing{snap: w.snap, calls: w.calls, names: projectNames(w.sessions)}
	for i := range l.rows {
		r := &l.rows[i]
		if r.section == answeredToday {
			if answers--; answers < 0 {
				break
			}
		}
		agent, project := d.who(r)
		if width < columnsFrom && r.section == needsYou { // it does not stand in the column
			project = ""
		}
		d.column(agent, project)
	}
	return d
}

// column makes room for who asks.
func (d *drawing) column(agent, project string) {
	d.agent = max(d.agent, min(widget.Width(agent), agentMost))
	d.project = max(d.project, min(widget.Width(project), projectMost))
}

// projectNames are what the projects of sessions are called, by sessionKey and by connection.
func projectNames(sessions []snapshot.Session) map[string]string {
	names := make(map[string]string, len(sessions))
	for i, name := range snapshot.Projects(sessions) {
		s := &sessions[i]
		names[sessionKey(s)] = name
		if s.Connection != "" {
			names[s.Connection] = name
		}
	}
	return names
}

// whoAsks is the agent of a request, and its project, by the names of projects.
func whoAsks(r *questions.Request, names map[string]string) (agent, in string) {
	of := r.Peer.Key
	if p := r.Prompt; p != nil {
		of = r.Peer.Host + p.Agent + "\x00" + p.Session
	}
	return sanitize.Line(r.Client()), cmp.Or(sanitize.Line(names[of]), project(r))
}

// who is the agent of a row, and its project.
func (d *drawing) who(r *row) (agent, in string) {
	req := &r.item.Request
	switch {
	case r.session != nil:
		return sanitize.Line(r.session.Agent), sanitize.Line(d.names[sessionKey(r.session)])
	case r.section == answeredToday:
		req = &r.record.Request
	}
	return whoAsks(req, d.names)
}

// last is when the last answer was given.
func (d *drawing) last() (last time.Time) {
	for _, r := range d.snap.History {
		if r.Reply.Status == questions.Answered && r.Ended.After(last) {
			last = r.Ended
		}
	}
	return last
}

// row draws a row, in one line or two.
func (d *drawing) row(f *tui.Frame, r *row, w int) []string {
	switch {
	case r.section == answeredToday:
		return []string{d.answeredRow(f, r, w)}
	case r.session != nil:
		return []string{d.sessionRow(f, r, w)}
	}
	return d.requestRow(f, r, w)
}

// requestRow draws a request: who asks what since when.
func (d *drawing) requestRow(f *tui.Frame, r *row, w int) []string {
	th, req := f.Theme, &r.item.Request
	sign, style, note := d.state(f, r)
	if slices.Contains(d.marks, r.item.ID) {
		note = "marked"
	}
	kind, ink := req.WaitsFor(), th.Warn
	switch {
	case !r.settled.IsZero():
		kind = ""
	case r.item.State == questions.Sending:
		kind, ink = "sent", th.Muted
	}
	agent, project := d.who(r)
	var marks []string
	if n := len(req.Questions); n > 1 && kind == req.WaitsFor() {
		marks = append(marks, humanCount(r, n))
	}
	if twin := tui.Twin(d.snap, &r.item); twin != "" {
		if s := req.Prompt.Subagent; s != "" {
			twin += " " + sanitize.Line(s)
		}
		marks = append(marks, twin)
	}
	if note != "" {
		marks = append(marks, note)
	}
	right := strings.Join(marks, " "+th.Glyph.Dot+" ")
	age := f.Ago(r.item.Arrived)
	if right != "" && w >= columnsFrom {
		age = " " + right + "  " + age
	}
	who := th.Strong.Render
	if style.Render("x") == th.Faint.Render("x") {
		who = th.Faint.Render
	}
	if w < columnsFrom {
		left := sign + " "
		if kind != "" {
			left += ink.Render(widget.Fit(kind, 8))
		}
		room, n := max(w-widget.Width(left)-widget.Width(age)-2, 8), widget.Width(right)+1
		name := named(th, agent, project, room)
		text, whole := d.subject(f, r, style, w-1, 1) // up to the end
		second := "  " + text[0]
		switch {
		case right == "":
		case widget.Width(named(th, agent, project, w)) <= room-n:
			age = right + " " + age
		case widget.Width(second)+n > w && widget.Width(cmp.Or(project, agent)) <= room-n:
			name, age = named(th, agent, project, room-n), right+" "+age
		default: // the project goes before what is to be said of the request
			text, whole = d.subject(f, r, style, w-2-n, 1)
			second = widget.Ends("  "+text[0], th.Muted.Render(right), w)
		}
		d.show(f, r, whole)
		return []string{widget.Ends(left+who(name), th.Muted.Render(age), w), second}
	}
	left := sign + " " + who(widget.Fit(agent, d.agent)) + " " + th.Muted.Render(widget.Fit(project, d.project)) + "  "
	if kind != "" {
		left += ink.Render(widget.Fit(kind, kindW))
	}
	room := max(w-widget.Width(left)-widget.Width(age)-1, 8)
	text, whole := d.subject(f, r, style, room, 2)
	d.show(f, r, whole)
	out := []string{widget.Ends(left+text[0], th.Muted.Render(age), w)}
	if len(text) > 1 {
		out = append(out, widget.Blank(widget.Width(left))+text[1])
	}
	return out
}

// named is an agent and its project in at most w cells: the project is shown before the agent is.
func named(th *theme.Theme, agent, project string, w int) string {
	if project == "" {
		return widget.Cut(agent, w)
	}
	dot := " " + th.Glyph.Dot + " "
	if room := w - widget.Width(dot+project); room >= min(widget.Width(agent), 4) {
		return widget.Cut(agent, room) + dot + project
	}
	return widget.Cut(project, w)
}

// humanCount is how many questions of a request are answered.
func humanCount(r *row, n int) string {
	answered := 0
	for i := range r.item.Request.Questions {
		if len(r.item.Draft.Answers) == n && r.item.Draft.Answered(r.item.Request.Questions, i) {
			answered++
		}
	}
	if answered == 0 {
		return humanize.Count(n, "part")
	}
	return fmt.Sprintf("%d of %d", answered, n)
}

// subject is what a request is about, in at most so many lines of w cells, and whether all
// of it is there. What is cut takes a second line where it may.
func (d *drawing) subject(f *tui.Frame, r *row, style theme.Style, w, most int) (lines []string, whole bool) {
	th, req := f.Theme, &r.item.Request
	if !r.settled.IsZero() {
		rec := record(d.snap, r.item.ID)
		text := th.Muted.Render("settled: ") + aboutRow(th, style, req)
		if rec.ID != 0 {
			text = th.Strong.Render(words(rec)) + th.Muted.Render(": ") + aboutRow(th, style, req)
		}
		return []string{widget.Cut(text, w)}, false
	}
	var text, extra string
	if p := req.Prompt; p == nil || p.Kind != questions.Permission {
		text = aboutRow(th, style, req)
	} else {
		subject := strings.TrimSuffix(p.Subject(), "\n")
		whole = subject != "" && !strings.Contains(subject, "\n") && p.Diff == "" && !p.Unconfirmed && len(p.Marks) == 0 && (p.Path == "" || subject == p.Path) && (p.Command == "" || len(p.Args) == 0)
		if !whole { // else the row stands for it
			subject = strings.TrimSuffix(req.Brief(), "\n")
		}
		tool := sanitize.Line(p.Tool)
		if n := strings.Count(subject, "\n") + 1; n > 1 {
			extra = " " + th.Glyph.Dot + " " + humanize.Count(n, "line")
		}
		if head := sanitize.Cut(subject, 2*w*most); head != subject { // it may be enormous, and is drawn at every key
			subject, whole = head, false
		}
		text = th.Muted.Render(tool) + "  " + style.Render(strings.ReplaceAll(sanitize.Exact(subject), "\n", " "))
	}
	if widget.Width(text) > w {
		whole = false
		if extra == "" && most > 1 {
			lines = widget.Closed(widget.Wrap(text, w))
			if len(lines) > most {
				lines[most-1] = widget.Cut(strings.TrimSpace(lines[most-1])+"…", w)
				lines = lines[:most]
			}
			return lines, false
		}
	}
	if extra != "" && widget.Width(text)+widget.Width(extra) > w {
		text = widget.Cut(text, max(w-widget.Width(extra), 8))
	}
	return []string{widget.Cut(text+th.Muted.Render(extra), w)}, whole
}

// show notes that a row has shown all of what a permission is about.
func (d *drawing) show(f *tui.Frame, r *row, whole bool) {
	if !whole || !d.shows || !r.open() {
		return
	}
	if all := d.permission.subject(f.Theme, &r.item, 200); len(all.Rows) == 1 {
		f.Shows(subjectID(r.item.ID), all, 0, 1)
	}
}

// state is the sign of a request, the style of its text, and what is to be said of it.
func (d *drawing) state(f *tui.Frame, r *row) (sign string, style theme.Style, note string) {
	th, it := f.Theme, &r.item
	g := th.Glyph
	switch {
	case !r.settled.IsZero():
		f.RedrawAfter(doneFor - f.Now.Sub(r.settled) + time.Millisecond)
		return recordMark(th, *record(d.snap, it.ID)), th.Faint, ""
	case it.State == questions.Sending:
		left := it.SendAt.Sub(f.Now)
		f.RedrawAfter(left%time.Second + time.Millisecond)
		return th.Good.Render(g.OK), th.Faint, fmt.Sprintf("u undo, %d s", int(max(left, 0)/time.Second)+1)
	case it.Unsent:
		note = "not confirmed"
	case it.Absent == questions.Gone:
		return th.Faint.Render(g.Off), th.Faint, "no agent is waiting"
	case it.State == questions.Snoozed:
		left := max(it.Snoozed.Sub(f.Now), 0)
		f.RedrawAfter(left%time.Minute + time.Millisecond)
		words, _ := humanize.Age(left.Truncate(time.Minute) + time.Minute)
		return th.Faint.Render(g.Off), th.Muted, "back in " + words
	case it.Absent != questions.Present:
		return th.Warn.Render(g.Wait), th.Strong, "agent away"
	case it.Request.InTerminal():
		return th.Warn.Render(g.Right), th.Strong, "in its terminal"
	case it.Handed.Here():
		note = "handed to you"
	case it.Handed != nil:
		note = "handed over"
	case !it.Draft.Empty():
		note = "draft"
	}
	if c := until(f, *it); c != "" {
		note = strings.TrimSpace(note + " " + c)
	}
	return th.Warn.Render(g.Wait), th.Strong, note
}

// until is how long the asker still waits, when that is near.
func until(f *tui.Frame, it questions.Item) string {
	at := it.Deadline
	if !it.Client.IsZero() && (at.IsZero() || it.Client.Before(at)) {
		at = it.Client
	}
	left := at.Sub(f.Now)
	if at.IsZero() || left > countdownFrom || it.Absent == questions.Gone {
		return ""
	}
	f.RedrawAfter(left%time.Second + time.Millisecond)
	return "ends in " + humanize.Clock(left)
}

// sessionRow draws a session: its name, and what it does or said.
func (d *drawing) sessionRow(f *tui.Frame, r *row, w int) string {
	th, s := f.Theme, r.session
	agent, project := d.who(r)
	sign, style, text := th.Accent.Render(tui.Spin), th.Text, tui.SessionText(s)
	kind, age := "", s.Since
	switch r.section {
	case needsYou:
		sign, kind, style = th.Warn.Render(th.Glyph.Right), "terminal", th.Strong
		text = cmp.Or(sanitize.Line(tui.SessionAsks(s)), text)
	case done:
		sign, kind = th.Good.Render(th.Glyph.OK), "done"
		if rec := s.Record; rec != nil && rec.Said != "" && w >= toolFrom && text == sanitize.Line(s.Name()) {
			text = before(text) + straight(widget.Unmarked(sanitize.Line(rec.Said)))
		}
	default:
		if now := d.now(s); now != "" && !strings.HasSuffix(text, now) && w >= toolFrom {
			text = style.Render(text) + th.Muted.Render(" "+th.Glyph.Dot+" "+now)
		}
	}
	left := sign + " " + th.Strong.Render(widget.Fit(agent, d.agent)) + " "
	if w >= projectFrom {
		left += th.Muted.Render(widget.Fit(project, d.project)) + "  "
	}
	if kind != "" && w >= columnsFrom {
		left += th.Muted.Render(widget.Fit(kind, kindW))
	}
	right := ""
	if !age.IsZero() {
		right = th.Muted.Render(f.Ago(age))
	}
	return widget.Ends(left+style.Render(widget.Cut(text, max(w-widget.Width(left)-widget.Width(right)-1, 4))), right, w)
}

// before is a text with what stands between it and what is quoted after it. What ends as a
// sentence gets no second mark.
func before(text string) string {
	text = strings.TrimRight(text, " .,;:")
	if strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "…") {
		return text + " "
	}
	return text + ": "
}

// now is what a session does: its own tool that runs and on what, or its call here. A command
// needs no tool before it.
func (d *drawing) now(s *snapshot.Session) string {
	if s.LastSubject != "" {
		tool := sanitize.Line(s.LastTool)
		if name := strings.ToLower(tool); strings.Contains(name, "bash") || strings.Contains(name, "shell") || strings.Contains(name, "exec") {
			tool = ""
		}
		return strings.TrimSpace(tool + " " + sanitize.Line(s.LastSubject))
	}
	if c := running(d.calls, s.Connection); c != nil && s.Connection != "" {
		out := sanitize.Line(c.Tool)
		if c.Total > 0 {
			out += fmt.Sprintf(" %.0f of %.0f", c.Done, c.Total)
		}
		return out
	}
	return sanitize.Line(s.LastTool)
}

// answeredRow draws a request that has ended today.
func (d *drawing) answeredRow(f *tui.Frame, r *row, w int) string {
	agent, project := d.who(r)
	right := f.Ago(r.record.Ended)
	if slices.ContainsFunc(d.snap.Kept, func(k questions.Record) bool { return k.ID == r.record.ID }) {
		right = "not delivered " + f.Theme.Glyph.Dot + " " + right
	}
	return d.recordRow(f, &r.record, agent, project, right, w)
}

// recordRow draws who asked what, and what became of it.
func (d *drawing) recordRow(f *tui.Frame, r *questions.Record, agent, project, right string, w int) string {
	th := f.Theme
	left := recordMark(th, *r) + " " + th.Muted.Render(widget.Fit(agent, d.agent)) + " "
	if w >= projectFrom {
		left += th.Muted.Render(widget.Fit(project, d.project)) + "  "
	}
	return widget.Ends(left+widget.Cut(recordWords(th, r), max(w-widget.Width(left)-widget.Width(right)-1, 4)), th.Muted.Render(right), w)
}

// recordWords are what became of a request: "Allowed once: npm test", "Which palette? → dark".
func recordWords(th *theme.Theme, r *questions.Record) string {
	if r.Request.Decides() {
		said := words(r)
		switch {
		case undone(*r): // where to answer is said of the row that is selected
			said = string(r.End())
		case r.Rule != nil:
			said += " by rule " + sanitize.Line(r.Rule.ID)
		}
		about := aboutRow(th, th.Muted, &r.Request)
		if d := r.Request.Prompt; d.Kind == questions.Permission && d.Command != "" {
			about = th.Muted.Render(sanitize.Line(d.Subject()))
		}
		return th.Text.Render(strings.ToUpper(said[:1])+said[1:]+": ") + about
	}
	return aboutRow(th, th.Muted, &r.Request) + th.Muted.Render(" "+th.Glyph.Right+" ") + th.Text.Render(ending(*r))
}

// Answered draws what was answered today, the newest first, into w cells and at most h rows,
// for a page on which it stands below the sessions.
func Answered(f *tui.Frame, asked *questions.Snapshot, sessions []snapshot.Session, w, h int) []string {
	all := world{snap: asked, sessions: sessions, now: f.Now}
	l := requestList{rows: answered(all)}
	n := min(len(l.rows), h-1, answeredMost)
	if n < 1 {
		return nil
	}
	d := newDrawing(&l, all, w, n)
	title, note := l.heading(f, answeredToday, d)
	rows := []string{widget.Heading(f.Theme, title, note, false, w)}
	for i := range n {
		rows = append(rows, widget.Fit(" "+d.answeredRow(f, &l.rows[i], w-2), w))
	}
	return rows
}
