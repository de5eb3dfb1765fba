package seen

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/mcpdeck/mcpdeck/servers/support/process"
	"github.com/mcpdeck/mcpdeck/servers/support/process/pid"
	"github.com/mcpdeck/mcpdeck/servers/support/snapshot"
	"github.com/mcpdeck/mcpdeck/servers/support/socket"
)

// Wrote returns the file that was written last among those of a pattern, if the process may have
// written it and it is one that counts; "" if there is none.
func (p Process) Wrote(pattern string, counts func(path string) bool) (path string) {
	names, _ := filepath.Glob(pattern) // an adapter's own
	last := p.Began.Add(-time.Second)  // when it began is known so well
	for _, name := range names {
		if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() && info.ModTime().After(last) && counts(name) {
			path, last = name, info.ModTime()
		}
	}
	return path
}

// Left implements [approvals.Finder].
func (a *Adapter) Left() bool { return a.program.Find != nil && len(a.Running()) > 0 }

// running returns the processes of the program but those that only start it again.
func (a *Adapter) running() (all []Process) {
	if a.opt.Alone {
		return nil
	}
	parents := map[int]bool{}
	for _, p := range process.All() {
		if folder := socket.Folder(p.PID); folder != "" && a.is(p.PID) {
			all = append(all, Process{p.PID, folder, pid.Started(p.PID)})
			parents[p.Parent] = true
		}
	}
	return slices.DeleteFunc(all, func(p Process) bool { return parents[p.PID] || p.Began.IsZero() })
}

// find reports the sessions of the processes that were there before the deck. Of several processes
// in a folder it is not known which has which session.
func (a *Adapter) find() {
	if a.program.Find == nil {
		return
	}
	all := a.Running()
	for _, p := range all {
		if slices.ContainsFunc(all, func(o Process) bool { return o.PID != p.PID && o.Folder == p.Folder }) {
			continue
		}
		if id, transcript := a.program.Find(&a.opt, p); id != "" {
			a.found(id, transcript, p)
		}
	}
}

// found reports a session, unless a hook has told of its process.
func (a *Adapter) found(id, transcript string, p Process) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, s := range a.sessions {
		if s.PID == p.PID {
			return
		}
	}
	s := a.session(id, p.PID)
	if s == nil {
		return
	}
	s.Folder, s.Transcript, s.Started, s.State, s.Note = p.Folder, transcript, p.Began, snapshot.StateUnknown, "no hook has told what it does"
	s.follower.Look()
	a.opt.Roster.Report(s.Session)
}
