package child

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/redact"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
)

// Line is one line of a log.
type Line struct {
	Time  time.Time
	Child string // name of the log it is from; "" for the log of the whole card
	From  string // name of the program for a line from its stderr, "link" for a line from the deck
	Text  string // one line, safe to show

	nth uint64 // of all logs that are kept together: times may be equal
}

// MaxLines is how many lines a log keeps, each of at most MaxRunes characters.
const (
	MaxLines = 400
	MaxRunes = 500
)

// storm is how many lines a second are kept from a server. The others are only counted.
const storm = 100

// keptLogs is how many logs of children that are gone are kept.
const keptLogs = 8

// Log keeps the last lines from and about a child, across restarts, and the logs of other
// children, so that none displaces the lines of another. The zero value is ready to use.
type Log struct {
	// Secrets are values that no line shows, of the log of the whole card; nil for none.
	Secrets *redact.Known

	name  string // of the child; "" for the log of the whole card
	root  *Log   // that this one is kept with; nil for the log of the whole card
	count atomic.Uint64

	mu      sync.Mutex
	of      []*Log // of children, oldest first
	gone    bool
	lines   []Line
	second  time.Time // since when lines are counted
	heard   int       // since then, of the server's
	skipped int       // of these
	latest  Line      // of those skipped
}

// Child adds a log for a child with that name.
func (l *Log) Child(name string) *Log {
	added := &Log{name: name, root: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	gone := 0
	for _, at := range l.of {
		if at.isGone() {
			gone++
		}
	}
	l.of = slices.DeleteFunc(l.of, func(at *Log) bool {
		drop := gone > keptLogs && at.isGone()
		if drop {
			gone--
		}
		return drop
	})
	l.of = append(l.of, added)
	return added
}

// Gone marks the log as that of a child which will not be started again.
func (l *Log) Gone() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone = true
}

func (l *Log) isGone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gone
}

// Note adds a line from the deck.
func (l *Log) Note(text string) { l.add("link", text) }

func (l *Log) add(from, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(l.line(from, text))
}

func (l *Log) line(from, text string) Line {
	root := cmp.Or(l.root, l)
	return Line{Time: time.Now(), nth: root.count.Add(1), Child: l.name, From: from, Text: sanitize.Cut(sanitize.Line(text[:min(len(text), 4*MaxRunes)]), MaxRunes)}
}

// hear adds a line from the server, unless it writes too many.
func (l *Log) hear(from, text string) {
	line := l.line(from, text)
	l.mu.Lock()
	defer l.mu.Unlock()
	if line.Time.Sub(l.second) >= time.Second {
		l.calm()
		l.second, l.heard = line.Time, 0
	}
	if l.heard++; l.heard > storm {
		l.skipped++
		l.latest = line
		return
	}
	l.keep(line)
}

// calm adds a line about the lines that were skipped. The caller holds mu.
func (l *Log) calm() {
	for _, line := range l.counted() {
		l.keep(line)
	}
	l.skipped = 0
}

// counted returns a line with the number of skipped lines and the last of them. The
// caller holds mu.
func (l *Log) counted() (lines []Line) {
	if l.skipped > 1 {
		lines = append(lines, Line{Time: l.latest.Time, nth: l.latest.nth - 1, Child: l.name, From: l.latest.From, Text: "+" + grouped(l.skipped-1) + " lines"})
	}
	if l.skipped > 0 {
		last := l.latest
		last.Text = l.Clean(last.Text)
		lines = append(lines, last)
	}
	return lines
}

// grouped formats a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Clean returns a text of the child, or about it, without secrets.
func (l *Log) Clean(text string) string {
	return redact.Rules{Known: cmp.Or(l.root, l).Secrets}.Text(text)
}

// keep adds a line. The caller holds mu.
func (l *Log) keep(line Line) {
	line.Text = l.Clean(line.Text)
	if len(l.lines) >= 2*MaxLines {
		l.lines = append(l.lines[:0:0], l.lines[len(l.lines)-MaxLines+1:]...)
	}
	l.lines = append(l.lines, line)
}

// Tail returns a copy of the last n lines of the log and of each of its children's, oldest
// first.
func (l *Log) Tail(n int) []Line {
	l.mu.Lock()
	all, of := slices.Concat(l.lines, l.counted()), slices.Clone(l.of)
	l.mu.Unlock()
	all = all[len(all)-min(n, len(all), MaxLines):]
	for _, at := range of {
		all = append(all, at.Tail(n)...)
	}
	if len(of) > 0 {
		slices.SortFunc(all, func(a, b Line) int { return cmp.Compare(a.nth, b.nth) })
	}
	return all
}

// drain reads stderr to its end, so that the child never blocks on a full pipe.
func (l *Log) drain(from string, src io.Reader) {
	b := bufio.NewReaderSize(src, 4096)
	for {
		line, tooLong, err := b.ReadLine()
		if len(line) > 0 {
			l.hear(from, string(line))
		}
		for tooLong && err == nil {
			_, tooLong, err = b.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
