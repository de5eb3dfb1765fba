package calls

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mcpdeck/mcpdeck/servers"
)

// keep is how many calls the page holds; it drops a fifth more at a time.
const keep = 10_000

// log is the calls by ID, and those of them that the filter lets through.
type log struct {
	calls  []servers.Call
	filter filter
	found  []uint64 // IDs; only while a filter is set
}

func byID(c servers.Call, id uint64) int { return cmp.Compare(c.ID, id) }

// take puts new and changed calls in.
func (l *log) take(changed []servers.Call) {
	for _, c := range changed {
		i, known := slices.BinarySearchFunc(l.calls, c.ID, byID)
		switch {
		case known:
			l.calls[i] = c
		case i == len(l.calls):
			l.calls = append(l.calls, c)
		default:
			l.calls = slices.Insert(l.calls, i, c)
		}
		if !l.filter.empty() {
			l.sort(&c)
		}
	}
	if n := len(l.calls); n > keep+keep/5 {
		l.calls = slices.Clone(l.calls[n-keep:])
		i, _ := slices.BinarySearch(l.found, l.calls[0].ID)
		l.found = slices.Clone(l.found[i:])
	}
}

// sort puts a call among those that the filter lets through, or takes it out.
func (l *log) sort(c *servers.Call) {
	j, in := slices.BinarySearch(l.found, c.ID)
	switch lets := l.filter.lets(c); {
	case lets && !in:
		l.found = slices.Insert(l.found, j, c.ID)
	case in && !lets:
		l.found = slices.Delete(l.found, j, j+1)
	}
}

// narrow sets the filter.
func (l *log) narrow(f filter) {
	l.filter, l.found = f, nil
	if f.empty() {
		return
	}
	for i := range l.calls {
		if f.lets(&l.calls[i]) {
			l.found = append(l.found, l.calls[i].ID)
		}
	}
}

// len is how many calls the filter lets through.
func (l *log) len() int {
	if l.filter.empty() {
		return len(l.calls)
	}
	return len(l.found)
}

// at is call i of those, nil when there is none.
func (l *log) at(i int) *servers.Call {
	if i < 0 || i >= l.len() {
		return nil
	}
	if l.filter.empty() {
		return &l.calls[i]
	}
	return l.byID(l.found[i])
}

func (l *log) byID(id uint64) *servers.Call {
	if i, ok := slices.BinarySearchFunc(l.calls, id, byID); ok {
		return &l.calls[i]
	}
	return nil
}

// index is where a call is among those, or would be.
func (l *log) index(id uint64) int {
	if l.filter.empty() {
		i, _ := slices.BinarySearchFunc(l.calls, id, byID)
		return i
	}
	i, _ := slices.BinarySearch(l.found, id)
	return i
}

// filter is what a call must have: all words, anywhere, and with failed only
// those that failed.
type filter struct {
	words  []string // in lower case
	failed bool
}

func newFilter(text string, failed bool) filter {
	return filter{words: strings.Fields(strings.ToLower(text)), failed: failed}
}

func (f *filter) empty() bool { return len(f.words) == 0 && !f.failed }

func failed(c *servers.Call) bool {
	return c.Status == servers.ToolError || c.Status == servers.Refused
}

func (f *filter) lets(c *servers.Call) bool {
	if f.failed && !failed(c) {
		return false
	}
	for _, w := range f.words {
		if !has(c.Tool, w) && !has(c.AgentName, w) && !has(c.Server, w) &&
			!has(string(c.Status), w) && !has(c.Args, w) && !has(c.Result, w) {
			return false
		}
	}
	return true
}

func has(s, word string) bool { return strings.Contains(strings.ToLower(s), word) }
