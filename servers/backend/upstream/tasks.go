package upstream

import (
	"context"
	"sync"

	"github.com/mcpdeck/mcpdeck/servers/backend/upstream/child"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// tasks are the goroutines of a card.
type tasks struct {
	name string
	log  *child.Log
	all  sync.WaitGroup

	saving sync.Mutex // one file at a time
	mu     sync.Mutex // guards what follows
	due    map[string]func() error
}

// spawn runs fn in a goroutine that wait waits for.
func (t *tasks) spawn(name string, fn func()) {
	t.all.Add(1)
	recovery.Go(t.name+" "+name, func() {
		defer t.all.Done()
		fn()
	})
}

// wait returns when all have ended, or ctx ends.
func (t *tasks) wait(ctx context.Context) error {
	done := make(chan struct{})
	recovery.Go(t.name+" stop", func() {
		t.all.Wait()
		close(done)
	})
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// save writes something to a file, unless it is to be written anew before that.
func (t *tasks) save(what string, write func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.due == nil {
		t.due = map[string]func() error{}
	}
	t.due[what] = write
	t.spawn("save", func() {
		t.saving.Lock()
		defer t.saving.Unlock()
		t.mu.Lock()
		write := t.due[what]
		delete(t.due, what)
		t.mu.Unlock()
		if write == nil {
			return // it was
		}
		if err := write(); err != nil {
			t.log.Note("keep " + what + ": " + err.Error())
		}
	})
}
