package recovery

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestPool(t *testing.T) {
	log := capture(t)
	synctest.Test(t, func(*testing.T) {
		p := NewPool("job")
		block := make(chan struct{})
		var done sync.WaitGroup
		for range 100 { // none waits for another
			done.Add(1)
			p.Go(func() { defer done.Done(); <-block })
		}
		synctest.Wait()
		close(block)
		done.Wait()
		synctest.Wait()
		if n := p.idle.Load(); n != poolIdle {
			t.Errorf("%d goroutines wait, want %d", n, poolIdle)
		}
		p.Go(func() { panic("boom") })
		synctest.Wait()
		done.Add(1)
		p.Go(done.Done)
		done.Wait()
		testwait.Pass(2 * poolWait)
		if n := p.idle.Load(); n != 0 {
			t.Errorf("%d goroutines still wait", n)
		}
	})
	if !strings.Contains(log.String(), "boom") {
		t.Errorf("the panic is not in the log: %s", log)
	}
}

func BenchmarkPool(b *testing.B) {
	p := NewPool("job")
	done := make(chan struct{})
	for b.Loop() {
		p.Go(func() { done <- struct{}{} })
		<-done
	}
}
