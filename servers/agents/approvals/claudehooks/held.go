package claudehooks

import (
	"context"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals"
	"github.com/mcpdeck/mcpdeck/servers/agents/approvals/hook"
)

// Times of a permission that came by a hook.
const (
	LookEvery    = 500 * time.Millisecond // at the program's own record
	watchEvery   = 50 * time.Millisecond  // the same, while it has just been answered
	watchClosely = 3 * time.Second
	watchFor     = 5 * time.Minute
)

// Held is a permission of which the terminal shows nothing until the hook that brought it has
// ended: the part of an [approvals.Holder] that all programs with such hooks share.
type Held struct {
	*approvals.Item
	Conn    *hook.Conn
	Choices []approvals.Choice
	Print   func(Decision) string // what the hook prints

	mu      sync.Mutex // guards what follows
	let     bool
	printed bool
	allows  bool
	closed  time.Time
}

// Ask puts the permission to the user, as the holder of which this is a part, and follows it. The
// terminal asks at once what cannot be shown.
func (h *Held) Ask(ctx context.Context, q approvals.Queue, whole approvals.Holder) {
	if h.Open(q, whole) != nil {
		return
	}
	if h.Request.InTerminal() {
		whole.LetGo()
	}
	h.Follow(ctx)
}

// Answer implements [approvals.Door]: it gives the user's reply to the hook.
func (h *Held) Answer(r ask.Reply) bool {
	d, c, ok := Answer(h.Choices, r)
	if d.Interrupt = c.Grant.Stop; !ok || h.Let() || h.Conn.Print(h.Print(d)) != nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.printed, h.allows = true, c.Grant.Allow
	return true
}

// LetGo implements [approvals.Holder]: it ends the hook, so that the terminal asks.
func (h *Held) LetGo() {
	_ = h.Conn.Print("") // a program that has gone needs nothing
	h.mu.Lock()
	defer h.mu.Unlock()
	h.let = true
}

// Let reports whether the hook has ended without an answer: the terminal asks.
func (h *Held) Let() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.let
}

// Over implements [approvals.Holder].
func (h *Held) Over() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed = time.Now(); !h.printed {
		_ = h.Conn.Print("") // as above
	}
}

// Waits reports whether the permission still waits for the user.
func (h *Held) Waits() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed.IsZero()
}

// Gone implements [approvals.Holder].
func (h *Held) Gone() <-chan struct{} { return h.Conn.Gone() }

// Stopped reports whether the program has ended the hook, which still waits for the user.
func (h *Held) Stopped() bool {
	select {
	case <-h.Conn.Gone():
		return !h.Let()
	default:
		return false
	}
}

// Took reports whether the hook was given the answer that allows, or does not allow.
func (h *Held) Took(allowed bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.printed && h.allows == allowed
}

// Watch returns when to look next for what became of a permission that does not wait for the
// user any more.
func (h *Held) Watch() approvals.Fate {
	h.mu.Lock()
	defer h.mu.Unlock()
	ago := time.Since(h.closed)
	if ago < watchClosely {
		return approvals.Fate{Again: watchEvery}
	}
	return approvals.Fate{Again: LookEvery, Last: ago >= watchFor}
}
