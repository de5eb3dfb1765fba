package mirror

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/machines/wire"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

const (
	// callsPause is between two lists of calls.
	callsPause = 250 * time.Millisecond
	// mostEarlier is how many calls of earlier runs are kept of one machine.
	mostEarlier = 3 * wire.MostCalls
	// replyWithin is how long a machine may take to say whether it takes a prompt, or what a call carried.
	replyWithin = 20 * time.Second
	// keptPictures is how much is kept of pictures, in bytes.
	keptPictures = 16 << 20
)

// calls are those of a machine's agents, as far as they were told.
type calls struct {
	run     int64
	now     []wire.Call // of that run, by ID
	earlier []wire.Call // in its log, by ID
	all     bool        // earlier has all, or as many as are kept
}

// watch has the machine's calls asked for, or not any more.
func (m *Mirror) watch(on bool) {
	m.watched.Store(on)
	notify.Poke(m.look)
}

// listCalls keeps the list of calls while somebody watches it.
func (m *Mirror) listCalls(ctx context.Context, l *link) {
	watched := func(known *wire.Since) wire.Request {
		for !m.watched.Load() && ctx.Err() == nil {
			select {
			case <-m.look:
			case <-ctx.Done():
			}
		}
		return wire.Request{Calls: known}
	}
	l.each(ctx, callsPause, watched, func(r *wire.Reply) *uint64 {
		if r.Calls == nil {
			return nil
		}
		if m.takeCalls(r.Calls) {
			m.older(ctx)
		}
		m.opt.Called()
		return &r.Calls.Version
	})
	<-ctx.Done() // a machine that tells of none is older
}

// takeCalls puts in what a machine tells of its calls, and reports whether its log may have others
// than are known.
func (m *Mirror) takeCalls(in *wire.Calls) (other bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &m.calls
	if other = c.run != in.Run; other {
		c.earlier, c.all = nil, false
	}
	if other || in.Whole {
		c.run, c.now = in.Run, nil
	}
	m.heard(in.Now)
	c.now = merge(c.now, in.Calls)
	c.now = c.now[max(0, len(c.now)-wire.MostCalls):]
	return other
}

// merge puts calls in that are new or have changed, by ID.
func merge(all, in []wire.Call) []wire.Call {
	out := slices.Clone(all)
	for _, c := range in {
		i, known := slices.BinarySearchFunc(out, c.ID, func(o wire.Call, id uint64) int { return cmp.Compare(o.ID, id) })
		if known {
			out[i] = c
		} else {
			out = slices.Insert(out, i, c)
		}
	}
	return out
}

// older asks for the next page of the machine's log, from the newest to the oldest.
func (m *Mirror) older(ctx context.Context) {
	m.mu.Lock()
	l, run, done := m.link, m.calls.run, m.calls.all
	var page wire.Page
	if e := m.calls.earlier; len(e) > 0 {
		page.Before = e[0].ID
	}
	m.mu.Unlock()
	if done {
		return
	}
	r, err := m.now(ctx, l, wire.Request{Log: &page})
	if err != nil || r.Log == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := &m.calls; c.run == run {
		before := len(c.earlier)
		c.earlier = merge(c.earlier, r.Log.Calls)
		c.all = len(c.earlier) == before || len(c.earlier) >= mostEarlier
	}
}

// told are the machine's calls as this deck shows them. Of a machine that is away nobody knows
// whether a call runs.
func (m *Mirror) told() (out []snapshot.Call) {
	linked := m.State().Linked
	m.mu.Lock()
	defer m.mu.Unlock()
	add := func(from []wire.Call, earlier bool) {
		for i := range from {
			c := from[i].Call
			if c.Status == snapshot.Running && !linked {
				continue
			}
			c.Started = m.here(c.Started)
			c.Afar = &snapshot.Afar{Machine: m.opt.Name, Project: from[i].Project, Earlier: earlier}
			out = append(out, c)
		}
	}
	add(m.calls.earlier, true)
	add(m.calls.now, false)
	return out
}

// now has the machine reply at once over the link there is.
func (m *Mirror) now(ctx context.Context, l *link, req wire.Request) (*wire.Reply, error) {
	if l == nil {
		return nil, errors.New(m.opt.Name + " is away")
	}
	ctx, cancel := context.WithTimeout(ctx, replyWithin)
	defer cancel()
	return l.ask(ctx, req)
}

