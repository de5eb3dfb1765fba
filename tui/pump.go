package tui

import (
	"sync"
	"sync/atomic"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

const (
	// dataEvery is the least time between two batches of data.
	dataEvery = time.Second / 30
	// frameEvery is the least time between two frames that are composed, and
	// between two that are written.
	frameEvery = 8 * time.Millisecond
)

// pump turns hints into at most thirty batches a second. Bubble Tea calls View
// after every message, and Program.Send waits for it, so events must not be
// messages: there is never more than one batch on its way, and those who hint
// never wait.
type pump struct {
	feeds []Feed
	dirty []atomic.Bool
	wake  chan struct{} // one slot: some feed is dirty
	alarm chan time.Duration
	stop  chan struct{}
	once  sync.Once

	last time.Time // of the last batch; owned by next
}

type (
	// batchMsg is what the feeds had.
	batchMsg struct{ msgs []tea.Msg }
	// redrawMsg says that the time for which a page asked has come.
	redrawMsg struct{}
)

func newPump(feeds []Feed) *pump {
	p := &pump{
		feeds: feeds,
		dirty: make([]atomic.Bool, len(feeds)),
		wake:  make(chan struct{}, 1),
		alarm: make(chan time.Duration, 1),
		stop:  make(chan struct{}),
	}
	for i := range p.dirty {
		p.dirty[i].Store(true)
	}
	p.wake <- struct{}{}
	return p
}

// start listens to the hints until close.
func (p *pump) start() {
	for i, f := range p.feeds {
		if f.Hint == nil {
			continue
		}
		recovery.Go("tui hints", func() { p.listen(i, &f) })
	}
}

func (p *pump) listen(i int, f *Feed) {
	for {
		select {
		case <-p.stop:
			return
		case _, ok := <-f.Hint:
			if !ok {
				return
			}
		}
		p.dirty[i].Store(true)
		notify.Poke(p.wake)
		if f.Every > 0 {
			select {
			case <-p.stop:
				return
			case <-time.After(f.Every):
			}
		}
	}
}

// close ends the pump and the subscriptions.
func (p *pump) close() {
	p.once.Do(func() {
		close(p.stop)
		for _, f := range p.feeds {
			if f.Stop != nil {
				f.Stop()
			}
		}
	})
}

// redrawAfter makes next return a redrawMsg after d. only the last request counts;
// each frame states its own.
func (p *pump) redrawAfter(d time.Duration) {
	for {
		select {
		case p.alarm <- d:
			return
		default:
		}
		select {
		case <-p.alarm:
		default:
		}
	}
}

// data waits for the next batch.
func (p *pump) data() tea.Msg {
	for {
		select {
		case <-p.stop:
			return nil
		case <-p.wake:
		}
		if wait := dataEvery - time.Since(p.last); wait > 0 && !p.last.IsZero() {
			select {
			case <-p.stop:
				return nil
			case <-time.After(wait):
			}
		}
		p.last = time.Now()
		if msgs := p.load(); len(msgs) > 0 {
			return batchMsg{msgs}
		}
	}
}

func (p *pump) load() []tea.Msg {
	var msgs []tea.Msg
	for i := range p.feeds {
		if !p.dirty[i].Swap(false) || p.feeds[i].Load == nil {
			continue
		}
		_ = recovery.Call("tui feed", func() error {
			if msg := p.feeds[i].Load(); msg != nil {
				msgs = append(msgs, msg)
			}
			return nil
		})
	}
	return msgs
}

// clock waits for the time of the last redrawAfter; without one it sleeps
// without a timer.
func (p *pump) clock() tea.Msg {
	var timer *time.Timer
	var ring <-chan time.Time
	defer func() {
		if timer != nil {
			timer.Stop()
		}
	}()
	for {
		select {
		case <-p.stop:
			return nil
		case <-ring:
			return redrawMsg{}
		case d := <-p.alarm:
			if timer != nil {
				timer.Stop()
			}
			ring = nil
			if d > 0 {
				timer = time.NewTimer(d)
				ring = timer.C
			}
		}
	}
}
