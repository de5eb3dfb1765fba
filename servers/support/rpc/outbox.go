package rpc

import (
	"io"
	"runtime"
	"sync"
	"syscall"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// maxUnsent is how many lines wait for a reader before those who can wait for it have to.
const maxUnsent = 64

// Outgoing is a line on its way to the other side.
type Outgoing struct {
	Line []byte
	ID   string // of the request that it answers; "" for none
	Sent func() // called when the other side can read it; may be nil
}

// Outbox writes lines to the other side, in order. Whoever adds one while nobody writes has all
// of them written, and flushes when there are no more: an answer goes out on the goroutine that
// has made it, and those that are ready at the same time go out together. There is another
// goroutine only while somebody who must not wait for the reader has added a line.
type Outbox struct {
	Name  string               // of that goroutine, in the record of a panic
	Write func(Outgoing) error // possibly into a buffer; nil: nothing is written yet
	Flush func() error         // empties the buffer; nil: there is none
	Ended func()               // called when nothing can be written any more; may be nil

	mu     sync.Mutex      // guards what follows
	change chan struct{}   // closed when it changes; nil: nobody waits for that
	now    syscall.RawConn // takes what the reader has room for; nil: a write may wait
	queue  []Outgoing
	size   int
	busy   bool // somebody writes
	shut   bool // no more is taken
	err    error
}

// begin has the lines written to in, one a Write.
func (o *Outbox) begin(in io.Writer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Write = func(m Outgoing) error { _, err := in.Write(m.Line); return err }
	if f, ok := in.(syscall.Conn); ok {
		o.now, _ = f.SyscallConn() // nil with an error
	}
	o.start()
}

// Send adds a line once there is room for it, and writes.
func (o *Outbox) Send(m Outgoing) {
	o.mu.Lock()
	if !o.wait(nil, o.room) || !o.add(m) || o.busy || o.Write == nil {
		o.mu.Unlock()
		return
	}
	o.busy = true
	o.mu.Unlock()
	o.run()
}

// Post adds a line once there is room for it, and does not write. It returns false if stop was
// closed first, or no more is taken.
func (o *Outbox) Post(stop <-chan struct{}, m Outgoing) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wait(stop, o.room) && o.put(m)
}

// Put adds a line. It does not wait.
func (o *Outbox) Put(m Outgoing) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(m)
}

// Offer is Put unless so many lines, or bytes, wait.
func (o *Outbox) Offer(line []byte, most, size int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.queue) < most && o.size < size && o.put(Outgoing{Line: line})
}

// The following are called by who holds mu.

func (o *Outbox) room() bool { return len(o.queue) < maxUnsent || o.shut || o.err != nil }

func (o *Outbox) idle() bool { return len(o.queue) == 0 && !o.busy }

func (o *Outbox) add(m Outgoing) bool {
	if o.shut || o.err != nil {
		return false
	}
	o.queue = append(o.queue, m)
	o.size += len(m.Line)
	return true
}

func (o *Outbox) put(m Outgoing) bool {
	if !o.add(m) {
		return false
	}
	o.start()
	return true
}

// start has the lines written, unless somebody does: first as far as that does not wait.
func (o *Outbox) start() {
	if o.busy || o.Write == nil {
		return
	}
	for o.now != nil && len(o.queue) > 0 {
		line := o.queue[0].Line
		n := writeNow(o.now, line)
		if n < len(line) {
			o.queue[0].Line = line[n:]
			o.size -= n
			break
		}
		o.take()
	}
	if len(o.queue) > 0 {
		o.busy = true
		recovery.Go(o.Name, o.run)
	}
}

// take removes the first line.
func (o *Outbox) take() Outgoing {
	m := o.queue[0]
	if o.queue, o.size = o.queue[1:], o.size-len(m.Line); len(o.queue) == 0 {
		o.queue = nil
	}
	o.changed()
	return m
}

func (o *Outbox) changed() {
	if o.change != nil {
		close(o.change)
		o.change = nil
	}
}

// wait returns when done reports true, or false when stop was closed first.
func (o *Outbox) wait(stop <-chan struct{}, done func() bool) bool {
	for !done() {
		if o.change == nil {
			o.change = make(chan struct{})
		}
		change := o.change
		o.mu.Unlock()
		select {
		case <-change:
		case <-stop:
			o.mu.Lock()
			return done()
		}
		o.mu.Lock()
	}
	return true
}

// run writes until there is nothing more to write. The caller has set busy, and does not hold mu.
func (o *Outbox) run() {
	var sent []func()                  // to call after the next flush
	unflushed, yielded := false, false // since the last flush
	for err := error(nil); ; {
		o.mu.Lock()
		more := len(o.queue) > 0
		switch {
		case err != nil:
			o.err, o.busy, o.queue, o.size = err, false, nil, 0
			o.changed()
			o.mu.Unlock()
			if o.Ended != nil {
				o.Ended()
			}
			return
		case !more && !unflushed:
			o.busy = false
			o.changed()
			o.mu.Unlock()
			return
		}
		var m Outgoing
		if more {
			m = o.take()
		}
		o.mu.Unlock()
		switch {
		case more:
			err, unflushed, yielded = o.Write(m), o.Flush != nil, false
			if m.Sent != nil {
				sent = append(sent, m.Sent)
			}
		case !yielded: // so that answers that are nearly ready are written together
			runtime.Gosched()
			yielded = true
		default:
			if err, unflushed = o.Flush(), false; err == nil {
				for _, fn := range sent {
					fn()
				}
				sent = nil
			}
		}
	}
}

// Written returns when all lines are written. It returns false if stop was closed or no more
// lines were taken before that, or they cannot be written.
func (o *Outbox) Written(stop <-chan struct{}) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.wait(stop, func() bool { return o.shut || o.idle() }) && o.idle() && o.err == nil
}

// Stop has no more lines taken. Nobody waits for room any longer.
func (o *Outbox) Stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.changed()
}

// Close takes no more lines, and returns when all are written, or cannot be.
func (o *Outbox) Close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.changed()
	o.wait(nil, o.idle)
	return o.err
}
