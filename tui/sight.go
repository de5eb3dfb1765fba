package tui

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
)

// How long what is asked has to be shown unchanged before a key can decide it.
const (
	// ReadPrompt is for what lets something happen: a permission, a plan, a change of a server.
	ReadPrompt = 800 * time.Millisecond
	// ReadQuestion is for anything else that is asked.
	ReadQuestion = 400 * time.Millisecond
)

// Asked is what a key would decide.
type Asked struct {
	// ID tells it from anything else that is asked: "ask 42", with the part of a request
	// that is shown.
	ID string
	// Digest changes with its text, its asker and its options.
	Digest uint64
	// Quiet is how long it has to be shown before a key can decide it.
	Quiet time.Duration
}

// Sight is what the user has before their eyes: what is asked on the frame on screen, and
// since when that is so. It is of the update loop.
type Sight struct {
	asked Asked
	place string // the page and what lies over it
	w, h  int
	since time.Time
	ready bool // it was there long enough, on a frame that says so
	came  bool // by itself: no key has brought it

	views []view              // that the frame shows
	shown map[string]*subject // by ID

	next      Asked // of the frame that is being drawn
	nextViews []view
}

// Digest is that of some texts.
func Digest(texts ...string) uint64 {
	h := fnv.New64a()
	for _, t := range texts {
		fmt.Fprintf(h, "%d:", len(t))
		_, _ = io.WriteString(h, t) // never fails
	}
	return h.Sum64()
}

// digestOf is that of a request: of its text, its asker and its options.
func digestOf(r *ask.Request) uint64 {
	b, err := json.Marshal(r)
	if err != nil { // which has nothing that cannot be written
		return 0
	}
	return Digest(string(b))
}

// SightMsg hands pages, once, the record of what is in sight.
type SightMsg struct{ Sight *Sight }

// Asks says that a frame shows something that a key would decide.
func (f *Frame) Asks(a Asked) {
	if f.sight != nil && f.Focus {
		f.sight.next = a
	}
}

// Ready reports whether what is asked on the frame can be decided by a key: parts draw such
// keys faint until then.
func (f *Frame) Ready() bool { return f.sight == nil || f.sight.Ready() }

// Ready reports whether what is on the frame on screen can be decided by a key.
func (s *Sight) Ready() bool { return s.ready }

// early reports whether text that is typed was meant for what was there before.
func (s *Sight) early() bool { return s.asked.ID != "" && s.came && !s.ready }

// begin starts a frame.
func (s *Sight) begin() { s.next, s.nextViews = Asked{}, nil }

// end notes what the frame shows that was drawn at a place. It returns when another frame is needed, 0 for never.
func (s *Sight) end(now, lastKey time.Time, place string, w, h int) time.Duration {
	same := s.next == s.asked && place == s.place && w == s.w && h == s.h
	switch {
	case s.next != s.asked || place != s.place:
		s.came = now.Sub(lastKey) > ReadQuestion
	case s.ready && !same: // on a screen of another size
		s.came = false
	}
	if !same {
		s.asked, s.place, s.w, s.h, s.since = s.next, place, w, h, now
	}
	wake := s.look(now, s.nextViews)
	left := max(s.asked.Quiet, ReadQuestion) - now.Sub(s.since)
	was := s.ready
	s.ready = same && left <= 0
	switch {
	case s.ready != was:
		return time.Millisecond // its keys are drawn as if it were not so
	case s.ready:
		return wake
	}
	if left = max(left, time.Millisecond); wake == 0 || left < wake {
		return left
	}
	return wake
}

// Digests keeps the digest of the request that was drawn last: a long one is not read
// again for each frame.
type Digests struct {
	id     int
	of     *ask.Snapshot
	digest uint64
}

// Of is the digest of a request in a snapshot.
func (d *Digests) Of(s *ask.Snapshot, it *ask.Item) uint64 {
	if d.of != s || d.id != it.ID {
		d.of, d.id, d.digest = s, it.ID, digestOf(&it.Request)
	}
	return d.digest
}

// AskedItem is a request as it is asked, in the part of it that is shown.
func AskedItem(it *ask.Item, digest uint64, part int) Asked {
	a := Asked{ID: fmt.Sprintf("ask %d/%d", it.ID, part), Digest: digest, Quiet: ReadQuestion}
	if it.Request.Decides() {
		a.Quiet = ReadPrompt
	}
	return a
}
