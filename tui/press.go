package tui

import (
	"cmp"
	"time"

	tea "charm.land/bubbletea/v2"
)

// KeyRest is how long a key that did something must be left alone before it can do
// something again, where the terminal does not say when a key is let go. No system waits
// as long before it repeats a key that is held down, nor between two repeats.
const KeyRest = 2500 * time.Millisecond

const (
	// restSteps is in how many steps that time is measured: each has to end in time, so
	// that a deck that was stopped, or starved, does not take its own sleep for the user's.
	restSteps = 5
	// restLate is how late a step may end.
	restLate = 250 * time.Millisecond
	// ignoredFor is how long nothing can be decided after a key was ignored.
	ignoredFor = 400 * time.Millisecond
	// sayFor is how long the footer says why a key was ignored.
	sayFor = 3 * time.Second
)

// presses decides which events of the keyboard count: one press has one effect. A key
// that does more than to move, to scroll or to type is spent. It does nothing more until
// it is let go, another key is pressed, or it has rested.
type presses struct {
	rest  time.Duration // 0 is KeyRest
	types bool          // the terminal has confirmed that it tells releases and repeats

	spent   rune // the key; 0 if none is
	counts  bool // the time since the last event is measured
	seq     int  // of the last event
	ignored time.Time
	told    bool // why the key is ignored
	why     string
	until   time.Time // when why has been said
}

// RestMsg tells pages that the keyboard rests: the key that did something last was let go,
// or nothing was pressed for a while. What waits for that may go on.
type RestMsg struct{}

// restMsg ends a step of the time in which a key rests.
type restMsg struct {
	seq, step int
	due       time.Time
}

// come takes a key that is pressed or held down and reports whether it is only held: then
// it may move, scroll and type, and nothing else.
func (p *presses) come(k tea.Key) (held bool) {
	p.seq++
	if k.Code != p.spent {
		p.spent, p.told = 0, false
	}
	return p.spent != 0 || k.IsRepeat
}

// spend notes that a key has done something, or could have.
func (p *presses) spend(k tea.Key) { p.spent, p.counts = k.Code, true }

// ignore notes that a key was ignored, and says why, once for a key.
func (p *presses) ignore(k tea.Key, now time.Time, why string) {
	p.ignored = now
	p.spend(k)
	if !p.told {
		p.told, p.why, p.until = true, why, now.Add(sayFor)
	}
}

// quiet returns since when no key was ignored that a decision must not follow.
func (p *presses) quiet(now time.Time) bool { return now.Sub(p.ignored) >= ignoredFor }

// held says why a key that is spent does nothing.
func (p *presses) held(name string) string {
	if p.types {
		return name + " is still held"
	}
	return name + " counts again after another key"
}

// said is why a key was ignored, for as long as the frame says so.
func (p *presses) said(f *Frame) string {
	left := p.until.Sub(f.Now)
	if left <= 0 || p.why == "" {
		return ""
	}
	f.RedrawAfter(left)
	return p.why
}

// step waits for a step of the rest; nil where nothing has to.
func (p *presses) step(step int) tea.Cmd {
	if !p.counts {
		return nil
	}
	d := cmp.Or(p.rest, KeyRest)
	d /= restSteps
	msg := restMsg{seq: p.seq, step: step, due: time.Now().Add(d)}
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// rested takes the end of a step. rest says that it was the last one.
func (p *presses) rested(msg restMsg, now time.Time) (rest bool, next tea.Cmd) {
	switch {
	case msg.seq != p.seq || !p.counts:
		return false, nil
	case now.Sub(msg.due) > restLate:
		return false, p.step(1)
	case msg.step < restSteps:
		return false, p.step(msg.step + 1)
	}
	p.spent, p.counts, p.told = 0, false, false
	return true, nil
}

// release takes a key that is let go, and reports whether it is the one that was spent.
func (p *presses) release(k tea.Key) bool {
	if !p.types || p.spent == 0 || k.Code != p.spent {
		return false
	}
	p.spent, p.counts, p.told = 0, false, false
	return true
}
