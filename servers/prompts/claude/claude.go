// Package claude brings the prompts of Claude Code to the deck and its answers back, by
// command hooks of its PermissionRequest and Elicitation events, and finds its sessions in
// its own folder.
package claude

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/prompts"
	"github.com/mcpdeck/mcpdeck/servers/prompts/hook"
)

// Tested is the version of Claude Code that the formats in this package were measured with.
const Tested = "2.1.330"

// Limits of what one session may ask.
const (
	mostOpen   = 20
	joinWithin = 2 * time.Second // of prompts that two equal hooks bring
)

// Options configures an [Adapter].
type Options struct {
	Queue  prompts.Queue
	Roster prompts.Roster
	Folder string // of Claude Code's own files: ~/.claude
	Home   string
	// Hold is how long a prompt waits that its terminal does not show; 0: not at all.
	Hold time.Duration
	// HoldsHeadless reports whether what an agent without a terminal asks in a folder waits
	// for the user; nil: nowhere.
	HoldsHeadless func(folder string) bool
	// OnceOnly leaves out the options that allow more than one call.
	OnceOnly bool
	Log      *slog.Logger
}

// Adapter is the connection to all Claude Code processes of the user.
type Adapter struct {
	opt  Options
	kick chan struct{} // wakes Run

	mu    sync.Mutex // guards what follows
	items map[*item]bool
	pace  prompts.Pace
	ended map[string]bool // sessions whose SessionEnd came
}

// New returns an adapter.
func New(o Options) *Adapter {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.HoldsHeadless == nil {
		o.HoldsHeadless = func(string) bool { return false }
	}
	return &Adapter{opt: o, kick: make(chan struct{}, 1), items: map[*item]bool{}, ended: map[string]bool{}}
}

// Agent implements [prompts.Adapter].
func (a *Adapter) Agent() string { return "claude" }

// Serve implements [hook.Handler]: it handles one event. All but prompts get no output at
// once.
func (a *Adapter) Serve(ctx context.Context, c *hook.Conn) {
	if c.Hello.Mode != hook.Once {
		return
	}
	m, err := c.Next(ctx)
	if err != nil {
		return
	}
	switch m.Event {
	case "PermissionRequest", "Elicitation":
		a.prompt(ctx, c, m)
	case "SessionEnd":
		if s, ok := a.identify(c, m.Payload.Str("session_id")); ok {
			a.end(s.ID)
		}
	}
	_ = c.Print("") // most have been answered; an agent that has gone needs nothing
	a.wake()
}

// prompt puts a prompt to the user. When it returns without having answered, the terminal
// asks.
func (a *Adapter) prompt(ctx context.Context, c *hook.Conn, m hook.Message) {
	s, ok := a.identify(c, m.Payload.Str("session_id"))
	if !ok {
		a.opt.Log.Info("a prompt was refused: no Claude Code session is behind it", "pid", c.PID)
		return
	}
	if s.headless(c) && !a.opt.HoldsHeadless(s.Folder) {
		return
	}
	it := a.newItem(s, c, m)
	if first := a.enter(it); first != it {
		if first != nil {
			first.join(ctx, c)
		}
		return
	}
	defer a.leave(it)
	call, err := a.opt.Queue.Open(it.req)
	if err != nil {
		return
	}
	it.call = call
	a.wake()
	it.follow(ctx)
}

// enter counts an item in. It returns an open one that it repeats, or nil if its session
// has asked too much.
func (a *Adapter) enter(it *item) *item {
	a.mu.Lock()
	defer a.mu.Unlock()
	open := 0
	for o := range a.items {
		if o.session.ID != it.session.ID {
			continue
		}
		open++
		if o.same == it.same && it.arrived.Sub(o.arrived) < joinWithin {
			return o
		}
	}
	if open >= mostOpen || !a.pace.Take(it.session.ID, it.arrived) {
		return nil
	}
	a.items[it] = true
	return it
}

func (a *Adapter) leave(it *item) {
	a.mu.Lock()
	delete(a.items, it)
	a.mu.Unlock()
	it.close()
	a.wake()
}

// end withdraws what a session that has ended asked.
func (a *Adapter) end(session string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for it := range a.items {
		if it.session.ID == session {
			it.settle("its session has ended")
		}
	}
}

func (a *Adapter) wake() {
	select {
	case a.kick <- struct{}{}:
	default: // it is awake
	}
}

// folderOf returns the folder of Claude Code's own files for a connection, and whether it
// is the one that the deck was told, not the sender.
func (a *Adapter) folderOf(c *hook.Conn) (folder string, own bool) {
	if dir := c.Hello.Env["CLAUDE_CONFIG_DIR"]; filepath.IsAbs(dir) && filepath.Clean(dir) != filepath.Clean(a.opt.Folder) {
		return filepath.Clean(dir), false
	}
	return a.opt.Folder, true
}
