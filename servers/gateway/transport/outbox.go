package transport

import (
	"runtime"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// How much waits for a client that does not read: of messages that it may miss, and of those
// that somebody can wait for.
const (
	maxUnread     = 4096
	maxUnreadSize = 4 << 20
	maxWaiting    = maxInFlight
)

// outgoing is a message on its way to a client.
type outgoing struct {
	line []byte
	id   string // of the request it answers; "" for none
	sent func() // called when the client can read it; may be nil
}

// outbox writes messages to a client, in order. Whoever adds one while nobody writes has all of
// them written, and flushes when there are no more: an answer goes out on the goroutine that has
// made it, and those that are ready at the same time go out together.
type outbox struct {
	write func(o outgoing) error // into a buffer
	flush func() error
	ended func() // called when nothing can be written any more

	mu     sync.Mutex // guards what follows
	change sync.Cond  // of it
	queue  []outgoing
	size   int
	busy   bool // somebody writes
	shut   bool // no more is taken
	err    error
}

func newOutbox(write func(outgoing) error, flush func() error, ended func()) *outbox {
	o := &outbox{write: write, flush: flush, ended: ended}
	o.change.L = &o.mu
	return o
}

// send adds a message and writes, or waits until there is room for it.
func (o *outbox) send(m outgoing) {
	o.mu.Lock()
	o.wait()
	if o.add(m) {
		o.run()
	}
}

// post is send for who has to read what the client sends, and so must not write.
func (o *outbox) post(m outgoing) {
	o.mu.Lock()
	o.wait()
	if o.add(m) {
		recovery.Go("connection writer", o.run)
	}
}

// wait returns when there is room. The caller holds mu.
func (o *outbox) wait() {
	for len(o.queue) >= maxWaiting && o.size > 0 && !o.shut && o.err == nil {
		o.change.Wait()
	}
}

// put adds a message. It does not wait.
func (o *outbox) put(m outgoing) {
	o.mu.Lock()
	if o.add(m) {
		recovery.Go("connection writer", o.run)
	}
}

// offer is put of a message that the client misses if it reads too slowly.
func (o *outbox) offer(line []byte) {
	o.mu.Lock()
	if len(o.queue) >= maxUnread || o.size >= maxUnreadSize {
		o.mu.Unlock()
		return
	}
	if o.add(outgoing{line: line}) {
		recovery.Go("connection writer", o.run)
	}
}

// add queues a message, and reports whether the caller has to have the queue written. The caller
// holds mu, which is released.
func (o *outbox) add(m outgoing) (writes bool) {
	defer o.mu.Unlock()
	if o.shut || o.err != nil {
		return false
	}
	o.queue = append(o.queue, m)
	o.size += len(m.line)
	if o.busy {
		return false
	}
	o.busy = true
	return true
}

// run writes until there is nothing more to write.
func (o *outbox) run() {
	var told []func() // to call after the next flush
	unflushed := false
	for {
		if unflushed {
			runtime.Gosched() // so that answers that are nearly ready are written together
		}
		batch, more := o.take(unflushed)
		if !more {
			return
		}
		err := error(nil)
		for _, m := range batch {
			if err = o.write(m); err != nil {
				break
			}
			if m.sent != nil {
				told = append(told, m.sent)
			}
		}
		if unflushed = len(batch) > 0; !unflushed && err == nil {
			if err = o.flush(); err == nil {
				for _, tell := range told {
					tell()
				}
				told = nil
			}
		}
		if err != nil {
			o.fail(err)
			return
		}
	}
}

// take returns what is to be written now: nothing, to flush what has been written, or no more.
func (o *outbox) take(unflushed bool) (batch []outgoing, more bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	batch, o.queue, o.size = o.queue, nil, 0
	if len(batch) == 0 && !unflushed {
		o.busy = false
	}
	o.change.Broadcast()
	return batch, o.busy
}

func (o *outbox) fail(err error) {
	o.mu.Lock()
	o.err, o.busy, o.queue, o.size = err, false, nil, 0
	o.change.Broadcast()
	o.mu.Unlock()
	o.ended()
}

// stop has no more messages taken. Nobody waits for room any longer.
func (o *outbox) stop() {
	o.mu.Lock()
	o.shut = true
	o.change.Broadcast()
	o.mu.Unlock()
}

// close takes no more messages, and returns when all are written, or cannot be.
func (o *outbox) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.shut = true
	o.change.Broadcast()
	for o.busy {
		o.change.Wait()
	}
	return o.err
}
