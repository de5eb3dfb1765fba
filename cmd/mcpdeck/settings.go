package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/safe"
	"github.com/mcpdeck/mcpdeck/tui"
)

// settleFor is how long the configuration file must rest before it is read:
// editors write in several steps.
const settleFor = 150 * time.Millisecond

// screenSettings are those options of the screen that may change while it is up.
func screenSettings(cfg *config.Config, f deckFlags) tui.Settings {
	s := tui.Settings{
		Theme: cfg.ThemeOptions(), Background: cfg.File.UI.Background,
		Keys: cfg.File.Keys, NoMouse: !cfg.File.UI.Mouse, Warnings: cfg.Warnings,
	}
	if f.background != "" {
		s.Background = f.background
	}
	return s
}

// followSettings sends the screen's settings whenever the configuration file at
// path has changed, until ctx ends, and gives the configuration to apply. A file
// that cannot be read changes nothing but says so. Without its folder nothing is
// followed.
func followSettings(ctx context.Context, a *app, f deckFlags, path string, apply func(*config.Config)) <-chan tui.Settings {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil
	}
	if err := w.Add(filepath.Dir(path)); err != nil {
		_ = w.Close()
		return nil
	}
	out := make(chan tui.Settings)
	safe.Go("settings", func() {
		defer func() { _ = w.Close() }()
		var last tui.Settings
		if cfg, err := a.load(); err == nil {
			last = screenSettings(cfg, f)
		}
		for changed(ctx, w, path) {
			if cfg, err := a.load(); err == nil {
				last = screenSettings(cfg, f)
				apply(cfg)
			} else {
				last.Warnings = []string{err.Error() + "; the settings are as before"}
			}
			select {
			case out <- last:
			case <-ctx.Done():
				return
			}
		}
	})
	return out
}

// changed waits until the file has changed and rests; false when ctx has ended.
func changed(ctx context.Context, w *fsnotify.Watcher, path string) bool {
	var rest <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-rest:
			return true
		case _, ok := <-w.Errors: // a lost event: the next one counts
			if !ok {
				return false
			}
		case e, ok := <-w.Events:
			if !ok {
				return false
			}
			if filepath.Base(e.Name) == filepath.Base(path) && e.Op&^fsnotify.Chmod != 0 {
				rest = time.After(settleFor)
			}
		}
	}
}
