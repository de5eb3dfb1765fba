// Package clippy is what the Inbox has of the Clippy tools: whether sounds are muted,
// the repair of a damaged memory, and the bell that agents may ring.
package clippy

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/tui"
)

// Tools is what the page can do with the tools.
type Tools interface {
	// Muted and Mute tell and set whether sounds are off. They return at once.
	Muted() bool
	Mute(on bool)
	// RepairMemory sets a damaged memory file aside and returns its new path.
	RepairMemory(ctx context.Context) (aside string, err error)
}

// Bell is rung by the tools and heard on the screen: nothing but the screen may
// write to its terminal.
type Bell struct {
	hint chan struct{}

	mu      sync.Mutex
	ringing []chan struct{} // closed once the screen has heard
}

// NewBell makes a bell that is heard once its Feed is part of a screen.
func NewBell() *Bell { return &Bell{hint: make(chan struct{}, 1)} }

// hearWithin is how long a screen may take; it looks thirty times a second.
const hearWithin = 2 * time.Second

// Ring returns once the screen has heard. The error says that it does not.
func (b *Bell) Ring() error {
	heard := make(chan struct{})
	b.mu.Lock()
	b.ringing = append(b.ringing, heard)
	b.mu.Unlock()
	notify.Poke(b.hint)
	select {
	case <-heard:
		return nil
	case <-time.After(hearWithin):
		return errors.New("ring the bell: the screen does not respond")
	}
}

// rungMsg says that the bell was rung.
type rungMsg struct{}

// Feed brings the bell to the screen.
func (b *Bell) Feed() tui.Feed {
	return tui.Feed{Hint: b.hint, Load: func() tea.Msg {
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.ringing) == 0 { // the pump asks once at the start
			return nil
		}
		for _, heard := range b.ringing {
			close(heard)
		}
		b.ringing = nil
		return rungMsg{}
	}}
}

// Widget is the note. It says nothing while sounds are on.
type Widget struct {
	tools   Tools
	damaged bool // the memory is
	usual   bool // sounds are muted without a key
	chosen  bool // whether they are, by the last key
}

// NewWidget makes the note.
func NewWidget(t Tools) *Widget {
	usual := t.Muted()
	return &Widget{tools: t, usual: usual, chosen: usual}
}

// Name implements the StateSaver of the Inbox.
func (w *Widget) Name() string { return "clippy" }

// What is kept of a key that mutes sounds, or has them on again.
const (
	muted = "muted"
	heard = "heard"
)

// SaveState implements the StateSaver of the Inbox: what the user chose by a key, unless the
// configuration says the same, or has changed since.
func (w *Widget) SaveState() string {
	switch {
	case w.chosen == w.usual || w.chosen != w.tools.Muted():
		return ""
	case w.chosen:
		return muted
	}
	return heard
}

// LoadState implements the StateSaver of the Inbox.
func (w *Widget) LoadState(kept string) {
	if kept == muted || kept == heard {
		w.chosen = kept == muted
		w.tools.Mute(w.chosen)
	}
}

// Server is "": what is wrong with the server is said as of any other.
func (w *Widget) Server() string { return "" }

// Update rings the bell and follows the server's state.
func (w *Widget) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case rungMsg:
		return tea.Batch(tea.Raw("\a"), tui.Toast(tui.Info, "an agent rang the bell"))
	case tui.DeckMsg:
		w.damaged = slices.ContainsFunc(msg.Snapshot.Servers, func(s snapshot.Server) bool {
			return s.Name == "clippy" && s.State.Status == snapshot.Degraded
		})
	}
	return nil
}

// Actions mute sounds and repair the memory.
func (w *Widget) Actions() []tui.Action {
	return []tui.Action{
		{ID: "clippy.mute", Title: "Mute or unmute agents' sounds", Acts: true, Run: w.mute},
		{ID: "clippy.repair", Title: "Clippy: repair the memory file", Acts: true, Run: w.repair, Enabled: func() string { return tui.Because(!w.damaged, "the memory file is not damaged") }},
	}
}

func (w *Widget) mute() tea.Cmd {
	on := !w.tools.Muted()
	w.chosen = on
	w.tools.Mute(on)
	text := "agents' sounds are on"
	if on {
		text = "agents' sounds are muted"
	}
	return tui.Toast(tui.Info, text)
}

func (w *Widget) repair() tea.Cmd {
	return func() tea.Msg {
		aside, err := w.tools.RepairMemory(context.Background())
		if err != nil {
			return tui.Toast(tui.Bad, "repair the memory file: "+err.Error())()
		}
		return tui.Toast(tui.Good, "the memory file is repaired; the damaged one is kept as "+filepath.Base(aside))()
	}
}

// Note says that sounds are muted.
func (w *Widget) Note(f *tui.Frame, _ int) string {
	if !w.tools.Muted() {
		return ""
	}
	return f.Theme.Muted.Render("sounds muted")
}
