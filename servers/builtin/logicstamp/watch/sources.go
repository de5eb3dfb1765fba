package watch

import (
	"context"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/servers/builtin/logicstamp/manifest"
	"github.com/mcpdeck/mcpdeck/servers/support/file"
	"github.com/mcpdeck/mcpdeck/servers/support/notify"
	"github.com/mcpdeck/mcpdeck/servers/support/recovery"
)

// How often the sources are looked at beside the system's events: seldom where
// events work, often where they do not.
const (
	sweepSeldom = 30 * time.Second
	sweepOften  = 2 * time.Second
)

// Sources tells when a project's sources may have changed, until ctx ends. Word
// of several changes can arrive as one.
func Sources(ctx context.Context, project string) <-chan struct{} {
	out := make(chan struct{}, 1)
	tell := func() {
		notify.Poke(out)
	}
	w, err := fsnotify.NewWatcher()
	every := sweepSeldom
	if err == nil {
		err = addFolders(w, project)
	}
	if err != nil {
		every = sweepOften
	}
	last := sweep(project)
	recovery.Go("source watcher", func() {
		defer close(out)
		var events chan fsnotify.Event
		var errs chan error
		if w != nil {
			defer func() { _ = w.Close() }()
			events, errs = w.Events, w.Errors
		}
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case e, ok := <-events:
				if !ok {
					events = nil
					tick.Reset(sweepOften)
				} else if matters(w, project, e) {
					tell()
				}
			case _, ok := <-errs:
				if !ok {
					errs = nil
				}
				// Events may be lost: look at everything once.
				tell()
			case <-tick.C:
				if now := sweep(project); now != last {
					last = now
					tell()
				}
			}
		}
	})
	return out
}

func addFolders(w *fsnotify.Watcher, dir string) error {
	return filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // what cannot be read is not watched
		}
		if p != dir && manifest.SkipFolder(d.Name()) {
			return filepath.SkipDir
		}
		return w.Add(p)
	})
}

// matters reports whether an event can change what an analysis says. New folders
// are watched from then on.
func matters(w *fsnotify.Watcher, project string, e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	if e.Op&fsnotify.Create != 0 && !manifest.SkipFolder(name) {
		if info, err := os.Lstat(e.Name); err == nil && info.IsDir() {
			_ = addFolders(w, e.Name)
			return true
		}
	}
	if e.Op == fsnotify.Chmod {
		return false
	}
	rel, err := filepath.Rel(project, e.Name)
	if err != nil {
		return false
	}
	rel = filepath.ToSlash(rel)
	// A removed name without extension may have been a folder.
	gone := e.Op&(fsnotify.Remove|fsnotify.Rename) != 0 && filepath.Ext(name) == "" && !manifest.SkipFolder(name)
	return gone || manifest.IsSource(rel, true) || rel == ".stampignore" || rel == "package.json"
}

// sweep sums up sizes and times of the sources.
func sweep(project string) uint64 {
	sum := fnv.New64a()
	_ = filepath.WalkDir(project, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what cannot be read does not count
		}
		if d.IsDir() {
			if p != project && manifest.SkipFolder(d.Name()) {
				return filepath.SkipDir
			}
			return nil
		}
		if !manifest.IsSource(d.Name(), true) {
			return nil
		}
		if info, err := d.Info(); err == nil {
			fmt.Fprintf(sum, "%s\x00%v\x00", p, file.VersionOf(info))
		}
		return nil
	})
	return sum.Sum64()
}
