package rpc

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// What waits for a client is written before its connection ends, in order, whoever writes.
func TestTheEndIsBehindTheLastMessage(t *testing.T) {
	for range 50 {
		var out bytes.Buffer
		o := &Outbox{Write: func(m Outgoing) error { _, err := out.Write(m.Line); return err }, Flush: func() error { return nil }}
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for i := range 10 {
					o.Offer(fmt.Appendf(nil, "n %d %d\n", n, i), 4096, 4<<20)
				}
				o.Send(Outgoing{Line: fmt.Appendf(nil, "a %d\n", n)})
			})
		}
		all.Wait()
		if err := o.Close(); err != nil || strings.Count(out.String(), "\n") != 88 {
			t.Fatalf("%v, written %q", err, out.String())
		}
		for n := range 8 {
			at := 0
			for i := range 10 {
				next := strings.Index(out.String(), fmt.Sprintf("n %d %d\n", n, i))
				if next < at {
					t.Fatalf("out of order: %q", out.String())
				}
				at = next
			}
			if strings.Index(out.String(), fmt.Sprintf("a %d\n", n)) < at {
				t.Fatalf("an answer is before what was said: %q", out.String())
			}
		}
	}
}

// A client that does not read misses what is offered, and keeps nobody waiting for ever.
func TestAClientThatDoesNotRead(t *testing.T) {
	const most = 4096
	reads := make(chan struct{})
	o := &Outbox{Write: func(Outgoing) error { <-reads; return nil }}
	for range 2 * most {
		o.Offer([]byte("x"), 4096, 4<<20)
	}
	o.mu.Lock()
	if n := len(o.queue); n > most {
		t.Errorf("%d messages wait", n)
	}
	o.mu.Unlock()
	waits := make(chan struct{})
	go func() { defer close(waits); o.Send(Outgoing{Line: []byte("answer")}) }()
	o.Stop()
	<-waits
	close(reads)
	if err := o.Close(); err != nil {
		t.Error(err)
	}
	o.Offer([]byte("late"), 4096, 4<<20)
	if o.busy {
		t.Error("it takes messages after its end")
	}
}
