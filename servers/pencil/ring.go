package pencil

import (
	"bufio"
	"io"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/plain"
)

// LogLine is one line of the link's log.
type LogLine struct {
	Time time.Time
	From string // "pencil" for what the child wrote to stderr, "link" for what the deck notes
	Text string // one line, safe to show
}

const (
	ringLines = 200
	lineRunes = 500
)

// ring keeps the last lines.
type ring struct {
	mu    sync.Mutex
	lines []LogLine
}

func (r *ring) add(from, text string) {
	text = plain.Cut(plain.Line(text), lineRunes)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.lines) >= 2*ringLines {
		r.lines = append(r.lines[:0:0], r.lines[len(r.lines)-ringLines+1:]...)
	}
	r.lines = append(r.lines, LogLine{Time: time.Now(), From: from, Text: text})
}

// tail returns a copy of the last n lines, oldest first.
func (r *ring) tail(n int) []LogLine {
	r.mu.Lock()
	defer r.mu.Unlock()
	n = min(n, len(r.lines), ringLines)
	return append([]LogLine(nil), r.lines[len(r.lines)-n:]...)
}

// lastWords returns the last line that the child wrote since then, "" when it
// wrote none.
func (r *ring) lastWords(since time.Time) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := len(r.lines) - 1; i >= 0; i-- {
		if l := r.lines[i]; l.From == "pencil" && l.Text != "" && !l.Time.Before(since) {
			return l.Text
		}
	}
	return ""
}

// drain reads stderr to its end, so that the child never waits for a reader.
func (r *ring) drain(src io.Reader) {
	b := bufio.NewReaderSize(src, 4096)
	for {
		line, tooLong, err := b.ReadLine()
		if len(line) > 0 {
			r.add("pencil", string(line))
		}
		for tooLong && err == nil {
			_, tooLong, err = b.ReadLine()
		}
		if err != nil {
			return
		}
	}
}
