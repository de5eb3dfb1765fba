package transport

import (
	"sync"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// aliveFor is how long a connection that carried a reply must last, if it brings no message
// before, for the reply to have reached the client.
const aliveFor = 2 * time.Second

// deliveries are replies of which somebody wants to know whether they reached the client. The
// zero value is ready to use.
type deliveries struct {
	mu      sync.Mutex
	over    bool
	written map[*delivery]bool // whose connection lives
}

// delivery is that of one reply. The zero value is one of a transport that knows by itself what
// its client has read.
type delivery struct {
	of *deliveries

	mu   sync.Mutex
	told []func(reached bool)
}

// OnDelivery has told called once it is known whether the reply has reached the client.
func (d *delivery) OnDelivery(told func(reached bool)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, told)
}

// tell says whether the reply has reached the client, once.
func (d *delivery) tell(reached bool) {
	d.mu.Lock()
	told := d.told
	d.told = nil
	d.mu.Unlock()
	for _, t := range told {
		t(reached)
	}
}

// wrote notes that the reply has been written. The client has it when its next message
// comes, or if the connection lasts for a while.
func (d *delivery) wrote() {
	d.mu.Lock()
	wanted := len(d.told) > 0
	d.mu.Unlock()
	if !wanted {
		return
	}
	d.of.mu.Lock()
	over := d.of.over
	if !over {
		if d.of.written == nil {
			d.of.written = map[*delivery]bool{}
		}
		d.of.written[d] = true
	}
	d.of.mu.Unlock()
	if over {
		d.tell(false)
		return
	}
	time.AfterFunc(aliveFor, func() {
		defer recovery.Recover("delivery of a reply")
		d.of.mu.Lock()
		alive := d.of.written[d]
		delete(d.of.written, d)
		d.of.mu.Unlock()
		if alive {
			d.tell(true)
		}
	})
}

// heard notes that the client has sent a message, or that the connection has ended.
func (d *deliveries) heard(alive bool) {
	d.mu.Lock()
	written := d.written
	d.written = nil
	d.over = d.over || !alive
	d.mu.Unlock()
	for one := range written {
		one.tell(alive)
	}
}
