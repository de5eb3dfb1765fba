package tui

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/testwait"
)

func TestNewsThatCanWaitComeSeldomAndTheLastAlwaysDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var news, loads, seen atomic.Int32
		hints := make(chan struct{}, 1)
		p := newPump([]Feed{{Hint: hints, Every: time.Second, Load: func() tea.Msg {
			loads.Add(1)
			seen.Store(news.Load())
			return nil
		}}})
		p.start()
		go p.data()
		synctest.Wait() // what there is at the start
		for range 35 {
			news.Add(1)
			notify.Poke(hints)
			testwait.Pass(100 * time.Millisecond)
			if news.Load() == 1 && seen.Load() != 1 {
				t.Error("the first is not loaded at once")
			}
		}
		testwait.Pass(time.Second)
		if n := loads.Load(); n < 4 || n > 6 || seen.Load() != news.Load() {
			t.Errorf("loaded %d times, the last with %d of %d", n, seen.Load(), news.Load())
		}
		p.close()
	})
}
