package tui

import (
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// shownAfter is how long a row has to stand on the screen to have been shown.
const shownAfter = 200 * time.Millisecond

// Drawn is a text that has to be read before a key lets something happen, in rows as they
// are drawn at some width.
type Drawn struct {
	Rows []string

	// at is how many characters that leave a mark come before each row, and in all: rows
	// break elsewhere at another width, and what was shown of the text has been shown.
	at   []int
	text uint64 // identifies these characters
}

// Draw makes a Drawn of rows, with styles.
func Draw(rows []string) *Drawn {
	d := &Drawn{Rows: rows, at: make([]int, len(rows)+1)}
	h, n := fnv.New64a(), 0
	marks := func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}
	for i, row := range rows {
		row = strings.Map(marks, ansi.Strip(row))
		_, _ = io.WriteString(h, row) // never fails
		n += utf8.RuneCountInString(row)
		d.at[i+1] = n
	}
	d.text = h.Sum64()
	return d
}

// stretch is the characters from one to another, in view since a moment.
type stretch struct {
	from, to int
	since    time.Time
}

// view is the part of a text that a frame shows.
type view struct {
	id   string
	text uint64
	stretch
}

// Shows says that a frame shows the rows from one to another of a text, which is that of
// what ID names: all that a key would let happen.
func (f *Frame) Shows(id string, d *Drawn, from, to int) {
	if f.sight == nil || !f.Focus {
		return
	}
	from = min(max(from, 0), len(d.Rows))
	to = min(max(to, from), len(d.Rows))
	f.sight.nextViews = append(f.sight.nextViews, view{id, d.text, stretch{d.at[from], d.at[to], f.Now}})
}

// subject is what has been shown of a text.
type subject struct {
	text      uint64
	stretches []stretch // in order, none meets the next
}

// subjectsMost bounds of how many texts it is known what has been shown.
const subjectsMost = 200

// look notes what has been in view for long enough, and what a frame has in view.
func (s *Sight) look(now time.Time, next []view) (wake time.Duration) {
	s.stood(now)
	for _, n := range next {
		for _, v := range s.views { // the part that is still there has been there
			if v.id == n.id && v.text == n.text && v.from < n.to && n.from < v.to && !s.has(v) {
				both := n
				both.from, both.to, both.since = max(v.from, n.from), min(v.to, n.to), v.since
				next = append(next, both)
			}
		}
	}
	s.views = next
	for _, v := range next {
		if left := shownAfter - now.Sub(v.since); left > 0 && (wake == 0 || left < wake) && !s.has(v) {
			wake = left
		}
	}
	return wake
}

// stood notes what has been in view for long enough.
func (s *Sight) stood(now time.Time) {
	for _, v := range s.views {
		if now.Sub(v.since) >= shownAfter {
			s.note(v)
		}
	}
}

func (s *Sight) has(v view) bool {
	sub := s.shown[v.id]
	return sub != nil && sub.text == v.text && slices.ContainsFunc(sub.stretches, func(o stretch) bool { return o.from <= v.from && v.to <= o.to })
}

// note adds what has been shown. A change of the text forgets what was.
func (s *Sight) note(v view) {
	if s.has(v) {
		return
	}
	sub := s.shown[v.id]
	if sub == nil || sub.text != v.text {
		if len(s.shown) >= subjectsMost {
			clear(s.shown) // they are shown again
		}
		sub = &subject{text: v.text}
		s.shown[v.id] = sub
	}
	all := append(sub.stretches, v.stretch)
	slices.SortFunc(all, func(a, b stretch) int { return a.from - b.from })
	merged := all[:1]
	for _, o := range all[1:] {
		if last := &merged[len(merged)-1]; o.from <= last.to {
			last.to = max(last.to, o.to)
		} else {
			merged = append(merged, o)
		}
	}
	sub.stretches = merged
}

// Unseen is the first row of a text that was not shown, and how many were not; -1 and 0
// when all of it was.
func (s *Sight) Unseen(id string, d *Drawn) (first, n int) {
	first = -1
	var stretches []stretch
	if s != nil {
		s.stood(time.Now())
		if sub := s.shown[id]; sub != nil && sub.text == d.text {
			stretches = sub.stretches
		}
	}
	for i := range d.Rows {
		from, to := d.at[i], d.at[i+1]
		if from == to || slices.ContainsFunc(stretches, func(o stretch) bool { return o.from <= from && to <= o.to }) {
			continue
		}
		if n++; first < 0 {
			first = i
		}
	}
	return first, n
}
