package inbox

import (
	"slices"
	"strconv"
	"time"

	questions "github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/theme"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// section is a part of the list.
type section int

// The sections, from the top.
const (
	needsYou section = iota
	done
	working
	answeredToday
)

const (
	doneMost     = 5 // sessions
	answeredMost = 6
	// doneFor is how long the row of a settled request keeps its place, so that no other comes
	// under a key.
	doneFor = 5 * time.Second
	// restsAfter is how long without a key the cursor stays with its item.
	restsAfter = 2 * time.Minute
)

// row is a row of the list: a request, a session, or a request that has ended.
type row struct {
	section section
	item    questions.Item
	session *snapshot.Session
	record  questions.Record // of a request that has ended
	settled time.Time        // when item was, or more was seen of it; zero while it is open
	end     questions.End    // what had been seen then
}

func (r *row) key() string {
	switch {
	case r.session != nil:
		return sessionKey(r.session)
	case r.section == answeredToday:
		return "h" + strconv.Itoa(r.record.ID)
	}
	return strconv.Itoa(r.item.ID)
}

func sessionKey(s *snapshot.Session) string { return s.Machine + s.Agent + "\x00" + s.ID }

// open reports whether the row is a request that waits.
func (r *row) open() bool {
	return r.section == needsYou && r.session == nil && r.settled.IsZero() && r.item.State != questions.Sending
}

// requestList is the list: what needs the user, who is done, who works, what was answered.
type requestList struct {
	rows    []row
	at      int // of the row under the cursor
	top     int // first line on the screen
	moved   bool
	lastKey time.Time
	of      []int // row of each line on the screen; -1 for none
}

// world is what the list is made of.
type world struct {
	snap     *questions.Snapshot
	sessions []snapshot.Session
	calls    []snapshot.Call
	now      time.Time
	stays    bool // the cursor stays with its row, whatever comes
}

// under is the row under the cursor, nil where there is none.
func (l *requestList) under() *row {
	if l.at < 0 || l.at >= len(l.rows) {
		return nil
	}
	return &l.rows[l.at]
}

// lay brings the rows up to date. A settled request keeps its place for a while; new ones come
// at the end of their section, and what is snoozed last.
func (l *requestList) lay(w world) {
	key, selected := "", ""
	if r := l.under(); r != nil {
		key = r.key()
		if r.section == done {
			selected = key // it keeps its place when it has been read
		}
	}
	old := l.at
	needs := l.needs(w)
	waits := func(s *snapshot.Session) bool {
		return slices.ContainsFunc(needs, func(r row) bool { return r.item.Request.Of(s) })
	}
	var elsewhere, ended, busy []row
	for i := range w.sessions {
		s := &w.sessions[i]
		switch {
		case s.State.Waits() && !waits(s):
			elsewhere = append(elsewhere, row{section: needsYou, session: s})
		case s.State.Waits():
		case s.State == snapshot.Working, s.State == snapshot.StateUnknown && s.Connection != "" && running(w.calls, s.Connection) != nil:
			busy = append(busy, row{section: working, session: s})
		case s.Unread, sessionKey(s) == selected:
			ended = append(ended, row{section: done, session: s})
		}
	}
	slices.SortStableFunc(ended, func(a, b row) int { return b.session.Since.Compare(a.session.Since) })
	ended = ended[:min(len(ended), doneMost)]
	l.rows = slices.Concat(needs, elsewhere, l.inOrder(ended), l.inOrder(busy), answered(w))
	if !l.moved || !w.stays && w.now.Sub(l.lastKey) > restsAfter {
		l.moved = false
		if !w.stays {
			l.at = l.first()
			return
		}
	}
	if i := slices.IndexFunc(l.rows, func(r row) bool { return r.key() == key }); i >= 0 {
		l.at = i
		return
	}
	l.at = max(min(old, len(l.rows)-1), 0)
}

// first is the first row that needs the user, or else the first.
func (l *requestList) first() int {
	return max(slices.IndexFunc(l.rows, func(r row) bool {
		return r.section == needsYou && (r.session != nil || r.open() && snoozed(r) == 0)
	}), 0)
}

// inOrder keeps the rows of a section in the order that they had, new ones last.
func (l *requestList) inOrder(rows []row) []row {
	place := func(r row) int {
		if i := slices.IndexFunc(l.rows, func(o row) bool { return o.section == r.section && o.key() == r.key() }); i >= 0 {
			return i
		}
		return len(l.rows)
	}
	slices.SortStableFunc(rows, func(a, b row) int { return place(a) - place(b) })
	return rows
}

// needs are the requests that wait, and those that were just settled.
func (l *requestList) needs(w world) (out []row) {
	had := map[int]bool{}
	for _, r := range l.rows {
		if r.section != needsYou || r.session != nil {
			continue
		}
		it, open := w.snap.Item(r.item.ID)
		end := record(w.snap, r.item.ID).End()
		switch {
		case open:
			r.item, r.settled = it, time.Time{}
		case r.settled.IsZero() || r.end != end && end != "":
			r.settled, r.end = w.now, end
		case w.now.Sub(r.settled) >= doneFor:
			continue
		}
		had[r.item.ID] = true
		out = append(out, r)
	}
	for _, it := range w.snap.Items {
		if !had[it.ID] {
			out = append(out, row{section: needsYou, item: it})
		}
	}
	slices.SortStableFunc(out, func(a, b row) int { return snoozed(a) - snoozed(b) })
	return out
}

func snoozed(r row) int {
	if r.settled.IsZero() && r.item.State == questions.Snoozed {
		return 1
	}
	return 0
}

func record(s *questions.Snapshot, id int) *questions.Record {
	if i := slices.IndexFunc(s.History, func(r questions.Record) bool { return r.ID == id }); i >= 0 {
		return &s.History[i]
	}
	return &questions.Record{}
}

// answered are the requests that have ended today, the newest first; before them those whose
// answers did not arrive.
func answered(w world) (out []row) {
	for _, r := range slices.Backward(w.snap.Kept) {
		out = append(out, row{section: answeredToday, record: r})
	}
	y, m, d := w.now.Date()
	today := time.Date(y, m, d, 0, 0, 0, 0, w.now.Location())
	for _, r := range slices.Backward(w.snap.History) {
		if r.Ended.Before(today) {
			break
		}
		if _, open := w.snap.Item(r.ID); open && r.Refused != nil {
			continue // it can still be tried again
		}
		if !slices.ContainsFunc(w.snap.Kept, func(k questions.Record) bool { return k.ID == r.ID }) {
			out = append(out, row{section: answeredToday, record: r})
		}
	}
	return out
}

// running is the newest call that runs of a connection, nil if none does.
func running(calls []snapshot.Call, connection string) *snapshot.Call {
	for i := range slices.Backward(calls) {
		if c := &calls[i]; c.Agent == connection && c.Status == snapshot.Running && !c.Waiting {
			return c
		}
	}
	return nil
}

// move moves the cursor by d rows and stops at the ends.
func (l *requestList) move(d int) {
	l.at = max(min(l.at+d, l.drawn()-1), 0)
	l.moved = true
}

// drawn is how many rows can be reached: those on the screen, where the last sections are cut.
func (l *requestList) drawn() int {
	n := len(l.rows)
	if i := slices.IndexFunc(l.rows, func(r row) bool { return r.section == answeredToday }); i >= 0 {
		n = min(n, i+answeredMost)
	}
	return n
}

// to moves the cursor to a request.
func (l *requestList) to(id int) bool {
	i := slices.IndexFunc(l.rows, func(r row) bool { return r.section == needsYou && r.session == nil && r.item.ID == id })
	if i >= 0 {
		l.at = i
	}
	return i >= 0
}

// next moves the cursor to the next request that waits, after the one it is on or else the
// first, and reports whether there is one.
func (l *requestList) next() bool {
	for d := range l.rows {
		if i := (l.at + d) % len(l.rows); l.rows[i].open() && snoozed(l.rows[i]) == 0 {
			l.at = i
			return true
		}
	}
	return false
}

// count is how many rows a section has that are not settled, nor snoozed.
func (l *requestList) count(s section) (n int) {
	for _, r := range l.rows {
		if r.section == s && r.settled.IsZero() && snoozed(r) == 0 && (r.session != nil || s != needsYou || r.item.Waits()) {
			n++
		}
	}
	return n
}

// line is a line of the list as it is drawn.
type line struct {
	text string
	row  int // -1: of none
}

// lines draws all rows with their headings into w cells. answers is how many of the
// requests that were answered there is room for.
func (l *requestList) lines(f *tui.Frame, p *drawing, w, answers int) []line {
	var out []line
	was := section(-1)
	head := func(s section) {
		title, note := l.heading(f, s, p)
		out = append(out, line{widget.Heading(f.Theme, title, note, p.focus && len(out) == 0, w), -1})
	}
	if len(l.rows) == 0 || l.rows[0].section != needsYou {
		head(needsYou)
		was = needsYou
	}
	for i := range l.rows {
		r := &l.rows[i]
		if r.section == answeredToday {
			if answers--; answers < 0 {
				break
			}
		}
		if r.section != was && !(r.section == done && was == needsYou && len(out) == 1) {
			head(r.section)
		}
		was = r.section
		for n, text := range p.row(f, r, w-2) {
			if n == 0 {
				text = widget.Fit(text, w-2) + " "
			}
			out = append(out, line{l.marked(f.Theme, i, n, p.focus, widget.Fit(text, w-1)), i})
		}
	}
	return out
}

// marked draws the cursor before a line of a row.
func (l *requestList) marked(th *theme.Theme, i, n int, focus bool, text string) string {
	switch {
	case i != l.at:
		return " " + text
	case !focus:
		return th.Border.Render(th.Glyph.Frame.Left) + text
	case n > 0:
		return th.Selected.Over(" " + text)
	}
	return th.Selected.Over(th.Key.Render(th.Glyph.Cursor) + text)
}

// heading is the name of a section with its count, and a note for its end.
func (l *requestList) heading(f *tui.Frame, s section, p *drawing) (title, note string) {
	switch n := l.count(s); s {
	case needsYou:
		later := 0
		for _, r := range l.rows {
			later += snoozed(r)
		}
		if later > 0 {
			note = f.Theme.Muted.Render(strconv.Itoa(later) + " snoozed")
		}
		if n == 0 {
			if last := p.last(); !last.IsZero() && later == 0 {
				note = f.Theme.Muted.Render("last answer " + f.Since(last))
			}
			return "Nothing needs you", note
		}
		return "Needs you " + strconv.Itoa(n), note
	case done:
		return "Done " + strconv.Itoa(n), ""
	case working:
		return "Working " + strconv.Itoa(n), ""
	default:
		return "Answered today " + strconv.Itoa(n), f.Theme.Key.Render("H") + f.Theme.Muted.Render(" all")
	}
}

// render draws the lines that fit into h rows, so that the row under the cursor is among
// them, and notes which row stands where.
func (l *requestList) render(lines []line, w, h int) []string {
	from, to := -1, 0
	for i, ln := range lines {
		if ln.row == l.at {
			if from < 0 {
				from = i
			}
			to = i + 1
		}
	}
	l.top = max(min(l.top, len(lines)-h), 0)
	if from >= 0 {
		if to > l.top+h {
			l.top = to - h
		}
		if lead := from - 1; from < l.top || lead < l.top && lines[max(lead, 0)].row < 0 {
			l.top = max(lead, 0) // with the heading
		}
	}
	out := make([]string, 0, h)
	l.of = l.of[:0]
	for i := l.top; i < len(lines) && len(out) < h; i++ {
		out = append(out, lines[i].text)
		l.of = append(l.of, lines[i].row)
	}
	return widget.Rows(out, w, h)
}
