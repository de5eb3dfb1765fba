package calls

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// Afar is where the calls of other machines are.
type Afar interface {
	// Watch has them asked for until it is stopped: only while the page is shown.
	Watch() Watch
	// CallBody is what one of them carried, and the hashes of the pictures in its result; the error
	// says why it is not there.
	CallBody(ctx context.Context, c *snapshot.Call) (b snapshot.CallBody, pictures []string, err error)
	// CallPicture is one of those.
	CallPicture(ctx context.Context, c *snapshot.Call, hash string) ([]byte, error)
}

// Watch is a look at the calls of other machines.
type Watch interface {
	// Calls are those that are known.
	Calls() []snapshot.Call
	// Next waits until they may differ; false after Stop.
	Next() ([]snapshot.Call, bool)
	// Older gets more of those that were made in earlier runs there.
	Older()
	Stop()
}

// farMsg is the calls of other machines.
type farMsg struct {
	from  Watch
	calls []snapshot.Call
}

// watchFar begins to look at other machines.
func (p *Page) watchFar() tea.Cmd {
	if p.opts.Afar == nil || p.watch != nil {
		return nil
	}
	w := p.opts.Afar.Watch()
	p.watch = w
	return func() tea.Msg { return farMsg{w, w.Calls()} }
}

func (p *Page) unwatchFar() {
	if p.watch != nil {
		p.watch.Stop()
		p.watch = nil
	}
}

// takeFar shows the calls of other machines, and waits for the next.
func (p *Page) takeFar(msg farMsg) tea.Cmd {
	if msg.from != p.watch {
		return nil
	}
	next := func() tea.Msg {
		if calls, ok := msg.from.Next(); ok {
			return farMsg{msg.from, calls}
		}
		return nil
	}
	if len(msg.calls) == 0 && !p.log.far {
		return next
	}
	p.log.far = len(msg.calls) > 0
	return tea.Batch(next, p.change(func() { p.log.takeFar(msg.calls, p.opened) }))
}

// olderFar gets more of the logs of other machines once the user is at the beginning.
func (p *Page) olderFar() tea.Cmd {
	w := p.watch
	if w == nil || !p.log.far || p.List.Cursor > 0 || p.log.order != nil {
		return nil
	}
	return func() tea.Msg {
		w.Older()
		return nil
	}
}

// machine is the one on which a call was made; "" for this one.
func (c *call) machine() string { return c.key.machine }
