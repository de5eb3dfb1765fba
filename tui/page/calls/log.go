package calls

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// keep is how many calls the page holds; it drops a fifth more at a time.
const keep = 10_000

// call is a call with its place in the log: its ID, and below 0 for one of an
// earlier run, whose own ID is the one that Earlier knows it by.
type call struct {
	snapshot.Call
	key int64
}

func (c *call) earlier() bool { return c.key < 0 }

// log is the calls by key, and those of them that the filter lets through.
// Between earlier runs and this one is a row that is no call.
type log struct {
	calls  []call
	filter filter
	found  []int64 // keys; only while a filter is set
	order  order   // nil: as they began
	sorted []int64 // keys in that order, of those that the filter lets through
}

func byKey(c call, key int64) int { return cmp.Compare(c.key, key) }

// takeEarlier puts the calls of earlier runs in, instead of those told before: the
// first look may find what a hint then tells of.
//
// They were written down as they ended; here all calls stand as they began.
func (l *log) takeEarlier(list []snapshot.Call) {
	from, _ := slices.BinarySearchFunc(l.calls, 0, byKey)
	early := make([]call, len(list), len(list)+len(l.calls))
	for i, c := range list {
		early[i] = call{c, int64(i - len(list))}
	}
	l.calls = append(early, l.calls[from:]...)
	l.narrow(l.filter) // which sorts them, too
}

// key is that of the call that is to be shown; 0 when there is none.
func (l *log) key(m tui.ShowCallMsg) int64 {
	if !m.Earlier {
		return int64(m.ID)
	}
	i := slices.IndexFunc(l.calls, func(c call) bool { return c.earlier() && c.ID == m.ID })
	if i < 0 {
		return 0
	}
	return l.calls[i].key
}

// take puts new and changed calls in.
func (l *log) take(changed []snapshot.Call) {
	for _, c := range changed {
		c := call{c, int64(c.ID)}
		i, known := slices.BinarySearchFunc(l.calls, c.key, byKey)
		switch {
		case known:
			l.calls[i] = c
		case i == len(l.calls):
			l.calls = append(l.calls, c)
		default:
			l.calls = slices.Insert(l.calls, i, c)
		}
		if !l.filter.empty() {
			l.sift(&c)
		}
	}
	if n := len(l.calls); n > keep+keep/5 {
		l.calls = slices.Clone(l.calls[n-keep:])
		i, _ := slices.BinarySearch(l.found, l.calls[0].key)
		l.found = slices.Clone(l.found[i:])
	}
	l.sort()
}

// sift puts a call among those that the filter lets through, or takes it out.
func (l *log) sift(c *call) {
	j, in := slices.BinarySearch(l.found, c.key)
	switch lets := l.filter.lets(&c.Call); {
	case lets && !in:
		l.found = slices.Insert(l.found, j, c.key)
	case in && !lets:
		l.found = slices.Delete(l.found, j, j+1)
	}
}

// narrow sets the filter.
func (l *log) narrow(f filter) {
	l.filter, l.found = f, nil
	if !f.empty() {
		for i := range l.calls {
			if f.lets(&l.calls[i].Call) {
				l.found = append(l.found, l.calls[i].key)
			}
		}
	}
	l.sort()
}

// len is how many calls the filter lets through.
func (l *log) len() int {
	if l.filter.empty() {
		return len(l.calls)
	}
	return len(l.found)
}

// first is which of those is the first of this run.
func (l *log) first() int { return l.search(0) }

// line is the row between earlier runs and this one; -1 when either has no call, or they
// are mixed.
func (l *log) line() int {
	if i := l.first(); l.order == nil && i > 0 && i < l.len() {
		return i
	}
	return -1
}

// rows is how many rows a list of those has.
func (l *log) rows() int {
	if l.line() >= 0 {
		return l.len() + 1
	}
	return l.len()
}

// at is the call of a row, nil when there is none.
func (l *log) at(row int) *call {
	i := l.place(row)
	if i < 0 || i >= l.len() || row == l.line() {
		return nil
	}
	switch {
	case l.order != nil:
		return l.byKey(l.sorted[i])
	case l.filter.empty():
		return &l.calls[i]
	}
	return l.byKey(l.found[i])
}

// place is which of those the call of a row is.
func (l *log) place(row int) int {
	if line := l.line(); line >= 0 && row > line {
		return row - 1
	}
	return row
}

func (l *log) byKey(key int64) *call {
	if i, ok := slices.BinarySearchFunc(l.calls, key, byKey); ok {
		return &l.calls[i]
	}
	return nil
}

// row is the row of a call, or where it would be.
func (l *log) row(key int64) int {
	if l.order != nil {
		return max(slices.Index(l.sorted, key), 0)
	}
	i := l.search(key)
	if line := l.line(); line >= 0 && i >= line {
		return i + 1
	}
	return i
}

// search is where a call is among those, or would be.
func (l *log) search(key int64) int {
	if l.filter.empty() {
		i, _ := slices.BinarySearchFunc(l.calls, key, byKey)
		return i
	}
	i, _ := slices.BinarySearch(l.found, key)
	return i
}

// filter is what a call must have: what the query asks for, and with failed only
// those that failed.
type filter struct {
	query  query.Query
	text   string
	err    error // of the query, which then asks for less
	failed bool
}

func newFilter(text string, failed bool, now time.Time) filter {
	f := filter{text: strings.TrimSpace(text), failed: failed}
	f.query, f.err = query.Parse(text, now)
	return f
}

func (f *filter) empty() bool { return f.text == "" && !f.failed }

func failed(c *snapshot.Call) bool {
	return c.Status.Failed()
}

func (f *filter) lets(c *snapshot.Call) bool {
	return (!f.failed || failed(c)) && f.query.Lets(c)
}

// valuesOf is how many calls the completed values of a query come from.
const valuesOf = 2000

// values are those that a field of the query can have; of names, those of the latest
// calls, the newest first.
func (p *Page) values(field string) []string {
	var all []string
	if field == "status" {
		for _, s := range query.Statuses() {
			all = append(all, string(s))
		}
		return all
	}
	latest := p.log.calls[max(len(p.log.calls)-valuesOf, 0):]
	for i := len(latest) - 1; i >= 0; i-- {
		switch c := &latest[i]; field {
		case "tool":
			all = append(all, sanitize.Line(c.Tool))
		case "agent":
			all = append(all, sanitize.Line(c.AgentName))
		case "server":
			all = append(all, sanitize.Line(c.Server))
		}
	}
	return all
}