// Watch is somebody who looks at the calls of the machines.
type Watch struct {
	set  *Set
	hint <-chan struct{}
	over chan struct{}
	stop func()
}

// Watch has the machines asked for their calls until Stop.
func (s *Set) Watch() *Watch {
	hint, stop := s.called.Subscribe()
	over := make(chan struct{})
	s.watch(1)
	return &Watch{set: s, hint: hint, over: over, stop: sync.OnceFunc(func() {
		close(over)
		stop()
		s.watch(-1)
	})}
}

// watch tells all mirrors whether somebody looks, after more do.
func (s *Set) watch(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching += more
	for _, r := range s.all {
		r.watch(s.watching > 0)
	}
}

// Next waits until the calls may differ, and returns them; false after Stop.
func (w *Watch) Next() ([]snapshot.Call, bool) {
	select {
	case <-w.hint:
	case <-w.over:
		return nil, false
	}
	select {
	case <-time.After(callsPause): // many machines do not make many screens
	case <-w.over:
		return nil, false
	}
	return w.Calls(), true
}

// Calls are those that are known.
func (w *Watch) Calls() (out []snapshot.Call) {
	for _, r := range w.set.mirrors() {
		out = append(out, r.told()...)
	}
	return out
}

// Stop ends it.
func (w *Watch) Stop() { w.stop() }

// Older asks the machines for calls of their logs before those that are known.
func (w *Watch) Older() {
	var all sync.WaitGroup
	for _, r := range w.set.mirrors() {
		all.Add(1)
		recovery.Go("log of another machine", func() {
			defer all.Done()
			r.older(context.Background())
			r.opt.Called()
		})
	}
	all.Wait()
}

// about asks the machine of a call about it.
func (s *Set) about(ctx context.Context, c *snapshot.Call, req func(wire.CallID) wire.Request) (*wire.Reply, error) {
	m, err := s.named(c.Afar.Machine)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	l, id := m.link, wire.CallID{Run: m.calls.run, ID: c.ID, Earlier: c.Afar.Earlier}
	m.mu.Unlock()
	return m.now(ctx, l, req(id))
}

// CallBody is what a call of another machine carried, and the hashes of the pictures in its result;
// the error says why it is not there.
func (s *Set) CallBody(ctx context.Context, c *snapshot.Call) (b snapshot.CallBody, pictures []string, err error) {
	r, err := s.about(ctx, c, func(id wire.CallID) wire.Request { return wire.Request{Body: &id} })
	switch {
	case err != nil:
		return b, nil, err
	case r.Body == nil || !r.Body.Kept:
		return b, nil, errors.New("no longer kept on " + c.Afar.Machine)
	}
	return snapshot.CallBody{Args: r.Body.Args, Result: r.Body.Result, Cut: r.Body.Cut}, r.Body.Pictures, nil
}

// CallPicture is a picture in the result of a call of another machine. One that was fetched is kept
// for a while, in memory.
func (s *Set) CallPicture(ctx context.Context, c *snapshot.Call, hash string) ([]byte, error) {
	if data, ok := s.pictures.get(hash); ok {
		return data, nil
	}
	r, err := s.about(ctx, c, func(id wire.CallID) wire.Request {
		return wire.Request{Picture: &wire.Shown{CallID: id, Hash: hash}}
	})
	switch {
	case err != nil:
		return nil, err
	case r.Picture == nil || len(r.Picture.Data) == 0:
		return nil, errors.New("no longer kept on " + c.Afar.Machine)
	case wire.PictureHash(r.Picture.Data) != hash:
		return nil, errors.New(c.Afar.Machine + " sent another picture than it was asked for")
	}
	s.pictures.put(hash, r.Picture.Data)
	return r.Picture.Data, nil
}

// album keeps the pictures that were fetched last, by hash.
type album struct {
	mu    sync.Mutex
	list  []kept // the latest last
	bytes int
}

type kept struct {
	hash string
	data []byte
}

func (a *album) get(hash string) ([]byte, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.list, func(k kept) bool { return k.hash == hash })
	if i < 0 {
		return nil, false
	}
	return a.list[i].data, true
}

func (a *album) put(hash string, data []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if slices.ContainsFunc(a.list, func(k kept) bool { return k.hash == hash }) {
		return
	}
	a.list = append(a.list, kept{hash, data})
	for a.bytes += len(data); a.bytes > keptPictures; a.list = a.list[1:] {
		a.bytes -= len(a.list[0].data)
	}
}
