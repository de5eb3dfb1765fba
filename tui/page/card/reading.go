package card

import "time"

const (
	// armedAfter is how long a text must stand unchanged before a key agrees to it.
	armedAfter = 800 * time.Millisecond
	// seenAfter is how long a row must stand on the screen to have been shown.
	seenAfter = 200 * time.Millisecond
)

// reading is how much of a text the user can have read in a window that moves over it.
type reading struct {
	text  string // identifies it
	w, h  int    // of the window
	since time.Time
	top   int // of the window, which is there from at on
	at    time.Time
	seen  []bool // by row
	whole bool   // all rows were, at some size
}

// drawn notes that a window of w × h cells on rows of a text begins with row top.
func (r *reading) drawn(text string, rows, w, h, top int, now time.Time) {
	if text != r.text || w != r.w || h != r.h {
		r.look(now)
		whole := r.whole && text == r.text
		if w != r.w || text != r.text {
			r.seen = make([]bool, rows)
		}
		r.text, r.w, r.h, r.since, r.whole = text, w, h, now, whole
		r.top, r.at = top, now
	}
	if top != r.top {
		r.look(now)
		r.top, r.at = top, now
	}
}

// look marks the rows that have been in the window for long enough.
func (r *reading) look(now time.Time) {
	if now.Sub(r.at) < seenAfter {
		return
	}
	whole := true
	for i := range r.seen {
		r.seen[i] = r.seen[i] || i >= r.top && i < r.top+r.h
		whole = whole && r.seen[i]
	}
	r.whole = r.whole || whole && len(r.seen) > 0
}

// unseen is the first row that has not been shown, and how many have not; -1 and 0 when all
// have.
func (r *reading) unseen(now time.Time) (first, n int) {
	first = -1
	if r.look(now); r.whole {
		return first, 0
	}
	for i, seen := range r.seen {
		if !seen {
			if n++; first < 0 {
				first = i
			}
		}
	}
	return first, n
}

// next is how long it takes until something that armed and unseen say changes by itself; 0 for
// never.
func (r *reading) next(now time.Time) time.Duration {
	armed, seen := r.since.Add(armedAfter).Sub(now), r.at.Add(seenAfter).Sub(now)
	if seen > 0 && (armed <= 0 || seen < armed) {
		return seen
	}
	return max(armed, 0)
}

// armed tells whether the text has stood there for long enough.
func (r *reading) armed(now time.Time) bool {
	return !r.since.IsZero() && now.Sub(r.since) >= armedAfter
}
