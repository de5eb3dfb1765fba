package inbox

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/tui"
)

// Widget is what another part of the deck has to say on this page.
type Widget interface {
	// Note is an exception, or a mode that is on, in a few words and at most w cells; ""
	// says nothing.
	Note(f *tui.Frame, w int) string
	// Actions act on this page.
	Actions() []tui.Action
	// Update gets all messages that pages get, but no keys.
	Update(msg tea.Msg) tea.Cmd
}

// StateSaver is a widget that keeps something between runs, as a page does. Its name tells it
// from the others'.
type StateSaver interface {
	Name() string
	SaveState() string
	LoadState(kept string)
}

// FooterNote is what widgets have to say.
func (p *Page) FooterNote(w int) string {
	var notes []string
	for _, o := range p.opt.Widgets {
		if note := o.Note(&tui.Frame{Theme: p.theme}, w/2); note != "" {
			notes = append(notes, note)
		}
	}
	return strings.Join(notes, " "+p.theme.Glyph.Dot+" ")
}

// SaveState implements tui.StateSaver.
func (p *Page) SaveState() string {
	kept := map[string]string{}
	for _, w := range p.opt.Widgets {
		if k, ok := w.(StateSaver); ok && k.SaveState() != "" {
			kept[k.Name()] = k.SaveState()
		}
	}
	return tui.EncodeState(struct{ Widgets map[string]string }{kept})
}

// LoadState implements tui.StateSaver.
func (p *Page) LoadState(kept string) {
	var l struct{ Widgets map[string]string }
	if !tui.DecodeState(kept, &l) {
		return
	}
	for _, w := range p.opt.Widgets {
		if k, ok := w.(StateSaver); ok {
			k.LoadState(l.Widgets[k.Name()])
		}
	}
}
