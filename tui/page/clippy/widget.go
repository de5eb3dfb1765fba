// Package clippy is the Deck page's line about the Clippy tools: whether sounds are
// muted, whether the memory is damaged, and the bell that agents may ring.
package clippy

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/deck"
	"github.com/mcpdeck/mcpdeck/servers/hint"
	"github.com/mcpdeck/mcpdeck/servers/plain"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/widget"
)

// Tools is what the line can do with the tools.
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
	hint.Poke(b.hint)
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

// Widget is the line. It takes no room while there is nothing to say.
type Widget struct {
	tools   Tools
	trouble string // of the memory, as the server says it
}

// NewWidget makes the line.
func NewWidget(t Tools) *Widget { return &Widget{tools: t} }

// Update rings the bell and follows the server's state.
func (w *Widget) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case rungMsg:
		return tea.Batch(tea.Raw("\a"), tui.Toast(tui.Info, "an agent rang the bell"))
	case tui.DeckMsg:
		w.trouble = ""
		for _, s := range msg.Snapshot.Servers {
			if s.Name == "clippy" && s.State.Status == deck.Degraded {
				w.trouble = plain.Line(s.State.Reason)
			}
		}
	}
	return nil
}

// Actions mute sounds and repair the memory.
func (w *Widget) Actions() []tui.Action {
	return []tui.Action{
		{ID: "clippy.mute", Title: "Mute or unmute agents' sounds", Keys: []string{"m"}, Acts: true, Run: w.mute},
		{ID: "clippy.repair", Title: "Clippy: repair the memory file", Acts: true, Run: w.repair, Enabled: func() string {
			if w.trouble == "" {
				return "the memory file is not damaged"
			}
			return ""
		}},
	}
}

func (w *Widget) mute() tea.Cmd {
	on := !w.tools.Muted()
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

// Line draws what is the matter.
func (w *Widget) Line(f *tui.Frame, width int) string {
	th := f.Theme
	switch {
	case w.trouble != "":
		return widget.Fit(th.Warn.Render("! Clippy")+th.Muted.Render("  "+w.trouble), width)
	case w.tools.Muted():
		return widget.Fit(th.Muted.Render("agents' sounds are muted  ")+th.Key.Render("m")+th.Faint.Render(" unmute"), width)
	}
	return ""
}
