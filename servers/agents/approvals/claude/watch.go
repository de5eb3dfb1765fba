package claude

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
)

// lookAround is how often sessions are looked at that no event tells of: those whose
// process ended without a word. writtenIn is how long a change of a file may take.
const (
	lookAround = 5 * time.Second
	writtenIn  = 20 * time.Millisecond
	mostEvents = 64 // that wait to be read
)

// errTold is why the system is not asked which files change.
var errTold = errors.New("another tells which files change")

// Left implements [approvals.Finder].
func (a *Adapter) Left() bool {
	files, _ := os.ReadDir(filepath.Join(a.opt.Folder, "sessions")) // there may be none
	return len(files) > 0
}

// Run reports Claude Code's sessions until ctx ends.
func (a *Adapter) Run(ctx context.Context) {
	w, err := &fsnotify.Watcher{}, errTold // its channels are nil: the ticker remains
	if a.opt.Changes == nil {
		if w, err = fsnotify.NewBufferedWatcher(mostEvents); err != nil {
			a.opt.Log.Warn("watch Claude Code's sessions", "error", err)
			w = &fsnotify.Watcher{}
		} else {
			defer func() { _ = w.Close() }() // it only ends
		}
	}
	dir := filepath.Join(a.opt.Folder, "sessions")
	t := time.NewTicker(lookAround)
	defer t.Stop()
	watched, all, changed := false, true, []string(nil)
	files, shown := newSessionFiles(a.opt.Folder), map[string]snapshot.Session{}
	for {
		if !watched && err == nil {
			watched = w.Add(dir) == nil // it may come later
			all = all || watched
		}
		if all {
			changed = files.due(time.Now(), true)
		}
		for _, name := range changed {
			files.read(name)
		}
		a.lookAt(changed, files.known)
		a.report(files.known, shown)
		all, changed = false, nil
		select {
		case <-ctx.Done():
			return
		case <-a.kick:
			all = !watched
		case now := <-t.C:
			changed = files.due(now, !watched)
		case name := <-a.opt.Changes:
			changed = []string{name}
		case _, ok := <-w.Errors: // a lost event
			if all = true; !ok {
				return
			}
		case e := <-w.Events:
			// One change of a file is several events, and half-written at the first.
			if process.Pause(ctx, writtenIn) != nil {
				return
			}
			for n := len(w.Events); ; n-- {
				if e.Name == dir && e.Has(fsnotify.Remove) {
					watched, all = false, true
				}
				changed = append(changed, filepath.Base(e.Name))
				if n == 0 {
					break
				}
				e = <-w.Events
			}
			slices.Sort(changed)
			changed = slices.Compact(changed)
		}
	}
}

// lookAt has the items look whose session's files are among names. A terminal may wait for less
// time than lies between two looks, and be answered before an item looks or even has come: that it
// waits is kept from what was read.
func (a *Adapter) lookAt(names []string, known map[string]session) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range names {
		s := known[name]
		if s.Status == "waiting" {
			a.waits[s.PID] = time.UnixMilli(s.Stamp)
		}
	}
	maps.DeleteFunc(a.waits, func(pid int, _ time.Time) bool { _, here := known[fileOf(pid)]; return !here })
	for it := range a.items {
		if slices.Contains(names, fileOf(it.session.PID)) {
			it.Poke()
		}
	}
}

// waitedSince reports whether the terminal of a process was seen to begin to wait at a time or later.
func (a *Adapter) waitedSince(pid int, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, seen := a.waits[pid]
	return seen && !last.Before(at)
}

// report tells the list of all sessions what Claude Code's files say, which are known by
// their names. shown is what it was told before.
func (a *Adapter) report(known map[string]session, shown map[string]snapshot.Session) {
	latest := map[string]session{} // of several processes that have one session
	for _, s := range known {
		if o, two := latest[s.ID]; !two || cmp.Or(cmp.Compare(s.Stamp, o.Stamp), cmp.Compare(s.PID, o.PID)) > 0 {
			latest[s.ID] = s
		}
	}
	now := map[string]snapshot.Session{}
	for id, s := range latest {
		now[id] = s.row(a.open(id))
	}
	hide(latest, now)
	for id, row := range now {
		if shown[id] != row {
			a.opt.Roster.Report(row)
			shown[id] = row
		}
	}
	for id, row := range shown {
		if _, here := now[id]; here || row.State == snapshot.Ended {
			continue
		}
		if replaced(row, now) {
			a.opt.Roster.Gone(agent, id)
			delete(shown, id)
			continue
		}
		row.State, row.WaitingFor, row.Since, row.PID = snapshot.Ended, "", time.Now(), 0
		a.opt.Roster.Report(row)
		shown[id] = row
	}
}

// replaced reports whether a process goes on with another session in place of one.
func replaced(row snapshot.Session, now map[string]snapshot.Session) bool {
	for _, s := range now {
		if s.PID == row.PID {
			return true
		}
	}
	return false
}

// open returns the items of a session, the oldest last.
func (a *Adapter) open(session string) (all []*item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for it := range a.items {
		if it.session.ID == session && it.ended.IsZero() {
			all = append(all, it)
		}
	}
	slices.SortFunc(all, func(a, b *item) int { return b.arrived.Compare(a.arrived) })
	return all
}
