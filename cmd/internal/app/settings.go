package app

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/cmd/internal/config"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
	"github.com/mcpdeck/mcpdeck/tui"
	"github.com/mcpdeck/mcpdeck/tui/page/inbox"
	"github.com/mcpdeck/mcpdeck/tui/picture"
)

// settleFor is how long the configuration file must rest before it is read:
// editors write in several steps.
const settleFor = 150 * time.Millisecond

// screenSettings are those options of the screen that may change while it is up.
func screenSettings(cfg *config.Config) tui.Settings {
	s := tui.Settings{
		Theme: cfg.ThemeOptions(), Themes: cfg.Themes(), Background: cfg.File.UI.Background,
		Keys: cfg.File.Keys, KeysFile: filepath.Base(cfg.Paths.Config), KeyLines: cfg.KeyLines, NoMouse: !cfg.File.UI.Mouse, Still: !cfg.File.UI.Motion, KeyRest: time.Duration(cfg.File.UI.KeyRest),
	}
	s.Pictures, _ = picture.ParseMode(cfg.File.UI.Pictures) // what it does not know, the configuration has warned of
	o := cfg.InboxScreen()
	s.Tell = []tea.Msg{inbox.SettingsMsg{Follow: o.Follow, Notify: o.Notify}}
	return s
}

// FollowSettings sends the screen's settings whenever the configuration file at
// path has changed and can be read, until ctx ends. What became of it goes to
// take, too.
func FollowSettings(ctx context.Context, load func() (*config.Config, error), path string, take func(*config.Config, error) []string) <-chan tui.Settings {
	out := make(chan tui.Settings)
	followed := followConfig(ctx, load, path, func(cfg *config.Config, err error) {
		waiting := take(cfg, err)
		if err != nil {
			return
		}
		s := screenSettings(cfg)
		s.Warn = waiting
		select {
		case out <- s:
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

// Follow applies changes of the configuration where there is no screen.
func (h *App) Follow(ctx context.Context, load func() (*config.Config, error)) {
	take := h.Reload()
	followConfig(ctx, load, h.Config.Paths.Config, func(cfg *config.Config, err error) { take(cfg, err) })
}

// Reload returns what applies a changed configuration, and warns of what is wrong with it
// for as long as it is. It says which options need a restart that did not before.
func (h *App) Reload() func(*config.Config, error) []string {
	rows := h.Reloads()
	return func(cfg *config.Config, err error) []string {
		if err != nil {
			h.Host.SetWarnings("config", true, briefly(err, h.Config.Paths.Config))
			return nil
		}
		h.now.Store(cfg)
		for _, r := range rows {
			if r.apply != nil {
				r.apply(cfg)
			}
		}
		now := waitingFor(rows, h.Config, cfg)
		before := h.waiting.Swap(&now)
		h.warnOf(cfg, now...)
		slog.Info("configuration reloaded", "file", h.Config.Paths.Config)
		if before == nil {
			return now
		}
		return slices.DeleteFunc(slices.Clone(now), func(s string) bool { return slices.Contains(*before, s) })
	}
}

// warnOf warns of what is wrong with a configuration that could be read, and of what else
// there is to say about it.
func (h *App) warnOf(cfg *config.Config, more ...string) {
	h.Host.SetWarnings("config", false, slices.Concat(cfg.Warnings, cfg.Problems(), more)...)
}

// followConfig reads the configuration whenever its file at path has changed, or one
// of the cards beside it, until ctx ends, and gives what it says, or why it cannot be
// read, to take. The files and their folders may come later. It is false when nothing
// can be followed.
func followConfig(ctx context.Context, load func() (*config.Config, error), path string, take func(*config.Config, error)) bool {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return false
	}
	if !watchNear(w, path) {
		_ = w.Close()
		return false
	}
	recovery.Go("settings", func() {
		defer func() { _ = w.Close() }()
		for changed(ctx, w, path) {
			cfg, err := load()
			if err != nil {
				err = fmt.Errorf("%w; settings unchanged", err)
			}
			take(cfg, err)
		}
	})
	return true
}

// watchNear watches the folder of path, the two above it, and the folders of the cards
// and of themes, as far as they exist. It goes from above to below: what is made in a
// folder while it is at work is then told by that folder, or found a step later.
func watchNear(w interface{ Add(dir string) error }, path string) bool {
	folder := filepath.Dir(path)
	above := filepath.Dir(folder)
	watched := false
	for _, dir := range []string{filepath.Dir(above), above, folder} {
		watched = w.Add(dir) == nil || watched
	}
	_ = w.Add(config.CardFolder(path)) // most users have none
	_ = w.Add(config.ThemeFolder(path))
	return watched
}

// changed waits until the file or a card has changed and rests; false when ctx has
// ended.
func changed(ctx context.Context, w *fsnotify.Watcher, path string) bool {
	cards, themes := config.CardFolder(path), config.ThemeFolder(path)
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
			case e.Name == path, config.IsCardFile(e.Name) && (filepath.Dir(e.Name) == cards || filepath.Dir(e.Name) == themes):
				rest = time.After(settleFor)
			case file.Within(e.Name, path), file.Within(e.Name, cards), file.Within(e.Name, themes): // a folder, which the files may be in already
				watchNear(w, path)
				rest = time.After(settleFor)
			}
		}
	}
}
