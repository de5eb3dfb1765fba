package hub

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

// TestAHostThatFloodsTakesNoOthersPlace has a host that was taken over open more connections than it may, and write without end
// wherever it can, with what is large and what is small, while another host's questions are answered.
func TestAHostThatFloodsTakesNoOthersPlace(t *testing.T) {
	w, joined := newWorld(t, "build1", "build2")
	deck := w.newDeck(w.owned.Owner(), t.TempDir())
	defer deck.end()
	h := newHost(t, joined["build2"], t.TempDir())
	defer h.end()
	call := h.ask("Before the flood?")
	deck.answers("Before the flood?", "Postgres")
	got(t, call)

	const most = 8 // connections of a host
	m := joined["build1"]
	var all []*client
	for range most + 4 {
		c := newClient()
		c.connect(&m, mustKeys(t, m.Seed), nil)
		defer c.close()
		all = append(all, c)
	}
	linked := func() (n int) {
		for _, c := range all {
			if c.problem() == nil {
				n++
			}
		}
		return n
	}
	testwait.Until(t, "it has all connections that it may have", func() bool { return linked() == most })
	var c *client
	var nc *nats.Conn
	for _, o := range all {
		if is, _, err := o.conn(); err == nil {
			c, nc = o, is
		}
	}

	over, sums := make(chan struct{}), make(chan int)
	go func() {
		sent := 0
		large, small := bytes.Repeat([]byte{7}, 1<<20), []byte{7}
		for n := 0; ; n++ {
			select {
			case <-over:
				sums <- sent
				return
			default:
			}
			body := small
			if n%64 == 0 {
				body = large
			}
			for _, subject := range []string{"v.build1", fmt.Sprintf("i.build1.%d", n), fmt.Sprintf("o.build1.laptop.%d", n), "p.build1"} {
				if nc.Publish(subject, body) == nil { // else its connection is made anew
					sent++
				}
			}
			if n%32 == 31 { // so much at once; what comes of it is not to depend on how fast this machine is
				_ = c.put(context.Background(), "p.build1", small)
			}
		}
	}()
	for n := range 3 {
		text := fmt.Sprintf("Question %d in the flood?", n)
		call := h.ask(text)
		deck.answers(text, "Postgres")
		if answer := got(t, call); answer != "Postgres" {
			t.Errorf("the agent got %q", answer)
		}
	}
	operator := w.operator()
	defer operator.close()
	testwait.Until(t, "the hub has as much of it as it takes", func() bool {
		has, err := operator.has(t.Context(), itemsOf("build1")) // a hub that is flooded may not reply in time
		return err == nil && has.Msgs > mostStored/4
	})
	close(over)
	sent := <-sums
	var has nats.StreamState
	testwait.Until(t, "the hub says how much that is", func() (said bool) {
		var err error
		has, err = operator.has(t.Context(), itemsOf("build1"))
		return err == nil
	})
	if has.Bytes > itemBytes || has.Msgs > mostStored {
		t.Errorf("the hub keeps %d bytes in %d messages of a host; at most %d in %d are allowed", has.Bytes, has.Msgs, itemBytes, mostStored)
	}
	if linked() > most {
		t.Errorf("a host has %d connections", linked())
	}
	t.Logf("%d messages of a host that floods: the hub keeps %d of them, %.1f MB; 3 questions of another host answered meanwhile", sent, has.Msgs, float64(has.Bytes)/(1<<20))
}
