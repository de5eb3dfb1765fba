package admission

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func enter(t *testing.T, d *Scheduler, agent string, c Class) *Slot {
	t.Helper()
	p, err := d.Enter(t.Context(), agent, c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestCallsTakeTurnsBetweenAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Limits{Slots: 2, AgentQueue: 100})
		first := enter(t, d, "a", Medium) // one agent gets all but one of the slots
		var mu sync.Mutex
		var order []string
		queue := func(agent string, n int) {
			for range n {
				go func() {
					p, err := d.Enter(t.Context(), agent, Medium)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					order = append(order, agent)
					mu.Unlock()
					time.Sleep(time.Second) // on the bubble's clock
					p.Leave()
				}()
				synctest.Wait()
			}
		}
		queue("a", 6)
		if len(order) != 0 {
			t.Fatalf("an agent got every slot: %v", order)
		}
		queue("b", 3)
		queue("c", 3)
		first.Leave()
		testwait.Pass(time.Hour)
		got := strings.Join(order, "")
		if len(got) != 12 || strings.Count(got[:9], "b") < 2 || strings.Count(got[:9], "c") < 2 || strings.Count(got[:9], "a") < 2 {
			t.Errorf("the order was %s", got)
		}
		if running, waiting := d.Load(); running+waiting+len(d.heavy.lines) != 0 {
			t.Errorf("%d run and %d wait at the end", running, waiting)
		}
	})
}

func TestMemoryAndCountAreNeverExceeded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := Limits{Slots: 5, Memory: 600 << 20, AgentQueue: 1000, Queue: 1000}
		d := New(limits)
		var mu sync.Mutex
		var memory, most int64
		calls, mostCalls := 0, 0
		each := map[string]int{}
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			agent, class := fmt.Sprint(i%4), []Class{Medium, Large}[random.IntN(2)]
			after, give := time.Duration(random.IntN(50))*time.Millisecond, time.Duration(random.IntN(900))*time.Millisecond
			hold := time.Duration(random.IntN(90)) * time.Millisecond
			go func() {
				time.Sleep(after) // on the bubble's clock
				ctx, cancel := context.WithTimeout(t.Context(), give)
				defer cancel()
				p, err := d.Enter(ctx, agent, class)
				if err != nil {
					return
				}
				mu.Lock()
				calls, memory, each[agent] = calls+1, memory+class.Need(), each[agent]+1
				mostCalls, most = max(mostCalls, calls), max(most, memory)
				if each[agent] >= limits.Slots {
					t.Errorf("an agent has all %d slots", each[agent])
				}
				mu.Unlock()
				time.Sleep(hold) // on the bubble's clock
				mu.Lock()
				calls, memory, each[agent] = calls-1, memory-class.Need(), each[agent]-1
				mu.Unlock()
				p.Leave()
				p.Leave()
			}()
		}
		testwait.Pass(time.Minute)
		if mostCalls < 3 || mostCalls > limits.Slots || most > limits.Memory {
			t.Errorf("%d calls with %d MiB ran at once", mostCalls, most>>20)
		}
		if running, waiting := d.Load(); running != 0 || waiting != 0 || len(d.heavy.lines) != 0 || d.heavy.running != (use{}) {
			t.Errorf("%d run, %d wait, %d lines are left", running, waiting, len(d.heavy.lines))
		}
	})
}

func TestAFullQueueSaysWhenToRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Limits{Slots: 2, Queue: 5, AgentQueue: 3})
		for range 3 { // that a call takes long is known
			p := enter(t, d, "a", Large)
			testwait.Pass(20 * time.Second)
			p.Leave()
		}
		held := enter(t, d, "a", Large)
		ctx, cancel := context.WithCancel(t.Context())
		for _, agent := range []string{"a", "a", "a"} {
			go func() { _, _ = d.Enter(ctx, agent, Large) }()
			synctest.Wait()
		}
		_, err := d.Enter(t.Context(), "a", Large)
		var busy *Busy
		if !errors.As(err, &busy) || !busy.Own || busy.Waiting != 3 || busy.Retry <= time.Second || !strings.Contains(err.Error(), "retry in about") {
			t.Errorf("got %v", err)
		}
		other := enter(t, d, "b", Large) // nobody else is kept out
		for range 2 {
			go func() { _, _ = d.Enter(ctx, "c", Large) }()
			synctest.Wait()
		}
		if _, err = d.Enter(t.Context(), "d", Large); !errors.As(err, &busy) || busy.Own || busy.Waiting != 5 {
			t.Errorf("got %v", err)
		}
		if p, err := d.Enter(t.Context(), "a", Small); err != nil {
			t.Errorf("a small call waits for large ones: %v", err)
		} else {
			p.Leave()
		}
		if p, err := d.Enter(t.Context(), "a", Waits); err != nil || p != nil {
			t.Errorf("a call that waits for the user took a place: %v", err)
		}
		cancel()
		synctest.Wait()
		if _, waiting := d.Load(); waiting != 0 {
			t.Errorf("%d wait whose clients have left", waiting)
		}
		held.Leave()
		other.Leave()
	})
}

