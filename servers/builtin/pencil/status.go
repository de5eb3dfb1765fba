package pencil

import (
	"context"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream"
)

// Status is what a user can know about Pencil mode, at one moment.
type Status struct {
	upstream.Status // its Program has ~ for the home folder
	App             App
	File            string // the active document, when a state call named one
}

// Status returns the state of things. It waits for nothing.
func (p *Pencil) Status() Status {
	s := Status{Status: p.Card.Status()}
	s.App, s.File = p.app.get()
	s.Program = p.opts.short(s.Program)
	return s
}

// trouble is what is the matter with the app, "" for nothing that is known.
func (a App) trouble() string {
	switch a {
	case AppAbsent:
		return "app not running"
	case AppSilent, AppNoFile:
		return string(a)
	default:
		return ""
	}
}

// Sign returns the sign for the deck's page.
func (s Status) Sign() upstream.Sign {
	s.Trouble = s.App.trouble()
	return s.Status.Sign()
}

// Text is the status for a terminal, without styles. long adds what was
// searched, the instructions and the last lines of the log.
func (s Status) Text(long bool) string {
	var more []upstream.Fact
	if s.For != "" {
		more = append(more, upstream.Fact{Name: "app", Value: s.For + ", " + string(s.App)})
	}
	if s.File != "" {
		more = append(more, upstream.Fact{Name: "file", Value: s.File})
	}
	return s.Status.Text(long, more...)
}

// Control does what a command asks for, as a card does.
func (p *Pencil) Control(ctx context.Context, r upstream.Request) (upstream.Reply, error) {
	if r.Verb == "status" {
		return upstream.Reply{Text: p.Status().Text(r.Long)}, nil
	}
	return p.Card.Control(ctx, r)
}

// Label is a sign in words: "✏ Pencil ⚠", or "Pencil !" in ASCII; "" for no
// sign. What it says does not need colour. The pencil is the character without
// the selector that asks for an emoji: terminals do not agree on the width of
// that one, so what stands behind it would be drawn over, and an emoji takes no
// colour.
func Label(s upstream.Sign, ascii bool) string {
	labels := [...][2]string{
		upstream.Hidden: {"", ""}, upstream.Dim: {"⏳ Pencil", "Pencil ..."}, upstream.Good: {"✏ Pencil", "Pencil"},
		upstream.Warning: {"✏ Pencil ⚠", "Pencil !"}, upstream.Bad: {"✏ Pencil ✗", "Pencil x"},
	}
	if ascii {
		return labels[s.Tone][1]
	}
	return labels[s.Tone][0]
}
