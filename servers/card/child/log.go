package child

import (
	"bufio"
	"io"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// Line is one line of a log.
type Line struct {
	Time time.Time
	From string // the name of the program for what it wrote to stderr, "link" for what the deck notes
	Text string // one line, safe to show
}

// MaxLines is how many lines a log keeps, each of at most MaxRunes characters.
const (
	MaxLines = 200
	MaxRunes = 500
)

// Log keeps the last lines of a child and about it, also over several starts. The
// zero value is ready.
type Log struct {
	mu    sync.Mutex
	lines []Line
}

// Note adds a line of the deck's.
func (l *Log) Note(text string) { l.add("link", text) }

func (l *Log) add(from, text string) {
	text = plain.Cut(plain.Line(text), MaxRunes)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) >= 2*MaxLines {
		l.lines = append(l.lines[:0:0], l.lines[len(l.lines)-MaxLines+1:]...)
	}
	l.lines = append(l.lines, Line{Time: time.Now(), From: from, Text: text})
}

// Tail returns a copy of the last n lines, oldest first.
func (l *Log) Tail(n int) []Line {
	l.mu.Lock()
	defer l.mu.Unlock()
	n = min(n, len(l.lines), MaxLines)
	return append([]Line(nil), l.lines[len(l.lines)-n:]...)
}

// lastWords returns the last line that the child wrote since then, "" when it
// wrote none.
func (l *Log) lastWords(from string, since time.Time) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.lines) - 1; i >= 0; i-- {
		if last := l.lines[i]; last.From == from && last.Text != "" && !last.Time.Before(since) {
			return last.Text
		}
	}
	return ""
}

// drain reads stderr to its end, so that the child never waits for a reader.
func (l *Log) drain(from string, src io.Reader) {
	b := bufio.NewReaderSize(src, 4096)
	for {
		line, tooLong, err := b.ReadLine()
		if len(line) > 0 {
			l.add(from, string(line))
		}
		for tooLong && err == nil {
			_, tooLong, err = b.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