// leaving is a context that ends right after it was looked at.
type leaving struct {
	context.Context
	looked bool
}

func (c *leaving) Err() error {
	if !c.looked {
		c.looked = true
		return nil
	}
	return c.Context.Err()
}

func TestACallWhoseTurnComesAsItsClientLeavesNeverBegins(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d := New(Limits{Slots: 2})
	for range 100 {
		if p, err := d.Enter(&leaving{Context: ctx}, "a", Medium); err == nil {
			p.Leave()
			t.Fatal("it begins")
		}
	}
	if running, waiting := d.Load(); running+waiting != 0 {
		t.Errorf("%d run and %d wait", running, waiting)
	}
}

func TestAPausedCallComesBackFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Limits{Slots: 1})
		paused := enter(t, d, "a", Large)
		back := paused.Yield()
		other := enter(t, d, "a", Large)
		var order []string
		go func() {
			p := enter(t, d, "a", Large)
			order = append(order, "new")
			p.Leave()
		}()
		synctest.Wait()
		go func() {
			if err := back(t.Context()); err != nil {
				t.Error(err)
			}
			order = append(order, "back")
			paused.Leave()
		}()
		synctest.Wait()
		other.Leave()
		synctest.Wait()
		if strings.Join(order, " ") != "back new" {
			t.Errorf("the order was %v", order)
		}
	})
}

func TestHeldBytesAreBounded(t *testing.T) {
	d := New(Limits{Held: 100, AgentHeld: 60})
	a, ok := d.Hold("a", 50)
	if _, more := d.Hold("a", 20); !ok || more {
		t.Error("an agent holds more than its share")
	}
	b, ok := d.Hold("b", 50)
	if _, more := d.Hold("c", 1); !ok || more {
		t.Error("all together hold more than there is")
	}
	a()
	b()
	if d.held != 0 || len(d.of) != 0 {
		t.Errorf("%d bytes of %d agents are left", d.held, len(d.of))
	}
}

func BenchmarkEnter(b *testing.B) {
	d := New(Limits{})
	for b.Loop() {
		p, err := d.Enter(b.Context(), "a", Small)
		if err != nil {
			b.Fatal(err)
		}
		p.Leave()
	}
}

func TestACallThatNeedsMoreWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Limits{Slots: 4, Memory: 1 << 30})
		first := enter(t, d, "a", Medium)
		if err := first.Grow(t.Context(), 600<<20); err != nil {
			t.Fatal(err)
		}
		second := enter(t, d, "b", Medium)
		if err := second.Grow(t.Context(), 1<<20); err != nil { // it has that
			t.Fatal(err)
		}
		grown := make(chan error, 1)
		go func() { grown <- second.Grow(t.Context(), 600<<20) }()
		synctest.Wait()
		select {
		case err := <-grown:
			t.Fatalf("both have 600 MiB of 1024: %v", err)
		default:
		}
		first.Leave()
		if err := <-grown; err != nil {
			t.Fatal(err)
		}
		second.Leave()
		if running, waiting := d.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d run and %d wait", running, waiting)
		}
		left, cancel := context.WithCancel(t.Context())
		third, other := enter(t, d, "a", Medium), enter(t, d, "b", Medium)
		if err := third.Grow(t.Context(), 700<<20); err != nil {
			t.Fatal(err)
		}
		go func() { grown <- other.Grow(left, 700<<20) }()
		synctest.Wait()
		cancel()
		if err := <-grown; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		other.Leave()
		third.Leave()
		if running, waiting := d.Load(); running != 0 || waiting != 0 {
			t.Errorf("%d run and %d wait", running, waiting)
		}
	})
}

func TestADeskRestsOnceNothingHasRunForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var rests atomic.Int32
		d := New(Limits{Rest: func() { rests.Add(1) }})
		enter(t, d, "a", Small).Leave()
		testwait.Pass(time.Minute)
		if rests.Load() != 0 {
			t.Error("it rested after what takes nothing")
		}
		for range 10 {
			enter(t, d, "a", Large).Leave()
			testwait.Pass(restAfter / 2)
		}
		if rests.Load() != 0 {
			t.Error("it rested between two calls")
		}
		last := enter(t, d, "a", Medium)
		testwait.Pass(2 * restAfter)
		if rests.Load() != 0 {
			t.Error("it rested during a call")
		}
		last.Leave()
		testwait.Pass(time.Hour)
		if rests.Load() != 1 {
			t.Errorf("it rested %d times", rests.Load())
		}
	})
}
