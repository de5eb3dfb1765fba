package main

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
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
		Keys: cfg.File.Keys, KeysFile: filepath.Base(cfg.Paths.Config), KeyLines: cfg.KeyLines, NoMouse: !cfg.File.UI.Mouse,
	}
	if f.background != "" {
		s.Background = f.background
	}
	return s
}

// followSettings sends the screen's settings whenever the configuration file at
// path has changed and can be read, until ctx ends. What became of it goes to
// take, too.
func followSettings(ctx context.Context, a *app, f deckFlags, path string, take func(*config.Config, error)) <-chan tui.Settings {
	out := make(chan tui.Settings)
	followed := followConfig(ctx, a, path, func(cfg *config.Config, err error) {
		take(cfg, err)
		if err != nil {
			return
		}
		select {
		case out <- screenSettings(cfg, f):
		case <-ctx.Done():
		}
	})
	if !followed {
		return nil
	}
	return out
}

// briefly names the file of an error by its last part: its folder would take the
// room of what is wrong.
func briefly(err error, path string) string {
	return strings.TrimPrefix(strings.ReplaceAll(err.Error(), path, filepath.Base(path)), "read the configuration ")
}

// follow applies changes of the configuration where there is no screen.
func (h *instance) follow(ctx context.Context, a *app) {
	followConfig(ctx, a, h.cfg.Paths.Config, h.reload())
}

// reload returns what applies a changed configuration, and warns of what is wrong
// with it for as long as it is.
func (h *instance) reload() func(*config.Config, error) {
	apply := h.clippyFollows(h.cfg)
	return func(cfg *config.Config, err error) {
		if err != nil {
			h.host.SetWarnings("config", true, briefly(err, h.cfg.Paths.Config))
			return
		}
		apply(cfg)
		h.takeCards(cfg)
		h.configured(cfg)
		slog.Info("configuration reloaded", "file", h.cfg.Paths.Config)
	}
}

// configured takes over the profiles of a configuration that could be read, and warns
// of what is wrong with it.
func (h *instance) configured(cfg *config.Config) {
	h.host.SetProfiles(cfg.Profiles())
	h.host.SetWarnings("config", false, append(slices.Clone(cfg.Warnings), cfg.LogicstampOptions().Problems()...)...)
}

// followConfig reads the configuration whenever its file at path has changed, or one
// of the cards beside it, until ctx ends, and gives what it says, or why it cannot be
// read, to take. The files and their folders may come later. It is false when nothing
// can be followed.
func followConfig(ctx context.Context, a *app, path string, take func(*config.Config, error)) bool {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	if !watchNear(w, path) {
		_ = w.Close()
		return false
	}
	safe.Go("settings", func() {
		defer func() { _ = w.Close() }()
		for changed(ctx, w, path) {
			cfg, err := a.load()
			if err != nil {
				err = fmt.Errorf("%w; settings unchanged", err)
			}
			take(cfg, err)
		}
	})
	return true
}

// watchNear watches the folder of path, or of the two above it the nearest that
// exists, and the folder of the cards if there is one.
func watchNear(w *fsnotify.Watcher, path string) bool {
	_ = w.Add(config.CardFolder(path)) // most users have none
	for range 3 {
		path = filepath.Dir(path)
		if w.Add(path) == nil {
			return true
		}
	}
	return false
}

// changed waits until the file or a card has changed and rests; false when ctx has
// ended.
func changed(ctx context.Context, w *fsnotify.Watcher, path string) bool {
	cards := config.CardFolder(path)
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
			switch {
			case !ok:
				return false
			case e.Op&^fsnotify.Chmod == 0:
			case filepath.Dir(e.Name) == cards && config.IsCardFile(e.Name), e.Name == path:
				rest = time.After(settleFor)
			case leadsTo(e.Name, path), leadsTo(e.Name, cards): // a folder, which the files may be in already
				watchNear(w, path)
				rest = time.After(settleFor)
			}
		}
	}
}

// leadsTo tells whether a folder is another, or above it.
func leadsTo(folder, other string) bool {
	rel, err := filepath.Rel(folder, other)
	return err == nil && filepath.IsLocal(rel)
}
