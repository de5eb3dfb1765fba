package transport

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
		o := newOutbox(func(m outgoing) error { _, err := out.Write(m.line); return err }, func() error { return nil }, func() {})
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				for i := range 10 {
					o.offer(fmt.Appendf(nil, "n %d %d\n", n, i))
				}
				o.send(outgoing{line: fmt.Appendf(nil, "a %d\n", n)})
			})
		}
		all.Wait()
		if err := o.close(); err != nil || strings.Count(out.String(), "\n") != 88 {
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
	reads, ended := make(chan struct{}), make(chan struct{})
	o := newOutbox(func(outgoing) error { <-reads; return nil }, func() error { return nil }, func() { close(ended) })
	for range 2 * maxUnread {
		o.offer([]byte("x"))
	}
	o.mu.Lock()
	if n := len(o.queue); n > maxUnread {
		t.Errorf("%d messages wait", n)
	}
	o.mu.Unlock()
	waits := make(chan struct{})
	go func() { defer close(waits); o.send(outgoing{line: []byte("answer")}) }()
	o.stop()
	<-waits
	close(reads)
	if err := o.close(); err != nil {
		t.Error(err)
	}
	o.offer([]byte("late"))
	if o.busy {
		t.Error("it takes messages after its end")
	}
}
