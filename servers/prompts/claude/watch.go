package claude

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/mcpdeck/mcpdeck/servers/arrange"
	"github.com/mcpdeck/mcpdeck/servers/deck"
)

// lookAround is how often sessions are looked at that no event tells of: those whose
// process ended without a word.
const lookAround = 5 * time.Second

// Run reports Claude Code's sessions until ctx ends.
func (a *Adapter) Run(ctx context.Context) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		a.opt.Log.Warn("watch Claude Code's sessions", "error", err)
		w = &fsnotify.Watcher{} // its channels are nil: the ticker remains
	} else {
		defer func() { _ = w.Close() }() // it only ends
	}
	dir := filepath.Join(a.opt.Folder, "sessions")
	t := time.NewTicker(lookAround)
	defer t.Stop()
	watched := false
	shown := map[string]deck.Session{}
	for {
		if !watched && err == nil {
			watched = w.Add(dir) == nil // it may come later
		}
		a.report(shown)
		select {
		case <-ctx.Done():
			return
		case <-a.kick:
		case <-t.C:
		case _, ok := <-w.Errors: // a lost event: the next one counts
			if !ok {
				return
			}
		case e := <-w.Events:
			if e.Name == dir && e.Has(fsnotify.Remove) {
				watched = false
			}
		}
	}
}

// report tells the list of all sessions what Claude Code's folder says. shown is what it
// was told before.
func (a *Adapter) report(shown map[string]deck.Session) {
	now := map[string]deck.Session{}
	for _, s := range a.sessions() {
		now[s.ID] = s.row(a.open(s.ID))
	}
	for id, row := range now {
		if shown[id] != row {
			a.opt.Roster.Report(row)
			shown[id] = row
		}
	}
	for id, row := range shown {
		if _, here := now[id]; here || row.State == deck.Ended {
			continue
		}
		if replaced(row, now) {
			a.opt.Roster.Gone("claude", id)
			delete(shown, id)
			continue
		}
		row.State, row.WaitingFor, row.Since, row.PID = deck.Ended, "", time.Now(), 0
		a.opt.Roster.Report(row)
		shown[id] = row
	}
}

// replaced reports whether a process goes on with another session in place of one.
func replaced(row deck.Session, now map[string]deck.Session) bool {
	for _, s := range now {
		if s.PID == row.PID {
			return true
		}
	}
	return false
}

// sessions reads Claude Code's folder: a file for each living process.
func (a *Adapter) sessions() (all []session) {
	config, err := filepath.EvalSymlinks(a.opt.Folder)
	if err != nil {
		return nil
	}
	files, err := os.ReadDir(filepath.Join(config, "sessions"))
	if err != nil {
		return nil
	}
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		pid, err := strconv.Atoi(name)
		if !ok || err != nil {
			continue
		}
		if s, ok := readSession(config, pid); ok && s.alive() && (s.Started != "" || s.Status != "") {
			all = append(all, s)
		}
	}
	return all
}

// open returns the items of a session, the oldest last.
func (a *Adapter) open(session string) (all []*item) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for it := range a.items {
		if it.session.ID == session {
			all = append(all, it)
		}
	}
	arrange.By(all, func(a, b *item) int { return b.arrived.Compare(a.arrived) })
	return all
}
