package app

import (
	"context"
	"time"

	"github.com/mcpdeck/mcpdeck/ask"
	"github.com/mcpdeck/mcpdeck/cmd/internal/push"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/sanitize"
	"github.com/mcpdeck/mcpdeck/servers/support/userauth"
	"github.com/mcpdeck/mcpdeck/tui"
)

// maxPushed is how much of a question is pushed: servers cut what is longer than 4 KiB.
const maxPushed = 1500

// PushAway tells the user's phone what waits while nobody is at the deck, until ctx is over.
// With a terminal, keys and clicks in it, and that its window gets or loses the focus, show that
// somebody is there.
func (h *App) PushAway(ctx context.Context, terminal bool) {
	to, err := push.To(h.Config).Open()
	if err != nil {
		h.Host.SetWarnings("notify", false, err.Error())
	}
	if to == nil {
		return
	}
	f := h.Config.File.Notify
	h.redact.Known.Add(to.Secrets()...)
	hint, cancel := h.Queue.Hints()
	o := push.Options{
		Sender: to, Path: h.Config.Paths.Pushed, Notes: func() []push.Note { return h.pushed(terminal) }, Hint: hint,
		After: time.Duration(f.After), Away: time.Duration(f.Away.After), Again: time.Duration(f.Away.Again),
		Warn: func(texts ...string) { h.Host.SetWarnings("notify", false, texts...) },
	}
	if h.Config.File.Ask.CLIAnswers.Method() == userauth.Push {
		o.Code = h.gate.Bind
	}
	p, err := push.New(o)
	if err != nil {
		h.Host.Warn("notify", err.Error())
	}
	h.pusher = p
	recovery.Go("push", func() {
		defer cancel()
		p.Run(ctx)
	})
}

// pushed are what waits for the user, as it is pushed.
func (h *App) pushed(terminal bool) (notes []push.Note) {
	if terminal {
		h.pusher.Here(lastInput())
	}
	s := h.Queue.Pending()
	if n := len(s.History); n > 0 { // whoever answers in an agent's terminal is not away
		if last := s.History[n-1]; last.End() == ask.EndElsewhere {
			h.pusher.Here(last.Ended)
		}
	}
	waits := map[int]bool{}
	for _, it := range s.Items {
		waits[it.ID] = it.Waits()
		if !it.Due() {
			continue
		}
		text := tui.Asker(&it.Request)
		if p := it.Request.Prompt; h.Config.File.Notify.Away.Text {
			text += ": " + h.redact.Text(tui.About(&it.Request))
		} else if p != nil && p.Kind == ask.Permission {
			text += ": " + sanitize.Line(p.Tool)
		}
		notes = append(notes, push.Note{
			Key: it.Request.Fingerprint(), Item: it.ID, Since: it.Arrived,
			Title: it.Request.WaitsFor(), Text: sanitize.Cut(text, maxPushed),
		})
	}
	h.gate.Unbind(func(item int) bool { return waits[item] })
	return notes
}
