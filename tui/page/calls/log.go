package calls

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/query"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// keep is how many calls the page holds; it drops a fifth more at a time.
const keep = 10_000

// call is a call with its place in the log.
type call struct {
	snapshot.Call
	key key
}

// key orders calls as they began, and tells each from all others.
type key struct {
	run     int8 // below 0 for calls of before this run of the deck, above for those since
	at      int64
	machine string // "" for this one
	id      uint64 // of one of an earlier run here: that which Earlier knows it by
	earlier bool   // the ID is that of the other machine's log
}

func keyOf(c *snapshot.Call, run int8) key {
	k := key{run: run, at: c.Started.UnixMicro(), id: c.ID}
	if c.Afar != nil {
		k.machine, k.earlier = c.Afar.Machine, c.Afar.Earlier
	}
	return k
}

func (k key) compare(o key) int {
	return cmp.Or(cmp.Compare(k.run, o.run), cmp.Compare(k.at, o.at), cmp.Compare(k.machine, o.machine), cmp.Compare(k.id, o.id))
}

// earlier reports whether a call is one of an earlier run of this deck.
func (c *call) earlier() bool { return c.key.run < 0 && c.Afar == nil }

// log is the calls by key, and those of them that the filter lets through.
// Between earlier runs and this one is a row that is no call.
type log struct {
	calls  []call
	own    []key // of this run here, by ID and so as they began
	filter filter
	found  []key // only while a filter is set
	order  order // nil: as they began
	far    bool  // there are calls of other machines
	sorted []key // in that order, of those that the filter lets through
}

func byKey(c call, k key) int { return c.key.compare(k) }

// takeEarlier puts the calls of earlier runs in, instead of those told before: the
// first look may find what a hint then tells of.
//
// They were written down as they ended; here all calls stand as they began.
func (l *log) takeEarlier(list []snapshot.Call) {
	l.replace(func(c *call) bool { return c.earlier() }, list, func(*snapshot.Call) int8 { return -1 })
}

// takeFar puts the calls of other machines in, instead of those told before. Those that began
// before this deck was opened stand above the line.
func (l *log) takeFar(list []snapshot.Call, opened time.Time) {
	l.replace(func(c *call) bool { return c.Afar != nil }, list, func(c *snapshot.Call) int8 {
		if c.Started.Before(opened) {
			return -1
		}
		return 1
	})
}

// replace puts calls in the place of others.
func (l *log) replace(old func(*call) bool, list []snapshot.Call, run func(*snapshot.Call) int8) {
	all := make([]call, 0, len(l.calls)+len(list))
	for i := range l.calls {
		if !old(&l.calls[i]) {
			all = append(all, l.calls[i])
		}
	}
	for _, c := range list {
		all = append(all, call{c, keyOf(&c, run(&c))})
	}
	slices.SortFunc(all, func(a, b call) int { return a.key.compare(b.key) })
	l.calls = all
	l.narrow(l.filter) // which sorts them, too
}

// take puts new and changed calls in.
func (l *log) take(changed []snapshot.Call) {
	for _, c := range changed {
		c := call{c, l.keyFor(&c)}
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
		i, _ := slices.BinarySearchFunc(l.found, l.calls[0].key, key.compare)
		l.found = slices.Clone(l.found[i:])
		i, _ = slices.BinarySearchFunc(l.own, l.calls[0].key, key.compare)
		l.own = slices.Clone(l.own[i:])
	}
	l.sort()
}

// sift puts a call among those that the filter lets through, or takes it out.
func (l *log) sift(c *call) {
	j, in := slices.BinarySearchFunc(l.found, c.key, key.compare)
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
func (l *log) first() int { return l.search(key{}) }

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

func (l *log) byKey(k key) *call {
	if i, ok := slices.BinarySearchFunc(l.calls, k, byKey); ok {
		return &l.calls[i]
	}
	return nil
}

// keyFor is the key of a call of this run here. What has a later ID has begun later, whatever the
// clock has said.
func (l *log) keyFor(c *snapshot.Call) key {
	i, known := slices.BinarySearchFunc(l.own, c.ID, func(k key, id uint64) int { return cmp.Compare(k.id, id) })
	if known {
		return l.own[i]
	}
	k := keyOf(c, 1)
	if i > 0 {
		k.at = max(k.at, l.own[i-1].at)
	}
	if i < len(l.own) {
		k.at = min(k.at, l.own[i].at)
	}
	l.own = slices.Insert(l.own, i, k)
	return k
}

// byID is a call of this run here.
func (l *log) byID(id uint64) *call {
	i, known := slices.BinarySearchFunc(l.own, id, func(k key, id uint64) int { return cmp.Compare(k.id, id) })
	if !known {
		return nil
	}
	return l.byKey(l.own[i])
}

// row is the row of a call, or where it would be.
func (l *log) row(k key) int {
	if l.order != nil {
		return max(slices.Index(l.sorted, k), 0)
	}
	i := l.search(k)
	if line := l.line(); line >= 0 && i >= line {
		return i + 1
	}
	return i
}

// search is where a call is among those, or would be.
func (l *log) search(k key) int {
	if l.filter.empty() {
		i, _ := slices.BinarySearchFunc(l.calls, k, byKey)
		return i
	}
	i, _ := slices.BinarySearchFunc(l.found, k, key.compare)
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
