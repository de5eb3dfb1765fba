package tui

import (
	"reflect"
	"time"

	tea "charm.land/bubbletea/v2"
)

// ticks are the moments at which Bubble Tea's renderer writes what has changed.
//
// The renderer waits for a time.Ticker of its Program, sixty times a second for
// as long as the program runs: a screen on which nothing happens wakes up 333
// times a second and takes 1.3 to 1.7 % of a core, and a key's frame waits for
// half a tick, 8 ms, before it is written. There is no option to turn that off
// (https://github.com/charmbracelet/bubbletea/pull/1776 would render on demand),
// so the field is given a ticker whose channel is ours before the program runs:
// the library finds it there, as after a suspension, and waits for it.
//
// A tick must come after the frame was handed over, which Bubble Tea does behind
// View's back. So View sends a message, which the loop takes only when that is
// done, and the program's filter turns it into the tick. Everything else that
// the library writes, it writes while it handles a message, which ends in View:
// what was suspended or ran another program (tea.Exec) ends so, too.
//
// All methods run in the program's loop.
type ticks struct {
	send func(tea.Msg)
	due  chan time.Time // one slot: the renderer has something to look at
	last time.Time      // when the last one was due
	sent bool           // a tickMsg is on its way
}

// tickMsg comes after the frame for which it was sent.
type tickMsg struct{}

// takeTicks takes a program's ticks over before it runs. It returns nil when
// Bubble Tea has no ticker to take: it then writes when it likes.
func takeTicks(p *tea.Program) *ticks {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() || !field.IsNil() {
		return nil
	}
	t := &ticks{send: p.Send, due: make(chan time.Time, 1)}
	// Nothing receives from this ticker's own channel, so it is in no list of
	// timers and costs nothing, whatever its period.
	ticker := time.NewTicker(time.Hour)
	ticker.C = t.due
	*(**time.Ticker)(field.Addr().UnsafePointer()) = ticker
	return t
}

// want asks for a tick after the frame that View is about to return, at least
// frameEvery after the one before.
func (t *ticks) want() {
	if t == nil || t.sent {
		return
	}
	t.sent = true
	time.AfterFunc(max(time.Until(t.last.Add(frameEvery)), 0), func() { t.send(tickMsg{}) })
}

// come turns a tickMsg into the tick.
func (t *ticks) come() {
	t.sent, t.last = false, time.Now()
	select {
	case t.due <- t.last:
	default: // the renderer has yet to take the one before
	}
}
