package book

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// Watch has changed called whenever the book, or what was accepted of it, may have changed, by whatever program,
// until ctx ends. Meanwhile [Store.Recent] reads nothing twice.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the book of rules: %w", err)
	}
	folders := []string{filepath.Dir(s.path), filepath.Dir(s.state)}
	for _, dir := range folders {
		if err := w.Add(dir); err != nil {
			_ = w.Close()
			return fmt.Errorf("watch the book of rules: %w", err)
		}
	}
	s.watched.Store(true)
	recovery.Go("the book of rules", func() {
		defer func() {
			s.watched.Store(false)
			s.recent.Store(nil)
			_ = w.Close()
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case _, ok := <-w.Errors: // events may be lost
				if !ok {
					return
				}
			case e, ok := <-w.Events:
				switch {
				case !ok:
					return
				case e.Name == folders[0] || e.Name == folders[1]: // which are elsewhere now
					changed()
					return
				case e.Name != s.path && e.Name != s.state:
					continue
				}
			}
			s.changes.Add(1)
			changed()
		}
	})
	return nil
}

// read is what Now returned, as of a number of changes.
type read struct {
	now     Standing
	changes uint64
}

// Recent is [Store.Now] but for changes that the system has not told of yet.
func (s *Store) Recent() Standing {
	changes := s.changes.Load()
	if r := s.recent.Load(); r != nil && r.changes == changes && s.watched.Load() {
		return r.now
	}
	now := s.Now()
	if s.watched.Load() {
		s.recent.Store(&read{now, changes})
	}
	return now
}
